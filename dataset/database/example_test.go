package database_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"mercer/dataset"
	_ "mercer/dataset/database" // reads databases
)

// The rows of a query, from an SQLite file; a URL such as postgres://reader@db.example.com/shop is read in the same way.
func Example() {
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "shop.db")
	db, err := sqlite3.Open("file:" + path)
	if err != nil {
		log.Fatal(err)
	}
	err = db.Exec("create table orders(price, town, returned); insert into orders values(3.5, 'Bonn', 'no'), (12, 'Ulm', 'yes'), (7, 'Bonn', 'no')")
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	src, err := dataset.Open(ctx, path, dataset.Options{Query: "select * from orders where price > 5 order by price", Label: "returned"})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	for b, err := range dataset.Each(ctx, src) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range b.X.Len() {
			fmt.Println(b.X.Dense.Row(i), b.Names[i])
		}
	}
	// Output:
	// [7 1 0] no
	// [12 0 1] yes
}
