package search_test

import (
	"context"
	"fmt"
	"log"

	"mercer/dataset"
	"mercer/internal/search"
	"mercer/train"
)

// Rows are generated here; dataset.Open reads a file. With a budget, say Budget: time.Minute,
// the number of features is the largest that can be trained within it.
func ExampleAuto() {
	src := dataset.Generate(dataset.Synthetic{Rows: 300, Dim: 5, Seed: 1})
	m, _, report, err := search.Auto(context.Background(), src, search.AutoOptions{Config: train.Config{Map: train.Map{Features: 128}}})
	if err != nil {
		log.Fatal(err)
	}
	race := report.Heats[0]
	fmt.Println(len(race.Racers), "kernels were judged by", race.Held, "rows")
	fmt.Println("the best is not linear:", report.Config.Kernel.Name != "linear")
	fmt.Println("outputs:", m.Outputs())
	// Output:
	// 7 kernels were judged by 300 rows
	// the best is not linear: true
	// outputs: 1
}
