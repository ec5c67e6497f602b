package search

import (
	"strings"
	"testing"

	"mercer/kernel"
)

// 0 stands for a default in a configuration, so that it is refused where the kernel takes no 0.
func TestZeroParametersAreRefused(t *testing.T) {
	for _, c := range []struct{ kernel, parameter, want string }{
		{"skewed-chi2", "coef0", "coef0 is 0; of skewed-chi2 it must be a positive number"},
		{"matern", "nu", "nu is 0; of matern it must be a number from"},
		{"poly", "degree", "degree is 0; of poly it must be 1 or more"},
		{"poly", "coef0", ""}, {"arccos", "degree", ""}, {"chi2", "homogeneity", ""}, {"rbf", "nu", ""}, {"magic", "nu", ""},
	} {
		err := zero(kernel.Kernel{Name: c.kernel}.Kind(), map[string]string{c.parameter: "0.0"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s 0 of %s: %v, want %q", c.parameter, c.kernel, err, c.want)
		}
	}
}
