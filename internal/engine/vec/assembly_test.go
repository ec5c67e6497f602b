package vec

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A kernel keeps to the instructions and registers that its name promises; avo's comments
// say which instructions it takes.
func TestAssemblyKeepsToItsLevel(t *testing.T) {
	base := []string{"SSE", "SSE2", "AVX", "AVX2", "FMA3", "MMX+"} // MMX+: prefetches
	allowed := map[string][]string{
		"avx2":   base,
		"avx512": append(slices.Clone(base), "AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL", "POPCNT"),
	}
	wide := regexp.MustCompile(`\b(Z\d+|[XY](1[6-9]|2\d|3[01])|K[0-7])\b`)
	without := []string{
		"nonzeros32_avx512", "nonzeros64_avx512", // AVX2 has no instruction that packs lanes
		"answers32_avx2", // six questions fill no wider vector
	}
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		var requires []string
		name, level := "", ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "// func "):
				requires = nil
			case strings.HasPrefix(line, "// Requires: "):
				requires = strings.Split(strings.TrimPrefix(line, "// Requires: "), ", ")
			case strings.HasPrefix(line, "TEXT "):
				name, _, _ = strings.Cut(strings.TrimPrefix(line, "TEXT ·"), "(")
				level = name[strings.LastIndex(name, "_")+1:]
				if !slices.Contains(without, name) {
					seen[level]++
				}
				if allowed[level] == nil || requires == nil {
					t.Errorf("%s: %s has no level, or no comment on what it requires", file, name)
				}
				for _, r := range requires {
					if !slices.Contains(allowed[level], r) {
						t.Errorf("%s: %s requires %s", file, name, r)
					}
				}
			case level == "avx2" && wide.MatchString(line):
				t.Errorf("%s: %s: %s", file, name, line)
			}
		}
		if seen["avx2"] != seen["avx512"] {
			t.Errorf("%s: so many kernels of each level: %v", file, seen)
		}
	}
}
