package learn

import (
	"fmt"
	"math"
	"slices"
)

// Conformal are prediction intervals that cover the truth with a given probability for any
// distribution of the rows, as long as new rows come from the same one (split conformal
// prediction; Vovk et al. 2005, Lei et al. 2018): the errors on rows that the model has not
// seen determine their width.
type Conformal struct {
	// Level is the least probability 1-α that an interval covers the truth of one target;
	// the probability is at most 1-α+1/(Rows+1) if residuals are distinct.
	Level float64 `json:"level"`

	// Rows is the number of rows that were held back to calibrate.
	Rows int `json:"rows"`

	// Radius is, for each target, half the width of the intervals; in units of the
	// predictive deviation if Scaled is set.
	Radius []float64 `json:"radius"`
	Scaled bool      `json:"scaled,omitempty"`
}

// NewConformal calibrates intervals: residuals are those of held-back rows, n×K row-major, as absolute
// values, divided by the predictive deviation if scaled is set. It overwrites them. It fails if there
// are too few rows for the level.
func NewConformal(level float64, residuals []float64, k int, scaled bool) (*Conformal, error) {
	n := len(residuals) / k
	c := &Conformal{Level: level, Rows: n, Scaled: scaled}
	rank, err := ConformalRank(level, n)
	if err != nil {
		return nil, err
	}
	column := make([]float64, n)
	for t := range k {
		for i := range column {
			column[i] = residuals[i*k+t]
		}
		slices.Sort(column)
		c.Radius = append(c.Radius, column[rank-1])
	}
	return c, nil
}

// CheckLevel returns an error for a level that makes no sense.
func CheckLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("level %g of intervals is not between 0 and 1", level)
	}
	return nil
}

// ConformalRank is which of n sorted residuals, from 1, bounds a new one with probability level: the new one's rank among n+1 is
// uniform, so ⌈(n+1)·level⌉. It fails for a level that is none, and if there are too few rows for it.
func ConformalRank(level float64, n int) (int, error) {
	if err := CheckLevel(level); err != nil {
		return 0, err
	}
	rank := max(1, int(math.Ceil(float64(n+1)*level-1e-9)))
	if rank > n {
		return 0, fmt.Errorf("intervals of level %g take at least %d rows to calibrate, %d were held back; train on more rows or ask for less",
			level, int(math.Ceil(level/(1-level)*(1-1e-10))), n)
	}
	return rank, nil
}

func (c *Conformal) line() string {
	unit := ""
	if c.Scaled {
		unit = " deviations"
	}
	return fmt.Sprintf("%g %% intervals of ± %.4g%s, by %d rows held back", 100*c.Level, c.Radius, unit, c.Rows)
}
