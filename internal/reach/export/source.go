package export

import (
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"mercer/model"
)

// sourceCode is a model as source code in the making.
type sourceCode struct {
	*matrices
	*tongue
	flow
	options Options
	golden  *goldenRows
	fields  []sourceField

	declared strings.Builder // constants and functions
	body     strings.Builder // of the function that is written
	wide     bool            // C computes in double
	arrays   int             // constants, and their numbers
	numbers  int
	compared map[string]string // functions of kernels
	small    bool              // there are weights of a byte
}

// flow is where the values of the map are while a function computes them.
type flow struct {
	buffers  []buffer
	row      string // the scaled and measured one
	rowWidth int
	values   map[int]lazy
	uses     []int          // of each value
	readers  map[string]int // of each array, that are still to come
}

// buffer is an array that is written to.
type buffer struct {
	name, kind string
	n          int
	free       bool
}

// toSource is the model as a file of source code, without any other. It fails for a model with a part that has no such form, and
// names it.
func toSource(m *model.Model, o Options, l *tongue) (func(w io.Writer) error, error) {
	if !token.IsIdentifier(o.Package) || strings.Trim(o.Package, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || o.Package[0] < 'a' || o.Package == "main" {
		return nil, fmt.Errorf("%q is no name for a package; one has small letters, digits and _, and is no word of the language", o.Package)
	}
	if o.Int8 && l.name != "c" {
		return nil, errors.New("weights of 8 bits are for the target c")
	}
	x, err := describe(m)
	if err != nil {
		return nil, err
	}
	s := &sourceCode{matrices: x, tongue: l, options: o, compared: map[string]string{}}
	s.flow = flow{values: map[int]lazy{}, readers: map[string]int{}}
	if s.golden, err = newGolden(m); err != nil {
		return nil, err
	}
	s.buffer("x", kindFloat, s.Dim)
	if err := s.encoding(); err != nil {
		return nil, err
	}
	s.function("scale", s.scaling)
	if s.function("score", func() { err = s.scoring() }); err != nil {
		return nil, err
	}
	if s.function("judge", s.judging); s.numbers > s.most {
		return nil, fmt.Errorf("the model has %d numbers, and a file of %s has %d at most", s.numbers, l.name, l.most)
	}
	if o.Int8 && !s.small {
		return nil, errors.New("the model has no matrix of weights to keep in 8 bits: its learner is a kernel machine")
	}
	text := s.file()
	if l.name == "go" {
		clean, err := format.Source([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("the generated source: %w", err)
		}
		text = string(clean)
	}
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}, nil
}

// p writes a statement.
func (s *sourceCode) p(format string, args ...any) {
	line := s.translate(fmt.Sprintf(format, args...), s.wide)
	if !strings.HasSuffix(line, "{") && !strings.HasSuffix(line, "}") {
		line += s.end
	}
	s.body.WriteString(line + "\n")
}

func (s *sourceCode) loop(i string, from, to any, body func()) {
	s.p(s.tongue.loop, i, fmt.Sprint(from), fmt.Sprint(to))
	body()
	s.p("}")
}

func (s *sourceCode) when(condition string, then func()) {
	s.p("if (%s) {", condition)
	then()
	s.p("}")
}

// let declares a number, and index a whole one.
func (s *sourceCode) let(name, value string) {
	form := s.tongue.let
	if s.wide {
		form = strings.Replace(form, "float ", "double ", 1)
	}
	s.p(form, name, value)
}

func (s *sourceCode) index(name, value string) { s.p(s.whole, name, value) }

// num is a literal.
func (s *sourceCode) num(v float64) string { return s.number(v, s.wide) }

// widely writes statements that C computes in double.
func (s *sourceCode) widely(body func()) {
	before := s.wide
	s.wide = true
	body()
	s.wide = before
}

// constant declares an array of numbers.
func (s *sourceCode) constant(kind string, values []float64) string {
	if len(values) == 0 { // C has no empty arrays
		values = []float64{0}
	}
	s.arrays++
	s.numbers += len(values)
	name := fmt.Sprintf("w%d", s.arrays)
	s.declared.WriteString(s.array(name, kind, values))
	return name
}

func (s *sourceCode) floats(v []float32) string { return s.constant(kindFloat, each(v, len(v))) }

func (s *sourceCode) wholes(v []int32) string {
	all, kind := make([]float64, len(v)), kindShort
	for i, n := range v {
		if all[i] = float64(n); n < 0 || n > math.MaxUint16 {
			kind = kindWhole
		}
	}
	return s.constant(kind, all)
}

// buffer declares an array that is written to, and is read by other functions too.
func (s *sourceCode) buffer(name, kind string, n int) string {
	s.buffers = append(s.buffers, buffer{name: name, kind: kind, n: max(n, 1)})
	return name
}

// scratch is a free array of at least n float32, or a new one.
func (s *sourceCode) scratch(n int) string {
	best := -1
	for i, b := range s.buffers {
		if b.free && b.n >= n && (best < 0 || b.n < s.buffers[best].n) {
			best = i
		}
	}
	if best < 0 {
		return s.buffer(fmt.Sprintf("v%d", len(s.buffers)), kindFloat, n)
	}
	s.buffers[best].free = false
	return s.buffers[best].name
}

func (s *sourceCode) release(name string) {
	if i := slices.IndexFunc(s.buffers, func(b buffer) bool { return b.name == name }); i >= 0 && name != "x" {
		s.buffers[i].free = true
	}
}

var word = regexp.MustCompile(`[a-z]\w*`)

// function writes a function without arguments.
func (s *sourceCode) function(name string, body func()) {
	s.body.Reset()
	body()
	text := s.body.String()
	s.declared.WriteString("\n" + fmt.Sprintf(s.method, name) + "\n")
	if s.tongue.name == "go" {
		known := map[string]bool{}
		for _, w := range word.FindAllString(text, -1) {
			known[w] = true
		}
		for _, b := range s.buffers {
			if known[b.name] {
				fmt.Fprintf(&s.declared, "%s := &m.%[1]s\n", b.name)
			}
		}
	}
	s.declared.WriteString(text + "}\n")
	s.body.Reset()
}

// aside writes a function while another one is written, and returns its text.
func (s *sourceCode) aside(body func()) string {
	before := s.body.String()
	s.body.Reset()
	body()
	text := s.body.String()
	s.body.Reset()
	s.body.WriteString(before)
	return text
}
