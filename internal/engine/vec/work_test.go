package vec

import "testing"

// On machines of 32 bits, large products looked small, even none at all.
func TestWorkOfLargeProducts(t *testing.T) {
	for _, s := range [][3]int{{1 << 11, 1 << 11, 1 << 10}, {1 << 12, 1 << 12, 1 << 8}, {1 << 16, 1 << 16, 3}} {
		want := float64(s[0]) * float64(s[1]) * float64(s[2])
		if got := work(s[0], s[1], s[2]); float64(got) != want {
			t.Errorf("%v takes %d multiplications, want %g", s, got, want)
		}
	}
}
