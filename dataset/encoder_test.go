package dataset

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
)

// Columns encoded together give the numbers and the errors that they give one by one, whatever is in a record.
func TestColumnsTogetherAreColumnsOneByOne(t *testing.T) {
	usual := []any{0.0, 1.5, -2.25, math.Copysign(0, -1), 0x1.fffffefffffffp127, 1e-300, math.Pi}
	unusual := []any{nil, math.NaN(), math.Inf(1), math.Inf(-1), 0x1.ffffffp127, -math.MaxFloat64, "7", "NA", "red", 3, float32(0.1), true,
		[]int{1}, (*float64)(nil)}
	r := rand.New(rand.NewPCG(91, 1))
	failed, fine := 0, 0
	for trial := range 4000 {
		s := &Schema{Missing: []string{"", "mean", "zero"}[r.IntN(3)]}
		columns, categorical := 1+r.IntN(40), r.IntN(50)
		if trial%4 == 0 { // an array's
			s.Dim, s.Base = columns, 1
		}
		for i := range columns - s.Dim {
			c := Column{Place: Place{Name: strconv.Itoa(i)}, Mean: float64(i)}
			if i == categorical {
				c.Categories = []string{"", "red", "1.5"}
			}
			s.Columns = append(s.Columns, c)
		}
		for i := range s.Columns {
			s.Dim += s.Columns[i].Width()
		}
		together, single := NewEncoder(s), NewEncoder(s)
		if leading := min(columns, categorical); len(s.Columns) > 0 && len(together.wide) != leading {
			t.Fatalf("%d of %d leading columns of numbers", len(together.wide), leading)
		}
		single.wide = nil
		values, record := make([]any, columns), map[string]any{"unknown": "red"}
		for i, name := range together.Columns() {
			if values[i] = usual[r.IntN(len(usual))]; trial%2 == 0 && r.IntN(20) == 0 {
				values[i] = unusual[r.IntN(len(unusual))]
			}
			record[name] = values[i]
			if trial%3 == 0 && r.IntN(40) == 0 {
				delete(record, name)
			}
		}
		for name, encode := range map[string]func(e *Encoder, dst []float32) error{
			"Values": func(e *Encoder, dst []float32) error { return e.Values(dst, values...) },
			"Map":    func(e *Encoder, dst []float32) error { return e.Map(dst, record) },
		} {
			got, want := make([]float32, s.Dim), make([]float32, s.Dim)
			for j := range got {
				got[j], want[j] = 9, 9
			}
			err, wrong := encode(together, got), encode(single, want)
			// NaN, which is missing, equals nothing, and may be in an error: these are compared by what they say.
			if (err == nil) != (wrong == nil) || err != nil && (err.Error() != wrong.Error() || reflect.TypeOf(err) != reflect.TypeOf(wrong)) {
				t.Fatalf("%s of %v: %v, want %v", name, values, err, wrong)
			}
			if err != nil {
				failed++
				continue
			}
			fine++
			if !slices.EqualFunc(got, want, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
				t.Fatalf("%s of %v: %v, want %v", name, values, got, want)
			}
		}
	}
	if failed < 300 || fine < 3000 {
		t.Errorf("%d rows with errors and %d without: too few of one kind", failed, fine)
	}
}
