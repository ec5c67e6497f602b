package exact

import "math"

// chooseTolerance is the residual up to which the systems of the λ that are tried are solved: held-out errors
// are then within about 0.1 % of those of the exact solutions.
const chooseTolerance = 1e-3

// choose returns the λ that predicts a tenth of the rows best, fitted to the others, and its α.
// Held-out rows have weight 0. Each system starts from the solution of the one before.
func (f *falkon) choose(y, weights []float64, report *FalkonReport) (lambda float64, alpha []float64, err error) {
	h := holdOut(f.n, weights, f.opt.Seed)
	if h == nil {
		return float64(f.n) * f.most * math.Pow(10, chooseStart), nil, nil // too few rows to choose by
	}
	b, _ := mean(y, h.main, f.k)
	s, err := f.system(y, h.main, b, h.sumMain)
	if err != nil {
		return 0, nil, err
	}
	var last []float64
	least := math.Inf(1)
	path, best, err := downhill(h.sumMain*f.most, func(lambda float64) (float64, int, error) {
		var run FalkonReport
		next, err := f.solve(s, lambda, last, max(chooseTolerance, f.opt.Tolerance), &run)
		if f.ctx.Err() != nil {
			return 0, 0, f.ctx.Err()
		}
		if err != nil {
			return math.Inf(1), 0, nil // λ is too small
		}
		e, err := f.squaredError(next, s.y, h.held, h.sumHeld)
		if e < least {
			least, alpha = e, next
		}
		if finite(e) {
			last = next
		}
		return e, run.Iterations, err
	})
	if err != nil {
		return 0, nil, err
	}
	report.HeldOut, report.Path = h.rows, path
	return best * (h.sumMain + h.sumHeld) / h.sumMain, alpha, nil
}

// squaredError is the mean squared error of α for centred targets y, by the weights, summed over the outputs.
func (f *falkon) squaredError(alpha, y, weights []float64, total float64) (float64, error) {
	var parts [falkonParts]float64
	packed := f.pack(alpha)
	err := f.each(weights, func(part int, b *falkonRows) {
		f.multiply(b, alpha, packed)
		for r, i := range b.at {
			for t := range f.k {
				e := y[i*f.k+t] - b.out[r*f.k+t]
				parts[part] += float64(weights[i] * e * e)
			}
		}
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum / total, err
}
