package eval

import (
	"context"
	"errors"

	"mercer/internal/engine/hypothesis"
	"mercer/matrix"
	"mercer/model"
)

// Interval is one that holds a metric of all rows of the same source with a probability of 95 %.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// mostSure bounds the rows that are kept for intervals: those of more rows are narrow. sureResamples are their bootstrap samples.
const mostSure, sureResamples, sureLevel = 20_000, 1000, 0.95

// sure keeps rows for intervals of several metrics.
type sure struct {
	records []*record
	said    Said
}

// newSure are the intervals of a model, nil if none is known for its task.
func newSure(m *model.Model) *sure {
	p, s := PredictorOf("", m), &sure{}
	for _, name := range []string{"accuracy", "macro_f1", "f1", "precision", "recall", "auc", "average_precision", "log_loss", "brier", "subset_accuracy",
		"hamming_loss", "micro_f1", "rmse", "mae", "r2"} {
		if name == "micro_f1" && m.Classes() != nil {
			continue // the accuracy
		}
		r, err := newRecord(name, p, 1)
		if err != nil || r.place(0, p) != nil {
			continue
		}
		s.records = append(s.records, r)
	}
	s.said = Said{Has: make([]bool, len(p.Labels)), Numbers: make([]float64, m.Outputs()), Probabilities: make([]float64, len(p.Classes))}
	if s.records == nil {
		return nil
	}
	return s
}

// add keeps the rows of a batch, and says whether there is room for them and their labels are known.
func (s *sure) add(j *judge, b *matrix.Batch) bool {
	if s.records[0].rows+b.X.Len() > mostSure {
		return false
	}
	for _, r := range s.records {
		if r.truths(b, j.src) != nil {
			return false
		}
	}
	for i := range b.X.Len() {
		scores := j.scores.Row(i)
		switch {
		case j.classes != nil:
			s.said.Class, s.said.Score = j.m.Class(scores), scores[0]
			if j.proba != nil && j.m.Probabilities(s.said.Probabilities, scores) != nil {
				return false
			}
		case j.sets != nil:
			for t, v := range scores {
				s.said.Has[t] = j.m.Has(t, v)
			}
		default:
			for t, v := range scores {
				s.said.Numbers[t] = j.m.Value(t, v)
			}
		}
		for _, r := range s.records {
			if r.add(0, i, &s.said) != nil {
				return false
			}
		}
	}
	for _, r := range s.records {
		r.rows += b.X.Len()
	}
	return true
}

// intervals are those that have a value on these rows.
func (s *sure) intervals(ctx context.Context) (map[string]Interval, error) {
	all := map[string]Interval{}
	for _, r := range s.records {
		if r.rows < 2 {
			return nil, nil
		}
		r.prepare()
		of, copies := r.distinct()
		d, err := hypothesis.Bootstrap(ctx, hypothesis.Resampling{Rows: of.rows, Copies: copies, Resamples: sureResamples, Seed: 1, Quantities: 1, Statistic: of.values})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, hypothesis.ErrUndefined):
			continue
		case err != nil:
			return nil, err
		}
		low, high := d[0].BCa(sureLevel)
		if low-low == 0 && high-high == 0 {
			all[r.metric.Name] = Interval{low, high}
		}
	}
	return all, nil
}
