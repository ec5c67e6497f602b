package dataset

import (
	"slices"
	"testing"
)

// Wherever columns are listed, a name with a comma is quoted as in CSV.
func TestListsTakeQuotedNames(t *testing.T) {
	data := []byte("\"a,b\",c,\"size, EU\",y,\"z,2\"\n1,2,S,0,1\n2,3,M,1,0\n5,1,M,1,0\n3,2,S,0,1\n")
	inputs := func(opt Options) (names []string) {
		f, err := openMemory(data, opt)
		if err != nil {
			t.Fatalf("%+v: %v", opt, err)
		}
		for _, c := range f.Schema().Columns {
			names = append(names, c.Name)
		}
		return names
	}
	if got := inputs(Options{Label: `y,"z,2"`, Columns: ColumnOptions{Ignore: `"a,b",c`}}); !slices.Equal(got, []string{"size, EU"}) {
		t.Errorf("inputs %q", got)
	}
	f, err := openMemory(data, Options{Label: "y", Columns: ColumnOptions{Only: `"a,b","size, EU"`, Ordinal: `"size, EU=S<M"`, NA: `"9,9",-1`}})
	if err != nil {
		t.Fatal(err)
	}
	s := f.Schema()
	if len(s.Columns) != 2 || !slices.Equal(s.Columns[1].Coding.Values, []string{"S", "M"}) || !slices.Equal(s.NA, []string{"9,9", "-1"}) {
		t.Errorf("schema %+v", s)
	}
	if ranges, err := s.GroupDims(`"size, EU"`, s.Dim); err != nil || len(ranges) != 1 || ranges[0] != [2]int{1, 2} {
		t.Errorf("group %v, %v", ranges, err)
	}
	kinds := &Kinds{Columns: []ColumnKind{{Name: "y", Kind: KindLabel}, {Name: "z,2", Kind: KindLabel}}}
	if got := inputs(Options{Columns: ColumnOptions{Kinds: kinds}}); !slices.Equal(got, []string{"a,b", "c", "size, EU"}) {
		t.Errorf("inputs by a file of kinds %q", got)
	}
}

// A name that an early object lacks stands where it would stand if the object had it.
func TestColumnsOfJSONLinesKeepTheirOrder(t *testing.T) {
	whole := `{"a":1,"b":2,"c":"x","y":0}` + "\n"
	for name, first := range map[string]string{
		"all":       whole,
		"the first": `{"b":2,"c":"x","y":0}` + "\n",
		"two":       `{"a":1,"y":0}` + "\n",
		"the last":  `{"a":1,"b":2,"c":"x"}` + "\n",
		"none":      "{}\n",
		"twice":     `{"b":1,"b":2,"y":1}` + "\n",
	} {
		f, err := openMemory([]byte(first+whole+whole), Options{Format: "jsonl", Label: "none"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, c := range f.Schema().Columns {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, []string{"a", "b", "c", "y"}) {
			t.Errorf("%s: columns %q", name, got)
		}
	}
}
