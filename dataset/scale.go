package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/vec"
	"mercer/matrix"
)

// Scaler brings inputs to a common scale: x' = (x - Shift)·Factor in each dimension, or for
// the kinds l1 and l2 each row divided by its norm. It does not change once made and is safe
// for concurrent use.
//
//	none      x' = x
//	standard  mean 0 and deviation 1 (sparse rows: only the deviation)
//	minmax    to [0, 1] (sparse rows: like maxabs)
//	maxabs    divided by the largest absolute value of the dimension
//	global    divided by the largest absolute value of all dimensions
//	l1, l2    rows of norm 1; rows of zeros stay zero
//	quantile  to normal scores of ranks, within ±3.2 ([Ranks]; sparse rows: less the score of 0)
//	groups    standard, minmax, maxabs, global or none, each for a group of dimensions
//	robust    3u/√(9 + u²) of u = 1.35·(x - median)/(distance between the quartiles), which is
//	          within ±3 (sparse rows: u = x/deviation)
//
// A dimension that is constant in training carries no information: standard, minmax, quantile and
// robust set it to 0.
type Scaler struct {
	Kind   string
	Shift  []float64 // nil: none
	Factor []float64 // nil: none
	Ranks  *Ranks    // of quantile, otherwise nil

	// Densify means that sparse rows are made dense, because most of their values are
	// nonzero anyway or the scaling shifts them.
	Densify bool
}

// Scalings are the kinds of scaling.
var Scalings = []string{"none", "standard", "minmax", "maxabs", "global", "l1", "l2", "quantile", "robust"}

// Grouped is the kind of scaling of groups of dimensions, each by a kind of its own.
const Grouped = "groups"

// ScaleSample is how many rows of a survey's sample a scaling looks at, 0 if none.
func ScaleSample(kind string) int {
	if kind == "quantile" || kind == "robust" {
		return rankSample
	}
	return 0
}

// Workspace is the memory that scaling writes to; the zero value is ready.
type Workspace struct {
	dense matrix.Dense
	csr   matrix.CSR
}

// Rows below sparseDensity count as sparse; above it they are handled as dense if
// they are not too wide.
const (
	sparseDensity = 0.25
	denseWidth    = 4096
)

// ChooseScale picks a scaling for the data, and gives the reason.
func ChooseScale(s *Summary) (kind, why string) {
	low, high := math.Inf(1), math.Inf(-1)
	integer, full := true, 0
	for _, c := range s.Columns {
		low, high = min(low, c.Min), max(high, c.Max)
		integer = integer && c.Integer
	}
	for _, c := range s.Columns {
		if c.Max > high/2 {
			full++
		}
	}
	small := low < high && max(-low, high) <= tiny
	switch {
	case low >= -1 && high <= 1 && !small:
		return "none", "all values lie within [-1, 1]"
	case s.Sparse && s.Density() < sparseDensity:
		return "maxabs", "the rows are sparse"
	case integer && low >= 0 && high <= 65535 && len(s.Columns) >= 16 && (s.format == "idx" || 2*full >= len(s.Columns)):
		return "global", fmt.Sprintf("all values are whole numbers from 0 to %g, like pixels", high)
	}
	if small {
		return "standard", fmt.Sprintf("no value is beyond ±%.3g", tiny)
	}
	return "standard", fmt.Sprintf("dimensions differ in range, from %.3g to %.3g in all", low, high)
}

// tiny values are brought to the scale of 1, as other small ones are not: of their squares and products float32 has few digits, or none.
const tiny = 1e-6

// farOut is a number of deviations from the mean that no value of an ordinary dimension
// reaches: the largest of a million numbers is at 5 if they are normal, and at 14 if exponential.
const farOut = 15

// ChoosePolynomialScale picks a scaling for kernels that grow as powers of the rows' lengths, and
// gives the reason. It differs from ChooseScale if scaling to deviation 1 would leave values so
// far out that a few rows dominate the kernel, and for integers that are not pixels (which
// are mostly 0): their mean, left in, would dominate every product.
func ChoosePolynomialScale(s *Summary) (kind, why string) {
	kind, why = ChooseScale(s)
	if kind != "standard" && kind != "global" {
		return kind, why
	}
	far := 0.0
	for _, c := range s.Columns {
		if c.Variance > 0 {
			far = max(far, max(c.Max-c.Mean, c.Mean-c.Min)/math.Sqrt(c.Variance))
		}
	}
	switch {
	case kind == "global" && far <= farOut && s.Density() > 0.5:
		return "standard", "the kernel is one of products, which tell more about the mean"
	case kind == "global" || far <= farOut:
		return kind, why
	}
	return "minmax", fmt.Sprintf("a value lies %.0f deviations from its mean, and the kernel grows as a power of that", far)
}

// ChooseHistogramScale picks a scaling for kernels that take no negative numbers, one that does not
// produce any, and gives the reason.
func ChooseHistogramScale(s *Summary) (kind, why string) {
	least, most := math.Inf(1), 0.0 // sums of rows
	for i := range s.Sample.Len() {
		var row []float32
		if s.Sample.CSR != nil {
			_, row = s.Sample.CSR.Row(i)
		} else {
			row = s.Sample.Dense.Row(i)
		}
		sum := 0.0
		for _, v := range row {
			sum += float64(v)
		}
		least, most = min(least, sum), max(most, sum)
	}
	integer, low, high := true, math.Inf(1), math.Inf(-1)
	for _, c := range s.Columns {
		integer = integer && c.Integer
		low, high = min(low, c.Min), max(high, c.Max)
	}
	switch {
	case low < 0:
		return "none", "as it is, the kernel takes no negative numbers"
	case most > 0 && least > 0.9*most:
		return "none", "the rows are histograms, all of about the same sum"
	case integer && s.Sparse:
		return "l1", "the rows are counts"
	case high <= 1 && (high > tiny || high == 0):
		return "none", "all values lie within [0, 1]"
	}
	return "maxabs", fmt.Sprintf("dimensions differ in range, up to %.3g in all", high)
}

// NewScaler makes a scaler of a kind (not "auto") from a survey.
func NewScaler(kind string, s *Summary) (*Scaler, error) {
	sc := &Scaler{Kind: kind}
	shifted := kind == "standard" || kind == "minmax" || kind == "robust"
	sc.Densify = s.Sparse && s.Density() >= sparseDensity && s.Dim <= denseWidth
	shift := shifted && (!s.Sparse || sc.Densify)
	if shift {
		sc.Shift = make([]float64, s.Dim)
	}
	switch kind {
	case "none", "l1", "l2":
		return sc, nil
	case "quantile":
		sc.Ranks = newRanks(s, s.Sparse && !sc.Densify)
		return sc, nil
	case "standard", "minmax", "maxabs", "global", "robust":
		sc.Factor = make([]float64, s.Dim)
	default:
		return nil, fmt.Errorf("scaling %q is not known; known are %s", kind, strings.Join(Scalings, ", "))
	}
	var medians, widths []float64
	if kind == "robust" && shift {
		medians, widths = make([]float64, s.Dim), make([]float64, s.Dim)
		eachColumn(s.Sample, s.Dim, func(j int, sorted []float64) { medians[j], widths[j] = quartiles(sorted) })
	}
	largest := 0.0
	for _, c := range s.Columns {
		largest = max(largest, math.Abs(c.Min), math.Abs(c.Max))
	}
	for j, c := range s.Columns {
		divisor := 0.0
		switch {
		case kind == "global":
			divisor = largest
		case kind == "standard":
			divisor = math.Sqrt(c.Variance)
			if shift {
				sc.Shift[j] = c.Mean
			}
		case kind == "robust" && shift:
			sc.Shift[j] = medians[j]
			if divisor = widths[j] / deviationOfQuartiles; divisor == 0 { // of a value that most rows have
				divisor = math.Sqrt(c.Variance)
			}
		case kind == "robust":
			divisor = math.Sqrt(c.Variance)
		case kind == "minmax" && shift:
			divisor, sc.Shift[j] = c.Max-c.Min, c.Min
		default:
			divisor = max(math.Abs(c.Min), math.Abs(c.Max))
		}
		// A deviation as small as rounding errors means a constant. A distance between quartiles has none.
		if divisor > 1e-12*max(math.Abs(c.Min), math.Abs(c.Max)) || kind == "robust" && divisor > 0 {
			sc.Factor[j] = 1 / divisor
		}
		if math.IsInf(sc.Factor[j], 0) {
			return nil, option.Errorf("dimension %d (from 0) has values as small as %.3g, too small to scale by %s; use another %s", j, divisor,
				kind, option.Ref("scale"))
		}
	}
	return sc, nil
}

// Check returns an error unless the scaler is valid for rows of dim dimensions.
func (s *Scaler) Check(dim int) error {
	if !slices.Contains(Scalings, s.Kind) && s.Kind != Grouped {
		return fmt.Errorf("scaling %q is not known", s.Kind)
	}
	if (s.Kind == "quantile") != (s.Ranks != nil) {
		return fmt.Errorf("scaling %q with or without the tables of quantile", s.Kind)
	}
	if s.Ranks != nil {
		if err := s.Ranks.check(dim); err != nil {
			return err
		}
	}
	for _, v := range [][]float64{s.Shift, s.Factor} {
		if v != nil && len(v) != dim {
			return fmt.Errorf("scaling of %d dimensions for rows of %d", len(v), dim)
		}
		for _, x := range v {
			if x-x != 0 {
				return fmt.Errorf("scaling by %g", x)
			}
		}
	}
	return nil
}

// Apply returns the scaled rows. They are stored in ws, or are x itself if there is nothing
// to do; x is not changed. After the first calls it does not allocate.
func (s *Scaler) Apply(x matrix.Rows, ws *Workspace) matrix.Rows {
	if x.CSR != nil && !s.Densify && s.Shift == nil {
		return s.applySparse(x, ws)
	}
	if s.Kind == "none" && x.Dense != nil {
		return x
	}
	out, from := &ws.dense, x.Dense
	if x.CSR != nil {
		x.CSR.Densify(out)
		from = out
	} else {
		out.Reshape(from.Rows, from.Cols)
	}
	for i := range out.Rows {
		row, x := out.Row(i), from.Row(i)
		switch {
		case s.Kind == "l1" || s.Kind == "l2":
			copy(row, x)
			s.normalise(row)
		case s.Ranks != nil:
			for j, v := range x {
				row[j] = float32(s.Ranks.of(j, float64(v)))
			}
		case s.Kind == "robust":
			for j, v := range x {
				u := float64(v)
				if s.Shift != nil {
					u -= s.Shift[j]
				}
				row[j] = float32(softly(u * s.Factor[j]))
			}
		case s.Factor != nil:
			vec.Scale32(row, x, s.Shift, s.Factor)
		default:
			copy(row, x)
		}
	}
	return matrix.Rows{Dense: out}
}

func (s *Scaler) applySparse(x matrix.Rows, ws *Workspace) matrix.Rows {
	if s.Kind == "none" {
		return x
	}
	from, to := x.CSR.Ptr[0], x.CSR.Ptr[x.CSR.Rows]
	out := &ws.csr
	out.Rows, out.Cols, out.Idx = x.CSR.Rows, x.CSR.Cols, x.CSR.Idx[from:to]
	out.Ptr = out.Ptr[:0]
	for _, p := range x.CSR.Ptr[:x.CSR.Rows+1] {
		out.Ptr = append(out.Ptr, p-from)
	}
	out.Val = append(out.Val[:0], x.CSR.Val[from:to]...)
	switch {
	case s.Ranks != nil:
		for k, j := range out.Idx {
			out.Val[k] = float32(s.Ranks.of(int(j), float64(out.Val[k])))
		}
		return matrix.Rows{CSR: out}
	case s.Kind == "robust":
		for k, j := range out.Idx {
			out.Val[k] = float32(softly(float64(out.Val[k]) * s.Factor[j]))
		}
		return matrix.Rows{CSR: out}
	case s.Factor != nil:
		for k, j := range out.Idx {
			out.Val[k] = float32(float64(out.Val[k]) * s.Factor[j])
		}
		return matrix.Rows{CSR: out}
	}
	for i := range out.Rows {
		_, val := out.Row(i)
		s.normalise(val)
	}
	return matrix.Rows{CSR: out}
}

// normalise divides a row by its norm.
func (s *Scaler) normalise(row []float32) {
	norm := 0.0
	for _, v := range row {
		if s.Kind == "l1" {
			norm += math.Abs(float64(v))
		} else {
			norm += float64(v) * float64(v)
		}
	}
	if s.Kind == "l2" {
		norm = math.Sqrt(norm)
	}
	if norm == 0 {
		return
	}
	for j, v := range row {
		row[j] = float32(float64(v) / norm)
	}
}
