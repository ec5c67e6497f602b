package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/random"
	"mercer/internal/engine/testenv"
	"mercer/model"
)

// registered trains a small model by a learner of any name: of classes, of numbers, or of rows alone, as the learner can.
func registered(t *testing.T, ctx context.Context, name string, rows, batch int) (*model.Model, error) {
	t.Helper()
	var err error
	for _, task := range []string{"classify", "regress", "outliers", "cluster"} {
		s := random.New(3, "registered")
		var text strings.Builder
		for range rows {
			a, b, c := s.Normal(), s.Normal(), s.Normal()
			y := fmt.Sprintf(",%.5f", a*b+c)
			switch task {
			case "classify":
				y = fmt.Sprintf(",c%d", int(math.Abs(a+b*c))%2)
			case "outliers", "cluster":
				y = ""
			}
			fmt.Fprintf(&text, "%.5f,%.5f,%.5f%s\n", a, b, c, y)
		}
		opt := dataset.Options{BatchRows: batch}
		if task == "outliers" || task == "cluster" {
			opt.Label = "none"
		}
		src, failed := dataset.OpenBytes(context.Background(), "rows", []byte(text.String()), opt)
		if failed != nil {
			t.Fatal(failed)
		}
		cfg := Config{Task: task, Learner: Named{Name: name}, Seed: 1}
		if name == "group-lasso" {
			cfg.Kernel.Name = "linear" // groups are columns
		}
		if task == "cluster" {
			cfg.Task = ""
		}
		var m *model.Model
		if m, _, err = Fit(ctx, src, cfg, Options{}); err == nil || errors.Is(err, context.Canceled) {
			return m, err
		}
	}
	return nil, err
}

// Every learner, also one that is new, ends with its context, does next to nothing afterwards, and has no model.
func TestEveryLearnerEndsWithItsContext(t *testing.T) {
	for _, name := range Learners() {
		run := func(times int64) (int64, error) {
			ctx := &endsAfter{Context: t.Context(), times: times}
			m, err := registered(t, ctx, name, 300, 0)
			if err != nil && m != nil {
				t.Errorf("%s: a model beside %v", name, err)
			}
			return ctx.asked.Load(), err
		}
		all, err := run(1 << 60)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, share := range []float64{0, 0.3, 0.6, 0.95} {
			times := int64(share * float64(all))
			if asked, err := run(times); !errors.Is(err, context.Canceled) || asked-times > 300 {
				t.Errorf("%s: ended after %d of %d questions: %v, asked %d times more", name, times, all, err, asked-times)
			}
		}
	}
}

// The model of every learner has the same bytes on any threads and in any batches.
func TestEveryLearnerHasItsBytes(t *testing.T) {
	for _, name := range Learners() {
		var want []byte
		for i, c := range []struct{ threads, batch int }{{1, 0}, {4, 7}} {
			before := runtime.GOMAXPROCS(c.threads)
			m, err := registered(t, t.Context(), name, 120, c.batch)
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := fileOf(t, m)
			if i == 0 {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: other bytes with %d threads and batches of %d", name, c.threads, c.batch)
			}
		}
	}
	testenv.Tried(t, "models by other threads and batches", len(Learners()), 0)
}

// A model file of any learner in which a number is another, with a right checksum, is refused or predicts something, and costs no panic;
// one that is not finite is refused, but in what only measures drift.
func TestEveryLearnersAlteredFiles(t *testing.T) {
	for _, name := range Learners() {
		m, err := registered(t, t.Context(), name, 120, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data := fileOf(t, m)
		n := int(binary.LittleEndian.Uint64(data))
		var header map[string]struct {
			DType string `json:"dtype"`
			Shape []int  `json:"shape"`
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(data[8:8+n], &all); err != nil {
			t.Fatal(err)
		}
		delete(all, "__metadata__")
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &header); err != nil {
			t.Fatal(err)
		}
		for tensor, e := range header {
			size := 1
			for _, n := range e.Shape {
				size *= n
			}
			if e.DType != "F32" && e.DType != "F64" || size == 0 {
				continue
			}
			for _, at := range slices.Compact([]int{0, size / 2, size - 1}) {
				for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1, 0, 1e-300, 12345.678} {
					m, err := read(put(t, data, tensor, at, v))
					if err != nil {
						continue
					}
					if v-v != 0 {
						t.Errorf("%s: %s[%d] = %g loads", name, tensor, at, v)
					}
					if golden, _ := m.Golden(); golden == nil {
						t.Errorf("%s: %s[%d] = %g: no golden rows", name, tensor, at, v)
					}
				}
			}
		}
	}
}
