package moments

import (
	"math"

	"mercer/internal/engine/vec"
)

// flush adds the gathered rows to the sums.
func (s *Stats) flush() {
	n := s.held
	if n == 0 {
		return
	}
	s.held = 0
	if s.shiftZ == nil {
		s.shiftZ = s.firstMean(n)
	}
	if s.centred {
		// Differences from a shift that float32 holds are rounded once.
		at := make([]float64, s.d)
		for j, v := range s.shiftZ {
			at[j] = float64(float32(v))
		}
		s.move(at, s.shiftY)
		s.centred = false
	}
	blank := false
	for i := range n {
		s.weight += s.w[i]
		blank = blank || s.blank[i]
	}
	if blank && s.sumL == nil {
		s.sumL = append([]float64(nil), s.sumZ...)
	}
	s.addTargets(n)
	s.subtract(n)
	s.addProducts(n)
	s.weigh(n)
	if s.wide != nil {
		vec.SyrkAdd(s.d, n, s.wide, s.d, s.h, s.d)
	} else {
		vec.SyrkAddWide(s.d, n, s.z, s.d, s.h, s.d)
	}
	s.rows += n
}

// addTargets adds the gathered targets, leaving w(y-shift) in their place and the weights after them.
func (s *Stats) addTargets(n int) {
	if s.shiftY == nil {
		s.shiftY = s.firstTargets(n)
	}
	for i := range n {
		y, w := s.targets(i), s.w[i]
		weights := y[s.k : s.k+2]
		weights[0], weights[1] = w, w
		if s.blank[i] {
			clear(y)
			weights[1] = 0
			continue
		}
		s.labelled += w
		if w > 0 {
			s.used++
		}
		for t := range y {
			e := y[t] - s.shiftY[t]
			y[t] = w * e
			s.sumY[t] += y[t]
			s.yy[t] += float64(y[t] * e)
		}
	}
}

// subtract subtracts the shift from the gathered rows, unless that was done when they were added.
func (s *Stats) subtract(n int) {
	each := func(row func(i int)) {
		vec.Parallel(n, gathered, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row(i)
			}
		})
	}
	if s.wide != nil {
		minus := make([]float64, s.d)
		for j, v := range s.shiftZ {
			minus[j] = -v
		}
		each(func(i int) {
			x := s.wide[i*s.d : (i+1)*s.d]
			copy(x, minus)
			vec.AxpyWide(1, s.z[i*s.d:(i+1)*s.d], x)
		})
		return
	}
	if s.narrow == nil {
		s.narrow = make([]float32, s.d)
		for j, v := range s.shiftZ {
			s.narrow[j] = float32(v)
		}
		each(func(i int) { vec.Axpy32(-1, s.narrow, s.z[i*s.d:(i+1)*s.d]) })
	}
}

// addProducts adds the products of the gathered rows with their targets to v. The sums of z are
// products with the weights.
func (s *Stats) addProducts(n int) {
	columns := s.k + 1
	if s.sumL != nil {
		columns++
	}
	for lo := 0; lo < columns; lo += atOnce {
		c := min(atOnce, columns-lo)
		clear(s.products)
		if s.wide != nil {
			vec.GemmAddTN(s.d, c, n, s.wide, s.d, s.y[lo:], s.k+2, s.products, c)
		} else {
			vec.GemmAddTNWide(s.d, c, n, s.z, s.d, s.y[lo:], s.k+2, s.products, c)
		}
		for j := range s.d {
			for t, p := range s.products[j*c : (j+1)*c] {
				switch t += lo; t {
				case s.k:
					s.sumZ[j] += p
				case s.k + 1:
					s.sumL[j] += p
				default:
					s.v[j*s.k+t] += p
				}
			}
		}
	}
}

// weigh multiplies the gathered rows by √w.
func (s *Stats) weigh(n int) {
	vec.Parallel(n, gathered, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if s.w[i] == 1 {
				continue
			}
			root := math.Sqrt(s.w[i])
			if s.wide != nil {
				x := s.wide[i*s.d : (i+1)*s.d]
				for j := range x {
					x[j] *= root
				}
				continue
			}
			z := s.z[i*s.d : (i+1)*s.d]
			for j, v := range z {
				z[j] = float32(root * float64(v))
			}
		}
	})
}

// firstMean is the unweighted mean of the n gathered rows, rounded to float32.
func (s *Stats) firstMean(n int) []float64 {
	m := make([]float64, s.d)
	for i := range n {
		vec.AxpyWide(1, s.z[i*s.d:(i+1)*s.d], m)
	}
	for j := range m {
		m[j] = float64(float32(m[j] / float64(n)))
	}
	return m
}

// firstTargets is the unweighted mean of the gathered targets, nil if there are none.
func (s *Stats) firstTargets(n int) []float64 {
	m, count := make([]float64, s.k), 0
	for i := range n {
		if s.blank[i] {
			continue
		}
		count++
		for t, y := range s.targets(i) {
			m[t] += y
		}
	}
	if count == 0 {
		return nil
	}
	for t := range m {
		m[t] /= float64(count)
	}
	return m
}

// move changes the shifts to z and y; y is nil if no row has targets. With e = z - shift and
// sum' = sum - We,
//
//	Σw(z-shift-e)(z-shift-e)ᵀ = H - sum·eᵀ - e·sum'ᵀ,
//
// and V likewise with the sums of rows with targets.
func (s *Stats) move(z, y []float64) {
	ez, ey := make([]float64, s.d), make([]float64, s.k)
	newZ, newY := make([]float64, s.d), make([]float64, s.k)
	sumL := s.sumL
	if sumL == nil {
		sumL = s.sumZ
	}
	for j := range ez {
		ez[j] = z[j] - s.shiftZ[j]
		newZ[j] = s.sumZ[j] - float64(s.weight*ez[j])
	}
	for t := range y {
		ey[t] = y[t] - s.shiftY[t]
		newY[t] = s.sumY[t] - float64(s.labelled*ey[t])
	}
	vec.Parallel(s.d, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			vec.Axpy64(-s.sumZ[i], ez[i:], s.h[i*s.d+i:(i+1)*s.d])
			vec.Axpy64(-ez[i], newZ[i:], s.h[i*s.d+i:(i+1)*s.d])
			for t := range y {
				s.v[i*s.k+t] -= float64(sumL[i]*ey[t]) + float64(ez[i]*newY[t])
			}
		}
	})
	for t := range y {
		s.yy[t] -= float64(s.sumY[t]*ey[t]) + float64(ey[t]*newY[t])
	}
	for j := range s.sumL {
		s.sumL[j] -= float64(s.labelled * ez[j])
	}
	s.shiftZ, s.sumZ, s.sumY = z, newZ, newY
	if y != nil {
		s.shiftY = y
	}
}

// center moves the shifts to the means, so that h, v and yy are the centred moments.
func (s *Stats) center() {
	s.flush()
	if s.centred || s.weight == 0 {
		return
	}
	z, y := make([]float64, s.d), []float64(nil)
	for j, v := range s.sumZ {
		z[j] = s.shiftZ[j] + v/s.weight
	}
	if s.labelled > 0 {
		y = make([]float64, s.k)
		for t, v := range s.sumY {
			y[t] = s.shiftY[t] + v/s.labelled
		}
	}
	s.move(z, y)
	s.narrow = nil
	// The rounding error left in the sums is the deviation from the mean that float64 cannot resolve.
	clear(s.sumZ)
	clear(s.sumY)
	s.centred = true
}
