package train

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestUnknownLearnerSaysWhatWasMeant(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"rigde", "did you mean ridge? known are auto, ridge,"},
		{"kernel_svm", "did you mean kernel-svm? "},
		{"KernelRidge", "did you mean kernel-ridge? "},
		{"falcon", "did you mean falkon? "},
		{"logist", "did you mean logistic? "},
		{"SVC", "of features it is called svm here, and of the kernel itself kernel-svm; known are"},
		{"logistic-regression", "it is called logistic here; "},
		{"sgd", "it is an optimizer of online; "},
		{"random_forest", "rfm has boosted trees beside its kernel machines; "},
		{"oracle", `learner "oracle" is not known; known are auto, ridge, `},
	} {
		if err := (Config{Learner: Named{Name: c.name}}).Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// What the list of foreign names recommends is there.
func TestForeignLearnersNameKnownOnes(t *testing.T) {
	names := Learners()
	for name, text := range elsewhere {
		if slices.Contains(names, name) || name != strings.ToLower(name) || strings.ContainsAny(name, "-_ ") {
			t.Errorf("%s is a learner, or is not written in small letters without marks", name)
		}
		found := false
		for _, word := range regexp.MustCompile(`[a-z]+(-[a-z]+)*`).FindAllString(text, -1) {
			found = found || slices.Contains(names, word)
		}
		if !found && name != "pca" {
			t.Errorf("%s: %q names no learner", name, text)
		}
	}
}
