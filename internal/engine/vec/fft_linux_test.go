//go:build amd64 && !purego

package vec

import (
	"math/rand/v2"
	"testing"
)

func TestFFTReadsNothingOutside(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for n := 8; n <= 1<<15; n *= 2 {
			for _, atEnd := range []bool{false, true} {
				f := NewFFT(n)
				for _, table := range []*[]float32{&f.w, &f.leaf} {
					*table = fenced(t, *table, atEnd)
				}
				zeros := make([]float32, n)
				x := fenced(t, numbers[float32](rand.New(rand.NewPCG(33, 1)), n), atEnd)
				s, y := fenced(t, zeros, atEnd), fenced(t, zeros, atEnd)
				f.free.Put(fenced(t, zeros, atEnd))
				f.Forward(s, x)
				f.MulForward(s, x)
				f.Inverse(y, s)
				f.InverseMul(y, s, x)
				f.Mul(y, s, x)
			}
		}
	})
}
