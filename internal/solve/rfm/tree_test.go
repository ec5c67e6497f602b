package rfm

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mercer/internal/engine/random"
	"mercer/matrix"
)

// grown is a random tree of a number of leaves for rows of d numbers, whose ramps are wide, so that rows have many
// shares.
func grown(r *random.Stream, leaves, d int) Tree {
	var t Tree
	done := 0
	var grow func(leaves int) int
	grow = func(leaves int) int {
		if leaves == 1 {
			done++
			return -done
		}
		at := len(t)
		n := Node{Direction: make([]float32, d), Low: r.Normal()}
		for j := range n.Direction {
			n.Direction[j] = float32(r.Normal())
		}
		n.High = n.Low + []float64{0, 0.5, 3}[r.Intn(3)]
		t = append(t, n)
		below := 1 + r.Intn(leaves-1)
		to := grow(below)
		t[at].Below = to
		to = grow(leaves - below)
		t[at].Above = to
		return at
	}
	grow(leaves)
	return t
}

// shareOf is the share of a row in every leaf, by the definition of Node.
func (t Tree) shareOf(x []float32, at int, of float64, shares []float64) {
	if at < 0 {
		shares[-at-1] += of
		return
	}
	n := t[at]
	s := 0.0
	for j, v := range n.Direction {
		s += float64(v) * float64(x[j])
	}
	above := 0.0
	switch {
	case s <= n.Low:
	case s >= n.High:
		above = 1
	default:
		above = (s - n.Low) / (n.High - n.Low)
	}
	if above < 1 {
		t.shareOf(x, n.Below, of*(1-above), shares)
	}
	if above > 0 {
		t.shareOf(x, n.Above, of*above, shares)
	}
}

// Shares add up to 1, each leaf has at most one of a row, and they are those of the definition but for shares that are
// too small to ask for, of which there is at most one a level.
func TestSharesAddUp(t *testing.T) {
	r := random.New(1, "tree.shares")
	several := 0
	for _, leaves := range []int{1, 2, 3, 8, 20} {
		tree := grown(r, leaves, 4)
		if err := tree.check(4, leaves); err != nil {
			t.Fatalf("%d leaves: %v", leaves, err)
		}
		x := make([]float32, 4)
		for row := range int32(300) {
			for j := range x {
				x[j] = float32(r.Normal())
			}
			got, want, sum := make([]float64, leaves), make([]float64, leaves), 0.0
			shares := tree.route([]share{{row: -1}}, x, row)[1:]
			for _, s := range shares {
				if s.row != row || !(s.of > 0) || got[s.leaf] != 0 {
					t.Fatalf("shares %v", shares)
				}
				got[s.leaf] = float64(s.of)
				sum += float64(s.of)
			}
			if len(shares) > 1 {
				several++
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("%d leaves: shares add up to %.9g", leaves, sum)
			}
			if len(tree) == 0 {
				continue
			}
			tree.shareOf(x, 0, 1, want)
			for l, v := range want {
				if math.Abs(got[l]-v) > smallestShare*float64(len(tree)) {
					t.Errorf("leaf %d has a share of %g, want %g", l, got[l], v)
				}
			}
		}
	}
	if several < 100 {
		t.Errorf("%d rows have several shares; the test needs more", several)
	}
}

// Across a ramp shares change by little with every small step.
func TestSharesAreContinuous(t *testing.T) {
	tree := Tree{{Direction: []float32{1}, Low: -1, High: 2, Below: 1, Above: -1}, {Direction: []float32{-1}, Low: -1.5, High: 1, Below: -2, Above: -3}}
	last := make([]float64, 3)
	const steps = 10_000
	for i := range steps {
		now := make([]float64, 3)
		for _, s := range tree.route(nil, []float32{float32(-3 + 6*float64(i)/steps)}, 0) {
			now[s.leaf] = float64(s.of)
		}
		for l := range now {
			// The steepest ramp rises by 1 in 2.5; shares jump where they become too small.
			if d := math.Abs(now[l] - last[l]); i > 0 && d > 6.0/steps/2.5*2+smallestShare+1e-6 {
				t.Fatalf("at %g the share of leaf %d changes from %g to %g", -3+6*float64(i)/steps, l, last[l], now[l])
			}
		}
		last = now
	}
}

// divided checks what divide promises for rows that it divides, and returns the shares of rows on each side.
func divided(t *testing.T, name string, x *matrix.Dense, direction []float64) (below, above float64, ok bool) {
	t.Helper()
	var rows []int
	for i := range x.Rows / 2 { // some of them
		rows = append(rows, 2*i)
	}
	node, lower, upper, ok := divide(x, rows, direction, overlap)
	if !ok {
		return 0, 0, false
	}
	node.Below, node.Above = -1, -2
	if err := (Tree{node}).check(x.Cols, 2); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if !slices.IsSorted(lower) || !slices.IsSorted(upper) {
		t.Errorf("%s: the rows are not in order", name)
	}
	for _, i := range rows {
		_, in := slices.BinarySearch(lower, i)
		_, up := slices.BinarySearch(upper, i)
		for _, s := range (Tree{node}).route(nil, x.Row(i), 0) {
			if s.leaf == 0 && !in || s.leaf == 1 && !up {
				t.Errorf("%s: row %d has the share %g of leaf %d, which does not learn from it", name, i, s.of, s.leaf)
			}
		}
		if !in && !up {
			t.Errorf("%s: row %d is on no side", name, i)
		}
	}
	n := float64(len(rows))
	below, above = float64(len(lower))/n, float64(len(upper))/n
	if below < 0.25 || above < 0.25 || len(lower) == len(rows) || len(upper) == len(rows) {
		t.Errorf("%s: %.2f and %.2f of the rows on the sides", name, below, above)
	}
	return below, above, true
}

func TestDivide(t *testing.T) {
	r := random.New(1, "tree.divide")
	column := func(n int, value func(i int) float64) *matrix.Dense {
		x := matrix.NewDense(n, 2)
		for i := range n {
			x.Row(i)[0], x.Row(i)[1] = float32(value(i)), float32(r.Normal())
		}
		return x
	}
	first := []float64{1, 0}
	for _, n := range []int{40, 1001, 4000} {
		below, above, ok := divided(t, "continuous", column(n, func(int) float64 { return r.Normal() }), []float64{0.6, -0.8})
		if both := below + above - 1; !ok || math.Abs(both-overlap) > 4/float64(n) || math.Abs(below-above) > 4/float64(n) {
			t.Errorf("%d rows: %v, %.3f below and %.3f above", n, ok, below, above)
		}
	}
	for name, c := range map[string]struct {
		value func(i int) float64
		ok    bool
	}{
		"two values":                        {func(int) float64 { return float64(r.Intn(2)) }, true},
		"two values, a third":               {func(int) float64 { return float64(r.Intn(3) / 2) }, true},
		"five values":                       {func(int) float64 { return float64(r.Intn(5)) }, true},
		"many values":                       {func(int) float64 { return float64(r.Intn(40)) }, true},
		"a few values between":              {func(int) float64 { return []float64{0, 1, 2}[pick(r.Uniform(), 0.48, 0.53)] }, true},
		"half are 0":                        {func(int) float64 { return max(0, r.Normal()) }, true},
		"70 % are 0":                        {func(int) float64 { return max(0, r.Normal()-0.52) }, true},
		"all the same":                      {func(int) float64 { return 3 }, false},
		"90 % one value":                    {func(int) float64 { return max(0, r.Normal()-1.28) }, false},
		"90 % one value, the others below":  {func(int) float64 { return min(0, r.Normal()+1.28) }, false},
		"one value, outliers on both sides": {func(int) float64 { return []float64{-1, 0, 1}[pick(r.Uniform(), 0.05, 0.95)] }, false},
	} {
		below, above, ok := divided(t, name, column(2000, c.value), first)
		if ok != c.ok {
			t.Errorf("%s: ok is %v", name, ok)
		}
		if few := below+above > 1+2*overlap; few {
			t.Errorf("%s: %.2f below and %.2f above", name, below, above)
		}
	}
}

// The overlap of large nodes is a smaller share, of as many rows as that of the largest node with the full one.
func TestOverlapOfLargeNodes(t *testing.T) {
	for rows, want := range map[int]float64{101: 0.1, 400: 0.1, 800: 0.05, 8000: 0.005} {
		if got := overlapOf(rows, 100); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d rows for leaves of 100 overlap by %g, want %g", rows, got, want)
		}
	}
	x, _ := table(4000, 4, 1)
	_, below, above, ok := divide(x, seq(4000), []float64{1, 1, 0, 0}, 0.02)
	if both := len(below) + len(above) - 4000; !ok || both < 76 || both > 84 {
		t.Errorf("%v, %d rows on both sides, want 80", ok, both)
	}
}

func seq(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Few values are divided where the halves are most alike, unless no place leaves a quarter on each side.
func TestDivideFewValues(t *testing.T) {
	r := random.New(2, "tree.values")
	divided, refused := 0, 0
	for range 500 {
		n, values := 20+r.Intn(60), 1+r.Intn(4)
		skew := 1 + 3*r.Uniform()
		x, rows, counts := matrix.NewDense(n, 1), make([]int, n), make([]int, values)
		for i := range n {
			v := int(float64(values) * math.Pow(r.Uniform(), skew))
			counts[v]++
			x.Row(i)[0], rows[i] = float32(v), i
		}
		most, lower := 0, 0 // rows of the smaller half, at best
		for _, c := range counts {
			lower += c
			most = max(most, min(lower, n-lower))
		}
		node, below, above, ok := divide(x, rows, []float64{1}, overlap)
		if want := most > 0 && most >= n/4; ok != want && node.Low == node.High {
			t.Errorf("%v: ok is %v, want %v", counts, ok, want)
		}
		if smaller := min(len(below), len(above)); ok && node.Low == node.High && smaller < most-1 {
			t.Errorf("%v: %d and %d rows, want %d", counts, len(below), len(above), most)
		}
		if ok {
			divided++
		} else {
			refused++
		}
	}
	if divided < 100 || refused < 100 {
		t.Errorf("%d were divided and %d were not; the test needs more", divided, refused)
	}
}

// pick is 0, 1 or 2, divided at low and high.
func pick(u, low, high float64) int {
	switch {
	case u < low:
		return 0
	case u < high:
		return 1
	}
	return 2
}

// A tree that a hostile file may hold is refused.
func TestCheckRefuses(t *testing.T) {
	good := func() Tree {
		return Tree{
			{Direction: []float32{1, 0}, High: 1, Below: 1, Above: -1},
			{Direction: []float32{0, 1}, Low: 1, High: 1, Below: -2, Above: -3},
		}
	}
	if err := good().check(2, 3); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(t Tree)
		want   string
	}{
		"a loop":                     {func(t Tree) { t[1].Below = 1 }, "a later node"},
		"a way back":                 {func(t Tree) { t[1].Above = 0 }, "a later node"},
		"a node that is not there":   {func(t Tree) { t[0].Below = 2 }, "a later node"},
		"a leaf that is not there":   {func(t Tree) { t[0].Above = -4 }, "a leaf"},
		"the least number":           {func(t Tree) { t[0].Above = math.MinInt }, "a leaf"},
		"the largest number":         {func(t Tree) { t[0].Above = math.MaxInt }, "a leaf"},
		"a leaf twice":               {func(t Tree) { t[1].Above = -2 }, "times"},
		"a node twice":               {func(t Tree) { t[0].Above = 1 }, "times"},
		"a node that is not reached": {func(t Tree) { t[0].Below = -2 }, "times"},
		"a direction that is NaN":    {func(t Tree) { t[1].Direction[0] = float32(math.NaN()) }, "NaN"},
		"an infinite direction":      {func(t Tree) { t[1].Direction[0] = float32(math.Inf(-1)) }, "Inf"},
		"a short direction":          {func(t Tree) { t[1].Direction = t[1].Direction[:1] }, "direction of 1"},
		"no direction":               {func(t Tree) { t[1].Direction = nil }, "direction of 0"},
		"a ramp that falls":          {func(t Tree) { t[0].Low = 2 }, "divides from"},
		"no number to begin":         {func(t Tree) { t[0].Low = math.NaN() }, "divides from"},
		"no number to end":           {func(t Tree) { t[0].High = math.NaN() }, "divides from"},
		"no end":                     {func(t Tree) { t[0].High = math.Inf(1) }, "divides from"},
	} {
		tree := good()
		c.change(tree)
		if err := tree.check(2, 3); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, leaves := range []int{0, -1, 1, 2, 4} {
		if err := good().check(2, leaves); err == nil {
			t.Errorf("two nodes and %d leaves are taken", leaves)
		}
	}
	if err := (Tree)(nil).check(2, 0); err == nil {
		t.Error("no leaves are taken")
	}
}
