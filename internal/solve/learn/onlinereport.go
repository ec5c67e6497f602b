package learn

import "fmt"

// OnlineReport describes how a stream was learned.
type OnlineReport struct {
	Online

	// Epochs is the number of passes.
	Epochs int `json:"epochs"`

	// Progressive has the state after 1, 2, 4, … rows and at the end.
	Progressive []OnlinePoint `json:"progressive"`
}

// OnlinePoint is the result of progressive validation on the first rows of a stream.
type OnlinePoint struct {
	// Rows counts them; those of weight 0 do not count.
	Rows int64 `json:"rows"`

	// Loss is the mean of the rows' losses, summed over the outputs and without
	// the regulariser, for weights that had not seen them.
	Loss float64 `json:"loss"`

	// Error is the share of them that were predicted wrongly, nil for numbers.
	Error *float64 `json:"error,omitempty"`
}

// Lines describe it.
func (r *OnlineReport) Lines() []string {
	what := r.Loss
	switch r.Loss {
	case "quantile":
		what += fmt.Sprintf(" %g", r.Quantile)
	case "epsilon":
		what += fmt.Sprintf(" %.6g", r.Epsilon)
	case "huber":
		what += fmt.Sprintf(" %.6g", r.Huber)
	}
	passes := ""
	if r.Epochs > 1 {
		passes = fmt.Sprintf(", %d passes", r.Epochs)
	}
	lines := []string{fmt.Sprintf("%s by %s, λ = %.3g, rate %.3g%s", what, r.Optimizer, r.Lambda, r.Rate, passes)}
	if n := len(r.Progressive); n > 0 {
		lines = append(lines, "before learning: "+r.Progressive[n-1].String())
	}
	return lines
}

func (p OnlinePoint) String() string {
	text := fmt.Sprintf("loss %.4g", p.Loss)
	if p.Error != nil {
		text = fmt.Sprintf("error %.2f %%, ", 100**p.Error) + text
	}
	return text + fmt.Sprintf(" after %d rows", p.Rows)
}

// count counts the rows of a call and those predicted wrongly.
func (f *OnlineFit) count(y, weights []float64) {
	for i := range len(y) / f.k {
		c := 1.0
		if weights != nil {
			c = weights[i]
		}
		if c == 0 {
			continue
		}
		f.Rows++
		f.Weight += c
		if f.cfg.Numbers {
			continue
		}
		// One class against all is right if the largest score has the target 1; a
		// single output, or labels, if every sign is right.
		of, wrong := y[i*f.k:(i+1)*f.k], false
		scores := f.scores[i*f.k : (i+1)*f.k]
		if f.k > 1 && !f.cfg.Labels {
			best := 0
			for t, s := range scores {
				if s > scores[best] {
					best = t
				}
			}
			wrong = of[best] <= 0
		} else {
			for t, s := range scores {
				wrong = wrong || (s > 0) != (of[t] > 0)
			}
		}
		if wrong {
			f.Wrong += c
		}
	}
}

// Progress is the progressive validation of the rows so far.
func (f *OnlineFit) Progress() OnlinePoint {
	p := OnlinePoint{Rows: f.Rows}
	if f.Weight == 0 {
		return p
	}
	for _, l := range f.Losses {
		p.Loss += l / f.Weight
	}
	if !f.cfg.Numbers {
		e := f.Wrong / f.Weight
		p.Error = &e
	}
	return p
}
