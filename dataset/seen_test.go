package dataset

import (
	"context"
	"reflect"
	"testing"
)

// Columns know the range and mean of their numbers, and their most frequent category.
func TestSeenColumns(t *testing.T) {
	src, err := OpenBytes(context.Background(), "t.csv", []byte("a,town,b,label\n1,Kiel,-5,x\n4,Bonn,0.5,y\n4,Kiel,2,x\n7,Ulm,1e3,y\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	sum, err := Survey(context.Background(), src, SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	columns := SeenColumns(src.Schema().Columns, sum)
	want := []Seen{{Min: 1, Max: 7, Mean: 4, Sample: 4, Cuts: []float32{1, 4}, Below: []int{1, 3}}, {Max: 1, Usual: "Kiel", Counts: []int{1, 2, 1}},
		{Min: -5, Max: 1000, Mean: 249.375, Sample: 4, Cuts: []float32{-5, 0.5, 2}, Below: []int{1, 2, 3}}}
	for i, w := range want {
		if columns[i].Seen == nil || !reflect.DeepEqual(*columns[i].Seen, w) {
			t.Errorf("%s: %+v, want %+v", columns[i].Name, columns[i].Seen, w)
		}
		if src.Schema().Columns[i].Seen != nil {
			t.Error("the columns of the source have changed")
		}
	}
}
