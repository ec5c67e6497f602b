package cli

import (
	"bytes"
	"strings"
	"testing"
)

// A level that does not exist is refused with those that do: a mistyped one would otherwise run the best.
func TestUnknownLevelIsRefused(t *testing.T) {
	for value, want := range map[string]int{"bogus": 2, "AVX2": 2, "generic": 0, "avx2": 0, "avx512": 0, "": 0} {
		t.Setenv("MERCER_CPU", value)
		var out, errs bytes.Buffer
		if code := Run(t.Context(), []string{"--version"}, strings.NewReader(""), &out, &errs); code != want {
			t.Errorf("MERCER_CPU=%s: exit code %d, want %d: %s", value, code, want, errs.String())
		}
		if want == 0 {
			continue
		}
		for _, part := range []string{"MERCER_CPU", value, "generic, avx2, avx512"} {
			if !strings.Contains(errs.String(), part) {
				t.Errorf("MERCER_CPU=%s: %q lacks %q", value, errs.String(), part)
			}
		}
	}
}
