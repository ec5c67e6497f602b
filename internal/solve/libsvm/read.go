package libsvm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"mercer/matrix"
)

// Sniff says whether the beginning of a file looks like a LIBSVM model.
func Sniff(head []byte) bool {
	return bytes.HasPrefix(head, []byte("svm_type ")) || bytes.HasPrefix(head, []byte("svm_type\t"))
}

// Load reads a model from a file.
func Load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// longestLine bounds the length of a line, and so of a support vector.
const longestLine = 1 << 28

// densest is the largest size of support vectors in dense form, in bytes.
const densest = 1 << 30

// Read reads a model. An error names the line. Its memory is proportional to the size of the input,
// whatever the numbers in the file promise, except for a dense form of support vectors that are not
// very sparse, which takes at most 1 GiB.
func Read(r io.Reader) (*Model, error) {
	p := &reader{lines: bufio.NewScanner(r), m: &Model{}, seen: map[string]int{}}
	p.lines.Buffer(make([]byte, 0, 1<<16), longestLine)
	if err := p.header(); err != nil {
		return nil, p.at(err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("the part before SV: %w", err)
	}
	if err := p.vectors(); err != nil {
		return nil, p.at(err)
	}
	m := p.m
	m.pack()
	if x := m.x; m.from == nil && x.Rows > 0 && 32*x.NNZ() >= x.Rows*x.Cols && 4*int64(x.Rows)*int64(x.Cols) <= densest {
		m.dense = new(matrix.Dense)
		x.Densify(m.dense)
	}
	return m, nil
}

// reader reads one file.
type reader struct {
	lines   *bufio.Scanner
	line    int
	m       *Model
	seen    map[string]int // keys, with their lines
	classes int
	total   int
}

func (p *reader) at(err error) error { return fmt.Errorf("line %d: %w", p.line, err) }

// next reads a line; io.EOF marks the end.
func (p *reader) next() (string, error) {
	p.line++
	if p.lines.Scan() {
		return strings.TrimRight(p.lines.Text(), " \t\r"), nil
	}
	switch err := p.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return "", fmt.Errorf("is longer than %d bytes", longestLine)
	case err != nil:
		return "", err
	}
	return "", io.EOF
}

// header reads the lines before the support vectors.
func (p *reader) header() error {
	for {
		line, err := p.next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the file ends before the line SV; it is cut off or no LIBSVM model")
		}
		if err != nil {
			return err
		}
		key, rest, _ := strings.Cut(line, " ")
		if before := p.seen[key]; before != 0 {
			return fmt.Errorf("%s is there again; it was in line %d", key, before)
		}
		p.seen[key] = p.line
		if key == "SV" && rest == "" {
			return nil
		}
		if err := p.set(key, strings.Fields(rest)); err != nil {
			return err
		}
	}
}

var (
	types   = []string{"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"}
	kernels = []string{"linear", "polynomial", "rbf", "sigmoid", "precomputed"}
)

// set processes one line of the header.
func (p *reader) set(key string, words []string) (err error) {
	m := p.m
	one := func() string {
		if len(words) != 1 {
			err = fmt.Errorf("%s has %d values; it takes one", key, len(words))
			return ""
		}
		return words[0]
	}
	switch key {
	case "svm_type":
		if m.Type = one(); err == nil && !slices.Contains(types, m.Type) {
			return fmt.Errorf("svm_type %q is not known; known are %s", m.Type, strings.Join(types, ", "))
		}
	case "kernel_type":
		if m.Kernel = one(); err == nil && !slices.Contains(kernels, m.Kernel) {
			return fmt.Errorf("kernel_type %q is not known; known are %s", m.Kernel, strings.Join(kernels, ", "))
		}
	case "degree":
		m.Degree, err = p.whole(one(), err, 0)
	case "gamma":
		m.Gamma, err = p.number(one(), err)
	case "coef0":
		m.Coef0, err = p.number(one(), err)
	case "nr_class":
		p.classes, err = p.whole(one(), err, 1)
	case "total_sv":
		p.total, err = p.whole(one(), err, 0)
	case "rho":
		m.Rho, err = p.numbers(words)
	case "probA":
		m.ProbA, err = p.numbers(words)
	case "probB":
		m.ProbB, err = p.numbers(words)
	case "prob_density_marks":
		m.Marks, err = p.numbers(words)
	case "label":
		m.Labels, err = p.wholes(words, math.MinInt32)
	case "nr_sv":
		m.Vectors, err = p.wholes(words, 0)
	default:
		return fmt.Errorf("%q is no key of a LIBSVM model", shortened(key))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func shortened(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

func (p *reader) number(s string, before error) (float64, error) {
	if before != nil {
		return 0, before
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v-v != 0 {
		return 0, fmt.Errorf("%q is not a finite number", shortened(s))
	}
	return v, nil
}

func (p *reader) whole(s string, before error, least int) (int, error) {
	if before != nil {
		return 0, before
	}
	v, err := strconv.ParseInt(s, 10, 32)
	if err != nil || int(v) < least {
		return 0, fmt.Errorf("%q is not a whole number of %d or more", shortened(s), least)
	}
	return int(v), nil
}

func (p *reader) numbers(words []string) (list []float64, err error) {
	list = make([]float64, 0, len(words))
	for _, w := range words {
		v, err := p.number(w, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (p *reader) wholes(words []string, least int) (list []int, err error) {
	list = make([]int, 0, len(words))
	for _, w := range words {
		v, err := p.whole(w, nil, least)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// check finds what is missing or inconsistent in the header.
func (p *reader) check() error {
	m := p.m
	required := []string{"svm_type", "kernel_type", "nr_class", "total_sv", "rho"}
	switch m.Kernel {
	case "polynomial":
		required = append(required, "degree", "gamma", "coef0")
	case "rbf":
		required = append(required, "gamma")
	case "sigmoid":
		required = append(required, "gamma", "coef0")
	}
	classes := m.Type == "c_svc" || m.Type == "nu_svc"
	if classes {
		required = append(required, "label", "nr_sv")
	}
	for _, key := range required {
		if p.seen[key] == 0 {
			return fmt.Errorf("%s is missing", key)
		}
	}
	if m.Kernel == "rbf" && m.Gamma < 0 {
		return fmt.Errorf("gamma is %g; of rbf it is 0 or more", m.Gamma)
	}
	outputs := 1
	if classes {
		outputs = p.classes * (p.classes - 1) / 2
		if len(m.Labels) != p.classes || len(m.Vectors) != p.classes {
			return fmt.Errorf("nr_class is %d, but there are %d labels and %d numbers of nr_sv", p.classes, len(m.Labels), len(m.Vectors))
		}
		sum := 0
		for _, n := range m.Vectors {
			sum += n
		}
		if sum != p.total {
			return fmt.Errorf("total_sv is %d, but nr_sv adds up to %d", p.total, sum)
		}
		sorted := slices.Sorted(slices.Values(m.Labels))
		if len(slices.Compact(sorted)) != p.classes {
			return fmt.Errorf("a label is there twice")
		}
	} else {
		if m.Labels != nil || p.seen["nr_sv"] != 0 || p.classes != 2 {
			return fmt.Errorf("%s has label, nr_sv or another nr_class than 2", m.Type)
		}
		m.Vectors = []int{p.total}
	}
	if len(m.Rho) != outputs {
		return fmt.Errorf("rho has %d numbers; it takes %d", len(m.Rho), outputs)
	}
	if p.seen["probA"] != 0 && len(m.ProbA) != outputs || p.seen["probB"] != 0 && len(m.ProbB) != outputs {
		return fmt.Errorf("probA has %d and probB %d numbers; they take %d", len(m.ProbA), len(m.ProbB), outputs)
	}
	if classes && (m.ProbA == nil) != (m.ProbB == nil) {
		return fmt.Errorf("probA and probB go together")
	}
	if p.seen["prob_density_marks"] != 0 && (m.Type != "one_class" || len(m.Marks) != 10 || !slices.IsSorted(m.Marks)) {
		return fmt.Errorf("prob_density_marks are %d numbers of %s; they are ten of one_class, in order", len(m.Marks), m.Type)
	}
	return nil
}

// vectors reads the support vectors.
func (p *reader) vectors() error {
	m := p.m
	m.x = &matrix.CSR{Ptr: []int{0}}
	for range p.total {
		line, err := p.next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the file ends after %d of %d support vectors", m.x.Rows, p.total)
		}
		if err != nil {
			return err
		}
		if err := p.vector(strings.Fields(line)); err != nil {
			return err
		}
	}
	for {
		line, err := p.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case line != "":
			return fmt.Errorf("there is more after the %d support vectors", p.total)
		}
	}
}

// vector reads one support vector: its coefficients, then index:value pairs with increasing indices from
// 1.
func (p *reader) vector(words []string) error {
	m, width := p.m, p.m.width()
	if len(words) < width {
		return fmt.Errorf("a support vector has %d coefficients; this has %d", width, len(words))
	}
	coef, err := p.numbers(words[:width])
	if err != nil {
		return fmt.Errorf("coefficient: %w", err)
	}
	m.coef = append(m.coef, coef...)
	if m.Kernel == "precomputed" {
		return p.named(words[width:])
	}
	last := 0
	for _, w := range words[width:] {
		index, value, ok := strings.Cut(w, ":")
		if !ok {
			return fmt.Errorf("%q is not index:value", shortened(w))
		}
		j, err := strconv.ParseInt(index, 10, 32)
		if err != nil || j < 1 {
			return fmt.Errorf("%q: the index is not a whole number from 1 to %d", shortened(w), math.MaxInt32)
		}
		if int(j) <= last {
			return fmt.Errorf("%q: the index does not increase; before it is %d", shortened(w), last)
		}
		v, err := strconv.ParseFloat(value, 32)
		if err != nil || v-v != 0 {
			return fmt.Errorf("%q: the value is not a finite number of float32", shortened(w))
		}
		last = int(j)
		m.x.Cols = max(m.x.Cols, last)
		if v != 0 {
			m.x.Idx, m.x.Val = append(m.x.Idx, int32(j-1)), append(m.x.Val, float32(v))
		}
	}
	m.x.Rows++
	m.x.Ptr = append(m.x.Ptr, len(m.x.Idx))
	return nil
}

// named reads a support vector of a precomputed kernel: 0:NUMBER, where NUMBER is its training row, from 1.
func (p *reader) named(words []string) error {
	x := p.m.x
	value, ok := "", false
	if len(words) == 1 {
		value, ok = strings.CutPrefix(words[0], "0:")
	}
	v, err := strconv.ParseInt(value, 10, 32)
	if !ok || err != nil || v < 1 {
		return fmt.Errorf("%q is not 0:NUMBER, that of a row from 1 on, as support vectors of a precomputed kernel are",
			shortened(strings.Join(words, " ")))
	}
	p.m.from = append(p.m.from, int(v-1))
	x.Cols = max(x.Cols, int(v))
	x.Rows++
	x.Ptr = append(x.Ptr, 0)
	return nil
}
