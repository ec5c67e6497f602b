package serve

import (
	"encoding/csv"
	"errors"
	"mime"
	"net/http"
)

const (
	arrowStream = "application/vnd.apache.arrow.stream"
	arrowFile   = "application/vnd.apache.arrow.file"
)

// plain answers the protocol for people: a record or an array of them in JSON, JSON lines, CSV with a header, or Arrow. The
// answer has the form of the question.
func (c *call) plain() error {
	if err := c.model(c.r.PathValue("name"), c.r.PathValue("version")); err != nil {
		return err
	}
	kind := "application/json"
	if text := c.r.Header.Get("Content-Type"); text != "" {
		var err error
		if kind, _, err = mime.ParseMediaType(text); err != nil {
			return &httpError{http.StatusUnsupportedMediaType, errors.New("the Content-Type is not one: " + err.Error())}
		}
	}
	want, err := c.wishes()
	if err != nil {
		return err
	}
	switch kind {
	case "application/json", "text/json", "application/x-www-form-urlencoded": // what curl -d says
		return c.plainJSON(want)
	case "application/x-ndjson", "application/jsonl", "application/jsonlines", "application/x-jsonlines":
		return c.plainLines(want)
	case "text/csv", "text/tab-separated-values":
		return c.plainCSV(want, kind == "text/tab-separated-values")
	case arrowStream, arrowFile:
		return c.plainArrow(want, kind == arrowFile)
	}
	return unsupported(kind, "application/json, application/x-ndjson, text/csv or "+arrowStream)
}

func unsupported(kind, known string) error {
	return &httpError{http.StatusUnsupportedMediaType, errors.New("the Content-Type " + shortened([]byte(kind)) + " is not known; expected " + known)}
}

// wish is what a request of the plain protocol wants to have beside predictions.
type wish struct {
	scores  bool
	explain bool
	of      int // the output whose score is explained, -1: that of the predicted class, or the first
}

// wishes reads the query.
func (c *call) wishes() (wish, error) {
	w := wish{of: -1}
	if c.r.URL.RawQuery == "" {
		return w, nil
	}
	q := c.r.URL.Query()
	given := func(name string) bool { return q.Has(name) && q.Get(name) != "0" && q.Get(name) != "false" }
	w.scores, w.explain = given("scores"), given("explain")
	if q.Has("interval") {
		if err := c.in.interval(q.Get("interval")); err != nil {
			return w, err
		}
	}
	if name := q.Get("class"); name != "" {
		if w.of = outputNamed(c.in.m, name); w.of < 0 {
			return w, badf("class: the model has no score of its own for %q; it has them for %s", shortened([]byte(name)), listed(outputNames(c.in.m)))
		}
	}
	return w, nil
}

// plainScores computes what is wanted for the rows that were read.
func (c *call) plainScores(want wish) error {
	if err := c.score(); err != nil {
		return err
	}
	if err := c.spread(c.in.sure.varies, c.in.sure.intervals()); err != nil {
		return err
	}
	if want.explain {
		if err := c.explain(want.of); err != nil {
			return err
		}
	}
	in, numbers := c.in, 0
	for _, there := range []bool{want.scores, in.named == 0, in.sure.varies, in.sure.intervals(), in.sure.intervals()} {
		if there {
			numbers += in.m.Outputs()
		}
	}
	return c.answers(in.named + numbers*numberBytes)
}

func (c *call) plainJSON(want wish) error {
	in := c.in
	p, single := &in.parser, in.parser.next() != '['
	if single {
		if err := in.record(); err != nil {
			return err
		}
	} else if err := p.array(in.rowOrRecord); err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	if err := c.plainScores(want); err != nil {
		return err
	}
	out := in.out[:0]
	if !single {
		out = append(out, '[')
	}
	for i := range in.x.Rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = in.object(out, i, want)
	}
	if !single {
		out = append(out, ']')
	}
	in.out = append(out, '\n')
	return c.json(in.out)
}

func (c *call) plainLines(want wish) error {
	in := c.in
	for p := &in.parser; p.next() != 0; {
		if err := in.rowOrRecord(); err != nil {
			return err
		}
	}
	if err := c.plainScores(want); err != nil {
		return err
	}
	out := in.out[:0]
	for i := range in.x.Rows {
		out = append(in.object(out, i, want), '\n')
	}
	in.out = out
	return c.written("application/x-ndjson", out)
}

func (c *call) plainCSV(want wish, tabs bool) error {
	if err := c.readCSV(tabs); err != nil {
		return err
	}
	if err := c.plainScores(want); err != nil {
		return err
	}
	in := c.in
	out := (*appended)(&in.out)
	*out = (*out)[:0]
	w := csv.NewWriter(out)
	if tabs {
		w.Comma = '\t'
	}
	columns := in.answerColumns(want)
	line := make([]string, len(columns))
	for k := range columns {
		line[k] = columns[k].name
	}
	_ = w.Write(line) // memory does not fail
	for i := range in.x.Rows {
		for k := range columns {
			line[k] = columns[k].cell(i)
		}
		_ = w.Write(line)
	}
	w.Flush()
	return c.written(c.r.Header.Get("Content-Type"), in.out)
}

// appended are bytes that are written to.
type appended []byte

func (a *appended) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}
