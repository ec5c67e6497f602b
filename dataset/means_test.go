package dataset

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// writeShops writes a table of a town, the number of a shop, a size that may be missing, and a price that depends on the shop.
func writeShops(t *testing.T, rows int) string {
	t.Helper()
	draw := random.New(1, "shops")
	var text strings.Builder
	text.WriteString("town,shop,size,price\n")
	for range rows {
		size := fmt.Sprint(draw.Intn(4))
		if draw.Intn(10) == 0 {
			size = ""
		}
		shop := draw.Intn(50)
		fmt.Fprintf(&text, "%s,%d,%s,%.3f\n", []string{"Ulm", "Bonn", "Kiel", "Hof", ""}[draw.Intn(5)], 1000+7*shop, size,
			3*draw.Uniform()+float64(shop*37%50)/10)
	}
	path := filepath.Join(t.TempDir(), "shops.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func collectAll(t *testing.T, src Source) (x [][]float32, y []float64) {
	t.Helper()
	for b, err := range Each(context.Background(), src) {
		if err != nil {
			t.Fatal(err)
		}
		dense := b.X.Dense
		if b.X.CSR != nil {
			dense = new(matrix.Dense)
			b.X.CSR.Cols = src.Schema().Dim
			b.X.CSR.Densify(dense)
		}
		for i := range dense.Rows {
			x = append(x, slices.Clone(dense.Row(i)))
		}
		y = append(y, b.Y...)
	}
	return x, y
}

func sumsOf(t *testing.T, src Source) *MeanSums {
	t.Helper()
	sums := NewMeanSums(src.Schema(), 1, func(int) bool { return true }, 3)
	for b, err := range Each(context.Background(), src) {
		if err != nil {
			t.Fatal(err)
		}
		weights := make([]float64, b.X.Len())
		for i := range weights {
			weights[i] = 1
		}
		sums.Add(b.Batch, b.Y, weights)
	}
	return sums
}

// The means of a row come from the rows of the other folds, shrunk; those of other rows from all.
func TestMeansComeFromOtherRows(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	src, err := Open(context.Background(), writeShops(t, 700), Options{BatchRows: 64})
	if err != nil {
		t.Fatal(err)
	}
	before, y := collectAll(t, src)
	sums := sumsOf(t, src)
	with := sums.Source(src, true, false)
	if got := strings.Join(sums.Columns(true), " "); got != "town shop" {
		t.Fatalf("the columns %q have means", got)
	}
	rows, _ := collectAll(t, with)
	// town and shop are means; size is a number and what says that it is missing.
	if d := with.Schema().Dim; d != 4 || len(rows[0]) != 4 {
		t.Fatalf("%d dimensions, rows of %d", d, len(rows[0]))
	}
	naive := func(out int, same func(i int) bool) float64 {
		var groups = map[string][]float64{}
		var mine []float64
		var all []float64
		for i, v := range y {
			if sums.fold(i) == out {
				continue
			}
			all = append(all, v)
			if same(i) {
				mine = append(mine, v)
			}
			key := fmt.Sprint(before[i][:5])
			if same(-1) {
				key = fmt.Sprint(before[i][5])
			}
			groups[key] = append(groups[key], v)
		}
		mean := func(v []float64) (m float64) {
			for _, x := range v {
				m += x / float64(len(v))
			}
			return m
		}
		total, within, between, heavy := mean(all), 0.0, 0.0, 0.0
		for _, g := range groups {
			m := mean(g)
			for _, v := range g {
				within += (v - m) * (v - m)
			}
			between += float64(len(g)) * (m - total) * (m - total)
			heavy += float64(len(g) * len(g))
		}
		n, k := float64(len(all)), float64(len(groups))
		within /= n - k
		spread := (between/(k-1) - within) / ((n - heavy/n) / (k - 1))
		if spread <= 0 {
			return total
		}
		m := within / spread
		return (mean(mine)*float64(len(mine)) + m*total) / (float64(len(mine)) + m)
	}
	varied := map[float32]bool{}
	for i, row := range rows {
		// Each town has so many rows that they are not divided.
		town := naive(-1, func(j int) bool { return j >= 0 && slices.Equal(before[j][:5], before[i][:5]) })
		shop := naive(sums.fold(i), func(j int) bool { return j < 0 || before[j][5] == before[i][5] })
		if math.Abs(float64(row[0])-town) > 1e-5 || math.Abs(float64(row[1])-shop) > 1e-5 {
			t.Fatalf("row %d: means %g and %g, naive %g and %g", i, row[0], row[1], town, shop)
		}
		varied[row[1]] = true
		if !slices.Equal(row[2:], before[i][6:]) {
			t.Fatalf("row %d: %v was %v", i, row, before[i])
		}
	}
	if len(varied) < 50 {
		t.Errorf("%d different means of shops", len(varied))
	}
	// Changing the target of a row changes no mean of its own.
	changed := slices.Clone(y)
	changed[17] += 0.1
	again := NewMeanSums(src.Schema(), 1, func(int) bool { return true }, 3)
	again.Add(&matrix.Batch{X: denseOf(before)}, changed, ones(len(y)))
	other := again.Source(src, true, false)
	touched := 0
	for i, row := range must(collectAll(t, other)) {
		if same := row[1] == rows[i][1]; same != (sums.fold(i) == sums.fold(17)) {
			touched++
		}
	}
	if touched > len(rows)/50 { // rounding may hide what the target changes in the mean of all
		t.Errorf("%d rows have means of their own fold, or none of the others", touched)
	}

	// Other rows: by the schema, from tables, records and lines alike.
	schema := *with.Schema()
	if err := schema.Check(); err != nil {
		t.Fatal(err)
	}
	later, err := Open(context.Background(), src.Name(), Options{Schema: &schema, Label: "price"})
	if err != nil {
		t.Fatal(err)
	}
	full, _ := collectAll(t, later)
	e := NewEncoder(&schema)
	dst := make([]float32, e.Dim())
	towns := []string{"", "Bonn", "Hof", "Kiel", "Ulm"}
	for i, row := range full {
		town := naive(-1, func(j int) bool { return j >= 0 && slices.Equal(before[j][:5], before[i][:5]) })
		shop := naive(-1, func(j int) bool { return j < 0 || before[j][5] == before[i][5] })
		if math.Abs(float64(row[0])-town) > 1e-5 || math.Abs(float64(row[1])-shop) > 1e-5 {
			t.Fatalf("row %d to predict: means %g and %g, naive %g and %g", i, row[0], row[1], town, shop)
		}
		record := map[string]any{"town": towns[slices.Index(before[i][:5], 1)], "shop": float64(before[i][5])}
		if row[3] == 0 {
			record["size"] = float64(row[2])
		}
		if err := e.Map(dst, record); err != nil || !slices.Equal(dst, row) {
			t.Fatalf("record %v: %v, %v; the table says %v", record, dst, err, row)
		}
		values := []any{record["town"], record["shop"], record["size"]}
		if err := e.Values(dst, values...); err != nil || !slices.Equal(dst, row) {
			t.Fatalf("values %v: %v, %v; the table says %v", values, dst, err, row)
		}
	}
	unknown := map[string]any{"town": "Rom", "shop": 3.0, "size": 1.0}
	if err := e.Map(dst, unknown); err != nil {
		t.Fatal(err)
	}
	all := 0.0
	for _, v := range y {
		all += v / float64(len(y))
	}
	if math.Abs(float64(dst[0])-all) > 1e-5 || math.Abs(float64(dst[1])-all) > 1e-5 {
		t.Errorf("values that are not known have the means %g and %g, all rows %g", dst[0], dst[1], all)
	}
}

func must(x [][]float32, _ []float64) [][]float32 { return x }

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

func denseOf(rows [][]float32) matrix.Rows {
	x := matrix.NewDense(len(rows), len(rows[0]))
	for i, row := range rows {
		copy(x.Row(i), row)
	}
	return matrix.Rows{Dense: x}
}

// Sparse rows get the same means as dense ones.
func TestMeansOfSparseRows(t *testing.T) {
	src, err := Open(context.Background(), writeShops(t, 300), Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, y := collectAll(t, src)
	sparse := &matrix.CSR{Cols: len(x[0]), Ptr: []int{0}, Rows: len(x)}
	for _, row := range x {
		for j, v := range row {
			if v != 0 {
				sparse.Idx, sparse.Val = append(sparse.Idx, int32(j)), append(sparse.Val, v)
			}
		}
		sparse.Ptr = append(sparse.Ptr, len(sparse.Idx))
	}
	rows, err := FromRows(matrix.Rows{CSR: sparse}, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	csr := &scheme{rows, *src.Schema()}
	dense := sumsOf(t, src).Source(src, true, false)
	other := sumsOf(t, csr).Source(csr, true, false)
	want, got := must(collectAll(t, dense)), must(collectAll(t, other))
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			t.Fatalf("row %d: dense %v, sparse %v", i, want[i], got[i])
		}
	}
}

// Sums of pieces of the rows, kept as vectors and merged, give the means that all rows give; pieces have the means of the rows that they are.
func TestMeansOfPieces(t *testing.T) {
	src, err := Open(context.Background(), writeShops(t, 700), Options{BatchRows: 64})
	if err != nil {
		t.Fatal(err)
	}
	rows, y := collectAll(t, src)
	empty := func() *MeanSums { return NewMeanSums(src.Schema(), 1, func(int) bool { return true }, 3) }
	merged := empty()
	for first := 0; first < len(rows); first += 250 {
		end := min(first+250, len(rows))
		part, kept := empty(), empty()
		part.Add(&matrix.Batch{X: denseOf(rows[first:end]), First: first}, y[first:end], ones(end-first))
		if err := kept.SetVectors(part.Vectors()); err != nil {
			t.Fatal(err)
		}
		if err := merged.Merge(kept); err != nil {
			t.Fatal(err)
		}
	}
	want, got := sumsOf(t, src).Source(src, true, false), merged.Source(src, true, false)
	near := func(a, b []float32) bool {
		return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-5 })
	}
	all := must(collectAll(t, want))
	for i, row := range must(collectAll(t, got)) {
		if !near(row, all[i]) {
			t.Fatalf("row %d: %v of pieces, %v of all", i, row, all[i])
		}
	}
	piece, err := FromRows(denseOf(rows[300:400]), y[300:400], 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int, 100)
	for i := range numbers {
		numbers[i] = 300 + i
	}
	expanded := got.Expand(denseOf(rows[300:400]), numbers)
	for i, row := range must(collectAll(t, got.Piece(piece, 300))) {
		if !near(row, all[300+i]) || !near(expanded.Dense.Row(i), row) {
			t.Fatalf("row %d: %v of a piece, %v expanded, %v of all", 300+i, row, expanded.Dense.Row(i), all[300+i])
		}
	}

	// One more number than a column may have gives it up, however the rows are divided.
	many := func(from, n int) *MeanSums {
		s := &meanSums{numbers: map[float32]int32{}, squares: make([]float64, meanFolds)}
		for v := range n {
			s.known(float32(from + v))
		}
		s.rows = n
		s.bound()
		return &MeanSums{outputs: 1, columns: []meanSums{*s}}
	}
	for _, n := range []int{1, 2} {
		a := many(0, mostValues-1)
		if err := a.Merge(many(mostValues-1, n)); err != nil {
			t.Fatal(err)
		}
		if s := a.columns[0]; s.excessive != (n == 2) || s.excessive && s.rows+len(s.numbers)+len(s.sums) > 0 {
			t.Errorf("%d numbers: excessive %v, with %d rows", mostValues-1+n, s.excessive, s.rows)
		}
	}

	for name, change := range map[string]func(v map[string][]float64){
		"a sum too few": func(v map[string][]float64) { v["sums.0"] = v["sums.0"][1:] },
		"not finite":    func(v map[string][]float64) { v["squares.0"] = []float64{math.NaN(), 0, 0, 0, 0} },
		"twice":         func(v map[string][]float64) { v["numbers.1"][1] = v["numbers.1"][0] },
		"rows":          func(v map[string][]float64) { v["rows.0"][0] = -1 },
	} {
		v := merged.Vectors()
		change(v)
		if err := empty().SetVectors(v); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := merged.Merge(many(0, 1)); err == nil {
		t.Error("sums by other columns are merged")
	}
}

// scheme is a source with another schema.
type scheme struct {
	Source
	schema Schema
}

func (s *scheme) Schema() *Schema { return &s.schema }

// The shrinkage: none where values tell all, whole where they tell nothing.
func TestShrunkMeans(t *testing.T) {
	// Two targets: the value itself, and one that is the same for all values but scatters.
	sums := make([]float64, 4*3)
	squares := make([]float64, 2)
	for v := range 4 {
		for i := range 10 {
			y := []float64{float64(v), float64(i%2*2 - 1)}
			sums[v*3]++
			for k, x := range y {
				sums[v*3+k+1] += x
				squares[k] += x * x
			}
		}
	}
	means := shrunk(sums, 2, squares)
	for v := range 4 {
		if got := means[v*2]; math.Abs(float64(got)-float64(v)) > 1e-6 {
			t.Errorf("value %d has the mean %g", v, got)
		}
		if got := means[v*2+1]; got != 0 {
			t.Errorf("value %d has the mean %g of noise", v, got)
		}
	}
	if means[8] != 1.5 || means[9] != 0 {
		t.Errorf("other values have the means %v", means[8:])
	}
	if got := shrunk(make([]float64, 6), 1, []float64{0}); !slices.Equal(got, make([]float32, 4)) {
		t.Errorf("no rows: %v", got)
	}
}

// Which columns have means.
func TestColumnsWithMeans(t *testing.T) {
	var text strings.Builder
	text.WriteString("two,three,unique,few,repeats,fraction,many,y\n")
	for i := range 600 {
		fmt.Fprintf(&text, "%s,%s,%d,%d,%d,%g,v%d,%d\n", []string{"a", "b"}[i%2], []string{"a", "b", "c"}[i%3], i*3%1801, i%9, i%40*5, float64(i%40)/3, i%300, i%40*17%40)
	}
	path := filepath.Join(t.TempDir(), "columns.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := AllValues(src)
	dims := rows.Schema().Dim
	if d := src.Schema().Dim; dims != d-64-16+300 {
		t.Errorf("%d dimensions, %d with all values", d, dims)
	}
	sums := NewMeanSums(rows.Schema(), 1, func(column int) bool { return column != 5 }, 1)
	for b, err := range Each(context.Background(), rows) {
		if err != nil {
			t.Fatal(err)
		}
		sums.Add(b.Batch, b.Y, ones(b.X.Len()))
	}
	for numbers, want := range map[bool]string{false: "three many", true: "three repeats many"} {
		if columns := sums.Columns(numbers); strings.Join(columns, " ") != want {
			t.Errorf("numbers %v: means of %q, not of %q", numbers, columns, want)
		}
	}
	with := sums.Source(rows, true, false)
	if err := with.Schema().Check(); err != nil {
		t.Error(err)
	}
	// two is 2 dimensions, three a mean, unique, few, and fraction are numbers, repeats and many are means.
	if d, narrow := with.Schema().Dim, rows.Schema().MeanDim(1); d != 8 || narrow != 8 {
		t.Errorf("%d dimensions, %d expected with means, both are 8", d, narrow)
	}
	if n := len(with.Schema().Columns[6].Categories); n != 300 {
		t.Errorf("%d values of 300", n)
	}
}

// A schema with means that do not fit is refused.
func TestWrongMeans(t *testing.T) {
	categories := Column{Place: Place{Name: "town"}, Categories: []string{"a", "b"}}
	number := Column{Place: Place{Name: "shop"}}
	words := Column{Place: Place{Name: "note"}, Coding: &Coding{Kind: CodedText, Buckets: 1, IDF: []float64{1}}}
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		column Column
		means  Means
		want   string
	}{
		{categories, Means{Outputs: 1, Values: []float32{1, 2}}, "2 means"},
		{categories, Means{Outputs: 0, Values: []float32{1, 2, 3}}, "0 targets"},
		{categories, Means{Outputs: -1, Values: []float32{1, 2, 3}}, "-1 targets"},
		{categories, Means{Outputs: 1, Numbers: []float32{1, 2}, Values: []float32{1, 2, 3}}, "means of numbers"},
		{categories, Means{Outputs: 1, Values: []float32{1, inf, 3}}, "a mean is +Inf"},
		{number, Means{Outputs: 1, Numbers: []float32{2, 1}, Values: []float32{1, 2, 3}}, "not in order"},
		{number, Means{Outputs: 1, Numbers: []float32{1, inf}, Values: []float32{1, 2, 3}}, "not in order"},
		{number, Means{Outputs: 2, Numbers: []float32{1}, Values: []float32{1, 2, 3}}, "3 means of 2"},
		{words, Means{Outputs: 1, Values: []float32{1}}, "coded as text"},
	} {
		c.column.Means = &c.means
		s := Schema{Columns: []Column{c.column}}
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, which does not say %q", c.means, err, c.want)
		}
	}
}
