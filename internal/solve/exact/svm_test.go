package exact

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/kernel"
	"mercer/matrix"
)

// libsvm is what testdata/libsvm.py recorded.
type libsvm struct {
	X       []float32
	Two     []int
	Three   []int
	Numbers []float64
	Small   []struct {
		Kernel, Labels, Options   string
		Objective, Rho, Predicted []float64
		Epsilon                   float64
		Vectors                   int
	}
	Real []recordedReal
}

type recordedReal struct {
	Data, Options  string
	Rows, Vectors  int
	Objective, Rho []float64
}

func loadLIBSVM(t *testing.T) *libsvm {
	t.Helper()
	text, err := os.ReadFile("testdata/libsvm.json")
	if err != nil {
		t.Fatal(err)
	}
	var r libsvm
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

var ctx = context.Background()

// options reads those of svm-train that the script gives.
func options(text string) (kind, gamma string, o SVM) {
	words := strings.Fields(text)
	for i := 0; i < len(words); i += 2 {
		var v float64
		fmt.Sscan(words[i+1], &v)
		switch words[i] {
		case "-s":
			kind = words[i+1]
		case "-g":
			gamma = words[i+1]
		case "-c":
			o.C = v
		case "-n":
			o.Nu = v
		case "-p":
			o.Epsilon = v
		case "-w1":
			o.ClassWeights = []float64{1, v}
		}
	}
	return kind, gamma, o
}

func near(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Max(1, math.Abs(b)) }

func TestSVMAgreesWithLIBSVM(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	r := loadLIBSVM(t)
	x := matrix.Rows{Dense: &matrix.Dense{Rows: 90, Cols: 4, Stride: 4, Data: r.X}}
	kernels := map[string]kernel.Kernel{
		"linear": {Name: "linear"},
		"poly":   {Name: "poly", Gamma: 0.5, Coef0: 1, Degree: 3},
		"rbf":    {Name: "rbf", Gamma: 0.3},
	}
	for _, want := range r.Small {
		kind, _, o := options(want.Options)
		o.Tolerance = 1e-5
		k := kernels[want.Kernel]
		if k.Name == "linear" && (kind == "1" || kind == "2") {
			continue // no margin: LIBSVM's objectives are those of rounding
		}
		name := want.Kernel + " " + want.Labels + " " + want.Options
		var m *Machine
		var report *SVMReport
		var err error
		predicted := make([]float64, 90)
		switch kind {
		case "0", "1":
			class, classes := r.Two, 2
			if want.Labels == "three" {
				class, classes = r.Three, 3
			}
			c, rep, err := FitSVC(ctx, k, x, class, classes, o)
			if err != nil {
				t.Fatal(name, err)
			}
			m, report = c.Machine(), rep
			labels := make([]int, 90)
			if err := c.Predict(labels, x); err != nil {
				t.Fatal(err)
			}
			for i, l := range labels {
				predicted[i] = float64(l)
			}
		case "2":
			m, report, err = FitOneClass(ctx, k, x, o)
		default:
			m, report, err = FitSVR(ctx, k, x, r.Numbers, 1, o)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if kind >= "2" {
			scores := matrix.NewDense(90, 1)
			if err := m.Scores(scores, x); err != nil {
				t.Fatal(err)
			}
			for i, s := range scores.Data {
				predicted[i] = float64(s)
				if kind == "2" {
					predicted[i] = -1
					if s > 0 {
						predicted[i] = 1
					}
				}
			}
		}
		if !report.Converged {
			t.Errorf("%s: did not converge: %+v", name, report)
		}
		for p, objective := range want.Objective {
			if !near(report.Objective[p], objective, 1e-4) {
				t.Errorf("%s: objective %g, LIBSVM's %g", name, report.Objective[p], objective)
			}
			if !near(-m.Intercepts()[p], want.Rho[p], 2e-3) {
				t.Errorf("%s: rho %g, LIBSVM's %g", name, -m.Intercepts()[p], want.Rho[p])
			}
		}
		if kind == "4" && !near(report.Epsilon[0], want.Epsilon, 1e-3) {
			t.Errorf("%s: epsilon %v, LIBSVM's %g", name, report.Epsilon, want.Epsilon)
		}
		for i, p := range want.Predicted {
			if kind == "2" && math.Abs(predicted[i]-p) == 2 {
				continue // free vectors have scores of 0 up to the tolerance
			}
			if !near(predicted[i], p, 1e-3) {
				t.Errorf("%s: row %d: %g, LIBSVM predicts %g", name, i, predicted[i], p)
			}
		}
	}
}

// sample makes rows of three overlapping classes, with numbers that depend on them smoothly, some
// rows twice, and a constant column.
func sample(n, d int) (x matrix.Rows, class []int, y []float64) {
	stream := random.New(5, "svm-test")
	m := matrix.NewDense(n, d)
	for i := range n {
		c := i % 3
		row := m.Row(i)
		for j := range row {
			row[j] = float32(stream.Normal())
			if j == c {
				row[j] += 1.5
			}
		}
		row[d-1] = 3
		if i%10 == 9 {
			copy(row, m.Row(i-3))
		}
		class = append(class, c)
		y = append(y, float64(row[0]*row[1])+stream.Normal()/10)
	}
	return matrix.Rows{Dense: m}, class, y
}

func sparse(x matrix.Rows) matrix.Rows {
	m := &matrix.CSR{Rows: x.Len(), Cols: x.Dim(), Ptr: []int{0}}
	for i := range x.Len() {
		for j, v := range x.Dense.Row(i) {
			if v != 0 {
				m.Idx, m.Val = append(m.Idx, int32(j)), append(m.Val, v)
			}
		}
		m.Ptr = append(m.Ptr, len(m.Idx))
	}
	return matrix.Rows{CSR: m}
}

// weights returns β of every row in output t of a machine whose rows are among x.
func weights(m *Machine, x matrix.Rows, t int) []float64 {
	beta := make([]float64, x.Len())
	at := 0
	for i := range x.Len() {
		if at < m.x.Len() && slices.Equal(x.Dense.Row(i), m.x.Dense.Row(at)) {
			beta[i] = m.alpha[at*len(m.b)+t]
			at++
		}
	}
	if at != m.x.Len() {
		panic("the machine's rows are not those of the data, in order")
	}
	return beta
}

// decision is Σ β k + b, from the kernel's definition.
func decision(k kernel.Kernel, x matrix.Rows, beta []float64, b float64) []float64 {
	f := make([]float64, x.Len())
	for i := range f {
		f[i] = b
		for j, v := range beta {
			if v != 0 {
				f[i] += v * k.Eval(x.Dense.Row(i), x.Dense.Row(j))
			}
		}
	}
	return f
}

// distinct makes all rows differ, so that weights can be told apart.
func distinct(x matrix.Rows) {
	for i := range x.Len() {
		x.Dense.Row(i)[1] += float32(i) * 1e-4
	}
}

var someKernels = []kernel.Kernel{
	{Name: "rbf", Gamma: 0.2}, {Name: "linear"}, {Name: "poly", Gamma: 0.2, Coef0: 1, Degree: 2}, {Name: "laplacian",
		Gamma: 0.1}, {Name: "arccos", Degree: 1},
}

func TestSVCMeetsItsOptimalityConditions(t *testing.T) {
	x, class, _ := sample(300, 6)
	distinct(x)
	stream := random.New(3, "weights")
	w := make([]float64, len(class))
	for i := range w {
		w[i] = float64(stream.Intn(4)) // a quarter count for nothing
	}
	for _, k := range someKernels {
		for _, multiclass := range []string{"ovo", "ovr"} {
			o := SVM{C: 0.7, Weights: w, ClassWeights: []float64{1, 2, 0.5}, Multiclass: multiclass, Tolerance: 1e-4}
			c, _, err := FitSVC(ctx, k, x, class, 3, o)
			if err != nil {
				t.Fatal(err)
			}
			for p, contest := range c.contests {
				beta := weights(c.machine, x, p)
				f := decision(k, x, beta, c.machine.b[p])
				sum, free := 0.0, 0
				for i, v := range beta {
					sum += v
					bound := o.C * w[i] * o.ClassWeights[class[i]]
					if contest.against >= 0 && class[i] != contest.class && class[i] != contest.against {
						bound = 0
					}
					alpha := contest.sign(class[i]) * v
					margin := contest.sign(class[i]) * f[i]
					if alpha < 0 || alpha > bound {
						t.Fatalf("%v %s %v: α of row %d is %g of %g", k, multiclass, contest, i, alpha, bound)
					}
					switch {
					case bound == 0:
					case alpha == 0 && margin < 1-2e-4, alpha == bound && margin > 1+2e-4,
						alpha > 0 && alpha < bound && math.Abs(margin-1) > 2e-4:
						t.Errorf("%v %s %v: row %d has α = %g of %g and a margin of %g", k, multiclass, contest, i, alpha, bound, margin)
					}
					if alpha > 0 && alpha < bound {
						free++
					}
				}
				if math.Abs(sum) > 1e-9 || free == 0 {
					t.Errorf("%v %s %v: Σ yα = %g, %d free", k, multiclass, contest, sum, free)
				}
			}
		}
	}
}

func TestSVRMeetsItsOptimalityConditions(t *testing.T) {
	x, _, y := sample(300, 4)
	distinct(x)
	for _, k := range someKernels {
		for _, nu := range []float64{0, 0.4} {
			o := SVM{C: 2, Epsilon: 0.1, Nu: nu, Tolerance: 1e-4}
			m, r, err := FitSVR(ctx, k, x, y, 1, o)
			if err != nil {
				t.Fatal(err)
			}
			if nu > 0 {
				o.Epsilon = r.Epsilon[0]
			}
			beta := weights(m, x, 0)
			f := decision(k, x, beta, m.b[0])
			sum, outside, vectors := 0.0, 0, 0
			for i, v := range beta {
				sum += v
				over := y[i] - f[i] // towards β > 0
				if v < 0 {
					over = -over
				}
				if math.Abs(over) > o.Epsilon+2e-4 {
					outside++
				}
				if v != 0 {
					vectors++
				}
				switch a := math.Abs(v); {
				case a > o.C, a == 0 && math.Abs(over) > o.Epsilon+2e-4, a == o.C && over < o.Epsilon-2e-4,
					a > 0 && a < o.C && math.Abs(over-o.Epsilon) > 2e-4:
					t.Errorf("%v ν=%g: row %d has |β| = %g of %g and is %g from its number, ε = %g", k, nu, i, a, o.C, over, o.Epsilon)
				}
			}
			if math.Abs(sum) > 1e-9 {
				t.Errorf("%v: Σβ = %g", k, sum)
			}
			if n := float64(len(y)); nu > 0 && (float64(outside)/n > nu || float64(vectors)/n < nu) {
				t.Errorf("%v: ν = %g, but %d of %g rows are outside and %d support vectors", k, nu, outside, n, vectors)
			}
		}
	}
}

func TestOneClassMeetsItsOptimalityConditions(t *testing.T) {
	x, _, _ := sample(300, 4)
	distinct(x)
	for _, k := range someKernels {
		m, _, err := FitOneClass(ctx, k, x, SVM{Nu: 0.15, Tolerance: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		beta := weights(m, x, 0)
		f := decision(k, x, beta, m.b[0])
		sum, outside, vectors := 0.0, 0, 0
		for i, v := range beta {
			sum += v
			if v > 0 {
				vectors++
			}
			if f[i] < -1e-4 {
				outside++
			}
			if v < 0 || v > 1 || v == 0 && f[i] < -1e-4 || v == 1 && f[i] > 1e-4 || v > 0 && v < 1 && math.Abs(f[i]) > 1e-4 {
				t.Errorf("%v: row %d has α = %g and a score of %g", k, i, v, f[i])
			}
		}
		if math.Abs(sum-45) > 1e-9 || outside > 45 || vectors < 45 {
			t.Errorf("%v: Σα = %g of 45, %d outside, %d support vectors", k, sum, outside, vectors)
		}
	}
}

// bits are all numbers of a machine.
func bits(m *Machine) []uint64 {
	var all []uint64
	for _, v := range m.alpha {
		all = append(all, math.Float64bits(v))
	}
	for _, v := range m.b {
		all = append(all, math.Float64bits(v))
	}
	return all
}

// Few sparse rows of many dimensions, which training would copy to dense ones, take no more memory than SVMMemory states.
func TestSparseRowsTakeTheMemoryThatIsStated(t *testing.T) {
	const n, d = 120, 700
	narrow, class, y := sample(n, 8)
	x := matrix.NewDense(n, d)
	for i := range n {
		for j := range 40 {
			x.Row(i)[(i+17*j)%d] = narrow.Dense.Row(i)[j%8]
		}
	}
	_, most := SVMMemory(n, d, true)
	o := SVM{C: 10, Memory: most + 4*n*d}
	for _, o.Multiclass = range []string{"ovo", "ovr"} {
		if _, _, err := FitSVC(ctx, someKernels[0], sparse(matrix.Rows{Dense: x}), class, 3, o); err != nil {
			t.Errorf("%s: %v", o.Multiclass, err)
		}
	}
	if _, _, err := FitSVR(ctx, someKernels[0], sparse(matrix.Rows{Dense: x}), y, 1, SVM{Memory: most + 4*n*d}); err != nil {
		t.Error(err)
	}
}

func TestSVMHasTheSameBitsForAnyThreads(t *testing.T) {
	x, class, y := sample(700, 8)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	fit := func(threads int, x matrix.Rows, memory int64) []uint64 {
		runtime.GOMAXPROCS(threads)
		var all []uint64
		for _, multiclass := range []string{"ovo", "ovr"} {
			c, _, err := FitSVC(ctx, someKernels[0], x, class, 3, SVM{C: 10, Multiclass: multiclass, Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, bits(c.machine)...)
		}
		m, _, err := FitSVR(ctx, someKernels[3], x, y, 1, SVM{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		return append(all, bits(m)...)
	}
	least, _ := SVMMemory(700, 8, false)
	want, little := fit(1, x, 0), fit(1, x, least+100_000)
	for threads := 1; threads <= 3; threads++ {
		if !slices.Equal(fit(threads, x, 0), want) {
			t.Errorf("%d threads give other bits than 1", threads)
		}
		if !slices.Equal(fit(threads, x, least+100_000), little) {
			t.Errorf("%d threads with little memory give other bits", threads)
		}
	}
	if !slices.Equal(fit(2, sparse(x), 0), want) {
		t.Error("sparse rows that are not give other bits than dense ones")
	}
}

// With room for a part of the Gram matrix only, variables are left out, brought back, and the same
// program is solved.
func TestSVMShrinksWhereMemoryIsShort(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	x, class, y := sample(1500, 6)
	least, _ := SVMMemory(1500, 6, false)
	for i, c := range class {
		class[i] = c / 2
		x.Dense.Row(i)[0] += float32(3 * class[i]) // most rows are far from the other class
	}
	for _, nu := range []float64{0, 0.1} {
		o, share := SVM{C: 100, Nu: nu, Tolerance: 1e-4}, 1e-5
		if nu > 0 { // objectives are in units of the margin, which is small
			o.Tolerance, share = 1e-6, 2e-3
		}
		_, want, err := FitSVC(ctx, someKernels[0], x, class, 2, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Memory = least
		_, got, err := FitSVC(ctx, someKernels[0], x, class, 2, o)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Converged || !near(got.Objective[0], want.Objective[0], share) {
			t.Errorf("ν = %g: objective %g with little memory, %g with enough", nu, got.Objective[0], want.Objective[0])
		}
		if got.Restores == 0 || want.Restores != 0 {
			t.Errorf("ν = %g: brought back %d times with little memory, %d with enough", nu, got.Restores, want.Restores)
		}
	}
	var two []float64 // numbers to predict, the second with what the first left in the cache
	for i, v := range y {
		two = append(two, v, 2-v+float64(x.Dense.Row(i)[2]))
	}
	o := SVM{C: 10, Epsilon: 1, Memory: least}
	_, got, err := FitSVR(ctx, someKernels[0], x, two, 2, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Memory = 0
	_, want, err := FitSVR(ctx, someKernels[0], x, two, 2, o)
	if err != nil {
		t.Fatal(err)
	}
	for p := range two[:2] {
		if !near(got.Objective[p], want.Objective[p], 1e-4) || got.Restores < 2 {
			t.Errorf("regression %d: objective %g with little memory, %g with enough; brought back %d times", p,
				got.Objective[p], want.Objective[p], got.Restores)
		}
	}
}

func TestSVCOfHardData(t *testing.T) {
	x, class, _ := sample(300, 5)
	line := func(values ...float32) matrix.Rows {
		return matrix.Rows{Dense: &matrix.Dense{Rows: len(values), Cols: 1, Stride: 1, Data: values}}
	}
	for _, c := range []struct {
		name    string
		x       matrix.Rows
		class   []int
		classes int
		opt     SVM
	}{
		{"one row a class", line(0, 1, 5), []int{0, 1, 2}, 3, SVM{}},
		{"a huge C", x, class, 3, SVM{C: 1e9, MaxSteps: 20_000}},
		{"equal rows of different classes", line(1, 1, 1, 1), []int{0, 1, 0, 1}, 2, SVM{C: 1e6}},
		{"a tiny C", x, class, 3, SVM{C: 1e-9}},
	} {
		for _, multiclass := range []string{"ovo", "ovr"} {
			c.opt.Multiclass = multiclass
			m, _, err := FitSVC(ctx, someKernels[0], c.x, c.class, c.classes, c.opt)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			got := make([]int, c.x.Len())
			if err := m.Predict(got, c.x); err != nil {
				t.Error(err)
			}
			if c.name == "one row a class" && !slices.Equal(got, c.class) {
				t.Errorf("%s, %s: predicts %v", c.name, multiclass, got)
			}
		}
	}
}

func TestSVMErrors(t *testing.T) {
	x, class, y := sample(40, 3)
	zero := make([]float64, 40)
	nan := sparse(x)
	nan.CSR.Val[5] = float32(math.NaN())
	svc := func(x matrix.Rows, class []int, classes int, o SVM) error {
		_, _, err := FitSVC(ctx, someKernels[0], x, class, classes, o)
		return err
	}
	svr := func(y []float64, o SVM) error {
		_, _, err := FitSVR(ctx, someKernels[0], x, y, 1, o)
		return err
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, _, stop := FitSVC(stopped, someKernels[0], x, class, 3, SVM{})
	for _, c := range []struct {
		err  error
		want string
	}{
		{svc(x, make([]int, 40), 1, SVM{}), "all rows are of one class"},
		{svc(x, class, 4, SVM{}), "class 4 of 4 has no rows with a weight above 0"},
		{svc(x, class, 3, SVM{Weights: zero}), "class 1 of 3 has no rows with a weight above 0"},
		{svc(x, class, 3, SVM{C: -1}), "C is -1"},
		{svc(x, class, 3, SVM{Nu: 2}), "nu is 2"},
		{svc(x, class, 3, SVM{Nu: 1, ClassWeights: []float64{1, 3, 1}}),
			"with classes of these sizes, class 2 against class 3, it is 0.5 at most"},
		{svc(x, class, 3, SVM{Nu: 0.9, ClassWeights: []float64{1, 1, 3}, Multiclass: "ovr"}), "class 2 against the others, it is"},
		{svc(x, class, 3, SVM{Tolerance: math.NaN()}), "tolerance is NaN"},
		{svc(x, class, 3, SVM{Multiclass: "both"}), "it is ovo or ovr"},
		{svc(x, class, 3, SVM{ClassWeights: []float64{1, -1, 1}}), "class 2: the weight is -1"},
		{svc(x, class, 3, SVM{Memory: 1000}), "take 3.0 MiB at least, of 676 B"},
		{svc(nan, class, 3, SVM{}), "is not a finite number"},
		{svr(append([]float64{math.Inf(1)}, y[1:]...), SVM{}), "row 1: the number to predict is +Inf"},
		{svr(y, SVM{Weights: zero}), "no rows with a weight above 0"},
		{svr(y, SVM{Epsilon: -1}), "epsilon is -1"},
		{stop, "context canceled"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}

func TestVotesAreCountedAsLIBSVMDoes(t *testing.T) {
	c := &Classifier{classes: 3, contests: contests(3, "ovo")}
	votes := make([]int, 3)
	for _, v := range []struct {
		scores []float32
		want   int
	}{
		{[]float32{1, 1, 1}, 0}, {[]float32{-1, 1, 1}, 1}, {[]float32{-1, -1, -1}, 2},
		{[]float32{1, -1, 1}, 0}, // one vote each
		{[]float32{0, 0, 0}, 2},  // 0 is for the second
	} {
		if got := c.Decide(v.scores, votes); got != v.want {
			t.Errorf("%v: class %d, want %d", v.scores, got, v.want)
		}
	}
}

// ν-SVC has a solution up to the largest ν and none beyond it.
func TestMostNuIsWhereSolutionsEnd(t *testing.T) {
	x, class, _ := sample(90, 3)
	distinct(x)
	for _, multiclass := range []string{"ovo", "ovr"} {
		o := SVM{ClassWeights: []float64{1, 1.5, 1}, Multiclass: multiclass}
		sums := make([]float64, 3)
		for _, c := range class {
			sums[c] += o.ClassWeights[c]
		}
		most, _, _ := MostNu(sums, multiclass)
		if !(most > 0.1 && most < 1) {
			t.Fatalf("%s: ν up to %g for %v", multiclass, most, sums)
		}
		for _, by := range []float64{0.98, 1.01} {
			o.Nu = most * by
			if _, _, err := FitSVC(ctx, someKernels[0], x, class, 3, o); (err == nil) != (by < 1) {
				t.Errorf("%s: ν = %g of %g: %v", multiclass, o.Nu, most, err)
			}
		}
	}
	// By hand: 30 and 10 rows allow 2·10/40, 10 against all others 2·10/60.
	for _, c := range []struct {
		multiclass     string
		nu             float64
		class, against int
	}{{"ovo", 0.5, 0, 1}, {"ovr", 1. / 3, 1, -1}} {
		if nu, class, against := MostNu([]float64{30, 10, 20}, c.multiclass); math.Abs(nu-c.nu) > 1e-15 ||
			class != c.class || against != c.against {
			t.Errorf("%+v: ν up to %g, classes %d, %d", c, nu, class, against)
		}
	}
}

// Outputs that share rows of the Gram matrix are those of machines trained one by one, to the bit.
func TestSVROfSeveralOutputsIsThatOfEach(t *testing.T) {
	const n, outputs = 300, 3
	x, _, y := sample(n, 4)
	distinct(x)
	all := make([]float64, n*outputs)
	for i, v := range y {
		copy(all[i*outputs:], []float64{v, 5 - 3*v, float64(x.Dense.Row(i)[1]) - float64(i%3)})
	}
	for _, o := range []SVM{{C: 2, Epsilon: 0.1}, {C: 2, Nu: 0.4}} {
		m, r, err := FitSVR(ctx, someKernels[0], x, all, outputs, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Machines != outputs || len(r.Epsilon) != outputs || len(r.Objective) != outputs || !r.Converged {
			t.Fatalf("%+v", r)
		}
		rows := 0
		for p := range outputs {
			one := make([]float64, n)
			for i := range one {
				one[i] = all[i*outputs+p]
			}
			single, want, err := FitSVR(ctx, someKernels[0], x, one, 1, o)
			if err != nil {
				t.Fatal(err)
			}
			rows += want.KernelRows
			if r.Objective[p] != want.Objective[0] || m.b[p] != single.b[0] || r.Epsilon[p] != want.Epsilon[0] {
				t.Errorf("%+v: output %d: objective %g, b %g, ε %g; alone %g, %g, %g", o, p, r.Objective[p], m.b[p],
					r.Epsilon[p], want.Objective[0], single.b[0], want.Epsilon[0])
			}
			if got := weights(m, x, p); !slices.Equal(got, weights(single, x, 0)) {
				t.Errorf("%+v: output %d has other weights than alone", o, p)
			}
		}
		if r.KernelRows >= rows {
			t.Errorf("%+v: %d rows of the Gram matrix, %d one by one: none are shared", o, r.KernelRows, rows)
		}
	}
}
