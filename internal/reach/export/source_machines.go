package export

import (
	"fmt"
	"math"

	"mercer/feature"
	"mercer/kernel"
)

// scoring computes the scores of the scaled row as out.
func (s *sourceCode) scoring() error {
	s.wide = false
	outs := s.Outputs
	if s.Votes {
		outs = len(s.Classes) * (len(s.Classes) - 1) / 2
	}
	out := s.buffer("out", kindDouble, outs)
	s.loop("k", 0, outs, func() { s.p("%s[k] = 0", out) })
	s.row, s.rowWidth = s.measure("x", s.Metric, "", s.Dim)
	s.readers[s.row] = 1 << 30
	last := 0
	if s.program != nil {
		last = len(s.program.Steps)
		s.uses = make([]int, last+1)
		for _, t := range s.program.Steps {
			for _, f := range t.From {
				s.uses[f]++
			}
		}
		s.uses[last]++
	} else {
		s.uses = []int{1}
	}
	if s.Learner == "linear" {
		t := s.tensors["linear.w"]
		b := append([]float64{}, s.tensors["linear.b"].F64...)
		if err := s.dot(last, weights{each(t.F32, len(t.F32)), t.Shape[1]}, b); err != nil {
			return err
		}
		name := s.constant(kindDouble, b)
		s.loop("k", 0, outs, func() { s.widely(func() { s.p("out[k] += $%s[k]", name) }) })
		return nil
	}
	x, err := s.held(last)
	if err != nil {
		return err
	}
	s.row, s.rowWidth = x, widthOf(s.programOr(), last)
	s.readers[x] = 1 << 30
	s.widely(func() { err = s.machines(outs) })
	return err
}

// programOr is the program, or one that does nothing.
func (s *sourceCode) programOr() *feature.Program {
	if s.program == nil {
		return &feature.Program{Dim: s.rowWidth}
	}
	return s.program
}

// dot adds the product of a value and weights to the scores. Operations that are linear become part of the weights; bias takes what
// does not depend on the row.
func (s *sourceCode) dot(value int, w weights, bias []float64) error {
	if value > 0 && s.uses[value] == 1 {
		t := &s.program.Steps[value-1]
		switch t.Op {
		case feature.OpScale:
			if t.Width > widthOf(s.program, t.From[0]) {
				break
			}
			scaled := weights{make([]float64, len(w.w)), w.outs}
			for i, v := range w.w {
				scaled.w[i] = v * float64(t.V[i/w.outs%len(t.V)])
			}
			return s.dot(t.From[0], scaled, bias)
		case feature.OpShift:
			for i, v := range w.w {
				bias[i%w.outs] += v * float64(t.V[i/w.outs%len(t.V)])
			}
			return s.dot(t.From[0], w, bias)
		case feature.OpJoin:
			return s.dots(t.From, w, bias)
		case feature.OpInverse:
			return s.dots(t.From, spectrum(t.N, w), bias)
		case feature.OpProduct:
			if w.outs < t.W.Cols {
				return s.dot(t.From[0], product(t, w), bias)
			}
		case feature.OpKernel:
			return s.dotKernel(t, w)
		}
	}
	v, err := s.value(value)
	if err != nil {
		return err
	}
	by := s.weighed(w.w, w.outs)
	s.loop("i", 0, v.n, func() {
		s.let("t", v.at("i"))
		s.add("t", w.outs, func(k string) string { return by(placed("i", w.outs, k), k) })
	})
	s.used(v)
	return nil
}

// placed is the place of output k of row i in an array.
func placed(i string, outs int, k string) string {
	if outs == 1 {
		return i
	}
	return fmt.Sprintf("%s*%d+%s", i, outs, k)
}

// add adds a number times weights to the scores.
func (s *sourceCode) add(t string, outs int, by func(k string) string) {
	if outs == 1 {
		s.p("out[0] += %s*%s", t, by("0"))
		return
	}
	s.loop("k", 0, outs, func() { s.p("out[k] += %s*%s", t, by("k")) })
}

// dots is dot of values side by side.
func (s *sourceCode) dots(values []int, w weights, bias []float64) error {
	at := 0
	for _, v := range values {
		n := widthOf(s.program, v)
		if err := s.dot(v, w.part(at, n), bias); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// dotKernel adds sums of the values of a kernel.
func (s *sourceCode) dotKernel(t *feature.Step, w weights) error {
	if t.Weights != nil {
		w = turned(t, w)
	}
	x, err := s.held(t.From[0])
	if err != nil {
		return err
	}
	s.widely(func() { err = s.compareAll(t.Kernel, x, t.W.Contiguous(), t.W.Cols, w, "") })
	s.read(x)
	return err
}

// compareAll adds, to the scores, weights times the kernel of a row and others, times share if there is one.
func (s *sourceCode) compareAll(k kernel.Kernel, x string, rows []float32, d int, w weights, share string) error {
	name, err := s.compare(k, d)
	if err != nil {
		return err
	}
	of, by := s.floats(rows), s.constant(kindDouble, w.w)
	s.loop("i", 0, len(w.w)/w.outs, func() {
		s.let("k", fmt.Sprintf("%s%s(%s, %s, i*%d)", share, name, s.arg(x), s.arg(of), d))
		if w.outs == 1 {
			s.p("out[0] += k*$%s[i]", by)
			return
		}
		s.loop("t", 0, w.outs, func() { s.p("out[t] += k*$%s[i*%d+t]", by, w.outs) })
	})
	return nil
}

// machines adds the scores of kernel machines, and of boosted trees.
func (s *sourceCode) machines(outs int) error {
	leaves := s.shares()
	for i, m := range s.Members {
		part, share := 1-s.Share, ""
		switch {
		case m.Leaf < 0:
			part = s.Share
		case leaves:
			share = fmt.Sprintf("leaf[%d]", m.Leaf)
		}
		if part == 0 {
			continue
		}
		var err error
		if share == "" {
			err = s.machine(i, part, outs, "")
		} else {
			s.when(share+" > 0", func() { err = s.machine(i, part, outs, share+"*") })
		}
		if err != nil {
			return err
		}
	}
	if s.TreeShare > 0 {
		s.boosted(outs)
	}
	return nil
}

// machine adds the scores of a machine times its weight, a part and the share of its leaf.
func (s *sourceCode) machine(i int, part float64, outs int, share string) error {
	m, prefix := &s.Members[i], fmt.Sprintf("member.%d.", i)
	rows, alpha, b := s.tensors[prefix+"x"], s.tensors[prefix+"alpha"], s.tensors[prefix+"b"]
	x, _ := s.measure(s.row, m.Metric, prefix, s.rowWidth)
	by := part * m.Weight
	if err := s.compareAll(m.kernel, x, rows.F32, rows.Shape[1], weights{times(by, alpha), outs}, share); err != nil {
		return err
	}
	name := s.constant(kindDouble, times(by, b))
	s.loop("k", 0, outs, func() { s.p("out[k] += %s$%s[k]", share, name) })
	if x != s.row {
		s.release(x)
	}
	return nil
}

// shares computes the shares of the leaves as leaf, and says whether there are any.
func (s *sourceCode) shares() bool {
	t, directions := s.tensors["tree.nodes"], s.tensors["tree.directions"]
	if t == nil {
		return false
	}
	n, d := directions.Shape[0], directions.Shape[1]
	lows, highs, to := make([]float64, n), make([]float64, n), make([]int32, 2*n)
	for i := range n {
		lows[i], highs[i], to[2*i], to[2*i+1] = t.F64[4*i], t.F64[4*i+1], int32(t.F64[4*i+2]), int32(t.F64[4*i+3])
	}
	s.buffer("leaf", kindDouble, s.Leaves)
	s.buffer("node", kindDouble, n)
	w, low, high, next := s.floats(directions.F32), s.constant(kindDouble, lows), s.constant(kindDouble, highs), s.wholes(to)
	s.p("node[0] = 1")
	s.loop("i", 0, n, func() {
		s.let("up", s.num(0))
		s.loop("j", 0, d, func() { s.p("up += $%s[j]*$%s[i*%d+j]", s.row, w, d) })
		s.p("up -= $%s[i]", low)
		s.let("width", fmt.Sprintf("$%s[i] - $%s[i]", high, low))
		s.p("if (width > 0) {")
		s.p("up /= width")
		s.p("} else if (up > 0) {")
		s.p("up = 1")
		s.p("}")
		s.p("if (up <= %s) {", s.num(1e-3))
		s.p("up = 0")
		s.p("} else if (up >= %s) {", s.num(1-1e-3))
		s.p("up = 1")
		s.p("}")
		for side, part := range []string{"(1 - up)", "up"} {
			at := fmt.Sprintf("#%s[2*i+%d]", next, side)
			s.p("if (%s < 0) {", at)
			s.p("leaf[-1-%s] = node[i]*%s", at, part)
			s.p("} else {")
			s.p("node[%s] = node[i]*%s", at, part)
			s.p("}")
		}
	})
	return true
}

// boosted adds boosted trees by their share.
func (s *sourceCode) boosted(outs int) {
	columns, values, start := s.tensors["trees.columns"], s.tensors["trees.values"], s.tensors["trees.start"]
	n, levels, leaves := columns.Shape[0], columns.Shape[1], values.Shape[1]
	asked := make([]int32, len(columns.F64))
	for i, c := range columns.F64 {
		asked[i] = int32(c)
	}
	c, limit, v := s.wholes(asked), s.floats(s.tensors["trees.thresholds"].F32), s.floats(values.F32)
	b := s.constant(kindDouble, times(s.TreeShare, start))
	s.loop("k", 0, outs, func() { s.p("out[k] = %s*out[k] + $%s[k]", s.num(1-s.TreeShare), b) })
	s.loop("t", 0, n, func() {
		s.index("at", "0")
		for l := range levels {
			s.when(fmt.Sprintf("$%s[#%s[t*%d+%d]] > $%s[t*%d+%d]", s.row, c, levels, l, limit, levels, l), func() { s.p("at += %d", 1<<l) })
		}
		s.loop("k", 0, outs, func() { s.p("out[k] += %s*$%s[(t*%d+at)*%d+k]", s.num(s.TreeShare), v, leaves, outs) })
	})
}

// compare writes a function that is a kernel of a row and of a row of an array, once, and returns its name.
func (s *sourceCode) compare(k kernel.Kernel, d int) (string, error) {
	key := fmt.Sprintf("%+v %d", k, d)
	if name := s.compared[key]; name != "" {
		return name, nil
	}
	name := fmt.Sprintf("kernel%d", len(s.compared)+1)
	var err error
	text := s.aside(func() { err = s.formula(k, d) })
	s.compared[key] = name
	s.declared.WriteString("\n" + fmt.Sprintf(s.kernel, name) + "\n" + text + "}\n")
	return name, err
}

// formula writes the statements of a kernel of x and y from from on.
func (s *sourceCode) formula(k kernel.Kernel, d int) error {
	gamma, add := s.num(k.Gamma), s.num(k.Coef0)
	sum := func(first float64, body func()) {
		s.let("sum", s.num(first))
		s.loop("j", 0, d, func() {
			s.let("a", "$x[j]")
			s.let("b", "$y[from+j]")
			body()
		})
	}
	dot := func() { sum(0, func() { s.p("sum += a*b") }) }
	outside := func(limit string) { s.when("a < "+limit, func() { s.p("return noneOf()") }) }
	switch k.Name {
	case "linear":
		dot()
		s.p("return sum")
	case "exp":
		dot()
		s.p("return expOf(%s*sum)", gamma)
	case "poly":
		dot()
		s.p("sum = %s*sum + %s", gamma, add)
		s.let("power", "sum")
		for range k.Degree - 1 {
			s.p("power *= sum")
		}
		s.p("return power")
	case "rbf", "matern":
		sum(0, func() { s.p("sum += (a - b)*(a - b)") })
		return s.falling(k)
	case "arccos":
		s.arccos(k.Degree, d)
	case "laplacian":
		sum(0, func() { s.p("sum += sizeOf(a - b)") })
		s.p("return expOf(-%s*sum)", gamma)
	case "cauchy":
		sum(1, func() { s.p("sum *= 1 + %s*(a - b)*(a - b)", s.num(k.Gamma*k.Gamma)) })
		s.p("return 1/sum")
	case "exp-chi2":
		sum(0, func() {
			outside("0")
			s.when("a + b > 0", func() { s.p("sum += (a - b)*(a - b)/(a + b)") })
		})
		s.p("return expOf(-%s*sum)", gamma)
	case "skewed-chi2":
		sum(1, func() {
			s.p("a += %s", add)
			s.p("b += %s", add)
			s.when("a <= 0", func() { s.p("return noneOf()") })
			s.p("sum *= 2*rootOf(a*b)/(a + b)")
		})
		s.p("return sum")
	case "skewed-intersection":
		sum(0, func() {
			s.when("a + "+add+" <= 0", func() { s.p("return noneOf()") })
			s.p("sum += sizeOf(logOf(a + %s) - logOf(b + %s))", add, add)
		})
		s.p("return expOf(%s*sum)", s.num(-0.5))
	case "hellinger", "chi2", "intersection", "jensen-shannon":
		sum(0, func() {
			outside("0")
			s.when("a > 0 && b > 0", func() { s.additive(k) })
		})
		s.p("return sum")
	default:
		return fmt.Errorf("the kernel %s has no form as source code", k.Name)
	}
	return nil
}

// falling ends the formula of a kernel of the squared distance sum.
func (s *sourceCode) falling(k kernel.Kernel) error {
	if k.Name == "rbf" {
		s.p("return expOf(-%s*sum)", s.num(k.Gamma))
		return nil
	}
	n := int(k.Nu)
	if k.Nu != float64(n)+0.5 || n > 8 {
		return fmt.Errorf("the kernel matern with nu %g cannot be exported: it is no elementary function; nu = 0.5, 1.5, … 8.5 can", k.Nu)
	}
	s.let("z", "minOf(rootOf("+s.num(4*k.Nu*k.Gamma)+"*sum), "+s.num(700)+")")
	c := polynomial(n)
	s.let("p", s.num(c[n]))
	for i := n - 1; i >= 0; i-- {
		s.p("p = p*z + %s", s.num(c[i]))
	}
	s.p("return p*expOf(-z)")
	return nil
}

// additive adds the term of a kernel of histograms for a and b, which are positive.
func (s *sourceCode) additive(k kernel.Kernel) {
	h := 1.0
	if a, ok := k.Additive(); ok {
		h = a.Homogeneity
	}
	if k.Name == "hellinger" {
		s.p("sum += powOf(a*b, %s)", s.num(h/2))
		return
	}
	s.let("t", map[string]string{"chi2": "2*a*b/(a + b)", "intersection": "minOf(a, b)",
		"jensen-shannon": s.num(1/(2*math.Ln2)) + "*((a + b)*logOf(a + b) - a*logOf(a) - b*logOf(b))"}[k.Name])
	if h != 1 {
		s.p("t *= powOf(a*b, %s)", s.num((h-1)/2))
	}
	s.p("sum += t")
}

// arccos is the kernel of the angle between rows.
func (s *sourceCode) arccos(degree, d int) {
	for _, name := range []string{"dot", "xx", "yy"} {
		s.let(name, s.num(0))
	}
	s.loop("j", 0, d, func() {
		s.p("dot += $x[j]*$y[from+j]")
		s.p("xx += $x[j]*$x[j]")
		s.p("yy += $y[from+j]*$y[from+j]")
	})
	s.let("length", "rootOf(xx*yy)")
	s.let("c", s.num(0))
	s.when("length > 0", func() { s.p("c = maxOf(minOf(dot/length, %s), %s)", s.num(1), s.num(-1)) })
	s.let("rest", s.num(1)+" - acosOf(c)*"+s.num(1/math.Pi))
	if degree == 0 {
		s.p("return rest")
		return
	}
	s.p("return length*(rootOf(maxOf(1 - c*c, %s))*%s + rest*c)", s.num(0), s.num(1/math.Pi))
}
