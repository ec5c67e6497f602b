//go:build amd64 && !purego

package vec

// These process the first elements, up to a multiple of 16, and return their number.

// inSeries is how many of n elements the kernels process.
func inSeries(n int) int {
	if level == generic {
		return 0
	}
	return n &^ 15
}

func rootsBlocks(positive, root, x []float32) int {
	n := inSeries(len(x))
	for i := 0; i < n; i += mostInSeries {
		part := min(n-i, mostInSeries)
		if level == avx512 {
			roots32_avx512(&x[i], &positive[i], &root[i], part)
		} else {
			roots32_avx2(&x[i], &positive[i], &root[i], part)
		}
	}
	return n
}

func sechBlocks(first, tanh, a, root, power []float32) int {
	n := inSeries(len(a))
	for i := 0; i < n; i += mostInSeries {
		part := min(n-i, mostInSeries)
		if level == avx512 {
			sech32_avx512(&a[i], &root[i], &power[i], &first[i], &tanh[i], part)
		} else {
			sech32_avx2(&a[i], &root[i], &power[i], &first[i], &tanh[i], part)
		}
	}
	return n
}

func recurBlocks(next []float32, alpha float32, t, last []float32, beta float32, before []float32) int {
	n := inSeries(len(t))
	for i := 0; i < n; i += mostInSeries {
		part := min(n-i, mostInSeries)
		if level == avx512 {
			recur32_avx512(alpha, beta, &t[i], &last[i], &before[i], &next[i], part)
		} else {
			recur32_avx2(alpha, beta, &t[i], &last[i], &before[i], &next[i], part)
		}
	}
	return n
}

func rotateBlocks(re, im, cos, sin, even, odd []float32, w float32) int {
	n := inSeries(len(cos))
	for i := 0; i < n; i += mostInSeries {
		part := min(n-i, mostInSeries)
		if level == avx512 {
			rotate32_avx512(w, &cos[i], &sin[i], &re[i], &im[i], &re[i], &im[i], &even[i], &odd[i], part)
		} else {
			rotate32_avx2(w, &cos[i], &sin[i], &re[i], &im[i], &re[i], &im[i], &even[i], &odd[i], part)
		}
	}
	return n
}
