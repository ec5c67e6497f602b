package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A column that was text and becomes many dimensions is told of, and one that looks like numbers but is not.
func TestNoticesOfWideColumns(t *testing.T) {
	var text strings.Builder
	text.WriteString("income,town,street,size,y\n")
	for i := range 400 {
		income := fmt.Sprintf("\"%d,%03d.50\"", 1+i%70, i)
		if i%9 == 3 {
			income = fmt.Sprint("n.k.", i%4)
		}
		fmt.Fprintf(&text, "%s,town %d,street %d,%d,%d\n", income, i%51, i%50, i, i%7)
	}
	notices := func(opt Options) (all []string) {
		src, err := OpenBytes(context.Background(), "incomes.csv", []byte(text.String()), opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range src.Notices() {
			all = append(all, n.Text)
		}
		return all
	}
	has := func(all []string, part string) bool {
		return slices.ContainsFunc(all, func(n string) bool { return strings.Contains(n, part) })
	}
	all := notices(Options{})
	for _, want := range []string{`"income" looks like numbers, but "n.k.3" in line 5 is none: it becomes categories, of which it has `,
		`na=n.k.3 counts such cells as missing`, `"town" has 51 different values, each of which becomes a column unless means`} {
		if !has(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
	if has(all, `"street"`) || has(all, `"size" looks`) {
		t.Errorf("%q", all)
	}
	if all := notices(Options{Columns: ColumnOptions{NA: "n.k.0,n.k.1,n.k.2,n.k.3"}}); has(all, `"income"`) {
		t.Errorf("with n.k. for missing: %q", all)
	}
	if all := notices(Options{Columns: ColumnOptions{Categorical: "income,town"}}); has(all, `looks like`) || has(all, `"town"`) {
		t.Errorf("as asked: %q", all)
	}
}

// A text in a column of numbers is an error that says what to do.
func TestTextAmongNumbersSaysWhatToDo(t *testing.T) {
	src, err := OpenBytes(context.Background(), "x.csv", []byte("size,y\n1,2\n2,3\ntall,3\n4,5\n"), Options{})
	if err == nil {
		_, err = Survey(context.Background(), src, SurveyOptions{})
	}
	if err == nil || !strings.Contains(err.Error(), `x.csv:4: column "size": "tall" is not a number (na=tall counts such cells as missing, `+
		`categorical=size takes the column as text)`) {
		t.Errorf("%v", err)
	}
}

// Very many notes of a kind are one, beside the first.
func TestManyNoticesAreCounted(t *testing.T) {
	const columns = 3000
	var b strings.Builder
	b.WriteString("@relation r\n")
	for i := range columns {
		fmt.Fprintf(&b, "@attribute a%d numeric\n", i)
	}
	b.WriteString("@attribute b numeric\n@attribute y {0,1}\n@data\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%s%d,%d\n", strings.Repeat("0,", columns), i*i%17, i%2)
	}
	f, err := OpenBytes(context.Background(), "wide.arff", []byte(b.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	notices := f.Notices()
	if len(notices) != 4 || notices[3].Text != `2,997 more notes of the kind "constant", about a3, a4, a5, …` {
		t.Errorf("%d notices: %+v", len(notices), notices[:min(len(notices), 6)])
	}
}

// A table of more columns than there is memory for is refused before it is taken.
func TestTooManyColumns(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		b.WriteString("{")
		for j := range 1000 {
			fmt.Fprintf(&b, `"c%d_%d":%d,`, i, j, j)
		}
		fmt.Fprintf(&b, "\"y\":%d}\n", i%2)
	}
	_, err := OpenBytes(context.Background(), "wide.jsonl", []byte(b.String()), Options{Memory: 64 << 20})
	if err == nil || !strings.Contains(err.Error(), "wide.jsonl: a table of 20,001 columns takes 68 MiB, but there are 64 MiB of memory") {
		t.Error(err)
	}
}
