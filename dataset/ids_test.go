package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Columns that name rows are left out and told of: indices that pandas and R write, numbers called like IDs, numbers too long for anything
// else. Times are none, but told of. What looks like numbers or dates but for a few cells is told with the first of these.
func TestColumnsThatNameRows(t *testing.T) {
	shuffled := func(i int) int { return i * 37 % 101 }
	for _, c := range []struct {
		name string
		cell func(i int) string
		kind string
		told string
	}{
		{"", func(i int) string { return fmt.Sprint(shuffled(i)) }, KindID, "an index of the rows"},
		{"Unnamed: 0", func(i int) string { return fmt.Sprint(i % 60) }, KindID, "looks like an ID, an index of the rows (0, 1, …), and is left out"},
		{"level_0", func(i int) string { return fmt.Sprint(i) }, KindID, "an index"},
		{"CustomerNumber", func(i int) string { return fmt.Sprint(shuffled(i)) }, KindID, "looks like an ID"},
		{"userid", func(i int) string { return fmt.Sprint(shuffled(i)) }, KindID, "looks like an ID"},
		{"merchant_id", func(i int) string { return fmt.Sprint(i % 70) }, KindNumber, "is named like an ID, and has 70 different whole numbers"},
		{"paid", func(i int) string { return fmt.Sprint(shuffled(i)) }, KindNumber, ""},
		{"account", func(i int) string { return fmt.Sprint(4e15 + 1e13*float64(shuffled(i))) }, KindID, "looks like an ID"},
		{"account", func(i int) string { return fmt.Sprintf("40%018d", int64(1e13)*int64(shuffled(i))) }, KindID, "looks like an ID"},
		{"tweet", func(i int) string { return fmt.Sprint(5234567890123456000 + 300*int64(shuffled(i))) }, KindID, "looks like an ID"},
		{"created", func(i int) string { return fmt.Sprint(1600000000 + 10007*int64(shuffled(i))) }, KindNumber, "has whole numbers such as 1600000000 that may be times; date=created"},
		{"sold", func(i int) string { return fmt.Sprint(1600000000 + 10007*int64(shuffled(i))) }, KindNumber, ""},
		{"sold", func(i int) string { return fmt.Sprint(1600000000000 + 10000007*int64(shuffled(i))) }, KindNumber, "may be times"},
		{"sold", func(i int) string { return strings.ReplaceAll(dayText(float64(19000+shuffled(i))), "-", "") }, KindNumber, "may be times"},
		{"sold", func(i int) string { return [...]string{dayText(float64(i)), fmt.Sprint("soon ", i)}[i/98%2] }, KindCategory, `looks like dates, but "soon 98" in line 100 is none`},
		{"sold", func(i int) string { return [...]string{fmt.Sprintf("$%d.50", i), fmt.Sprint("soon ", i)}[i/98%2] }, KindCategory, `looks like numbers, but "soon 98" in line 100 is none`},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "%s,a,y\n", c.name)
		for i := range 100 {
			fmt.Fprintf(&b, "%s,%d.5,%d\n", c.cell(i), i%7, i%2)
		}
		f := openMessy(t, b.String(), Options{})
		notices := slices.DeleteFunc(slices.Clone(f.Notices()), func(n Notice) bool { return n.Kind == "many" || n.Kind == "digits" })
		kind := f.Profile().Columns[0].Kind
		if told := fmt.Sprint(notices); kind != c.kind || (c.told == "") != (len(notices) == 0) || !strings.Contains(told, c.told) {
			t.Errorf("%s, %s: %s, %s; want %s, %s", c.name, c.cell(0), kind, told, c.kind, c.told)
		}
	}
}
