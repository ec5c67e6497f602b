package serve

import (
	"strings"
	"testing"
)

// The metrics tell how many values, of which columns, and how many rows are unlike the training's.
func TestDrift(t *testing.T) {
	s := handler(t, "three", Options{})
	for _, body := range []string{`[{"size":0,"town":"Bonn","age":20},{"size":5.3333333,"town":"Kiel","age":69},{"size":1,"town":"Bonn"}]`,
		`[{"size":-0.1,"town":"Ulm","age":70},{"size":5.4,"town":"Kiel","age":30},{"size":2,"age":30}]`} {
		if code, answer, _ := ask(t, s, "POST", "/predict", "", body); code != 200 {
			t.Fatal(answer)
		}
	}
	_, text, _ := ask(t, s, "GET", "/metrics", "", "")
	for _, want := range []string{`values_total{column="size",model="people",version="1"} 2`, `values_total{column="town",model="people",version="1"} 2`,
		`values_total{column="age",model="people",version="1"} 1`, `rows_total{model="people",version="1"} 3`} {
		if !strings.Contains(text, "mercer_unseen_"+want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
