package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"mercer/dataset"
)

// A pass over a data file, batch by batch.
func ExampleOpenBytes() {
	ctx := context.Background()
	src, err := dataset.OpenBytes(ctx, "pets.csv",
		[]byte("weight,colour,kind\n4.5,black,cat\n12,brown,dog\n3.9,white,cat\n"), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	for _, c := range src.Schema().Columns {
		fmt.Println(c.Name, c.Categories)
	}
	r, err := src.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for i := range b.X.Len() {
			fmt.Println(b.X.Dense.Row(i), b.Names[i])
		}
	}
	// Output:
	// weight []
	// colour [black brown white]
	// [4.5 1 0 0] cat
	// [12 0 1 0] dog
	// [3.9 0 0 1] cat
}
