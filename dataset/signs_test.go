package dataset

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// Numbers that are not written as those of the training are taken as they are written, and told of with their place: other currencies, numbers with
// and without %, and bounds and units where there were none.
func TestNumbersWrittenOtherwiseAreTold(t *testing.T) {
	column := func(cell func(i int) string) string {
		text := "x;z;y\n"
		for i := range 60 {
			text += fmt.Sprintf("%s;%d.5;%d\n", cell(i), i%17, i%2)
		}
		return text
	}
	plain := func(i int) string { return fmt.Sprintf("%d.%d", i*7%40, i%9) }
	dollars := func(i int) string { return "$" + plain(i) }
	share := func(i int) string { return fmt.Sprint(i, "%") }
	grouped := func(i int) string { return fmt.Sprintf("%d,%03d.5", 1+i, i*7) }
	for _, c := range []struct {
		name string
		cell func(i int) string
		then string
		v    float32
		told string // "": nothing
	}{
		{"dollars", dollars, "€5", 5, `is in €, others are in $, and is taken as it is written`},
		{"dollars", dollars, "5 EUR", 5, `is in €, others are in $`},
		{"dollars", dollars, "USD 5", 5, ""},
		{"dollars", dollars, "5", 5, ""},
		{"dollars", dollars, "<$5", 5, `is a bound, of which the training had none`},
		{"shares", share, "50", 50, `has no %, as others have, and is taken as it is written: 50 is 5,000%`},
		{"shares", share, "5 %", 0.05, ""},
		{"shares", share, "0", 0, ""},
		{"plain", plain, "50%", 0.5, `has a %, which others lack, and is taken as it is written: 50% is 0.5`},
		{"plain", plain, "<0.01", 0.01, `is a bound, of which the training had none, and counts as its number`},
		{"plain", plain, "90+", 90, `is a bound`},
		{"plain", plain, "€ 5", 5, `is in €, which others lack, and is taken as it is written`},
		{"plain", plain, "5 kg", 5, `has a unit, of which the training had none, and counts as its number`},
		{"plain", plain, "5°C", 5, `has a unit`},
		{"grouped", grouped, "£5", 5, `is in £, which others lack`},
		{"grouped", grouped, "5 kg", 5, `has a unit`},
	} {
		f := openMessy(t, column(c.cell), Options{Label: "y"})
		if got := fmt.Sprint(f.Notices()); strings.Contains(got, "50 is 5,000") || strings.Contains(got, "currency") {
			t.Errorf("%s: told %s", c.name, got)
		}
		for _, name := range []string{"f.csv", "f.jsonl"} {
			text := fmt.Sprintf("x;z;y\n%s;1.5;0\n", c.then)
			if name == "f.jsonl" {
				text = fmt.Sprintf("{\"x\":%q,\"z\":1.5,\"y\":0}\n", c.then)
			}
			g, err := OpenBytes(context.Background(), name, []byte(text), Options{Schema: f.Schema()})
			if err != nil {
				t.Errorf("%s, then %s in %s: %v", c.name, c.then, name, err)
				continue
			}
			all, err := Collect(context.Background(), g, 0)
			if err != nil || all.X.Dense.Row(0)[0] != c.v {
				t.Errorf("%s, then %s in %s: %v %v", c.name, c.then, name, all, err)
				continue
			}
			u := g.UnseenCategories()
			if c.told == "" && len(u) > 0 || c.told != "" && (len(u) != 1 || !strings.HasPrefix(u[0].Written, c.told) || u[0].Value != c.then || u[0].Rows != 1 ||
				u[0].Line != map[string]int{"f.csv": 2, "f.jsonl": 1}[name]) {
				t.Errorf("%s, then %s in %s: told %+v", c.name, c.then, name, u)
			}
		}
		row := make([]float32, f.Schema().Dim)
		if err := NewEncoder(f.Schema()).Map(row, map[string]any{"x": c.then, "z": 1.5}); err != nil || row[0] != c.v {
			t.Errorf("%s, then %s: %v %v", c.name, c.then, row, err)
		}
	}
	for _, c := range []struct {
		cell func(i int) string
		told string
	}{
		{func(i int) string { return []string{dollars(i), "€7.5"}[i/50] }, `column "x" has amounts in $ and €, which are taken as they are written ("€7.5" in 10 rows, first in line 52)`},
		{func(i int) string { return []string{share(i), "50"}[i/50] }, `column "x" has numbers with % and without ("50" in 10 rows, first in line 52), and these count as they are written`},
		{func(i int) string { return []string{plain(i), "50%"}[i/50] }, `column "x" has numbers with % and without ("50%" in 10 rows, first in line 52)`},
		{func(i int) string { return fmt.Sprint(i, []string{"°C", "°F"}[i%2]) }, `column "x" has numbers with several units (°C, °F), and is taken for text`},
	} {
		if got := fmt.Sprint(openMessy(t, column(c.cell), Options{Label: "y"}).Notices()); !strings.Contains(got, c.told) {
			t.Errorf("told %s, not %s", got, c.told)
		}
	}
	for _, wrong := range []string{"12:30", "tall", "1O", "5 apples a day and more"} {
		g, err := OpenBytes(context.Background(), "f", []byte("x;z;y\n5;1.5;0\n6;1.5;0\n"+wrong+";1.5;0\n"), Options{Schema: openMessy(t, column(plain), Options{Label: "y"}).Schema()})
		if err == nil {
			_, err = Collect(context.Background(), g, 0)
		}
		if err == nil || !strings.Contains(err.Error(), "is not a number") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
