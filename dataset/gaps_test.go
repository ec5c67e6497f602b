package dataset

import (
	"fmt"
	"slices"
	"testing"
)

// A number that stands for a missing value does so as people and types write it, in tables and records alike, and, by a file of kinds, in
// one column alone.
func TestNumbersThatMeanMissing(t *testing.T) {
	text := "age,price,q,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d,%d,%d\n", 20+i, 5+i, i%5, i%2)
	}
	kinds := &Kinds{Columns: []ColumnKind{{Name: "q", Kind: KindNumber, NA: []string{"99"}}}}
	if err := kinds.check(); err != nil {
		t.Fatal(err)
	}
	text += "-999,\"$1,500\",99,0\n-999.0,-999.00,99.0,1\n99,(999),-9.99e2,0\n"
	f, err := openMemory([]byte(text), Options{Label: "y", Columns: ColumnOptions{NA: "-999", Kinds: kinds}})
	if err != nil {
		t.Fatal(err)
	}
	s := f.Schema()
	var missing []int
	for _, c := range f.Profile().Columns {
		missing = append(missing, c.Missing)
	}
	if !slices.Equal(missing, []int{2, 2, 3, 0}) {
		t.Fatalf("missing %v", missing)
	}
	last, err := readBytes([]byte("age,price,q\n-999.0,-999,99.00\n20,20,3\n"), Options{Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, s.Dim)
	for _, record := range []map[string]any{{"age": -999.0, "price": -999, "q": 99}, {"age": "-999.0", "price": "-999.0", "q": float32(99)}, {}} {
		if err := NewEncoder(s).Map(row, record); err != nil || !slices.Equal(row, last.X.Dense.Row(0)) {
			t.Errorf("%v has %v, the table %v (%v)", record, row, last.X.Dense.Row(0), err)
		}
	}
	if err := NewEncoder(s).Map(row, map[string]any{"age": 20, "price": 20, "q": 3}); err != nil || !slices.Equal(row, last.X.Dense.Row(1)) {
		t.Errorf("%v, the table %v (%v)", row, last.X.Dense.Row(1), err)
	}
}
