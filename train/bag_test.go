package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/internal/solve/pipeline"
	"mercer/internal/solve/pool"
	"mercer/kernel"
	"mercer/matrix"
	"mercer/model"
)

// spread makes n bags of 20 members of d numbers around a centre of the bag's own. The members of
// class "narrow" lie along one diagonal, those of "wide" along the other, so that only products of
// numbers within a bag tell which it is: both classes have the same mean and deviations.
func spread(seed uint64, n, d int) (x *matrix.Dense, ends []int, names []string) {
	s := random.New(seed, "test-bags")
	const size = 20
	x, ends = matrix.NewDense(n*size, d), []int{0}
	for i := range n {
		sign, name := 1.0, "narrow"
		if i%2 == 1 {
			sign, name = -1, "wide"
		}
		names = append(names, name)
		for j := range size {
			row := x.Row(i*size + j)
			for k := 0; k < d; k += 2 {
				u, v := s.Normal(), 0.3*s.Normal()
				row[k], row[k+1] = float32(u+v), float32(sign*(u-v))
			}
		}
		ends = append(ends, (i+1)*size)
	}
	return x, ends, names
}

func bagsOf(t testing.TB, x matrix.Rows, ends []int, names []string) dataset.Bags {
	t.Helper()
	bags, err := dataset.FromBags(x, ends, nil, 0, names)
	if err != nil {
		t.Fatal(err)
	}
	return bags
}

func spreadBags(t testing.TB, seed uint64, n, d int) dataset.Bags {
	x, ends, names := spread(seed, n, d)
	return bagsOf(t, matrix.Rows{Dense: x}, ends, names)
}

func fittedBags(t testing.TB, src dataset.Bags, cfg Config) *model.Model {
	t.Helper()
	m, _, err := FitBags(context.Background(), src, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wrongBags is the share of bags that a model gets wrong.
func wrongBags(t testing.TB, m *model.Model, x *matrix.Dense, ends []int, names []string) float64 {
	t.Helper()
	var bags [][][]float32
	for i := range names {
		var bag [][]float32
		for r := ends[i]; r < ends[i+1]; r++ {
			bag = append(bag, x.Row(r))
		}
		bags = append(bags, bag)
	}
	got, err := m.PredictBags(bags...)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, p := range got {
		if p.Label != names[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(len(names))
}

// everyPooling has a configuration for each way of pooling.
func everyPooling() map[string]Config {
	return map[string]Config{
		"mean":         {Bag: &pipeline.BagConfig{Features: 256}},
		"mean, orf":    {Bag: &pipeline.BagConfig{Map: "orf", Gamma: "0.5", Features: 256, Scale: "standard"}, Learner: Ridge{}},
		"kpca":         {Bag: &pipeline.BagConfig{Map: "kpca-rp", Features: 60}},
		"nystrom":      {Bag: &pipeline.BagConfig{Map: "nystrom", Features: 60}},
		"full":         {Bag: &pipeline.BagConfig{Pooling: "full"}},
		"two streams":  {Bag: &pipeline.BagConfig{Pooling: "full", Streams: 2, First: 1, Norm: "l2"}},
		"tensorsketch": {Bag: &pipeline.BagConfig{Pooling: "tensorsketch", Features: 64}},
		"maclaurin":    {Bag: &pipeline.BagConfig{Pooling: "maclaurin", Features: 64, Scale: "standard"}},
		"cbp-krp":      {Bag: &pipeline.BagConfig{Pooling: "cbp-krp", Features: 64, Options: feature.Options{Sparsity: 1}}},
		"rbf on means": {Bag: &pipeline.BagConfig{Features: 128}, Kernel: Kernel{Name: "rbf"}, Map: Map{Features: 64}},
	}
}

func TestPoolingLearnsWhatMeansDoNotTell(t *testing.T) {
	x, ends, names := spread(1, 300, 4)
	testX, testEnds, testNames := spread(2, 200, 4)
	src := bagsOf(t, matrix.Rows{Dense: x}, ends, names)
	for name, cfg := range everyPooling() {
		if e := wrongBags(t, fittedBags(t, src, cfg), testX, testEnds, testNames); e > 0.03 {
			t.Errorf("%s: %g of the bags are wrong", name, e)
		}
	}
	// The mean of the members themselves is the same for both classes: half of 200 are wrong, give or
	// take four standard deviations of 0.035.
	m := fittedBags(t, src, Config{Bag: &pipeline.BagConfig{Kernel: "linear"}})
	if e := wrongBags(t, m, testX, testEnds, testNames); e < 0.36 || e > 0.64 {
		t.Errorf("means of members: %g of the bags are wrong, expected half", e)
	}
}

// batchedBags cuts the batches of bags differently.
type batchedBags struct {
	dataset.Bags
	x     matrix.Rows
	ends  []int
	names []string
	most  int
}

func (b *batchedBags) Open(ctx context.Context) (dataset.BagReader, error) {
	r, err := b.Bags.Open(ctx)
	return &batchedBagReader{BagReader: r, batchedBags: b}, err
}

type batchedBagReader struct {
	dataset.BagReader
	*batchedBags
	at int
}

func (r *batchedBagReader) Next() (*dataset.BagBatch, error) {
	if r.at == len(r.names) {
		return r.BagReader.Next() // io.EOF after the one batch
	}
	if r.at == 0 {
		if _, err := r.BagReader.Next(); err != nil {
			return nil, err
		}
	}
	i, j := r.at, min(r.at+r.most, len(r.names))
	r.at = j
	b := &dataset.BagBatch{X: r.x.Slice(r.ends[i], r.ends[j]), First: i, Outputs: 1, Names: r.names[i:j], Y: make([]float64, j-i)}
	for k := range b.Y {
		b.Y[k] = math.NaN()
	}
	for _, e := range r.ends[i : j+1] {
		b.Bags = append(b.Bags, e-r.ends[i])
	}
	return b, nil
}

func TestBagModelBytesDependOnDataConfigAndSeedAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	x, ends, names := spread(3, 120, 4)
	rows := matrix.Rows{Dense: x}
	src := bagsOf(t, rows, ends, names)
	for name, cfg := range everyPooling() {
		want := fileOf(t, fittedBags(t, src, cfg))
		for _, most := range []int{1, 7, 120} {
			for _, threads := range []int{1, 2} {
				old := runtime.GOMAXPROCS(threads)
				got := fileOf(t, fittedBags(t, &batchedBags{src, rows, ends, names, most}, cfg))
				runtime.GOMAXPROCS(old)
				if !bytes.Equal(got, want) {
					t.Errorf("%s: other bytes with %d threads and batches of %d bags", name, threads, most)
				}
			}
		}
		if other := cfg; name == "mean" {
			other.Seed = 2
			if bytes.Equal(fileOf(t, fittedBags(t, src, other)), want) {
				t.Errorf("%s: another seed gives the same bytes", name)
			}
		}
		// Rows that are not kept from pass to pass are the same.
		m, _, err := FitBags(context.Background(), src, cfg, Options{Memory: 1 << 40})
		if err != nil || !bytes.Equal(fileOf(t, m), want) {
			t.Errorf("%s: other bytes with a bound on memory (%v)", name, err)
		}
	}
}

func TestRowsOfBagsAreTheSameKeptOrNot(t *testing.T) {
	src := spreadBags(t, 4, 50, 4)
	b, _, _, err := FitBagPipeline(context.Background(), src, Config{Bag: &pipeline.BagConfig{Pooling: "full"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []int{0, 49, 50} {
		rows := b.TrainingSource(src, keep, nil)
		var first []float32
		for pass := range 3 {
			r, err := rows.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if kept := rows.Kept(); kept != (pass > 0 && keep == 50) {
				t.Errorf("keep %d: pass %d is from memory: %v", keep, pass, kept)
			}
			batch, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(batch.X.Dense.Data)
			clear(batch.X.Dense.Data) // a batch is its user's to change
			if pass == 0 {
				first = got
			} else if !slices.Equal(got, first) {
				t.Errorf("keep %d: pass %d gives other rows", keep, pass)
			}
			r.Next()
			r.Close()
		}
	}
}

func TestLoadedBagModelPredictsTheSameBits(t *testing.T) {
	src := spreadBags(t, 5, 100, 4)
	x, ends, names := spread(6, 20, 4)
	for name, cfg := range everyPooling() {
		m := fittedBags(t, src, cfg)
		loaded, err := read(fileOf(t, m))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(fileOf(t, loaded), fileOf(t, m)) {
			t.Errorf("%s: a loaded model is saved to other bytes", name)
		}
		rows := func(m *model.Model) []float32 {
			_, d := m.Bag().Dims()
			dst := matrix.NewDense(len(names), d)
			if err := m.Bag().Pool(dst, matrix.Rows{Dense: x}, ends); err != nil {
				t.Fatal(err)
			}
			scores := matrix.NewDense(len(names), m.Outputs())
			if err := m.Scores(scores, matrix.Rows{Dense: dst}); err != nil {
				t.Fatal(err)
			}
			return append(dst.Data, scores.Data...)
		}
		if !slices.Equal(rows(m), rows(loaded)) {
			t.Errorf("%s: a loaded model gives other bits", name)
		}
	}
}

// The mean of a kernel's map is what it says: a dot product is near the mean of the kernel over all
// pairs of members.
func TestMeanOfAMapApproximatesTheMeanOfTheKernel(t *testing.T) {
	x, ends, names := spread(7, 6, 4)
	src := bagsOf(t, matrix.Rows{Dense: x}, ends, names)
	const d = 8192
	b, _, _, err := FitBagPipeline(context.Background(), src,
		Config{Bag: &pipeline.BagConfig{Gamma: "0.2", Features: d, Scale: "none", Norm: "none"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	z := matrix.NewDense(6, d)
	if err := b.Pool(z, matrix.Rows{Dense: x}, ends); err != nil {
		t.Fatal(err)
	}
	k := kernel.Kernel{Name: "rbf", Gamma: 0.2}
	for i := range 6 {
		for j := range 6 {
			dot, mean := 0.0, 0.0
			for c := range d {
				dot += float64(z.Row(i)[c]) * float64(z.Row(j)[c])
			}
			for r := ends[i]; r < ends[i+1]; r++ {
				for s := ends[j]; s < ends[j+1]; s++ {
					square := 0.0
					for c, v := range x.Row(r) {
						square += float64(v-x.Row(s)[c]) * float64(v-x.Row(s)[c])
					}
					mean += math.Exp(-k.Gamma*square) / 400
				}
			}
			// A product of features has variance 1/D at most.
			if math.Abs(dot-mean) > 4/math.Sqrt(d) {
				t.Errorf("bags %d and %d: %g, the mean of the kernel is %g", i, j, dot, mean)
			}
		}
	}
}

func TestSparseAndDenseBagsScoreAlike(t *testing.T) {
	x, ends, names := spread(8, 80, 4)
	for i := range x.Data {
		if i%3 != 0 {
			x.Data[i] = 0
		}
	}
	for _, cfg := range []Config{{Bag: &pipeline.BagConfig{Features: 64, Scale: "maxabs"}}, {Bag: &pipeline.BagConfig{Pooling: "full"}}} {
		dense := fittedBags(t, bagsOf(t, matrix.Rows{Dense: x}, ends, names), cfg)
		other := fittedBags(t, bagsOf(t, matrix.Rows{CSR: sparse(x)}, ends, names), cfg)
		for _, m := range []*model.Model{dense, other} {
			_, d := m.Bag().Dims()
			a, b := matrix.NewDense(80, d), matrix.NewDense(80, d)
			if err := m.Bag().Pool(a, matrix.Rows{Dense: x}, ends); err != nil {
				t.Fatal(err)
			}
			if err := m.Bag().Pool(b, matrix.Rows{CSR: sparse(x)}, ends); err != nil {
				t.Fatal(err)
			}
			for i, v := range a.Data {
				if math.Abs(float64(v-b.Data[i])) > 1e-5 {
					t.Fatalf("%g from dense members, %g from sparse ones", v, b.Data[i])
				}
			}
		}
	}
}

func TestWrongBagsAreRefused(t *testing.T) {
	src := spreadBags(t, 9, 60, 2)
	m := fittedBags(t, src, Config{Bag: &pipeline.BagConfig{Pooling: "full"}})
	x, ends, names := spread(9, 60, 2)
	for i, v := range x.Data {
		x.Data[i] = max(v, -v)
	}
	counts := fittedBags(t, bagsOf(t, matrix.Rows{Dense: x}, ends, names), Config{Bag: &pipeline.BagConfig{Kernel: "chi2", Scale: "none"}})
	rowModel := small(t)
	nan, huge := float32(math.NaN()), float32(3e38)
	for _, c := range []struct {
		m    *model.Model
		bag  [][]float32
		want string
	}{
		{m, [][]float32{}, "bag 0 (from 0) has no members"},
		{m, [][]float32{{1, 2}, {3}}, "bag 0, member 1 (from 0) has 1 numbers, but the model was trained on 2"},
		{m, [][]float32{{1, 2}, {nan, 1}}, "row 1, dimension 0 (from 0): NaN is not a finite number"},
		{m, [][]float32{{1, 2}, {huge, huge}}, "bag 0 (from 0): its values are too large to pool in float32; scale the members (bag_scale)"},
		{counts, [][]float32{{1, 2}, {1, -1}},
			"bag 0 (from 0): member 1 (from 0), dimension 1 (from 0): -1 is too small; chi2 takes numbers of 0 or more"},
		{rowModel, [][]float32{{1, 2}}, "the model was trained on rows, not on bags; use Predict"},
	} {
		if _, err := c.m.PredictBags(c.bag); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v; want %s", c.bag, err, c.want)
		}
	}
}

// keyed gives bags names, and begins with bag 7.
type keyed struct {
	dataset.Bags
	names bool
}

func (k keyed) Open(ctx context.Context) (dataset.BagReader, error) {
	r, err := k.Bags.Open(ctx)
	return &keyedReader{r, k.names}, err
}

type keyedReader struct {
	dataset.BagReader
	names bool
}

func (r *keyedReader) Next() (*dataset.BagBatch, error) {
	b, err := r.BagReader.Next()
	if err == nil {
		b.First = 7
		for i := 0; r.names && i < b.Len(); i++ {
			b.Keys = append(b.Keys, fmt.Sprint("bag", i))
		}
	}
	return b, err
}

func TestBagsThatCannotBePooledAreNamed(t *testing.T) {
	m := fittedBags(t, spreadBags(t, 9, 60, 2), Config{Bag: &pipeline.BagConfig{Pooling: "full"}})
	x := matrix.NewDense(4, 2)
	x.Row(3)[0] = 3e38
	src := bagsOf(t, matrix.Rows{Dense: x}, []int{0, 2, 4}, []string{"a", "b"})
	for names, want := range map[bool]string{
		true:  `bags in memory: bag "bag1": its values are too large to pool in float32; scale the members (bag_scale)`,
		false: `bags in memory: bag 8 (from 0): its values are too large to pool in float32; scale the members (bag_scale)`,
	} {
		err := m.PredictSource(context.Background(), m.Bag().Source(keyed{src, names}), func(model.Prediction) error { return nil })
		if err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestBagConfigMessages(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Bag: &pipeline.BagConfig{Pooling: "max"}},
			`bags: pool: "max" is not a method; known are mean, full, cbp-krp, tensorsketch, maclaurin`},
		{Config{Bag: &pipeline.BagConfig{Pooling: "full", Kernel: "rbf"}},
			"bags: pooling full has no kernel or map of the members; those belong to mean"},
		{Config{Bag: &pipeline.BagConfig{Pooling: "full", Options: feature.Options{Form: "phase"}}},
			"bags: pooling full has no kernel or map of the members; those belong to mean"},
		{Config{Bag: &pipeline.BagConfig{Pooling: "full", Features: 10}},
			"bags: pool: method full has no option features; it belongs to cbp-krp, tensorsketch, maclaurin"},
		{Config{Bag: &pipeline.BagConfig{Streams: 2, First: 1}},
			"bags: pool: method mean has no option first; it belongs to full, cbp-krp, tensorsketch, maclaurin"},
		{Config{Bag: &pipeline.BagConfig{Kernel: "rbff"}}, `bags: kernel: "rbff" is not a kernel; did you mean rbf? known are ` +
			strings.Join(kernel.Names(), ", ")},
		{Config{Bag: &pipeline.BagConfig{Scale: "big"}},
			`bags: scale "big" is not known; known are auto, none, standard, minmax, maxabs, global, l1, l2, quantile, robust`},
		{Config{Bag: &pipeline.BagConfig{Norm: "l3"}}, `bags: pool: "l3" is not a norm; known are none, l2, root-l2`},
		{Config{Bag: &pipeline.BagConfig{}, Map: Map{Features: 10}},
			"the linear kernel needs no map; leave out features, or name a map such as rp, or choose another kernel"},
	} {
		if err := c.cfg.Check(); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v\nwant %s", c.cfg.Bag, err, c.want)
		}
	}
	if err := (Config{Bag: &pipeline.BagConfig{}}).Check(); err != nil {
		t.Error(err)
	}
	if _, _, err := Fit(context.Background(), dataset.Generate(dataset.Synthetic{Rows: 9, Dim: 5}),
		Config{Bag: &pipeline.BagConfig{}}, Options{}); err != errRows {
		t.Errorf("rows with a configuration for bags: %v", err)
	}
}

func TestUnlabelledBagsAreRefusedBeforePooling(t *testing.T) {
	x, ends, _ := spread(1, 10, 2)
	src := bagsOf(t, matrix.Rows{Dense: x}, ends, nil)
	_, _, err := FitBags(context.Background(), src, Config{}, Options{})
	want := "bags in memory: the bags have no labels; name their column with label, " +
		"give one a bag with labels_file=FILE, or put the files of a folder into folders with the labels as names"
	if err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// Files that do not fit together are refused, whatever was altered.
func TestAlteredBagFilesAreRefused(t *testing.T) {
	data := fileOf(t, fittedBags(t, spreadBags(t, 1, 40, 2),
		Config{Bag: &pipeline.BagConfig{Pooling: "tensorsketch", Features: 16, Scale: "standard"}}))
	if _, err := read(data); err != nil {
		t.Fatal(err)
	}
	describe := func(edit func(model string) string) []byte {
		return rewritten(t, data, func(h map[string]any) {
			meta := h["__metadata__"].(map[string]any)
			old := meta["model"].(string)
			meta["model"] = edit(old)
			if meta["model"] == old {
				t.Error("nothing was altered")
			}
		})
	}
	replace := func(old, new string) []byte {
		return describe(func(m string) string { return strings.Replace(m, old, new, 1) })
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"method":   {replace(`"method":"tensorsketch"`, `"method":"magic"`), `"magic" is not a method`},
		"other":    {replace(`"method":"tensorsketch"`, `"method":"maclaurin"`), "pools a bag to"},
		"seed":     {replace(`"features":16,"seed":1`, `"features":16,"seed":2`), "pools a bag to"},
		"features": {replace(`"features":16,"seed":1`, `"features":8,"seed":1`), "pooling gives rows of 8 numbers, the model takes 16"},
		"huge": {replace(`"features":16,"seed":1`, `"features":1000000000,"seed":1`),
			"pooling gives rows of 1000000000 numbers, the model takes 16"},
		"scale": {replace(`"scale":"standard"`, `"scale":"odd"`), `scaling "odd" is not known`},
		"no channels": {replace(`"bag":{"schema":{"format":"rows","dim":2`, `"bag":{"schema":{"format":"rows","dim":0`),
			"the members of bags have 0 dimensions"},
		"channels": {replace(`"bag":{"schema":{"format":"rows","dim":2`, `"bag":{"schema":{"format":"rows","dim":3`),
			`tensor "bag.golden" has shape [6 2]; expected [6 3]`},
		"no bag":  {replace(`"bag":{"schema"`, `"bug":{"schema"`), ""},
		"factor":  {put(t, data, "bag.scale.factor", 0, math.Inf(1)), "scaling by +Inf"},
		"members": {put(t, data, "bag.golden", 0, 100), "pools a bag to"},
		"NaN":     {put(t, data, "bag.golden", 0, math.NaN()), "NaN"},
	} {
		m, err := read(c.data)
		if name == "no bag" {
			// A description without bags is that of a model of rows, and a right one.
			if err != nil || m.Bag() != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
}

func TestBagMemoryIsBounded(t *testing.T) {
	src := spreadBags(t, 1, 40, 2)
	if _, _, err := FitBags(context.Background(), src, Config{Bag: &pipeline.BagConfig{Features: 512}, Learner: Ridge{}},
		Options{Memory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "but memory allows 1.0 MiB;") {
		t.Errorf("%v", err)
	}
}

func TestDefaultFeaturesOfBags(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for bags, want := range map[int]int{20: 512, 600: 1024} {
		if m := fittedBags(t, spreadBags(t, 1, bags, 2), Config{Learner: Ridge{}}); m.Dim() != want {
			t.Errorf("%d features for %d bags, want %d", m.Dim(), bags, want)
		}
	}
}

func TestRowsAreKeptWithinAQuarterOfTheMemory(t *testing.T) {
	src := spreadBags(t, 1, 40, 2)
	for memory, want := range map[int64]int{0: 40, 4 * 4 * 40 * 16: 40, 4*4*40*16 - 4: 0} {
		f, err := beginBags(context.Background(), src, Config{Bag: &pipeline.BagConfig{Pooling: "tensorsketch", Features: 16}},
			Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		pooled, _, err := f.pool(f.bags)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if pooled.kept > 0 {
			got = pooled.sum.Bags
		}
		if got != want {
			t.Errorf("with %d bytes %d rows are kept, want %d", memory, got, want)
		}
	}
}

func TestBagMapsThatNeedSamples(t *testing.T) {
	// A map that keeps rows of the sample is fitted to members once and comes back from the file.
	m := fittedBags(t, spreadBags(t, 1, 60, 4), Config{Bag: &pipeline.BagConfig{Map: "kpca-rp", Features: 20}})
	if !pool.NeedsSample(m.Info().Bag.Pooling) {
		t.Fatal("kpca-rp is not fitted")
	}
	if m.Dim() != m.Info().Bag.Pooling.Map.Features {
		t.Errorf("%d features of a map of %d", m.Dim(), m.Info().Bag.Pooling.Map.Features)
	}
	if fmt.Sprint(m.Info().Bag.Why) == "map[]" {
		t.Error("nothing says what was chosen")
	}
}
