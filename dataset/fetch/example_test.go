package fetch_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"mercer/dataset"
	_ "mercer/dataset/fetch" // reads http:// and https://
)

// Rows at an address, which are copied to a temporary file once.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "weight,colour,kind\n4.5,black,cat\n12,brown,dog\n")
	}))
	defer server.Close()

	ctx := context.Background()
	src, err := dataset.Open(ctx, server.URL+"/pets.csv", dataset.Options{Label: "kind"})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	rows, err := dataset.Collect(ctx, src, src.Schema().Dim)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Names)
	// Output: [cat dog]
}
