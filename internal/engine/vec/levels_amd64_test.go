//go:build amd64 && !purego

package vec

import "testing"

// everyLevel runs f with each set of instructions that this machine has.
func everyLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := level
	defer func() { setLevel(before) }()
	for l := generic; l <= best(); l++ {
		setLevel(l)
		t.Run(names[l], f)
	}
}

func setLevel(l instructions) {
	level = l
	chooseKernels()
}
