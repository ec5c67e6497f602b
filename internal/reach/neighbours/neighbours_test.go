package neighbours

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/pipeline"
	"mercer/kernel"
	"mercer/matrix"
)

func normal(n, d int, seed uint64) matrix.Rows {
	x := matrix.NewDense(n, d)
	random.New(seed, "test").FillNormal(x.Data)
	return matrix.Rows{Dense: x}
}

func source(t testing.TB, x matrix.Rows) dataset.Source {
	t.Helper()
	src, err := dataset.FromRows(x, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// mapping is a pipeline with a map and no scaling.
func mapping(t testing.TB, dim int, cfg feature.Config) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.Restore(pipeline.Description{In: dim, Scale: "none", Feature: &cfg}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var rbf = feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.05}, Features: 96, Seed: 3}

func build(t testing.TB, x matrix.Rows, p *pipeline.Pipeline, cfg Config) (string, *Index) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index")
	src := source(t, x)
	if _, err := Build(context.Background(), path, src, *src.Schema(), p, nil, cfg, nil); err != nil {
		t.Fatal(err)
	}
	return path, open(t, path)
}

func open(t testing.TB, path string) *Index {
	t.Helper()
	x, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// naive is Search by all distances in float64.
func naive(t testing.TB, p *pipeline.Pipeline, rows, queries matrix.Rows, ids []int64, k int) [][]Neighbour {
	t.Helper()
	_, d := p.Dims()
	a, b := matrix.NewDense(rows.Len(), d), matrix.NewDense(queries.Len(), d)
	if err := cmp.Or(p.Transform(a, rows), p.Transform(b, queries)); err != nil {
		t.Fatal(err)
	}
	all := make([][]Neighbour, b.Rows)
	for q := range all {
		for i := range a.Rows {
			var s float64
			for j, v := range a.Row(i) {
				e := float64(v) - float64(b.Row(q)[j])
				s += e * e
			}
			all[q] = append(all[q], Neighbour{ids[i], math.Sqrt(s)})
		}
		slices.SortStableFunc(all[q], func(a, b Neighbour) int { return cmp.Compare(a.Distance, b.Distance) })
		all[q] = all[q][:min(k, len(all[q]))]
	}
	return all
}

func numbers(n int) (ids []int64) {
	for i := range n {
		ids = append(ids, int64(i))
	}
	return ids
}

func same(t testing.TB, got, want [][]Neighbour) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for q := range want {
		if len(got[q]) != len(want[q]) {
			t.Fatalf("query %d: %d neighbours, want %d", q, len(got[q]), len(want[q]))
		}
		for j, w := range want[q] {
			if g := got[q][j]; g.ID != w.ID || math.Abs(g.Distance-w.Distance) > 1e-6 {
				t.Fatalf("query %d, neighbour %d: %v, want %v", q, j, g, w)
			}
		}
	}
}

func TestSearchFindsTheNearest(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, n := range []int{1, 7, 700, 3000} {
		x := normal(n, 9, uint64(n))
		p := mapping(t, 9, rbf)
		_, index := build(t, x, p, Config{})
		for _, m := range []int{1, 3, 9, 300} {
			queries := normal(m, 9, 77)
			for _, k := range []int{1, 10, 5000} {
				got, err := index.Search(queries, Options{K: k})
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, naive(t, p, x, queries, numbers(n), k))
			}
		}
	}
}

func TestSearchDoesNotDependOnThreads(t *testing.T) {
	x := normal(5000, 9, 1)
	_, index := build(t, x, mapping(t, 9, rbf), Config{Codes: Signs, Cells: 30})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, opt := range []Options{{K: 5}, {K: 5, Candidates: 50}, {K: 5, Probes: 4}} {
		var first [][]Neighbour
		for threads := 1; threads <= 3; threads++ {
			runtime.GOMAXPROCS(threads)
			found, err := index.Search(normal(40, 9, 5), opt)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = found
			}
			for q := range found {
				if !slices.Equal(found[q], first[q]) {
					t.Fatalf("%+v with %d threads: %v, with one %v", opt, threads, found[q], first[q])
				}
			}
		}
	}
}

// Equal rows have distance 0 and come in the order of their numbers.
func TestTiesGoByNumber(t *testing.T) {
	x := matrix.NewDense(100, 3)
	for i := range x.Rows {
		x.Row(i)[0] = float32(i % 4)
	}
	_, index := build(t, matrix.Rows{Dense: x}, mapping(t, 3, rbf), Config{Codes: Cosines, Cells: 3})
	for _, opt := range []Options{{K: 5}, {K: 5, Candidates: 25}, {K: 5, Probes: 2}} {
		found, err := index.Search(matrix.Rows{Dense: x.Slice(2, 3)}, opt)
		if err != nil {
			t.Fatal(err)
		}
		for j, f := range found[0] {
			if f != (Neighbour{int64(2 + 4*j), 0}) {
				t.Errorf("%+v: neighbour %d is %v", opt, j, f)
			}
		}
	}
}

// With as many candidates as rows, codes change nothing.
func TestAllCandidatesAreAnExactSearch(t *testing.T) {
	x, queries := normal(500, 9, 1), normal(20, 9, 2)
	p := mapping(t, 9, rbf)
	for _, codes := range CodeNames() {
		_, index := build(t, x, p, Config{Codes: codes, Bits: 128, Seed: 4})
		found, err := index.Search(queries, Options{K: 10, Candidates: 500})
		if err != nil {
			t.Fatal(err)
		}
		same(t, found, naive(t, p, x, queries, numbers(500), 10))
	}
}

// A probe of all cells changes nothing; one of a few compares all rows of the cells whose centres are nearest, whatever other queries are beside.
func TestProbes(t *testing.T) {
	const n, d, cells = 600, 9, 12
	x, queries := normal(n, d, 1), normal(40, d, 2)
	p := mapping(t, d, rbf)
	_, index := build(t, x, p, Config{Cells: cells, Seed: 3})
	all, err := index.Search(queries, Options{K: 10, Probes: cells + 5})
	if err != nil {
		t.Fatal(err)
	}
	same(t, all, naive(t, p, x, queries, numbers(n), 10))
	z, of := matrix.NewDense(n+40, index.info.Features), make([]int, n)
	if err := p.Transform(z, matrix.Rows{Dense: &matrix.Dense{Rows: n + 40, Cols: d, Stride: d,
		Data: slices.Concat(x.Dense.Data, queries.Dense.Data)}}); err != nil {
		t.Fatal(err)
	}
	distances := func(row []float32) (list []float64) {
		for c := range cells {
			sum := 0.0
			for j, v := range index.cells.centres.Row(c) {
				sum += float64(row[j]-v) * float64(row[j]-v)
			}
			list = append(list, sum)
		}
		return list
	}
	for i := range n {
		list := distances(z.Row(i))
		of[i] = slices.Index(list, slices.Min(list))
		if index.cellOf[i] != uint32(of[i]) {
			t.Fatalf("row %d is in cell %d, and nearest to centre %d", i, index.cellOf[i], of[i])
		}
	}
	for _, probes := range []int{1, 3} {
		found, err := index.Search(queries, Options{K: 10, Probes: probes})
		if err != nil {
			t.Fatal(err)
		}
		for q := range found {
			list := distances(z.Row(n + q))
			limit := slices.Sorted(slices.Values(list))[probes-1]
			var ids []int64
			var rows []int
			for i, cell := range of {
				if list[cell] <= limit {
					ids, rows = append(ids, int64(i)), append(rows, i)
				}
			}
			one := queries.Slice(q, q+1)
			same(t, found[q:q+1], naive(t, p, matrix.Pick(x, rows), one, ids, 10))
			alone, err := index.Search(one, Options{K: 10, Probes: probes})
			if err != nil || !slices.Equal(alone[0], found[q]) {
				t.Fatalf("query %d alone: %v, among others %v, %v", q, alone, found[q], err)
			}
		}
	}
}

// Rows that come later go to the nearest cells, and those that are deleted leave theirs.
func TestCellsOfRowsThatComeAndGo(t *testing.T) {
	p := mapping(t, 9, rbf)
	all, queries, ctx := normal(300, 9, 1), normal(15, 9, 2), context.Background()
	path, index := build(t, all.Slice(0, 200), p, Config{Cells: 7})
	centres := slices.Clone(index.cells.centres.Data)
	if _, err := index.Add(ctx, path, source(t, all.Slice(200, 300)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path).Delete(ctx, path, []int64{0, 299}); err != nil {
		t.Fatal(err)
	}
	index = open(t, path)
	if !slices.Equal(index.cells.centres.Data, centres) {
		t.Error("centres have moved")
	}
	found, err := index.Search(queries, Options{K: 12, Probes: 7})
	if err != nil {
		t.Fatal(err)
	}
	same(t, found, naive(t, p, all.Slice(1, 299), queries, numbers(299)[1:], 12))
}

func TestRowsComeAndGo(t *testing.T) {
	p := mapping(t, 9, rbf)
	all, queries := normal(300, 9, 1), normal(15, 9, 2)
	ctx := context.Background()
	for _, cfg := range []Config{{}, {Codes: Cosines, Seed: 9}} {
		whole, _ := build(t, all, p, cfg)
		path, index := build(t, all.Slice(0, 200), p, cfg)
		if _, err := index.Add(ctx, path, source(t, all.Slice(200, 300)), nil); err != nil {
			t.Fatal(err)
		}
		a, _ := os.ReadFile(whole)
		b, _ := os.ReadFile(path)
		if !bytes.Equal(a, b) {
			t.Error("an index of rows that came later differs from one of all rows")
		}
		index = open(t, path)
		if _, err := index.Delete(ctx, path, []int64{299, 0, 17, 17}); err != nil {
			t.Fatal(err)
		}
		index = open(t, path)
		if _, err := index.Add(ctx, path, source(t, all.Slice(17, 18)), nil); err != nil {
			t.Fatal(err)
		}
		index = open(t, path)
		var ids []int64
		left := matrix.Pick(all, append(slices.Concat(span(1, 17), span(18, 299)), 17))
		for _, i := range slices.Concat(span(1, 17), span(18, 299)) {
			ids = append(ids, int64(i))
		}
		ids = append(ids, 300) // not 299, which was taken
		found, err := index.Search(queries, Options{K: 12})
		if err != nil {
			t.Fatal(err)
		}
		same(t, found, naive(t, p, left, queries, ids, 12))
		before, _ := os.ReadFile(path)
		if _, err := index.Delete(ctx, path, []int64{5, 17}); err == nil || !strings.Contains(err.Error(), "no row 17") {
			t.Errorf("a row that is gone: %v", err)
		}
		if _, err := index.Delete(ctx, path, ids); err == nil {
			t.Error("all rows can be deleted")
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Error("a change that failed has changed the file")
		}
	}
}

func span(i, j int) (s []int) {
	for ; i < j; i++ {
		s = append(s, i)
	}
	return s
}

func TestBadOptions(t *testing.T) {
	x := normal(20, 4, 1)
	p := mapping(t, 4, rbf)
	src := source(t, x)
	for _, c := range []struct {
		cfg  Config
		p    *pipeline.Pipeline
		want string
	}{
		{Config{Codes: "hash"}, p, "signs, sparse-signs, cosines"},
		{Config{Codes: Signs, Bits: 100}, p, "multiple of 64"},
		{Config{Bits: 64}, p, "say which codes"},
		{Config{Codes: Cosines}, pipeline.Identity(4), "shift-invariant"},
		{Config{Cells: 1}, p, "give 2 to"},
		{Config{Cells: 21}, p, "21 cells of 20 rows"},
	} {
		path := filepath.Join(t.TempDir(), "index")
		_, err := Build(context.Background(), path, src, *src.Schema(), c.p, nil, c.cfg, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%+v: there is a file", c.cfg)
		}
	}
	_, plain := build(t, x, p, Config{})
	_, coded := build(t, x, p, Config{Codes: Signs})
	wrong := normal(300, 4, 1)
	wrong.Dense.Row(290)[2] = float32(math.NaN())
	for _, c := range []struct {
		index *Index
		x     matrix.Rows
		opt   Options
		want  string
	}{
		{plain, x, Options{}, "1 or more"},
		{plain, x, Options{K: 1, Candidates: 5}, "no codes"},
		{plain, x, Options{K: 1, Probes: 5}, "no cells"},
		{coded, x, Options{K: 1, Probes: 5, Candidates: 5}, "give one of them"},
		{coded, x, Options{K: 6, Candidates: 5}, "as many or more"},
		{plain, normal(2, 5, 1), Options{K: 1}, "5 dimensions"},
		{plain, wrong, Options{K: 1}, "row 290"},
	} {
		if _, err := c.index.Search(c.x, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
}

// Codes of signs tell rows apart that are all far from 0 on the same side, also after the index was changed.
func TestSignsAreAboutTheMean(t *testing.T) {
	x := normal(600, 12, 3)
	for i := range x.Dense.Data {
		x.Dense.Data[i] += 20
	}
	for _, kind := range []string{Signs, SparseSigns} {
		path, index := build(t, x.Slice(0, 500), pipeline.Identity(12), Config{Codes: kind, Bits: 128})
		if _, err := index.Add(context.Background(), path, source(t, x.Slice(500, 550)), nil); err != nil {
			t.Fatal(err)
		}
		index = open(t, path)
		queries := x.Slice(550, 600)
		want, err := index.Search(queries, Options{K: 5})
		if err != nil {
			t.Fatal(err)
		}
		got, err := index.Search(queries, Options{K: 5, Candidates: 110})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for q := range want {
			for _, n := range want[q] {
				if slices.Contains(got[q], n) {
					found++
				}
			}
		}
		if t.Logf("%s: %d of 250", kind, found); found < 240 {
			t.Errorf("%s: of 250 neighbours %d are among a fifth of the rows", kind, found)
		}
	}
}
