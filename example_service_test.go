package mercer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"mercer"
	"mercer/train"
)

// service answers POST requests with a JSON record by a prediction.
func service(m *mercer.Model) http.Handler {
	predictors := sync.Pool{New: func() any {
		p, err := mercer.NewPredictor(m)
		if err != nil {
			return nil
		}
		return p
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var record map[string]any
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&record); err != nil {
			http.Error(w, "not a record in JSON: "+err.Error(), http.StatusBadRequest)
			return
		}
		p, ok := predictors.Get().(*mercer.Predictor)
		if !ok {
			http.Error(w, "the model predicts no single records", http.StatusInternalServerError)
			return
		}
		defer predictors.Put(p)
		prediction, err := p.Record(record)
		if err != nil {
			status := http.StatusInternalServerError
			if field := new(mercer.FieldError); errors.As(err, &field) {
				status = http.StatusUnprocessableEntity
			}
			http.Error(w, err.Error(), status)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"label": prediction.Label, "probabilities": prediction.Probabilities})
	})
}

// A service that predicts records.
func Example_service() {
	r, err := mercer.Train(context.Background(), mercer.Slice(flowers(400), mercer.Options{Label: "kind"}),
		mercer.Config{Config: train.Config{Learner: "logistic"}})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(service(r.Model))
	defer server.Close()

	for _, record := range []string{`{"petal": 3.5, "colour": "red"}`, `{"petal": [1], "colour": "red"}`} {
		answer, err := http.Post(server.URL, "application/json", strings.NewReader(record))
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		shown, _, _ := strings.Cut(string(text), `,"prob`)
		fmt.Println(answer.StatusCode, strings.TrimSpace(shown))
	}
	// Output:
	// 200 {"label":"tulip"
	// 422 field "petal": [1] is neither a number nor a text
}
