package vec

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Hamming counts bits one by one, for codes of any length, at every address.
func TestHamming(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	everyLevel(t, func(t *testing.T) {
		for _, words := range []int{1, 3, 4, 5, 8, 12, 256} {
			for _, n := range []int{0, 1, 3, 4, 5, 8, 39, 300} {
				all := make([]uint64, (n+1)*words+1)
				for i := range all {
					all[i] = r.Uint64()
				}
				code, codes := all[:words], all[words+1:]
				if n > 1 { // the most and the fewest
					for j, w := range code {
						codes[j], codes[words+j] = w, ^w
					}
				}
				dst := make([]uint16, n+1)
				dst[n] = 7
				Hamming(dst[:n], codes, code)
				for i := range n {
					want := 0
					for j, w := range code {
						want += bits.OnesCount64(w ^ codes[i*words+j])
					}
					if int(dst[i]) != want {
						t.Fatalf("%d words: code %d of %d differs in %d bits, not %d", words, i, n, dst[i], want)
					}
				}
				if dst[n] != 7 {
					t.Fatal("written beyond the end")
				}
			}
		}
	})
}
