package serve

import (
	"context"
	"fmt"
	"strconv"

	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// sureness is how far the numbers that a regression predicts may be from the truth: deviations, and the ends of intervals.
type sureness struct {
	varies bool // the model has deviations
	always bool // its answers have intervals: it was trained for those of one level
	there  bool // it has intervals

	asked bool    // the request wants intervals
	level float64 // of this level, 0 for that of the model

	deviations, lower, upper matrix.Dense
}

func (s *sureness) know(m *model.Model) {
	r, ok := m.Predictor().(model.Ridge)
	_, err := m.IntervalLevel(0)
	s.varies, s.always, s.there = ok && r.Variance != nil, m.Conformal() != nil, err == nil
}

// intervals says whether the plain protocol answers with intervals.
func (s *sureness) intervals() bool { return s.asked || s.always }

// interval notes that a request wants intervals: of a level, or of that of the model for true, 1 and "".
func (in *input) interval(wanted any) error {
	if wanted == nil {
		return nil
	}
	text := fmt.Sprint(wanted)
	switch text {
	case "0", "false":
		return nil
	case "1", "true", "":
		in.sure.level = 0
	default:
		level, err := strconv.ParseFloat(text, 64)
		if err != nil || learn.CheckLevel(level) != nil {
			return badf("interval: %q is no probability between 0 and 1, such as 0.9", shortened([]byte(text)))
		}
		in.sure.level = level
	}
	in.sure.asked = true
	if _, err := in.m.IntervalLevel(in.sure.level); err != nil {
		return badf("interval: %w", err)
	}
	return nil
}

// parameters reads the parameters of a request, of which "interval" is known.
func (in *input) parameters() error {
	p := &in.parser
	if p.next() != '{' {
		return p.skip()
	}
	return p.object(func(key []byte) error {
		if string(key) != "interval" {
			return p.skip()
		}
		wanted, err := p.scalar()
		if err != nil {
			return err
		}
		return in.interval(wanted)
	})
}

// spread computes the deviations and intervals of the rows that were scored, as far as they are wanted.
func (c *call) spread(deviations, intervals bool) error {
	if !deviations && !intervals {
		return nil
	}
	in, s := c.in, &c.in.sure
	rows, outputs := in.x.Rows, in.m.Outputs()
	for _, dst := range []*matrix.Dense{&s.deviations, &s.lower, &s.upper} {
		dst.Reshape(rows, outputs)
	}
	some := func() error {
		for at := 0; at < rows && c.ctx.Err() == nil; at += gatherRows {
			end := min(rows, at+gatherRows)
			x := matrix.Rows{Dense: in.x.Slice(at, end)}
			var known *matrix.Dense
			if deviations {
				known = s.deviations.Slice(at, end)
				if err := in.m.Deviations(known, x); err != nil {
					return err
				}
			}
			if !intervals {
				continue
			}
			if err := in.m.IntervalsAround(s.level, s.lower.Slice(at, end), s.upper.Slice(at, end), in.scores.Slice(at, end), known, x); err != nil {
				return err
			}
		}
		return nil
	}
	if conformal := in.m.Conformal(); !deviations && (conformal == nil || !conformal.Scaled) {
		return some() // takes less time than the scores
	}
	return c.aside.do(c.ctx, some)
}

// turns lets few computations run at a time that are not products of rows: explanations and deviations. Others wait, a
// bounded number of them, until their deadlines.
type turns struct {
	places, waiting chan struct{}
}

func newTurns(places, waiting int) *turns {
	return &turns{make(chan struct{}, places), make(chan struct{}, places+waiting)}
}

// do runs f when it is its turn.
func (t *turns) do(ctx context.Context, f func() error) error {
	select {
	case t.waiting <- struct{}{}:
	default:
		return &overloaded{1e9, "too many explanations and deviations wait to be computed"}
	}
	defer func() { <-t.waiting }()
	select {
	case t.places <- struct{}{}:
	case <-ctx.Done():
		return ended(ctx)
	}
	defer func() { <-t.places }()
	if err := f(); ctx.Err() != nil {
		return ended(ctx)
	} else if err != nil {
		return err
	}
	return nil
}
