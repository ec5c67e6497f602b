package vec

import "unsafe"

// portableKernels are the micro-kernels of every machine.
func portableKernels() {
	micro32.use(4, 4, portable[float32], portableRow[float32], nil, nil, portableSparse[float32], portableSparseOne[float32])
	micro64.use(4, 4, portable[float64], portableRow[float64], nil, nil, portableSparse[float64], portableSparseOne[float64])
}

// portable is the 4×4 micro-kernel in Go.
func portable[T float32 | float64](k int, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add int) {
	size := int(unsafe.Sizeof(T(0)))
	ars, acs, ldb, ldc = ars/size, acs/size, ldb/size, ldc/size
	as := unsafe.Slice(a, (k-1)*acs+3*ars+1)
	bs := unsafe.Slice(b, (k-1)*ldb+4)
	cs := unsafe.Slice(c, 3*ldc+4)
	var t [4][4]T
	for l := range k {
		y := bs[l*ldb : l*ldb+4 : l*ldb+4]
		for i := range t {
			r, v := &t[i], as[l*acs+i*ars]
			// The conversion prevents fused multiply-adds, so that all machines round alike.
			r[0] += T(v * y[0])
			r[1] += T(v * y[1])
			r[2] += T(v * y[2])
			r[3] += T(v * y[3])
		}
	}
	for i := range t {
		for j, v := range t[i] {
			if add != 0 {
				v += cs[i*ldc+j]
			}
			cs[i*ldc+j] = v
		}
	}
}

// portableRow is the 1×4 micro-kernel in Go.
func portableRow[T float32 | float64](k int, a *T, _, acs int, b *T, ldb int, c *T, _ int, add int) {
	size := int(unsafe.Sizeof(T(0)))
	acs, ldb = acs/size, ldb/size
	as := unsafe.Slice(a, (k-1)*acs+1)
	bs := unsafe.Slice(b, (k-1)*ldb+4)
	cs := unsafe.Slice(c, 4)
	var t [4]T
	for l := range k {
		v := as[l*acs]
		y := bs[l*ldb : l*ldb+4 : l*ldb+4]
		t[0] += T(v * y[0])
		t[1] += T(v * y[1])
		t[2] += T(v * y[2])
		t[3] += T(v * y[3])
	}
	for j, v := range t {
		if add != 0 {
			v += cs[j]
		}
		cs[j] = v
	}
}
