package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"mercer"
	"mercer/train"
)

func TestServiceAnswersRecords(t *testing.T) {
	var flowers []map[string]any
	for i := range 400 {
		colour, kind := []string{"red", "white"}[i/40%2], "rose"
		petal := float64(i%40) / 10
		if (petal > 2) == (colour == "red") {
			kind = "tulip"
		}
		flowers = append(flowers, map[string]any{"petal": petal, "colour": colour, "kind": kind})
	}
	r, err := mercer.Train(context.Background(), mercer.Slice(flowers, mercer.Options{Label: "kind"}),
		mercer.Config{Config: train.Config{Learner: train.Logistic{}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service(r.Model))
	defer server.Close()
	var all sync.WaitGroup
	for range 20 { // at the same time
		for _, c := range []struct {
			record, want string
			status       int
		}{
			{`{"petal": 3.5, "colour": "red"}`, `"label":"tulip"`, 200},
			{`{"petal": 3.5, "colour": "white"}`, `"label":"rose"`, 200},
			{`{"petal": [1], "colour": "red"}`, `field "petal": [1] is neither a number nor a text`, 422},
			{`{"colour": "red"}`, `"label":"rose"`, 200}, // a missing number is the mean
			{`[1]`, `not a record in JSON`, 400},
			{`{"x": "` + strings.Repeat("x", 2<<20) + `"}`, `too large`, 400},
		} {
			all.Go(func() {
				answer, err := http.Post(server.URL, "application/json", strings.NewReader(c.record))
				if err != nil {
					t.Error(err)
					return
				}
				defer answer.Body.Close()
				text, err := io.ReadAll(answer.Body)
				if err != nil || answer.StatusCode != c.status || !strings.Contains(string(text), c.want) {
					t.Errorf("%.60s: %d %s, %v; want %d %s", c.record, answer.StatusCode, text, err, c.status, c.want)
				}
			})
		}
	}
	all.Wait()
}

// The service is what a reader copies: it stays short.
func TestServiceIsShort(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 60 {
		t.Error(fmt.Sprint(n, " lines"))
	}
}
