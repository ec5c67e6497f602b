package visible

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

var hostile = []struct{ text, want, line string }{
	{"café 木 🦊", "café 木 🦊", "café 木 🦊"},
	{"\x1b[31mred", `\u001b[31mred`, `\u001b[31mred`},
	{"a\nb\tc\rd", "a\nb\tc" + `\rd`, `a\nb\tc\rd`},
	{"\u009b31m\x7f\x00", `\u009b31m\u007f\u0000`, `\u009b31m\u007f\u0000`},
	{"x\u202ey\u2066z\u2028", `x\u202ey\u2066z\u2028`, `x\u202ey\u2066z\u2028`},
	{"caf\xe9\x9b", `caf\xe9\x9b`, `caf\xe9\x9b`},
	{"zero\u200dwidth", "zero\u200dwidth", "zero\u200dwidth"},
}

func TestHiddenCharactersAreShown(t *testing.T) {
	for _, c := range hostile {
		if got := Text(c.text); got != c.line {
			t.Errorf("%q on a line is %q, want %q", c.text, got, c.line)
		}
		for size := 1; size <= len(c.text); size++ { // characters may be cut anywhere
			var out bytes.Buffer
			w := &Writer{W: &out}
			for rest := []byte(c.text); len(rest) > 0; {
				n := min(size, len(rest))
				if k, err := w.Write(rest[:n]); k != n || err != nil {
					t.Fatal(k, err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("%q in pieces of %d is %q, want %q", c.text, size, out.String(), c.want)
			}
		}
	}
}

// JSON means the same after it was made visible.
func TestJSONStaysJSON(t *testing.T) {
	for _, c := range hostile {
		text, err := json.Marshal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		(&Writer{W: &out}).Write(text)
		var want, got string
		if json.Unmarshal(text, &want); json.Unmarshal(out.Bytes(), &got) != nil || got != want {
			t.Errorf("%s became %s", text, out.Bytes())
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, c := range hostile {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var out bytes.Buffer
		w := &Writer{W: &out}
		w.Write(text)
		w.Flush()
		for _, s := range []string{Text(string(text)), out.String()} {
			if !utf8.ValidString(s) {
				t.Fatalf("%q is no UTF-8", s)
			}
			for _, r := range s {
				if Hidden(r) && r != '\n' && r != '\t' {
					t.Fatalf("%q has %q", s, r)
				}
			}
		}
	})
}
