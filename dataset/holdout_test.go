package dataset

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// visits is a table of 600 rows of 40 patients, over 300 days, with labels of which a tenth is "yes".
func visits(t *testing.T) string {
	t.Helper()
	var s strings.Builder
	s.WriteString("patient,day,x,part,out\n")
	for i := range 600 {
		part := []string{"train", "TRAIN", "test"}[i%3]
		out := map[bool]string{true: "yes", false: "no"}[i%10 == 3]
		fmt.Fprintf(&s, "p%d,2024-%02d-%02d,%d.5,%s,%s\n", i*7%40, 1+i*11%12, 1+i%28, i, part, out)
	}
	path := filepath.Join(t.TempDir(), "visits.csv")
	if err := os.WriteFile(path, []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// heldRows are the numbers of rows (x) on the two sides.
func heldRows(t *testing.T, path string, c ColumnOptions, h Holdout) (rest, held []int, how *Held) {
	t.Helper()
	f, err := Open(context.Background(), path, Options{Label: "out", Columns: c})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, b, how, err := h.HoldOut(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(f.Schema().Columns, func(c Column) bool { return c.Name == "x" })
	dim := 0
	for i := range at {
		dim += f.Schema().Columns[i].Width()
	}
	rows := func(src Source) (all []int) {
		for b, err := range Each(t.Context(), src) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.X.Len() {
				v := 0.0
				if b.X.CSR != nil {
					idx, val := b.X.CSR.Row(i)
					for k, j := range idx {
						if int(j) == dim {
							v = float64(val[k])
						}
					}
				} else {
					v = float64(b.X.Dense.Row(i)[dim])
				}
				all = append(all, int(v))
			}
		}
		return all
	}
	rest, held = rows(a), rows(b)
	both := append(slices.Clone(rest), held...)
	slices.Sort(both)
	if len(both) != 600 || both[0] != 0 || both[599] != 599 || len(slices.Compact(both)) != 600 {
		t.Errorf("%+v: %d and %d rows are not each row once", h, len(rest), len(held))
	}
	return rest, held, how
}

func TestHoldOut(t *testing.T) {
	path := visits(t)
	day := func(i int) int { return (1+i*11%12)*100 + 1 + i%28 }
	t.Run("stratified by default", func(t *testing.T) {
		_, held, how := heldRows(t, path, ColumnOptions{}, Holdout{Share: 0.25, Seed: 1})
		yes := 0
		for _, i := range held {
			if i%10 == 3 {
				yes++
			}
		}
		if how.Kind != "stratified" || len(held) != 150 || yes != 15 {
			t.Errorf("%s: %d rows held, %d of them yes; want 150 and 15", how.Kind, len(held), yes)
		}
	})
	t.Run("random", func(t *testing.T) {
		rest, _, how := heldRows(t, path, ColumnOptions{}, Holdout{Share: 0.25, Kind: "random", Seed: 1})
		if how.Kind != "random" || math.Abs(float64(len(rest))-450) > 40 {
			t.Errorf("%s: %d rows are left", how.Kind, len(rest))
		}
	})
	t.Run("group", func(t *testing.T) {
		for seed := range uint64(5) {
			rest, held, how := heldRows(t, path, ColumnOptions{SplitGroup: "patient"}, Holdout{Share: 0.25, Seed: seed})
			of := map[int]bool{}
			for _, i := range rest {
				of[i*7%40] = true
			}
			for _, i := range held {
				if of[i*7%40] {
					t.Fatalf("patient %d is on both sides", i*7%40)
				}
			}
			if len(held) != 150 || how.Groups != 10 || how.Kind != "group" {
				t.Errorf("%d rows of %d groups held by %s; want 150 of 10", len(held), how.Groups, how.Kind)
			}
		}
	})
	t.Run("time", func(t *testing.T) {
		rest, held, how := heldRows(t, path, ColumnOptions{SplitTime: "day"}, Holdout{Share: 0.25, Seed: 1})
		last, first := 0, 9999
		for _, i := range rest {
			last = max(last, day(i))
		}
		for _, i := range held {
			first = min(first, day(i))
		}
		if last >= first || math.Abs(float64(len(held))-150) > 10 || how.From != fmt.Sprintf("2024-%02d-%02d", first/100, first%100) {
			t.Errorf("%d rows held, from %d (%s), trained up to %d", len(held), first, how.From, last)
		}
		if len(how.Times) != len(rest) {
			t.Errorf("%d times of %d rows", len(how.Times), len(rest))
		}
	})
	t.Run("column", func(t *testing.T) {
		_, held, how := heldRows(t, path, ColumnOptions{SplitColumn: "part"}, Holdout{})
		if len(held) != 200 || slices.ContainsFunc(held, func(i int) bool { return i%3 != 2 }) || how.Rows != 200 || how.Of != 600 {
			t.Errorf("%d rows held; want those with test alone", len(held))
		}
	})
}

func TestHoldOutErrors(t *testing.T) {
	path := visits(t)
	for _, c := range []struct {
		columns ColumnOptions
		h       Holdout
		want    string
	}{
		{ColumnOptions{SplitGroup: "nobody"}, Holdout{Share: 0.2}, `no column "nobody" for split_group`},
		{ColumnOptions{SplitGroup: "out"}, Holdout{Share: 0.2}, "is the label"},
		{ColumnOptions{SplitGroup: "x", SplitTime: "day"}, Holdout{Share: 0.2}, "give one of"},
		{ColumnOptions{SplitTime: "patient"}, Holdout{Share: 0.2}, "neither a date nor a number"},
		{ColumnOptions{SplitColumn: "patient"}, Holdout{}, "does not say whether"},
		{ColumnOptions{SplitGroup: "patient"}, Holdout{Share: 0.2, Kind: "time"}, "leave out"},
		{ColumnOptions{}, Holdout{Share: 0.2, Kind: "time"}, "split_time"},
		{ColumnOptions{}, Holdout{Share: 0.2, Kind: "odd"}, "known are random, stratified"},
		{ColumnOptions{}, Holdout{Share: 0.0001}, "leaves none to test on"},
	} {
		f, err := Open(t.Context(), path, Options{Label: "out", Columns: c.columns})
		if err == nil {
			_, _, _, err = c.h.HoldOut(t.Context(), f, nil)
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v %+v: %v, want %q", c.columns, c.h, err, c.want)
		}
	}
	if _, err := OpenBytes(t.Context(), "a.svm", []byte("1 qid:1 1:2\n2 qid:2 1:3\n"),
		Options{Columns: ColumnOptions{SplitTime: "t"}}); err == nil || !strings.Contains(err.Error(), "split_group=qid") {
		t.Errorf("LIBSVM text by time: %v", err)
	}
}

// TestHoldOutQid keeps the rows of a qid together.
func TestHoldOutQid(t *testing.T) {
	var s strings.Builder
	for i := range 90 {
		fmt.Fprintf(&s, "%d qid:%d 1:%d\n", i%2, i*7%9, i)
	}
	f, err := OpenBytes(t.Context(), "a.svm", []byte(s.String()), Options{Columns: ColumnOptions{SplitGroup: "qid"}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Schema().Group != nil {
		t.Error("the rows are taken for bags")
	}
	_, _, how, err := Holdout{Share: 1. / 3, Seed: 4}.HoldOut(t.Context(), f, nil)
	if err != nil || how.Groups != 3 || how.Rows != 30 {
		t.Errorf("%+v %v, want 30 rows of 3 groups", how, err)
	}
}

func TestNoticeOfAnotherLabel(t *testing.T) {
	for _, c := range []struct {
		head, label string
		told        bool
	}{
		{"a,target,b", "", true},
		{"a,Y,b", "", true},
		{"a,b,target", "", false},
		{"y,b,class", "", false},
		{"a,target,b", "target", false},
		{"a,target,b", "b", true},
		{"y,a,b", "b", false},
		{"x,y,b", "", false},
	} {
		text := c.head + "\n"
		for i := range 40 {
			text += fmt.Sprintf("%d.5,%d.25,%d\n", i*7%11, i*3%7, i%2)
		}
		f, err := OpenBytes(t.Context(), "a.csv", []byte(text), Options{Label: c.label})
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(f.Notices(), func(n Notice) bool { return n.Kind == "label" })
		if told != c.told {
			t.Errorf("%s with the label %q: told %v, want %v", c.head, c.label, told, c.told)
		}
	}
}
