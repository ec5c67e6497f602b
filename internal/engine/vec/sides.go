package vec

// SideSums32 writes Σ_j c_j·sign(u_k - z_kj) into dst[k] for every number u_k and the row k of Z, rows ldz
// numbers apart: the derivatives of Σ_j c_j·|u_k - z_kj|. The length of c is a multiple of Lanes, of which
// each adds up its numbers in their order: the sums have the same bits at every level.
func SideSums32(dst, u, c, z []float32, ldz int) {
	n := len(c)
	if n%Lanes != 0 {
		panic("vec: the number of terms is not a multiple of the lanes")
	}
	if n == 0 {
		clear(dst[:len(u)])
		return
	}
	if len(u) > 0 {
		_, _ = dst[len(u)-1], z[(len(u)-1)*ldz+n-1]
	}
	for k := sideBlocks(dst, u, c, z, ldz); k < len(u); k++ {
		var below, above [Lanes]float32
		row := z[k*ldz:][:n]
		for j := 0; j < n; j += Lanes {
			for l, v := range row[j : j+Lanes] {
				switch {
				case v < u[k]:
					below[l] += c[j+l]
				case v > u[k]:
					above[l] += c[j+l]
				}
			}
		}
		dst[k] = lanesApart(&below, &above)
	}
}

// lanesApart is the sum of the lanes of a less that of b.
func lanesApart(a, b *[Lanes]float32) float32 {
	plus, minus := float32(0), float32(0)
	for l := range a {
		plus += a[l]
		minus += b[l]
	}
	return plus - minus
}
