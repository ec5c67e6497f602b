package dataset

import (
	"fmt"
	"math"
)

// fewSteps is how many steps of float32 the values of a column lie within if that is worth a notice.
const fewSteps = 4096

// leastNormal is the smallest number of which float32 has all its digits.
const leastNormal = 0x1p-126

// takeOffset codes a column of numbers that are large against their differences, such as times in milliseconds, as what they have beyond
// the smallest: numbers are kept as float32, whose 24 bits do not hold what makes them differ.
func (t *table) takeOffset(c *collected, i int) {
	col, r := &c.columns[i], &t.roles[i]
	spread, largest := col.max-col.min, max(math.Abs(col.min), math.Abs(col.max))
	step := math.Ldexp(1, math.Ilogb(largest)-23)
	column := &t.schema.Columns[r.input]
	plain := r.kind == numeric || r.kind == coded && column.Coding.Kind == CodedNumber
	if plain && spread > 0 && largest < leastNormal {
		t.notice(i, "digits", "has numbers from %s to %s, too small for float32, which has few digits of them or takes them for 0; multiply them",
			number(col.min), number(col.max))
	}
	if !plain || t.opt.AsWritten || !(spread > 0) || spread >= fewSteps*step || exactly(col) {
		return
	}
	coding := Coding{Decimal: "."}
	if column.Coding != nil {
		coding = *column.Coding
	}
	coding.Kind, coding.Offset = CodedOffset, col.min
	column.Coding = &coding
	r.kind, t.attributes[i].coding = coded, column.Coding
	t.notice(i, "digits", "has numbers from %s to %s, which float32 rounds to multiples of %s, so the smallest is subtracted from all",
		number(col.min), number(col.max), number(step))
}

// sampleMean is the mean of column i in the sample of rows.
func (c *collected) sampleMean(i int) float64 {
	sum, n := 0.0, 0
	for _, row := range c.sample {
		if v := row.values[i]; v-v == 0 {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// isNumber says that a coding is of plain numbers, however written.
func (c *Coding) isNumber() bool { return c.Kind == CodedNumber || c.Kind == CodedOffset }

// marked says that marks such as - stand for a missing value in a column.
func (c *Coding) marked() bool { return c == nil || c.isNumber() || c.Kind == CodedDate }

// exactly says that float32 holds all values of a column.
func exactly(col *collectedColumn) bool {
	if col.many || col.numbers.n == 0 {
		return !col.fraction && max(math.Abs(col.min), math.Abs(col.max)) <= 1<<24
	}
	for v := range col.numbers.all() {
		if float64(float32(v)) != v {
			return false
		}
	}
	return true
}

// tellRounded tells of columns of arrays and LIBSVM text whose numbers are so large against their differences that float32 makes them
// all but equal. Those of tables are taken less the smallest.
func tellRounded(src Source, sum *Summary) {
	if p, is := src.(*part); is {
		src = p.Source
	}
	f, is := src.(*File)
	if !is || f.notice == nil || f.table() != nil {
		return
	}
	for j := range sum.Columns {
		c := &sum.Columns[j]
		largest := max(math.Abs(c.Min), math.Abs(c.Max))
		if !(largest > 1<<24) || math.IsInf(largest, 0) {
			continue
		}
		if step := math.Ldexp(1, math.Ilogb(largest)-23); c.Max-c.Min < fewSteps*step {
			err := fmt.Errorf("%s has numbers from %s to %s, which float32 rounds to multiples of %s; subtract the smallest from all, or write the "+
				"data as CSV or Parquet, of which that is done", f.Schema().DimName(j), number(c.Min), number(c.Max), number(step))
			f.notice(Notice{Column: f.Schema().DimName(j), Kind: "digits", Text: err.Error(), Err: err})
		}
	}
}
