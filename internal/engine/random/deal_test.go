package random

import (
	"math"
	"slices"
	"testing"
)

// No output holds a number twice, and dealt numbers come equally often, to 1; also where an
// output takes them all.
func TestDealtNumbersComeAsOften(t *testing.T) {
	for _, c := range []struct{ m, length, outputs int }{{5, 1, 3}, {7, 3, 40}, {6, 6, 9}, {50, 4, 12}, {488, 2, 2000}, {10, 9, 10}} {
		for name, choose := range map[string]func(*Stream, int, int, int) []int32{"even": (*Stream).Deal, "random": (*Stream).DrawSets} {
			index := choose(New(1, "test"), c.m, c.length, c.outputs)
			count := make([]int, c.m)
			for o := range c.outputs {
				held := map[int32]bool{}
				for i := range c.length {
					v := index[i*c.outputs+o]
					if held[v] {
						t.Fatalf("%v, %s: output %d holds %d twice", c, name, o, v)
					}
					held[v] = true
					count[v]++
				}
			}
			if d := slices.Max(count) - slices.Min(count); name == "even" && d > 1 {
				t.Errorf("%v: some numbers come %d times more than others", c, d)
			}
		}
	}
}

// Each of the 20 ordered pairs of 5 numbers is as likely as the others.
func TestPairsOfDrawnNumbersAreUniform(t *testing.T) {
	const outputs = 20000
	for name, choose := range map[string]func(*Stream, int, int, int) []int32{"even": (*Stream).Deal, "random": (*Stream).DrawSets} {
		index := choose(New(2, "test"), 5, 2, outputs)
		count := map[[2]int32]float64{}
		for o := range outputs {
			count[[2]int32{index[o], index[outputs+o]}]++
		}
		for pair, n := range count {
			if want := outputs / 20.; math.Abs(n-want) > 4*math.Sqrt(want) {
				t.Errorf("%s: %v came %g times, want %g ± %g", name, pair, n, want, math.Sqrt(want))
			}
		}
	}
}
