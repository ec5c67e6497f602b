package eval_test

import (
	"fmt"
	"log"
	"math"
	"strings"

	"mercer/dataset"
	"mercer/eval"
	"mercer/train"
)

// houses is a table of prices that depend on area and district, not on the number.
func houses(from, to int) []byte {
	var b strings.Builder
	b.WriteString("number,area,district,price\n")
	for i := from; i < to; i++ {
		area, district := 40+math.Mod(37.7*float64(i), 120), i%3
		fmt.Fprintf(&b, "%d,%.1f,%s,%.2f\n", i*7919%100, area, []string{"east", "north", "west"}[district], 2*area+50*float64(district))
	}
	return []byte(b.String())
}

// What does a model of prices go by, and why is this house so dear?
func Example() {
	sold, err := dataset.OpenBytes(ctx, "train.csv", houses(0, 2000), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer sold.Close()
	m, _, err := train.Fit(ctx, sold, train.Config{Map: train.Map{Features: 256}, Learner: train.Ridge{}}, train.Options{})
	if err != nil {
		log.Fatal(err)
	}
	test, err := dataset.OpenBytes(ctx, "test.csv", houses(2000, 3000), dataset.Options{Schema: &m.Info().Schema})
	if err != nil {
		log.Fatal(err)
	}
	defer test.Close()

	rows, err := eval.Draw(ctx, m, test, eval.DefaultRows(m, 5), 1)
	if err != nil {
		log.Fatal(err)
	}
	importances, err := eval.Importance(ctx, m, rows, eval.ImportanceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range importances.Columns {
		fmt.Printf("%-8s %.1f\n", c.Column, math.Abs(c.Rises[0].Mean))
	}
	curves, err := eval.Dependence(ctx, m, rows, eval.DependenceOptions{Columns: importances.Leading(2), Points: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(curves.Curves[1].Categories, "differ by", math.Round((curves.Curves[1].Mean[0][2]-curves.Curves[1].Mean[0][0])/10)*10)

	background, err := eval.Draw(ctx, m, sold, eval.BackgroundRows, 1)
	if err != nil {
		log.Fatal(err)
	}
	columns := eval.Columns(m)
	for c, err := range eval.Contributions(ctx, m, rows.X.Slice(0, 1), background, eval.ContributionOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		sum := c.Base[0]
		for j, v := range c.Values[0] {
			sum += v
			if math.Abs(v) > 10 {
				fmt.Printf("%s = %s %s\n", columns[j].Name, columns[j].Text(rows.X, 0), map[bool]string{true: "raises", false: "lowers"}[v > 0])
			}
		}
		fmt.Println("adds up:", math.Abs(sum-c.Score[0]) < 1e-9)
	}
	// Output:
	// area     1.5
	// district 0.5
	// number   0.0
	// [east north west] differ by 100
	// area = 80 lowers
	// district = west raises
	// adds up: true
}
