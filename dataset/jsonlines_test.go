package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// byDecoder is eachField by the standard library; ok is false where that finds a fault, or a value that is nested.
func byDecoder(text []byte) (fields map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil || fields == nil || len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		return nil, false
	}
	for _, v := range fields {
		switch v.(type) {
		case map[string]any, []any:
			return nil, false
		}
	}
	return fields, true
}

// Lines are read as the standard library reads them, and what it does not read is an error.
func TestFieldsOfJSONAreThoseOfTheStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	whole := []byte(`{"a": -1.50e+3,"b":"x \"y\" \u00e9\n","ü":true , "":null,"c":0,"d":"","e":12345678901234567890,"f":false}`)
	alphabet := []byte("{}[]\",:\\ 0-1.eu\ttrflns\x01é")
	accepted, lines := 0, 30_000
	if testing.Short() {
		lines = 5_000
	}
	for n := range lines {
		text := bytes.Clone(whole)
		for range n % 4 {
			switch at := rng.IntN(len(text)); rng.IntN(3) {
			case 0:
				text[at] = alphabet[rng.IntN(len(alphabet))]
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text = append(text[:at], append([]byte{alphabet[rng.IntN(len(alphabet))]}, text[at:]...)...)
			}
		}
		got := map[string]any{}
		err := eachField(bytes.TrimSpace(text), func(name, value []byte) error {
			var v any
			d := json.NewDecoder(bytes.NewReader(value))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				return err
			}
			if s, ok := v.(string); ok {
				if u, err := unquoted(value); err != nil || string(u) != s && bytes.IndexByte(text, 0xc3) < 0 {
					return fmt.Errorf("%q is %q, not %q", value, u, s)
				}
			}
			got[string(name)] = v
			return nil
		})
		want, ok := byDecoder(text)
		if (err == nil) != ok && !(err != nil && bytes.ContainsAny(text, "[{")) {
			t.Fatalf("%s: %v, and the standard library says %v", text, err, ok)
		}
		if err == nil && bytes.Equal(text, bytes.ToValidUTF8(text, nil)) && !maps.Equal(got, want) {
			t.Fatalf("%s: %v instead of %v", text, got, want)
		}
		if err == nil {
			accepted++
		}
	}
	if accepted < lines/6 {
		t.Errorf("only %d lines are objects", accepted)
	}
}
