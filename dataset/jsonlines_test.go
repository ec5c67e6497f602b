package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
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

// Names that are ever new, or that few rows have, cost no more than the file: they are refused once they are too many for a table.
func TestNamesOfFewRowsAreRefused(t *testing.T) {
	dir := t.TempDir()
	ever, few := bytes.Buffer{}, bytes.Buffer{}
	for row := range 8 {
		for i := range 20_000 {
			fmt.Fprintf(&ever, "%c\"c%d_%d\":1", "{,"[min(i, 1)], row, i)
		}
		ever.WriteString("}\n")
	}
	for i := range 5_000 {
		fmt.Fprintf(&few, "%c\"c%d\":1", "{,"[min(i, 1)], i)
	}
	few.WriteString("}\n" + strings.Repeat("{\"c0\":2}\n", 20_000))
	for name, c := range map[string]struct {
		text, want string
	}{
		"ever.jsonl": {ever.String(), ":7: the names of the columns so far, 124,543, are longer than 1.0 MiB, too long for a table; "},
		"few.jsonl":  {few.String(), ": the 20,001 rows have 5,000 names in all, but one row only 1.25 of them on average, too few for a table; "},
	} {
		path := save(t, dir, name, c.text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Open(context.Background(), path, Options{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if most := uint64(64<<20 + 4*len(c.text)); after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%s took %d bytes, more than %d", name, after.TotalAlloc-before.TotalAlloc, most)
		}
	}
}

// NaN and infinities, which Python's json writes and JSON has not, are a missing value and numbers that are not finite.
func TestNumbersThatJSONLacks(t *testing.T) {
	f, err := openMemory([]byte("{\"a\": NaN, \"y\": 1}\n{\"a\": 2, \"y\": 0}\n{\"a\": 3, \"y\": 1}\n"), Options{Label: "y"})
	if err != nil || f.Profile().Columns[0].Missing != 1 {
		t.Errorf("%v", err)
	}
	f, err = openMemory([]byte("{\"a\": 1, \"y\": 1}\n{\"a\": -Infinity, \"y\": 0}\n"), Options{Label: "y"})
	if err == nil {
		_, err = Survey(t.Context(), f, SurveyOptions{})
	}
	if err == nil || !strings.Contains(err.Error(), `f:2: column "a": "-Infinity" is not a finite number`) {
		t.Errorf("%v", err)
	}
	if _, err = openMemory([]byte("{\"a\": nan, \"y\": 1}\n"), Options{}); err == nil {
		t.Error("nan is read")
	}
}
