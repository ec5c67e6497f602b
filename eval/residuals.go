package eval

import (
	"math"

	"mercer/internal/engine/random"
)

// residuals gather data on the errors of a regression: rows drawn uniformly (Vitter's
// algorithm R) and histograms. Memory: 64 kB per output.
type residuals struct {
	rows       int
	stream     *random.Stream
	outputs    int
	truth      []float64 // sampleRows×outputs
	predicted  []float64
	histograms []histogram
}

const sampleRows = 2000

func newResiduals(outputs int, seed uint64) *residuals {
	return &residuals{outputs: outputs, stream: random.New(seed, "lab residuals"), histograms: make([]histogram, outputs)}
}

func (r *residuals) add(truth []float64, predicted []float64, weight float64) {
	k := r.outputs
	at := r.rows
	if r.rows >= sampleRows {
		at = r.stream.Intn(r.rows + 1)
	} else {
		r.truth, r.predicted = append(r.truth, make([]float64, k)...), append(r.predicted, make([]float64, k)...)
	}
	r.rows++
	for t, y := range truth {
		p := predicted[t]
		if at < sampleRows {
			r.truth[at*k+t], r.predicted[at*k+t] = y, p
		}
		r.histograms[t].add(p-y, weight)
	}
}

func (r *residuals) of(output int, name string) Residuals {
	one := r.histograms[output].residuals()
	one.Name = name
	for i := output; i < len(r.truth); i += r.outputs {
		one.Truth, one.Predicted = append(one.Truth, r.truth[i]), append(one.Predicted, r.predicted[i])
	}
	return one
}

// histogram sums weights of numbers in bins of equal width, a power of two that doubles if
// a number lies outside.
type histogram struct {
	counts [4096]float64
	first  int64 // counts[i] is of [(first+i)·width, (first+i+1)·width)
	width  float64
}

func (h *histogram) add(v, weight float64) {
	if h.width == 0 {
		// Fine enough for anything: numbers of other sizes make it coarser.
		_, exp := math.Frexp(v)
		h.width = math.Ldexp(1, max(exp-20, -1000))
		h.first = int64(math.Floor(v/h.width)) - int64(len(h.counts)/2)
	}
	for {
		at := math.Floor(v/h.width) - float64(h.first)
		if at >= 0 && at < float64(len(h.counts)) {
			h.counts[int(at)] += weight
			return
		}
		h.double()
	}
}

// double merges pairs of bins, and keeps the middle in the middle.
func (h *histogram) double() {
	old := h.counts
	h.counts = [len(old)]float64{}
	middle := floorHalf(h.first + int64(len(old)/2))
	first := middle - int64(len(old)/2)
	for i, c := range old {
		h.counts[floorHalf(h.first+int64(i))-first] += c
	}
	h.first = first
	h.width *= 2
}

func floorHalf(v int64) int64 { return v >> 1 }

// residuals is the range of all but a thousandth of the weight on either side, in at most 80 bins.
func (h *histogram) residuals() Residuals {
	total := 0.0
	for _, c := range h.counts {
		total += c
	}
	if total == 0 {
		return Residuals{}
	}
	low, high := 0, len(h.counts)-1
	below, above := 0.0, 0.0
	for below+h.counts[low] <= total/1000 {
		below += h.counts[low]
		low++
	}
	for above+h.counts[high] <= total/1000 {
		above += h.counts[high]
		high--
	}
	join := int64(1)
	first := func(i int) int64 { return floorDiv(h.first+int64(i), join) }
	for first(high)-first(low)+1 > 80 {
		join *= 2
	}
	r := Residuals{Width: h.width * float64(join), Start: float64(first(low)) * h.width * float64(join), Below: below, Above: above,
		Counts: make([]float64, first(high)-first(low)+1)}
	for i := low; i <= high; i++ {
		r.Counts[first(i)-first(low)] += h.counts[i]
	}
	return r
}

// floorDiv is ⌊a/b⌋ for b a power of two.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
