package dataset_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

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

// A table in another format: the same rows, and from them the same model.
func ExampleConvert() {
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	csv, parquet := filepath.Join(dir, "pets.csv"), filepath.Join(dir, "pets.parquet")
	if err := os.WriteFile(csv, []byte("weight,colour,kind\n4.5,black,cat\n12,brown,dog\n,white,cat\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := dataset.Convert(ctx, csv, parquet, "parquet", dataset.Options{}); err != nil {
		log.Fatal(err)
	}
	src, err := dataset.Open(ctx, parquet, dataset.Options{Label: "kind"})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	for _, c := range src.Schema().Columns {
		fmt.Println(c.Name, c.Categories, c.Mean)
	}
	// Output:
	// weight [] 8.25
	// colour [black brown white] 0
}

// A table is looked at, what was found is changed, and the table read so: the postcode stays text, the size has levels.
func ExampleProfile_Kinds() {
	table := []byte("zip,size,label\n01067,M,a\n01069,S,b\n20095,L,a\n20095,M,b\n")
	ctx := context.Background()
	src, err := dataset.OpenBytes(ctx, "t.csv", table, dataset.Options{Columns: dataset.ColumnOptions{Numeric: "zip"}})
	if err != nil {
		log.Fatal(err)
	}
	var kinds bytes.Buffer
	if err := src.Profile().Kinds().Write(&kinds); err != nil {
		log.Fatal(err)
	}
	edited := strings.NewReplacer(`"number"`, `"category"`).Replace(kinds.String())
	k, err := dataset.ReadKinds(strings.NewReader(edited), "kinds.json")
	if err != nil {
		log.Fatal(err)
	}
	src, err = dataset.OpenBytes(ctx, "t.csv", table, dataset.Options{Columns: dataset.ColumnOptions{Kinds: k, Ordinal: "size=S<M<L"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range src.Schema().Columns {
		fmt.Println(c.Name, c.Categories, c.Width())
	}
	// Output:
	// zip [01067 01069 20095] 3
	// size [] 1
}

// An encoder turns records into rows as a model reads them: a missing number is the mean of the training, an unknown category none.
func ExampleEncoder() {
	src, err := dataset.OpenBytes(context.Background(), "t.csv", []byte("age,town,label\n20,Kiel,a\n40,Bonn,b\n30,Kiel,a\n"), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	e := dataset.NewEncoder(src.Schema())
	row := make([]float32, src.Schema().Dim)
	for _, record := range []map[string]any{{"age": 25, "town": "Bonn"}, {"town": "Kiel"}, {"age": 50, "town": "Oslo"}} {
		if err := e.Map(row, record); err != nil {
			log.Fatal(err)
		}
		fmt.Println(row)
	}
	// Output:
	// [25 1 0]
	// [30 0 1]
	// [50 0 0]
}
