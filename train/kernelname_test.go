package train

import (
	"testing"

	"mercer/internal/solve/pipeline"
)

// The kernel that a configuration leaves open is the one that it is trained with.
func TestKernelName(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, "rbf"}, {Config{Kernel: Kernel{Name: "Chi2"}}, "chi2"}, {Config{Bag: &pipeline.BagConfig{}}, "linear"},
		{Config{Bag: &pipeline.BagConfig{}, Map: Map{Name: "rff"}}, "rbf"}, {Config{Kernel: Kernel{Name: "magic"}}, "magic"},
	} {
		if got := c.config.KernelName(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.config, got, c.want)
		}
		if full, err := c.config.withDefaults(); err == nil && full.Kernel.Name != c.want {
			t.Errorf("%+v: it is trained with %s, want %s", c.config, full.Kernel.Name, c.want)
		}
	}
}
