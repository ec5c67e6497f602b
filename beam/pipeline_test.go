package beam

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"mercer/dataset"
	"mercer/model"
	"mercer/shard"
	"mercer/train"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// houses writes a table.
func houses(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("size,town,rooms,price\n")
	for i := range n {
		u, v := math.Mod(float64(i)*0.7548776662, 1), math.Mod(float64(i)*0.5698402910, 1)
		fmt.Fprintf(&b, "%.4f,%s,%d,%.4f\n", 30+170*u, []string{"Bonn", "Kiel", "Ulm"}[i%3], 1+int(7*v), 200*u*(1+v))
	}
	path := filepath.Join(t.TempDir(), "houses.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func plan(t *testing.T, data string, shards int) *shard.Plan {
	t.Helper()
	p, err := shard.NewPlan(context.Background(), data, dataset.Options{}, train.Config{Features: 64}, shards, 4096)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a training on Prism.
func run(t *testing.T, p *shard.Plan, o Options) error {
	t.Helper()
	ctx := context.Background()
	store, err := Open(ctx, o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Save(ctx, store); err != nil {
		t.Fatal(err)
	}
	return Train(ctx, p, o, func(ctx context.Context, pipeline *beam.Pipeline) error {
		_, err := prism.Execute(ctx, pipeline)
		return err
	})
}

// alone are the bytes of the model of one process.
func alone(t *testing.T, p *shard.Plan) []byte {
	t.Helper()
	m, _, err := shard.Train(context.Background(), p, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return written(t, m)
}

func written(t *testing.T, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Prism gives the bytes of one process, in any number of shards and groups.
func TestPrismGivesTheSameBytes(t *testing.T) {
	data := houses(t, 2000)
	want := alone(t, plan(t, data, 1))
	for _, c := range []struct{ shards, group int }{{1, 0}, {5, 2}, {10, 1}} {
		dir := t.TempDir()
		out := filepath.Join(dir, "houses.mercer")
		if err := run(t, plan(t, data, c.shards), Options{Plan: filepath.Join(dir, "plan"), Model: out, Group: c.group}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(out)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d shards in groups of %d: another model than by one process (%v)", c.shards, c.group, err)
		}
	}
}

// A learner of many passes takes a pipeline for each, and gives the same bytes, too.
func TestPassesOnPrism(t *testing.T) {
	data := houses(t, 600)
	cfg := train.Config{Features: 8, Learner: "logistic", C: 0.1, Tolerance: 0.3}
	p, err := shard.NewPlan(context.Background(), data, dataset.Options{Label: "town"}, cfg, 2, 8192)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "m.mercer")
	if err := run(t, p, Options{Plan: dir, Model: out}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, alone(t, p)) {
		t.Errorf("another model than by one process (%v)", err)
	}
}

// A shard with a bad row ends the pipeline with an error that names it.
func TestPoisonedShardIsNamed(t *testing.T) {
	data := houses(t, 900)
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	lines[700] = "1,Kiel,2"
	if err := os.WriteFile(data, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	p := plan(t, data, 3)
	dir := t.TempDir()
	err = run(t, p, Options{Plan: dir, Model: filepath.Join(dir, "m.mercer")})
	if err == nil || !strings.Contains(err.Error(), "shard 2, piece") || !strings.Contains(err.Error(), "houses.csv:701") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "m.mercer")); err == nil {
		t.Error("there is a model")
	}
}

// Plans, sums and the model may be in a file system of Beam.
func TestFileSystemsOfBeam(t *testing.T) {
	data := houses(t, 800)
	p := plan(t, data, 3)
	root := "memfs://" + strings.ReplaceAll(t.TempDir(), "/", "-") // which the process has for all tests
	if err := run(t, p, Options{Plan: root + "/houses", Model: root + "/houses.mercer"}); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s, err := Open(ctx, root+"/")
	if err != nil {
		t.Fatal(err)
	}
	r, size, err := s.Read(ctx, "houses.mercer")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || int64(len(got)) != size || !bytes.Equal(got, alone(t, p)) {
		t.Errorf("a model of %d bytes, %v", len(got), err)
	}
	if _, _, err := s.Read(ctx, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(ctx, "fish://plans"); err == nil {
		t.Error("there is a file system fish")
	}
}
