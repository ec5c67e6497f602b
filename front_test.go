package mercer

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/train"
)

// tableText is a table with numbers, categories and a label, with gaps in the categories.
func tableText(n int) string {
	s := random.New(3, "front")
	var b strings.Builder
	b.WriteString("size,colour,sold,label\n")
	for range n {
		size := s.Normal()
		colour := []string{"red", "green", "deep blue", ""}[s.Intn(4)]
		sold := []string{"true", "false"}[s.Intn(2)]
		label := "small"
		if (size > 0) != (sold == "true") {
			label = "large"
		}
		fmt.Fprintf(&b, "%g,%s,%s,%s\n", size, colour, sold, label)
	}
	return b.String()
}

func trained(t testing.TB, data Data, cfg Config) *Model {
	t.Helper()
	r, err := Train(context.Background(), data, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

// file is a table in memory as data.
func file(text string, opt Options) Data {
	return Data{open: func(ctx context.Context, of purpose) (*opened, error) {
		f, err := dataset.OpenBytes(ctx, "table.csv", []byte(text), of.options(opt))
		if err != nil {
			return nil, err
		}
		return &opened{rows: f, close: f.Close}, nil
	}}
}

// A record gives the scores of the same row in a file, to the bit, as map, struct, values and numbers.
func TestRecordsPredictLikeRowsOfAFile(t *testing.T) {
	text := tableText(300)
	for _, cfg := range []train.Config{{Map: train.Map{Features: 64}}, {Learner: train.Logistic{}, Map: train.Map{Features: 64}},
		{Learner: train.KernelSVM{C: 1}}, {Learner: train.Ridge{}, Map: train.Map{Features: 64}, Calibrate: train.Calibration{Method: "platt"}}, {Kernel: train.Kernel{Name: "linear"}}} {
		m := trained(t, file(text, Options{}), Config{Config: cfg})
		all, err := Predict(context.Background(), m, file(text, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPredictor(m)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"size", "colour", "sold"}; !slices.Equal(p.Columns(), want) {
			t.Fatalf("columns %q, want %q", p.Columns(), want)
		}
		type item struct {
			Size   float64 `mercer:"size"`
			Colour *string `json:"colour,omitempty"`
			Sold   bool    `mercer:"sold"`
			Label  string
		}
		for i, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
			cells := strings.Split(line, ",")
			var size float64
			fmt.Sscan(cells[0], &size)
			record := map[string]any{"size": size, "colour": cells[1], "sold": cells[2] == "true", "label": "not looked at"}
			var colour *string
			if cells[1] != "" {
				colour = &cells[1]
			} else if i%2 == 0 {
				delete(record, "colour")
			}
			for how, predict := range map[string]func() (*Prediction, error){
				"map": func() (*Prediction, error) { return p.Record(record) },
				"struct": func() (*Prediction, error) {
					return p.Struct(&item{Size: size, Colour: colour, Sold: cells[2] == "true"})
				},
				"value": func() (*Prediction, error) {
					return p.Struct(item{Size: size, Colour: colour, Sold: cells[2] == "true"})
				},
				"values": func() (*Prediction, error) { return p.Values(size, colour, cells[2]) },
			} {
				got, err := predict()
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Scores, all[i].Scores) || got.Label != all[i].Label || !slices.Equal(got.Probabilities, all[i].Probabilities) {
					t.Fatalf("%+v, row %d by %s: %+v, in the file %+v", cfg, i, how, *got, all[i])
				}
			}
		}
	}
}

// A row alone has the bits of the row in a batch, whatever the number of outputs.
func TestSingleRowsHaveTheBitsOfABatch(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	s := random.New(1, "single")
	for _, classes := range []int{2, 3, 10, 40} {
		var x [][]float64
		var labels []string
		for i := range 300 {
			x = append(x, []float64{s.Normal(), s.Normal(), s.Normal()})
			labels = append(labels, fmt.Sprint("c", i%classes))
		}
		m := trained(t, Labelled(x, labels), Config{Config: train.Config{Learner: train.Ridge{Lambda: 1}, Map: train.Map{Features: 2300}}})
		all, err := Predict(context.Background(), m, Rows(x, nil))
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPredictor(m)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range x {
			got, err := p.Row(row)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Scores, all[i].Scores) {
				t.Fatalf("%d classes, row %d: %v alone, %v in a batch", classes, i, got.Scores, all[i].Scores)
			}
		}
	}
}

func TestPredictorAllocatesNothing(t *testing.T) {
	m := trained(t, file(tableText(300), Options{}), Config{Config: train.Config{Learner: train.Logistic{}, Map: train.Map{Features: 64}}})
	p, err := NewPredictor(m)
	if err != nil {
		t.Fatal(err)
	}
	type item struct {
		Size   float64 `mercer:"size"`
		Colour string  `mercer:"colour"`
		Sold   bool    `mercer:"sold"`
	}
	it := &item{1, "red", true}
	record := map[string]any{"size": 0.5, "colour": "green", "sold": true}
	values := []any{0.5, "green", true}
	for how, predict := range map[string]func() (*Prediction, error){
		"map":    func() (*Prediction, error) { return p.Record(record) },
		"struct": func() (*Prediction, error) { return p.Struct(it) },
		"values": func() (*Prediction, error) { return p.Values(values...) },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := predict(); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %g allocations", how, n)
		}
	}
}

// Errors are typed: the field of a record, the number of a row.
func TestErrorsTellThePlace(t *testing.T) {
	m := trained(t, file(tableText(200), Options{Missing: "error"}), Config{Config: train.Config{Map: train.Map{Features: 32}}})
	p, err := NewPredictor(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []map[string]any{
		{"size": "big", "colour": "red"}, {"size": []int{1}}, {"colour": "red"},
		{"size": nil}, {"size": math.Inf(1)}, {"size": 1e300}, {"size": math.NaN()}, nil,
	} {
		_, err := p.Record(record)
		var field *FieldError
		if !errors.As(err, &field) || field.Field != "size" {
			t.Errorf("%v: %v", record, err)
		}
		if err != nil && strings.Contains(err.Error(), "--") {
			t.Errorf("%v: %v speaks of flags", record, err)
		}
	}
	for _, predict := range []func() error{
		func() error { _, err := p.Row(nil); return err },
		func() error { _, err := p.Row([]float64{1, 2}); return err },
		func() error { row := make([]float64, m.Dim()); row[1] = math.NaN(); _, err := p.Row(row); return err },
		func() error {
			row := make([]float32, m.Dim())
			row[1] = float32(math.Inf(-1))
			_, err := p.Row32(row)
			return err
		},
		func() error { _, err := m.Predict([]float32{1}); return err },
		func() error { _, err := m.Predict(nil); return err },
		func() error {
			_, err := Train(context.Background(), Rows([][]float64{{1, 2}, {3}}, []float64{1, 2}), Config{})
			return err
		},
		func() error {
			_, err := Train(context.Background(), Rows([][]float64{{1, 2}, {3, math.NaN()}}, []float64{1, 2}), Config{})
			return err
		},
	} {
		var row *RowError
		if err := predict(); !errors.As(err, &row) {
			t.Errorf("no RowError: %v", err)
		}
	}
	if _, err := p.Values(1); err == nil || !strings.Contains(err.Error(), "size, colour, sold") {
		t.Errorf("one value of three: %v", err)
	}
	if _, err := p.Struct(7); err == nil {
		t.Error("a number is taken for a struct")
	}
	if _, err := p.Struct((*struct{})(nil)); err == nil {
		t.Error("a nil pointer is taken for a struct")
	}
}

// Nothing panics on what is nil or empty.
func TestNothingIsAnError(t *testing.T) {
	ctx := context.Background()
	m := trained(t, file(tableText(100), Options{}), Config{Config: train.Config{Map: train.Map{Features: 32}}})
	for name, data := range map[string]Data{
		"no data":      {},
		"no rows":      Rows(nil, nil),
		"empty rows":   Rows([][]float64{{}}, []float64{1}),
		"no labels":    Rows([][]float64{{1}, {2}}, nil),
		"few labels":   Labelled([][]float64{{1}, {2}}, []string{"a"}),
		"nil labels":   Labelled([][]float64{{1}, {2}}, nil),
		"nil source":   Source(nil),
		"nil bags":     Bags(nil),
		"nil query":    SQL(nil, Options{}),
		"no records":   Slice[map[string]any](nil, Options{}),
		"empty record": Slice([]map[string]any{{}}, Options{}),
		"nil record":   Slice([]map[string]any{nil, nil}, Options{}),
		"nil pointers": Slice([]*struct{ X int }{nil}, Options{}),
		"numbers":      Slice([]int{1, 2}, Options{}),
		"no file":      File("", Options{}),
		"one row":      Rows([][]float64{{1}}, []float64{1}),
	} {
		if _, err := Train(ctx, data, Config{}); err == nil {
			t.Errorf("%s: trained", name)
		}
	}
	if _, err := NewPredictor(nil); err == nil {
		t.Error("a predictor of no model")
	}
	if _, err := Evaluate(ctx, nil, Rows([][]float64{{1}}, nil)); err == nil {
		t.Error("no model is evaluated")
	}
	if _, err := Predict(ctx, m, Data{}); err == nil {
		t.Error("no data are predicted")
	}
	if p, err := m.Predict(); err != nil || len(p) != 0 {
		t.Errorf("no rows: %v, %v", p, err)
	}
}

// Records of all kinds train the model that the same table in a file trains.
func TestRecordsTrainLikeAFile(t *testing.T) {
	text := tableText(300)
	cfg := Config{Config: train.Config{Map: train.Map{Features: 32}, Learner: train.Ridge{}}}
	want := trained(t, file(text, Options{}), cfg)
	type item struct {
		Size   float64 `json:"size"`
		Colour string  `json:"colour"`
		Sold   bool    `json:"sold"`
		Label  string  `json:"label"`
	}
	var items []item
	var maps []map[string]any
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		cells := strings.Split(line, ",")
		var size float64
		fmt.Sscan(cells[0], &size)
		items = append(items, item{size, cells[1], cells[2] == "true", cells[3]})
		maps = append(maps, map[string]any{"size": size, "colour": cells[1], "sold": cells[2], "label": cells[3]})
	}
	queue := make(chan item, len(items))
	for _, it := range items {
		queue <- it
	}
	close(queue)
	db := sql.OpenDB(connector{text})
	defer db.Close()
	rows, err := db.Query("SELECT")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	label := Options{Label: "label"}
	for name, data := range map[string]Data{"structs": Slice(items, label),
		"maps": Slice(maps, label), "channel": Channel(queue, label), "query": SQL(rows, label)} {
		got := trained(t, data, cfg)
		p, err := NewPredictor(got)
		if err != nil {
			t.Fatal(err)
		}
		q, err := NewPredictor(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range maps[:50] {
			a, err := p.Record(record)
			if err != nil {
				t.Fatal(err)
			}
			b, err := q.Record(record)
			if err != nil {
				t.Fatal(err)
			}
			if d := math.Abs(float64(a.Scores[0] - b.Scores[0])); !(d < 1e-3) && name != "maps" { // maps have another order of columns
				t.Errorf("%s: %v, by the file %v", name, a.Scores, b.Scores)
			}
		}
	}
}

// connector is a database whose only query gives a table: texts, and numbers as texts of type DECIMAL.
type connector struct{ text string }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c connector) Driver() driver.Driver                        { return nil }
func (c connector) Prepare(string) (driver.Stmt, error)          { return c, nil }
func (c connector) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (c connector) Close() error                                 { return nil }
func (c connector) NumInput() int                                { return 0 }
func (c connector) Exec([]driver.Value) (driver.Result, error)   { return nil, driver.ErrSkip }
func (c connector) Query([]driver.Value) (driver.Rows, error) {
	return &queried{lines: strings.Split(strings.TrimSpace(c.text), "\n")[1:]}, nil
}

type queried struct{ lines []string }

func (q *queried) Columns() []string { return []string{"size", "colour", "sold", "label"} }
func (q *queried) Close() error      { return nil }
func (q *queried) ColumnTypeDatabaseTypeName(i int) string {
	return []string{"NUMERIC", "TEXT", "BOOL", "TEXT"}[i]
}
func (q *queried) Next(dst []driver.Value) error {
	if len(q.lines) == 0 {
		return io.EOF
	}
	cells := strings.Split(q.lines[0], ",")
	q.lines = q.lines[1:]
	dst[0], dst[1], dst[2], dst[3] = []byte(cells[0]), cells[1], cells[2] == "true", cells[3]
	return nil
}

func TestChannelEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Train(ctx, Channel(make(chan map[string]any), Options{}), Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a channel that nobody closes: %v", err)
	}
}

func TestAFailingIteratorIsAnError(t *testing.T) {
	broken := errors.New("the queue is gone")
	data := Records(func(yield func(map[string]any, error) bool) {
		if yield(map[string]any{"x": 1, "y": 2}, nil) {
			yield(nil, broken)
		}
	}, Options{})
	if _, err := Train(context.Background(), data, Config{}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "record 2") {
		t.Errorf("%v", err)
	}
}

// A training tells its progress and logs what it chose.
func TestTrainingTells(t *testing.T) {
	var text bytes.Buffer
	stages := map[string]bool{}
	r, err := Train(context.Background(), file(tableText(300), Options{}), Config{
		Holdout:  0.2,
		Training: train.Options{Progress: func(stage string, _ int, _ float64) { stages[stage] = true }},
		Log:      slog.New(slog.NewJSONHandler(&text, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !stages["read"] || !stages["solve"] {
		t.Errorf("stages %v", stages)
	}
	for _, want := range []string{`"msg":"chose"`, `"learner":"rfm"`, `"msg":"trained"`, `"msg":"tested"`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log lacks %s: %s", want, text.String())
		}
	}
	if r.Test == nil || r.Test.N+r.Model.Info().Training.Rows != 300 || r.Report.Total <= 0 {
		t.Errorf("%+v", r)
	}
	if _, err := Train(context.Background(), file(tableText(30), Options{}), Config{Holdout: 1}); err == nil {
		t.Error("all rows are held out")
	}
	if _, err := Train(context.Background(), file(tableText(30), Options{}),
		Config{Holdout: 0.5, Test: file(tableText(30), Options{})}); err == nil {
		t.Error("two tests")
	}
}

// Kernel values that are large against their differences are taken as they are written, whatever the data come from.
func TestPrecomputedValuesAreTakenAsWritten(t *testing.T) {
	const n = 60
	x := func(i, j int) float64 { return 1e6 + float64((i+1)*(37+34*j)%100)/50 }
	var text strings.Builder
	records := make([]map[string]any, n)
	for i := range n {
		records[i] = map[string]any{"y": x(i, 0)}
		for h := range n {
			v := x(i, 0)*x(h, 0) + x(i, 1)*x(h, 1)
			fmt.Fprintf(&text, "%v,", v)
			records[i][fmt.Sprintf("k%02d", h)] = v
		}
		fmt.Fprintf(&text, "%v\n", x(i, 0))
	}
	cfg := Config{Config: train.Config{Kernel: train.Kernel{Name: "precomputed"}, Learner: train.Ridge{}}}
	for name, data := range map[string]Data{"file": file(text.String(), Options{}), "records": Slice(records, Options{Label: "y"})} {
		m := trained(t, data, cfg)
		if _, err := Predict(t.Context(), m, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
