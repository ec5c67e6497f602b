package spelling

import "testing"

func TestNear(t *testing.T) {
	known := []string{"rbf", "laplacian", "cauchy", "chi2", "exp-chi2", "tensorsketch", "tensorsrht", "sorf", "orf", "nystrom"}
	for _, c := range []struct{ word, want string }{
		{"rfb", "rbf"},
		{"laplcian", "laplacian"},
		{"Laplacien", "laplacian"},
		{"lapl", "laplacian"},
		{"tensor", ""}, // two begin so, and both are far
		{"tensorskech", "tensorsketch"},
		{"nystroem", "nystrom"},
		{"chi", "chi2"},
		{"cauhcy", "cauchy"},
		{"sorff", "sorf"},
		{"x", ""},
		{"", ""},
		{"magic", ""},
		{"rbf", "rbf"},
	} {
		if got := Near(c.word, known); got != c.want {
			t.Errorf("%q: %q, want %q", c.word, got, c.want)
		}
	}
}

// A word that lacks one letter of a known one is not taken for the beginning of another.
func TestNearOfBeginnings(t *testing.T) {
	known := []string{"train", "transform", "tune"}
	for word, want := range map[string]string{"tran": "train", "trans": "transform", "transf": "transform", "trainn": "train"} {
		if got := Near(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
		{"abcd", "acbd", 1}, {"ca", "abc", 3}, {"νυ", "ν", 1},
	} {
		if got := edits([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := edits([]rune(c.b), []rune(c.a)); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
