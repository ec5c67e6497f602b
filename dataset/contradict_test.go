package dataset

import (
	"context"
	"strings"
	"testing"
)

// What an option says of columns must be what the model has of them; what the file lacks is nothing that it could contradict.
func TestOptionsThatContradictTheModel(t *testing.T) {
	text := "id,a,c,when,b,y\n"
	for i := range 60 {
		text += strings.Join([]string{"r" + number(float64(i)), number(float64(i*7%13) + 0.5), "rgb"[i%3 : i%3+1], dayText(float64(i * 40)), number(float64(i % 11)),
			number(float64(i % 2))}, ",") + "\n"
	}
	trained := ColumnOptions{ID: "id", Ignore: "b", NA: "-999", Categorical: "c"}
	m := openMessy(t, text, Options{Columns: trained}).Schema()
	kinds := &Kinds{Columns: []ColumnKind{{Name: "a", Kind: KindCategory}}}
	for _, c := range []struct {
		columns ColumnOptions
		want    string
	}{
		{trained, ""}, {ColumnOptions{Numeric: "a", Date: "when", Decimal: "."}, ""}, {ColumnOptions{Ignore: "closed_on,b"}, ""}, {ColumnOptions{Only: "a..when"}, ""},
		{ColumnOptions{NA: "x"}, "na=x contradicts the model, which was trained without it; leave it out, or train again"},
		{ColumnOptions{Numeric: "c"}, "numeric=c contradicts the model, of which it is an input of the kind category"},
		{ColumnOptions{Categorical: "a"}, "of the kind number"}, {ColumnOptions{Date: "a"}, "of the kind number"}, {ColumnOptions{Text: "c"}, "category"},
		{ColumnOptions{Ignore: "when"}, "of the kind date"}, {ColumnOptions{Only: "a"}, `column "c" is an input`},
		{ColumnOptions{Decimal: ","}, "decimal=, contradicts the model, whose numbers have another"},
		{ColumnOptions{Kinds: kinds}, `column "a" is of the kind category by the file of kinds`},
	} {
		f, err := OpenBytes(context.Background(), "new.csv", []byte(text), Options{Schema: m, Columns: c.columns})
		if err == nil {
			f.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.columns, err, c.want)
		}
	}
}
