//go:build amd64 && !purego

package vec

func symvBlock(n int, a []float64, lda int, x, sums, factors, y []float64) {
	_, _, _, _, _ = a[(symvHeight-1)*lda+n-1], x[n-1], sums[symvHeight-1], factors[symvHeight-1], y[n-1]
	for c := 0; c < n; c += longestColumns {
		columns := min(longestColumns, n-c)
		switch level {
		case generic:
			portableDots(columns, a[c:], lda, x[c:], sums[:symvHeight])
			portableSums(columns, a[c:], lda, factors[:symvHeight], y[c:])
		case avx2:
			symv64_avx2(columns, &a[c], 8*lda, &x[c], &sums[0], &factors[0], &y[c])
			symv64_avx2(columns, &a[c+4*lda], 8*lda, &x[c], &sums[4], &factors[4], &y[c])
		case avx512:
			symv64_avx512(columns, &a[c], 8*lda, &x[c], &sums[0], &factors[0], &y[c])
		}
	}
}

func rowDots(n int, a []float64, lda int, x, sums []float64) {
	_, _, _ = a[(rowHeight-1)*lda+n-1], x[n-1], sums[rowHeight-1]
	if level == generic {
		portableDots(n, a, lda, x, sums[:rowHeight])
		return
	}
	for c := 0; c < n; c += longestColumns {
		if level == avx512 {
			rowDots64_avx512(min(longestColumns, n-c), &a[c], 8*lda, &x[c], &sums[0], nil, nil)
		} else {
			rowDots64_avx2(min(longestColumns, n-c), &a[c], 8*lda, &x[c], &sums[0], nil, nil)
		}
	}
}

func rowSums(n int, a []float64, lda int, factors, y []float64) {
	_, _, _ = a[(rowHeight-1)*lda+n-1], factors[rowHeight-1], y[n-1]
	if level == generic {
		portableSums(n, a, lda, factors[:rowHeight], y)
		return
	}
	for c := 0; c < n; c += longestColumns {
		if level == avx512 {
			rowSums64_avx512(min(longestColumns, n-c), &a[c], 8*lda, nil, nil, &factors[0], &y[c])
		} else {
			rowSums64_avx2(min(longestColumns, n-c), &a[c], 8*lda, nil, nil, &factors[0], &y[c])
		}
	}
}
