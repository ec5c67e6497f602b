package vec

// The kernels of the Walsh-Hadamard transform in Go. hadamard_amd64.go documents them.

// portableBlock and portableRadix are the shape of the portable passes.
const (
	portableBlock = 8
	portableRadix = 4
)

func portableRows[T float32 | float64](x []T, n, stride, rows int) {
	for i := range rows {
		x := x[i*stride : i*stride+n]
		for j := 0; n >= 8 && j < n; j += 8 {
			portableEight((*[8]T)(x[j : j+8]))
		}
		h := 8
		if n < 8 {
			h = 1
		}
		for ; 4*h <= n; h *= 4 {
			portableRadixPass(x, 4, h, h, n/(4*h))
		}
		if h < n {
			portableRadixPass(x, 2, h, h, n/(2*h))
		}
	}
}

// portableEight does the stages 1, 2 and 4.
func portableEight[T float32 | float64](x *[8]T) {
	a, b, c, d := x[0]+x[1], x[0]-x[1], x[2]+x[3], x[2]-x[3]
	e, f, g, h := x[4]+x[5], x[4]-x[5], x[6]+x[7], x[6]-x[7]
	a, b, c, d = a+c, b+d, a-c, b-d
	e, f, g, h = e+g, f+h, e-g, f-h
	x[0], x[1], x[2], x[3] = a+e, b+f, c+g, d+h
	x[4], x[5], x[6], x[7] = a-e, b-f, c-g, d-h
}

func portableChain[T float32 | float64](dst, src, d, s []T, n, rounds, round, step, count int) {
	for i := range count {
		y := dst[i*n : i*n+n]
		copy(y, src[i*step:i*step+n])
		for k := range rounds {
			for j, v := range d[k*round+i*n : k*round+i*n+n] {
				y[j] *= v
			}
			portableRows(y, n, n, 1)
		}
		for j, v := range s[i*n : i*n+n] {
			y[j] *= v
		}
	}
}

func portableFirst[T float32 | float64](dst, src, d []T) {
	for i := 0; i+portableBlock <= len(dst); i += portableBlock {
		y, x, d := (*[8]T)(dst[i:]), (*[8]T)(src[i:]), (*[8]T)(d[i:])
		for j := range y {
			y[j] = x[j] * d[j]
		}
		portableEight(y)
	}
}

func portableGather[T float32 | float64](dst, src []T, p []int32, d []T) {
	for i := 0; i+portableBlock <= len(dst); i += portableBlock {
		y, p, d := (*[8]T)(dst[i:]), (*[8]int32)(p[i:]), (*[8]T)(d[i:])
		for j := range y {
			y[j] = src[int(p[j])&(len(src)-1)] * d[j]
		}
		portableEight(y)
	}
}

func portableRadixPass[T float32 | float64](x []T, radix, step, columns, groups int) {
	for range groups {
		a := x[:columns]
		b := x[step:][:len(a)]
		if radix == 2 {
			for i, p := range a {
				q := b[i]
				a[i], b[i] = p+q, p-q
			}
		} else {
			c, d := x[2*step:][:len(a)], x[3*step:][:len(a)]
			for i, p := range a {
				q, r, s := b[i], c[i], d[i]
				p, q, r, s = p+q, p-q, r+s, r-s
				a[i], b[i], c[i], d[i] = p+r, q+s, p-r, q-s
			}
		}
		x = x[min(len(x), radix*step):]
	}
}

func portableScaled[T float32 | float64](x, s []T, radix, step, columns int) {
	portableRadixPass(x, radix, step, columns, 1)
	for i := range radix {
		y := x[i*step : i*step+columns]
		for j, v := range s[i*step : i*step+columns] {
			y[j] *= v
		}
	}
}

func portablePermute[T float32 | float64](dst, src []T, p []int32, n int) {
	for i := 0; i < len(dst); i += n {
		y, x := dst[i:i+n], src[i:i+n]
		for j, k := range p[i : i+n] {
			y[j] = x[int(k)&(len(x)-1)]
		}
	}
}
