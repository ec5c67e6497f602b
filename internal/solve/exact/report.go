package exact

import (
	"fmt"

	"mercer/internal/engine/units"
)

// Lines describe the choice.
func (r *RidgeReport) Lines() []string {
	if r.Path == nil {
		return []string{fmt.Sprintf("λ = %.3g (given), by Cholesky", r.Lambda)}
	}
	return []string{fmt.Sprintf("λ = %.3g (the best of %d by leave-one-out, mean squared error %.4g)", r.Lambda, len(r.Path), r.LeaveOneOut)}
}

// Lines describe the fit.
func (r *FalkonReport) Lines() []string {
	kept := "K_nm in memory"
	if !r.Kept {
		kept = "K_nm computed in every iteration"
	}
	return []string{
		fmt.Sprintf("λ = %.3g (%s), %d centres", r.Lambda, chosenBy(r.Path), r.Centres),
		fmt.Sprintf("%s; %s", iterated(r.Iterations, r.Residual, r.Converged), kept),
	}
}

// Lines describe the fit.
func (r *IterativeReport) Lines() []string {
	return []string{
		fmt.Sprintf("λ = %.3g (%s)", r.Lambda, chosenBy(r.Path)),
		fmt.Sprintf("%s; products of %s", iterated(r.Iterations, r.Residual, r.Converged), units.Bytes(r.Bytes)),
		fmt.Sprintf("the weights are off by %.2g of themselves at most for the approximation", r.Error),
	}
}

func chosenBy(path []LambdaPoint) string {
	if path == nil {
		return "given"
	}
	return fmt.Sprintf("the best of %d on a held-out tenth", len(path))
}

func iterated(iterations int, residual float64, converged bool) string {
	text := fmt.Sprintf("%d iterations of conjugate gradients, residual %.2g", iterations, residual)
	if !converged {
		text += ", not converged: allow more iterations or a larger λ"
	}
	return text
}
