package dataset

import (
	"math"
	"slices"

	"mercer/internal/engine/option"
)

// Numbers such as 999 and -9 stand for missing values in many tables, and nobody says so. What tells them from values is that they are far from
// all others and come again and again.
const (
	standInShare  = 0.01
	standInTimes  = 5
	standInSpike  = 20 // how many times as often as its neighbour -1 is
	standInValues = 50 // different values beside -1
	standInOthers = 10 // values, and different values from 0 on beside other negative ones
)

// tellOfStandIns tells of a number that seems to stand for missing values in a column.
func (t *table) tellOfStandIns(c *collected, i int) {
	a, col := &t.attributes[i], &c.columns[i]
	if a.measure != measureNumber && a.measure != measureWritten || !t.schema.Header {
		return
	}
	var values []float64
	for _, row := range c.sample {
		if v := row.values[i]; v-v == 0 {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	n := len(values)
	if t.roles[i].kind == label && areClasses(values) {
		return // of which any number may be one
	}
	if n == 0 || values[0] != col.min && values[n-1] != col.max {
		return
	}
	for _, v := range []float64{col.min, col.max} {
		from, _ := slices.BinarySearch(values, v)
		to, _ := slices.BinarySearch(values, math.Nextafter(v, math.Inf(1)))
		count := to - from
		rest := slices.Concat(values[:from], values[to:])
		if count < standInTimes || float64(count) < standInShare*float64(n) || len(rest) < standInOthers || !standsIn(v, count, rest) {
			continue
		}
		share := 100 * float64(count) / float64(c.rows) * float64(c.rows-col.missing) / float64(n)
		t.notice(i, "missing", "has %s in %.2g %% of the rows, and otherwise numbers from %s to %s; if it stands for a missing value, %s says so", number(v),
			share, number(rest[0]), number(rest[len(rest)-1]), option.Set("na", number(v)))
	}
}

// areClasses says that labels, which are sorted, are few whole numbers, which [Summary.Task] takes for classes.
func areClasses(values []float64) bool {
	different := slices.Compact(slices.Clone(values))
	return len(different) <= mostNumberClasses && !slices.ContainsFunc(different, func(v float64) bool { return v != math.Trunc(v) })
}

// standsIn says that a number looks like one that stands for missing values among others, which are sorted.
func standsIn(v float64, count int, rest []float64) bool {
	least, most := rest[0], rest[len(rest)-1]
	if least == most {
		return false
	}
	if v == -1 {
		near, _ := slices.BinarySearch(rest, math.Nextafter(least, math.Inf(1)))
		different := len(slices.Compact(slices.Clone(rest)))
		return least >= 0 && different > standInValues && count >= standInSpike*near
	}
	if !isCode9(v) && !slices.Contains(extremes, v) {
		return false
	}
	if v < -9 && least >= 0 && len(slices.Compact(slices.Clone(rest))) >= standInOthers {
		return true
	}
	gap := max(least-v, v-most)
	return gap >= most-least && gap >= math.Abs(v)/2
}

// isCode9 says that a number is written with nines alone, two at least or a negative one, perhaps with one or two behind a point: 999, -9, -99.9.
func isCode9(v float64) bool {
	for _, scale := range []float64{1, 10, 100} {
		nines := math.Round(1e6*scale*math.Abs(v)) / 1e6
		for nines > 9 && math.Mod(nines, 10) == 9 {
			nines = math.Floor(nines / 10)
		}
		if nines == 9 && v != 9 && (scale == 1 || v < -9) {
			return true
		}
	}
	return false
}

// extremes are numbers that programs write where there is no other: the ends of whole numbers of 16 and 32 bits, large powers of ten, netCDF's number for
// what was never written, and that of well logs.
var extremes = []float64{math.MinInt16, math.MaxInt16, math.MaxUint16, math.MinInt32, math.MaxInt32, math.MaxUint32, 1e20, -1e20, 1e30, -1e30, -1e31, 1e34, -1e34,
	1e35, 1e36, 9.969209968386869e36, 9.96921e36, -999.25}
