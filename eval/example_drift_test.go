package eval_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"mercer/dataset"
	"mercer/eval"
	"mercer/train"
)

// Whether new rows come from where those of the training came from: ages have gone up by ten years, plans have not changed.
func ExampleNewDrift() {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	table := func(n, older int) []byte {
		var b strings.Builder
		b.WriteString("age,plan,churn\n")
		for range n {
			fmt.Fprintf(&b, "%d,%s,%t\n", 20+older+r.IntN(40), []string{"basic", "pro"}[r.IntN(2)], r.IntN(2) == 0)
		}
		return []byte(b.String())
	}
	src, err := dataset.OpenBytes(ctx, "train.csv", table(1000, 0), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m, _, err := train.Fit(ctx, src, train.Config{Learner: train.Ridge{}, Kernel: train.Kernel{Name: "linear"}}, train.Options{})
	if err != nil {
		log.Fatal(err)
	}
	drift, err := eval.NewDrift(&m.Info().Schema, m.Info().Training.Rows)
	if err != nil {
		log.Fatal(err)
	}
	next, err := dataset.OpenBytes(ctx, "new.csv", table(400, 10), dataset.Options{Schema: &m.Info().Schema})
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range dataset.Each(ctx, next) {
		if err != nil {
			log.Fatal(err)
		}
		drift.Add(b.X)
	}
	for _, c := range drift.Report().Columns {
		fmt.Println(c.Column, c.Drifted)
	}
	// Output:
	// age true
	// plan false
}
