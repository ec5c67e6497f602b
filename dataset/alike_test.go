package dataset

import "testing"

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"Yes", "no", "yes"}, "Yes yes"},
		{[]string{"New York", "New  York"}, "New York New  York"},
		{[]string{"caf\u00e9", "cafe", "cafe\u0301"}, "caf\u00e9 cafe\u0301"},
		{[]string{"1", "１"}, "1 １"},
		{[]string{"a", "b", "ab", "-1", "1", "+"}, ""},
	} {
		got := ""
		if one, other, ok := NewClasses(c.names).Alike(); ok {
			got = one + " " + other
		}
		if got != c.want {
			t.Errorf("%q: %q look alike, want %q", c.names, got, c.want)
		}
	}
}
