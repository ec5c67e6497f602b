package dataset

import (
	"strings"
	"testing"
)

// A name that two columns have does not say which is meant.
func TestANameOfTwoColumnsIsAskedBack(t *testing.T) {
	const text = "y,x,w,y\n1,0,1,a\n2,1,1,b\n1,2,1,b\n"
	const want = `the columns 0 and 3, counted from 0, are all named "y"; say which by its number`
	for name, opt := range map[string]Options{
		"label":    {Label: "y"},
		"labels":   {Label: "x,y"},
		"weight":   {Weight: "y"},
		"group":    {Group: "y"},
		"id":       {Columns: ColumnOptions{ID: "y"}},
		"ignore":   {Columns: ColumnOptions{Ignore: "x, y"}},
		"range":    {Columns: ColumnOptions{Ignore: "x..y"}},
		"ordinal":  {Columns: ColumnOptions{Ordinal: "y"}},
		"of kinds": {Columns: ColumnOptions{Kinds: &Kinds{Columns: []ColumnKind{{Name: "y", Kind: KindLabel}}}}},
	} {
		if _, _, err := readTable(t, text, "", opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, opt := range []Options{{}, {Label: "0"}, {Label: "-1"}, {Label: "y.1"}, {Label: "x", Columns: ColumnOptions{Ignore: "y*"}}} {
		if _, _, err := readTable(t, text, "", opt); err != nil {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}
