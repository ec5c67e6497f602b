package mercer_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"mercer"
	"mercer/dataset"
	"mercer/train"
)

// churned are customers, one in ten of whom leaves.
func churned(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("customer_id,joined,age,plan,churn\n")
	for i := range n {
		age, plan, label := 20+r.IntN(50), []string{"basic", "plus", "pro"}[r.IntN(3)], "no"
		if float64(age)/20+map[string]float64{"basic": 0, "plus": 1, "pro": 2}[plan]+r.NormFloat64()/2 < 1.7 {
			label = "yes"
		}
		fmt.Fprintf(&b, "C%05d,2024-%02d-%02d,%d,%s,%s\n", i, 1+r.IntN(12), 1+r.IntN(28), age, plan, label)
	}
	return b.String()
}

// A threshold that finds nine of ten of the rare class, chosen on rows that the learner has not seen, is part of the
// model. Another one takes its place where that is needed.
func ExampleTrain_threshold() {
	path, remove := written("customers.csv", churned(6000))
	defer remove()
	data := mercer.File(path, mercer.Options{Columns: dataset.ColumnOptions{Ignore: "joined"}})
	r, err := mercer.Train(context.Background(), data, mercer.Config{Holdout: 0.25,
		Config: train.Config{Learner: train.Logistic{C: 1}, Kernel: train.Kernel{Name: "linear"}, Threshold: "recall=0.9"}})
	if err != nil {
		log.Fatal(err)
	}
	t := r.Model.Info().Threshold
	fmt.Println(t.Rule, "chosen on", t.Rows, "rows, recall of the test above 0.8:", *r.Test.Recall > 0.8)

	strict, err := r.Model.WithThreshold("0.99")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range []*mercer.Model{r.Model, strict} {
		p, err := mercer.NewPredictor(m)
		if err != nil {
			log.Fatal(err)
		}
		prediction, err := p.Record(map[string]any{"age": 27, "plan": "basic"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(prediction.Label)
	}
	// Output:
	// recall=0.9 chosen on 4500 rows, recall of the test above 0.8: true
	// yes
	// no
}

// Columns have kinds: what is an ID, what is left out, and how a category with an order is coded. The model remembers them, so a
// prediction takes a record as it is.
func ExampleFile_columns() {
	path, remove := written("customers.csv", churned(500))
	defer remove()
	data := mercer.File(path, mercer.Options{Label: "churn",
		Columns: dataset.ColumnOptions{ID: "customer_id", Date: "joined", Ordinal: "plan=basic<plus<pro"}})
	r, err := mercer.Train(context.Background(), data, mercer.Config{Config: train.Config{Learner: train.Logistic{C: 1},
		Kernel: train.Kernel{Name: "linear"}}})
	if err != nil {
		log.Fatal(err)
	}
	schema := r.Model.Info().Schema
	for i := range schema.Columns {
		kind := "number"
		if c := schema.Columns[i].Coding; c != nil {
			kind = c.Kind
		}
		fmt.Println(schema.Columns[i].Name, kind, schema.Columns[i].Width())
	}
	p, err := mercer.NewPredictor(r.Model)
	if err != nil {
		log.Fatal(err)
	}
	prediction, err := p.Record(map[string]any{"joined": "2024-05-01", "age": 65, "plan": "pro", "customer_id": "any"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prediction.Label)
	// Output:
	// joined date 6
	// age number 1
	// plan ordinal 1
	// no
}

// Parquet is written and read; a null is a missing value. The same rows give the same model, whatever they come from.
func ExampleFile_parquet() {
	path, remove := written("houses.parquet", "")
	defer remove()
	out, err := dataset.CreateTable(path, "parquet", []dataset.TableColumn{{Name: "area", Kind: dataset.KindNumber}, {Name: "town", Kind: dataset.KindText},
		{Name: "price", Kind: dataset.KindNumber}})
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	for i := range 60 {
		area, town := fmt.Sprint(50+i), []string{"Kiel", "Bonn"}[i%2]
		if i%20 == 7 {
			area = "" // a null
		}
		if err := out.Write([]string{area, town, fmt.Sprint(1000 * (50 + i + 20*(i%2)))}); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Commit(); err != nil {
		log.Fatal(err)
	}
	r, err := mercer.Train(context.Background(), mercer.File(path, mercer.Options{Label: "price"}),
		mercer.Config{Config: train.Config{Learner: train.Ridge{Lambda: 1e-3}, Kernel: train.Kernel{Name: "linear"}}})
	if err != nil {
		log.Fatal(err)
	}
	p, err := mercer.NewPredictor(r.Model)
	if err != nil {
		log.Fatal(err)
	}
	prediction, err := p.Record(map[string]any{"area": 80, "town": "Bonn"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f thousand\n", prediction.Values[0]/1000)
	// Output:
	// 100 thousand
}

// A kernel of your own: its values with some rows, the landmarks, are columns, of which a linear model learns a weight for each
// landmark. Here it is the share of pairs of letters that two words have in common.
func ExampleLabelled_kernel() {
	pairs := func(word string) map[string]bool {
		all := map[string]bool{}
		for i := range len(word) - 1 {
			all[word[i:i+2]] = true
		}
		return all
	}
	similar := func(a, b string) float64 {
		x, y, both := pairs(a), pairs(b), 0
		for p := range x {
			if y[p] {
				both++
			}
		}
		return float64(both) / float64(len(x)+len(y)-both)
	}
	landmarks := []string{"walking", "talked", "house", "running", "played", "tree", "going", "jumped"}
	row := func(word string) (values []float64) {
		for _, l := range landmarks {
			values = append(values, similar(word, l))
		}
		return values
	}
	var rows [][]float64
	var labels []string
	for _, word := range strings.Fields("singing ringing asking flying kicked walked asked rained seeing baked typing loved reading fixed eating moved") {
		label := "-ed"
		if strings.HasSuffix(word, "ing") {
			label = "-ing"
		}
		rows, labels = append(rows, row(word)), append(labels, label)
	}
	r, err := mercer.Train(context.Background(), mercer.Labelled(rows, labels),
		mercer.Config{Config: train.Config{Kernel: train.Kernel{Name: "linear"}, Learner: train.Ridge{Lambda: 0.1}}})
	if err != nil {
		log.Fatal(err)
	}
	p, err := mercer.NewPredictor(r.Model)
	if err != nil {
		log.Fatal(err)
	}
	for _, word := range []string{"cooking", "painted"} {
		prediction, err := p.Row(row(word))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(word, prediction.Label)
	}
	// Output:
	// cooking -ing
	// painted -ed
}
