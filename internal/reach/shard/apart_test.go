package shard

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/eval"
	"mercer/model"
	"mercer/train"
)

// wave is a table of numbers that takes leaves.
func wave(t *testing.T, path string, n int, seed int64, classes bool) {
	t.Helper()
	r := rand.New(rand.NewSource(seed))
	var b strings.Builder
	b.WriteString("x,y,kind,target\n")
	for range n {
		x, y, kind := 4*r.Float64(), 1000+r.NormFloat64(), r.Intn(3)
		z := math.Sin(3*x)*(1+float64(kind)) + 0.2*(y-1000) + 0.2*r.NormFloat64()
		target := fmt.Sprintf("%.5f", 1e6+z)
		if classes {
			target = []string{"no", "yes"}[int(math.Min(1, math.Max(0, math.Ceil(z))))]
		}
		fmt.Fprintf(&b, "%.5f,%.5f,%s,%s\n", x, y, []string{"red", "green", ""}[kind], target)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The leaves of rfm grow in any number of shards to the same bytes, and predict about as a training in one place does.
func TestLeavesDoNotDependOnShards(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	for _, classes := range []bool{false, true} {
		dir := t.TempDir()
		path, test := filepath.Join(dir, "t.csv"), filepath.Join(dir, "test.csv")
		wave(t, path, 1500, 1, classes)
		wave(t, test, 1000, 2, classes)
		cfg := train.Config{Learner: train.RFM{Members: 1, Leaf: 600}, Kernel: train.Kernel{Name: "rbf"}, Metric: train.Metric{Form: "diagonal"},
			Map: train.Map{Features: 64}} // landmarks, which take the time
		p, err := NewPlan(ctx, path, dataset.Options{}, cfg, 3, 5000)
		if err == nil {
			err = p.SetPart(1000)
		}
		if err != nil {
			t.Fatal(err)
		}
		m, report, err := Train(ctx, p, train.Options{})
		want := saved(t, m, err)
		if report.Summary.Rows != 1500 {
			t.Errorf("a summary of %d rows", report.Summary.Rows)
		}
		in, err := dataset.Open(ctx, path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		one, _, err := train.Fit(ctx, in, cfg, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if parts, place := measured(t, m, test), measured(t, one, test); !(parts < 1.2*place) {
			t.Errorf("classes %v: an error of %.4f in parts, %.4f in one place", classes, parts, place)
		}
		if !classes {
			continue
		}
		if got := sharded(t, p, 1); !bytes.Equal(got, want) {
			t.Errorf("the model of 3 shards of %d pieces differs from that of one process", len(p.Data.All))
		}
	}
}

// Columns of names have the means of their targets over all pieces, however these are divided into shards, as in a training in one place.
func TestMeansDoNotDependOnShards(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	r := rand.New(rand.NewSource(4))
	effects := map[string]float64{}
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("shop %d", i))
		effects[names[i]] = r.NormFloat64()
	}
	shops := func(name string, n int) string {
		var b strings.Builder
		b.WriteString("x,shop,target\n")
		for range n {
			x, shop := r.Float64(), names[r.Intn(len(names))]
			fmt.Fprintf(&b, "%.4f,%s,%.4f\n", x, shop, x+effects[shop]+0.1*r.NormFloat64())
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path, test := shops("t.csv", 2000), shops("test.csv", 500)
	cfg := train.Config{Learner: train.RFM{Members: 1}, Kernel: train.Kernel{Name: "rbf"}, Metric: train.Metric{Form: "diagonal"},
		Map: train.Map{Features: 64}}
	p, err := NewPlan(ctx, path, dataset.Options{}, cfg, 3, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Train(ctx, p, train.Options{})
	want := saved(t, m, err)
	if got := sharded(t, p, 1); !bytes.Equal(got, want) {
		t.Errorf("the model of 3 shards of %d pieces differs from that of one process", len(p.Data.All))
	}
	if why := m.Info().Training.Why["means"]; m.Info().Schema.Dim != 2 || !strings.HasPrefix(why, "shop (") {
		t.Errorf("%d dimensions, means: %q", m.Info().Schema.Dim, why)
	}
	if got := measured(t, m, test); !(got < 0.05) {
		t.Errorf("1 - R² of %.3f", got)
	}
}

// What is wrong with the files of parts is said, and which round makes them again.
func TestPartsThatAreDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	wave(t, path, 1200, 1, false)
	p, err := NewPlan(ctx, path, dataset.Options{}, train.Config{Learner: train.RFM{Members: 1, Leaf: 600, Smooth: true}, Kernel: train.Kernel{Name: "rbf"},
		Metric: train.Metric{Form: "diagonal"}, Map: train.Map{Features: 64}}, 2, 8000)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetPart(900); err == nil || !strings.Contains(err.Error(), "1000 or more") {
		t.Errorf("parts of 900 rows: %v", err)
	}
	if err := p.SetPart(1000); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "plan")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	store := Dir(folder)
	if err := p.Save(ctx, store); err != nil {
		t.Fatal(err)
	}
	worker := func() *Worker {
		w, err := NewWorker(ctx, store, train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	// damage runs f with a byte of a file changed and with the file gone, and wants both to be told.
	damage := func(pattern, want string, f func() error) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(files[0], text, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := f(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(files[0])) {
			t.Errorf("%s: %v", pattern, err)
		}
		if err := os.Remove(files[0]); err != nil {
			t.Fatal(err)
		}
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is gone: %v", pattern, err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(files[0], text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// A shard that is stopped between its last part and its receipt does not grow leaves again, unless their file is damaged.
	again := func() {
		t.Helper()
		const part, receipt = "leaves/part-0.leaves", "leaves/shard-00000.json"
		want, err := os.ReadFile(store.Name(part))
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []bool{false, true} {
			if damaged {
				if err := os.WriteFile(store.Name(part), want[:len(want)-8], 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Remove(store.Name(receipt)); err != nil {
				t.Fatal(err)
			}
			counting := &countingStore{Dir: store}
			w, err := NewWorker(ctx, counting, train.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := w.Run(ctx, roundLeaves, 0)
			if err != nil || r.Rows == 0 || (counting.rows > 0) != damaged {
				t.Errorf("damaged %v: files of rows were read %d times, %v", damaged, counting.rows, err)
			}
		}
		if got, err := os.ReadFile(store.Name(part)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("other leaves after damage, %v", err)
		}
	}
	for _, round := range p.Rounds() {
		for shard := range p.Shards() {
			if round == roundLeaves && shard == 1 {
				again()
			}
			if round == roundLeaves && shard == 0 {
				damage("rows/piece-1.rows", "run the round rows again", func() error {
					_, err := worker().Run(ctx, round, shard)
					return err
				})
			}
			if _, err := worker().Run(ctx, round, shard); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := worker().Merge(ctx, round); err != nil {
			t.Fatal(err)
		}
	}
	damage("leaves/part-0.leaves", "run the round leaves again", func() error {
		_, _, err := worker().Solve(ctx)
		return err
	})
	if _, _, err := worker().Solve(ctx); err != nil {
		t.Fatal(err)
	}
	e, err := NewEstimate(ctx, path, dataset.Options{}, p.Config, EstimateOptions{Rows: 1e7, Rate: 1, Piece: 1 << 20, Part: 100_000, Workers: []int{1, 4}})
	if err != nil {
		t.Fatal(err)
	}
	// No column has means, so that the round of columns reads nothing.
	if e.Parts != 128 || !(e.Row[roundLeaves] > 0) || e.Sum < 1e8 || !(e.Scales[1].Seconds < e.Scales[0].Seconds) || len(e.Row) != 6 {
		t.Errorf("%+v", e)
	}
}

// countingStore counts how often files of rows are read.
type countingStore struct {
	Dir
	rows int
}

func (c *countingStore) Read(ctx context.Context, file string) (io.ReadCloser, int64, error) {
	if strings.HasSuffix(file, ".rows") {
		c.rows++
	}
	return c.Dir.Read(ctx, file)
}

// measured is the error of a model on a table.
func measured(t *testing.T, m *model.Model, path string) float64 {
	t.Helper()
	schema := m.Info().Schema
	in, err := dataset.Open(context.Background(), path, dataset.Options{Schema: &schema})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	found, err := eval.Evaluate(context.Background(), m, in, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found.LogLoss != nil {
		return *found.LogLoss
	}
	return 1 - *found.R2
}
