// Service answers POST requests with a record in JSON by a prediction:
//
//	go run ./examples/service flowers.mercer &
//	curl -d '{"petal": 3.5, "colour": "red"}' localhost:8080
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"sync"

	"mercer"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: service MODEL")
	}
	m, err := mercer.Load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if _, err := mercer.NewPredictor(m); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", service(m)))
}

// service predicts records with a model.
func service(m *mercer.Model) http.HandlerFunc {
	// A predictor is for one request at a time.
	predictors := sync.Pool{New: func() any { p, _ := mercer.NewPredictor(m); return p }}
	return func(w http.ResponseWriter, r *http.Request) {
		var record map[string]any
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&record); err != nil {
			http.Error(w, "not a record in JSON: "+err.Error(), http.StatusBadRequest)
			return
		}
		p := predictors.Get().(*mercer.Predictor)
		defer predictors.Put(p)
		prediction, err := p.Record(record)
		if field := new(mercer.FieldError); errors.As(err, &field) {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{
			"label": prediction.Label, "values": prediction.Values, "probabilities": prediction.Probabilities})
	}
}
