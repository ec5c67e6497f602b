package exact

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"mercer/internal/engine/random"
)

// LambdaPoint is a λ that was tried, with the mean squared error of its fit on held-out rows,
// summed over the outputs.
type LambdaPoint struct {
	Lambda     float64 `json:"lambda"`
	Error      float64 `json:"error"`
	Iterations int     `json:"iterations"`
	Chosen     bool    `json:"chosen,omitempty"`
}

// held are weights that exclude a tenth of the rows from a fit.
type held struct {
	main, held       []float64
	sumMain, sumHeld float64
	rows             int // that are held out
}

// holdOut chooses the tenth by a hash of the row's number. It returns nil if either part of the rows
// has no weight.
func holdOut(n int, weights []float64, seed uint64) *held {
	h := &held{main: make([]float64, n), held: make([]float64, n)}
	for i := range n {
		w := weight(weights, i)
		if random.Hash(seed, "exact.held-out", uint64(i)) < math.MaxUint64/10 {
			h.held[i] = w
			h.sumHeld += w
			h.rows++
		} else {
			h.main[i] = w
			h.sumMain += w
		}
	}
	if h.sumMain == 0 || h.sumHeld == 0 {
		return nil
	}
	return h
}

// The λ that are tried are scale·10^e, where scale is the sum of the weights times the kernel's
// largest value.
const (
	chooseStart = -5.0
	chooseLow   = -10.0
	chooseHigh  = 1.0
)

// downhill finds the λ of least error: from chooseStart on in steps of ten while the error
// falls, and then at the half steps beside the best. The error is assumed to have one valley.
// try returns the error of a λ, +Inf if there is no fit, and the iterations it took.
func downhill(scale float64, try func(lambda float64) (e float64, iterations int, err error)) (path []LambdaPoint, lambda float64,
	err error) {
	tried := map[float64]LambdaPoint{}
	best, least := chooseStart, math.Inf(1)
	visit := func(e float64) (better bool, err error) {
		if _, ok := tried[e]; ok {
			return false, nil
		}
		p := LambdaPoint{Lambda: scale * math.Pow(10, e)}
		if p.Error, p.Iterations, err = try(p.Lambda); err != nil {
			return false, err
		}
		tried[e] = p
		if better = p.Error < least; better {
			best, least = e, p.Error
		}
		return better, nil
	}
	if _, err := visit(chooseStart); err != nil {
		return nil, 0, err
	}
	for _, step := range []float64{-1, 1} {
		for e := best + step; e >= chooseLow && e <= chooseHigh; e += step {
			if better, err := visit(e); err != nil {
				return nil, 0, err
			} else if !better && !math.IsInf(least, 1) {
				break
			}
		}
		if best != chooseStart {
			break
		}
	}
	middle := best
	for _, e := range []float64{middle - 0.5, middle + 0.5} {
		if _, err := visit(e); err != nil {
			return nil, 0, err
		}
	}
	if math.IsInf(least, 1) {
		return nil, 0, fmt.Errorf("no λ from %.2g to %.2g makes a system that can be solved; scale the inputs, or give a larger λ",
			scale*math.Pow(10, chooseLow), scale*math.Pow(10, chooseHigh))
	}
	for _, e := range slices.Sorted(maps.Keys(tried)) {
		p := tried[e]
		if p.Chosen = e == best; finite(p.Error) {
			path = append(path, p)
		}
	}
	return path, tried[best].Lambda, nil
}
