//go:build !race

package mercer_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "github.com/ncruces/go-sqlite3/driver" // the race detector's compiler takes a minute for it

	"mercer"
)

// Train on the rows of a query, by any driver of database/sql. The rows are read once; training needs no connection.
func ExampleSQL() {
	dir, err := os.MkdirTemp("", "mercer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "flowers.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table flowers(petal real, colour text, kind text)"); err != nil {
		log.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range flowers(400) {
		if _, err = tx.Exec("insert into flowers values(?, ?, ?)", f.Petal, f.Colour, f.Kind); err != nil {
			log.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}

	rows, err := db.Query("select petal, colour, kind from flowers where petal < ?", 4)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	r, err := mercer.Train(context.Background(), mercer.SQL(rows, mercer.Options{Label: "kind"}), mercer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := mercer.NewPredictor(r.Model)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := p.Record(map[string]any{"petal": 3.0, "colour": "red"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Label)
	// Output: tulip
}
