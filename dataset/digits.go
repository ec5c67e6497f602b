package dataset

import (
	"math"

	"mercer/internal/option"
)

// fewSteps is how many steps of float32 the values of a column lie within if that is worth a notice.
const fewSteps = 4096

// warnOfDigits tells of a column of numbers that are large against their differences, such as times in milliseconds: numbers are
// kept as float32, whose 24 bits do not hold what makes them differ.
func (t *table) warnOfDigits(col *collectedColumn, i int) {
	spread, largest := col.max-col.min, max(math.Abs(col.min), math.Abs(col.max))
	step := math.Ldexp(1, math.Ilogb(largest)-23)
	if t.roles[i].kind != numeric || !(spread > 0) || spread >= fewSteps*step || exactly(col) {
		return
	}
	t.notice(i, "digits", "has numbers from %s to %s, which float32 rounds to multiples of %s, so digits that tell them apart are lost; "+
		"subtract the first value before, or %s leaves the column out",
		number(col.min), number(col.max), number(step), option.Set("ignore", t.names[i]))
}

// exactly says that float32 holds all values of a column.
func exactly(col *collectedColumn) bool {
	if col.many || len(col.numbers) == 0 {
		return !col.fraction && max(math.Abs(col.min), math.Abs(col.max)) <= 1<<24
	}
	for v := range col.numbers {
		if float64(float32(v)) != v {
			return false
		}
	}
	return true
}
