package cli

import (
	"fmt"
	"math"

	"mercer/kernel"
)

// kernelText is a kernel for a person; of matern with the length scale, which is what --sigma takes.
func kernelText(k kernel.Kernel) string {
	if k.Name == "matern" {
		return fmt.Sprintf("%s, length scale σ = %.4g", k, 1/math.Sqrt(2*k.Gamma))
	}
	return k.String()
}

// because is the reason for a choice in brackets, "" if there is none.
func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}
