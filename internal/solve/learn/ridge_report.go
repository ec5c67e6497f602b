package learn

import "fmt"

// RidgeReport describes the choice.
type RidgeReport struct {
	// Lambda is the λ of the final fit.
	Lambda float64 `json:"lambda"`

	// By is how it was chosen, one of LambdaBy but auto.
	By string `json:"by,omitempty"`

	// HeldOut is the number of rows that chose λ, if they were held out.
	HeldOut int `json:"held_out,omitempty"`

	// Path has the λ that were tried, in the order of λ, held-out ones fitted without the
	// held-out rows; nil if λ was given.
	Path []PathPoint `json:"path,omitempty"`

	// Whole means that Path was requested.
	Whole bool `json:"whole_path,omitempty"`

	// Rank is the number of directions fitted with a λ of 0; the rest of the D
	// are collinear with them.
	Rank int `json:"rank,omitempty"`

	// Parameters is the effective number of parameters, Σ dᵢ/(dᵢ+λ) over the eigenvalues d
	// of H, if they were computed.
	Parameters float64 `json:"parameters,omitempty"`

	// Noise is the estimated standard deviation of each target's noise, with Variance.
	Noise []float64 `json:"noise,omitempty"`

	// Conformal are the prediction intervals, nil if none were requested.
	Conformal *Conformal `json:"conformal,omitempty"`

	// Seconds is the time to choose λ. It is not saved: a model does not depend on it.
	Seconds float64 `json:"-"`
}

// Lines describe the choice.
func (r *RidgeReport) Lines() []string {
	chosen := "given"
	switch r.By {
	case "held-out":
		chosen = fmt.Sprintf("the best of %d on a held-out tenth", len(r.Path))
	case "folds":
		chosen = fmt.Sprintf("the best of %d over %d folds", len(r.Path), Folds)
	case "gcv":
		chosen = fmt.Sprintf("the best of %d by generalised cross-validation", len(r.Path))
	case "loo":
		chosen = fmt.Sprintf("the best of %d by leave-one-out", len(r.Path))
	case "evidence":
		chosen = fmt.Sprintf("the best of %d by evidence", len(r.Path))
	case "trace":
		chosen = "given in parts of tr(H)/D"
	case "": // a file of an older program
		if n := len(r.Path); n > 0 {
			chosen = fmt.Sprintf("the best of %d on a held-out tenth", n)
		}
	}
	if r.Rank > 0 {
		chosen += fmt.Sprintf(", least squares in %d directions", r.Rank)
	}
	lines := []string{fmt.Sprintf("λ = %.3g (%s)", r.Lambda, chosen)}
	if r.Parameters > 0 {
		lines = append(lines, fmt.Sprintf("%.4g effective parameters", r.Parameters))
	}
	if r.Noise != nil {
		lines = append(lines, fmt.Sprintf("noise of deviation %.4g", r.Noise))
	}
	if r.Conformal != nil {
		lines = append(lines, r.Conformal.line())
	}
	if r.Whole {
		lines = append(lines, pathTable(r.Path)...)
	}
	return lines
}

// PathPoint is one λ that was tried.
type PathPoint struct {
	Lambda float64 `json:"lambda"`

	// Error is the mean of the squared error, summed over the targets, by which λ was chosen:
	// on held-out rows, on rows left out one by one, or as estimated by generalised
	// cross-validation (also for evidence, which uses Evidence).
	Error float64 `json:"error"`

	// GCV, LOO and Evidence are set if they were computed. Evidence is -2 times the
	// logarithm of the likelihood, up to a constant.
	GCV      *float64 `json:"gcv,omitempty"`
	LOO      *float64 `json:"loo,omitempty"`
	Evidence *float64 `json:"evidence,omitempty"`

	// Parameters is the effective number of parameters.
	Parameters float64 `json:"parameters,omitempty"`

	// Chosen marks the best.
	Chosen bool `json:"chosen,omitempty"`
}

// pathTable is a path in lines.
func pathTable(path []PathPoint) []string {
	text := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.6g", *v)
	}
	lines := []string{fmt.Sprintf("%-12s%-14s%-14s%-14s%-14s%s", "λ", "error", "gcv", "loo", "-2 log ev.", "parameters")}
	for _, p := range path {
		mark := ""
		if p.Chosen {
			mark = "  chosen"
		}
		lines = append(lines, fmt.Sprintf("%-12.3g%-14.6g%-14s%-14s%-14s%.5g%s", p.Lambda, p.Error, text(p.GCV), text(p.LOO), text(p.Evidence),
			p.Parameters, mark))
	}
	return lines
}
