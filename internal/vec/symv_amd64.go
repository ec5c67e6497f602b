//go:build amd64 && !purego

package vec

// symvHeight is how many rows symvBlock takes.
func symvHeight() int {
	if level == avx512 {
		return 8
	}
	return 4
}

func symvBlock(n int, a []float64, lda int, x, sums, factors, y []float64) {
	height := symvHeight()
	_, _, _, _, _ = a[(height-1)*lda+n-1], x[n-1], sums[height-1], factors[height-1], y[n-1]
	if level == generic {
		portableDots(n, a, lda, x, sums[:height])
		portableSums(n, a, lda, factors[:height], y)
		return
	}
	for c := 0; c < n; c += longestRows {
		if level == avx512 {
			symv64_avx512(min(longestRows, n-c), &a[c], 8*lda, &x[c], &sums[0], &factors[0], &y[c])
		} else {
			symv64_avx2(min(longestRows, n-c), &a[c], 8*lda, &x[c], &sums[0], &factors[0], &y[c])
		}
	}
}

func rowDots(n int, a []float64, lda int, x, sums []float64) {
	_, _, _ = a[(rowHeight-1)*lda+n-1], x[n-1], sums[rowHeight-1]
	if level == generic {
		portableDots(n, a, lda, x, sums[:rowHeight])
		return
	}
	for c := 0; c < n; c += longestRows {
		if level == avx512 {
			rowDots64_avx512(min(longestRows, n-c), &a[c], 8*lda, &x[c], &sums[0], nil, nil)
		} else {
			rowDots64_avx2(min(longestRows, n-c), &a[c], 8*lda, &x[c], &sums[0], nil, nil)
		}
	}
}

func rowSums(n int, a []float64, lda int, factors, y []float64) {
	_, _, _ = a[(rowHeight-1)*lda+n-1], factors[rowHeight-1], y[n-1]
	if level == generic {
		portableSums(n, a, lda, factors[:rowHeight], y)
		return
	}
	for c := 0; c < n; c += longestRows {
		if level == avx512 {
			rowSums64_avx512(min(longestRows, n-c), &a[c], 8*lda, nil, nil, &factors[0], &y[c])
		} else {
			rowSums64_avx2(min(longestRows, n-c), &a[c], 8*lda, nil, nil, &factors[0], &y[c])
		}
	}
}
