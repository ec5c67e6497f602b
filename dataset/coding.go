package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Coding says how the cells of a column become numbers if they are neither plain numbers nor one-hot.
type Coding struct {
	// Kind is one of the Coded constants.
	Kind string `json:"kind"`

	// Decimal is the decimal separator of CodedNumber and CodedOffset, "." or ",".
	Decimal string `json:"decimal,omitempty"`

	// Unit is what follows the numbers of CodedNumber and CodedOffset, such as kg, without the s of a plural. Scales means that k, M
	// and the like may follow them, and multiply.
	Unit   string `json:"unit,omitempty"`
	Scales bool   `json:"scales,omitempty"`

	// Bounds means that signs such as < and ≥ may stand before the numbers, which they make bounds: <0.01 counts as 0.01.
	Bounds bool `json:"bounds,omitempty"`

	// Sign is the currency of most numbers that have one, or % or ‰ if most numbers have it; "-" is none, and "" unknown.
	Sign string `json:"sign,omitempty"`

	// Offset is what CodedOffset subtracts.
	Offset float64 `json:"offset,omitempty"`

	// Layouts are those of CodedDate, as in package time; the first that a cell matches counts. Others
	// are those of [ColumnKind].
	Layouts []string `json:"layouts,omitempty"`

	// Hours means that CodedDate has dimensions for the time of the day.
	Hours bool `json:"hours,omitempty"`

	// Values are the levels of CodedOrdinal in their order, or the frequent values of CodedHashed, which have a
	// dimension each.
	Values []string `json:"values,omitempty"`

	// Buckets is the number of dimensions of CodedText, and of the values of CodedHashed that are not frequent.
	Buckets int `json:"buckets,omitempty"`

	// IDF are the weights of the dimensions of CodedText, the logarithms of inverse shares of rows.
	IDF []float64 `json:"idf,omitempty"`
}

// The kinds of Coding.
const (
	// CodedNumber is a number with thousands separators, a percent sign, a currency, or a decimal comma. Per cent
	// are hundredths.
	CodedNumber = "number"

	// CodedOffset is CodedNumber less Offset, subtracted in float64: of numbers that are large against their differences,
	// such as times in milliseconds, float32 would not keep what makes them differ.
	CodedOffset = "offset"

	// CodedDate is a date or time: days since 1970, year, and sine and cosine of the month, the weekday and
	// the hour.
	CodedDate = "date"

	// CodedOrdinal is the position of a level in a list.
	CodedOrdinal = "ordinal"

	// CodedHashed is one-hot for frequent values, and one of a few dimensions, by a hash, for the others.
	CodedHashed = "hashed"

	// CodedText counts words and pairs of words in dimensions by a hash, weighted by TF-IDF.
	CodedText = "text"
)

// Bounds of what a model file may ask for.
const (
	maxBuckets = 1 << 20
	maxLayouts = 16
)

// width is the number of dimensions.
func (c *Coding) width() int {
	switch c.Kind {
	case CodedDate:
		return len(c.dateDims())
	case CodedHashed:
		return len(c.Values) + c.Buckets
	case CodedText:
		return c.Buckets
	}
	return 1
}

// dimName names a dimension of the column in a message, "" if there is one only.
func (c *Coding) dimName(k int) string {
	switch {
	case c.Kind == CodedDate:
		return c.dateDims()[k]
	case c.Kind == CodedHashed && k < len(c.Values):
		return fmt.Sprintf("value %q", c.Values[k])
	case c.Kind == CodedHashed:
		return "rare values"
	case c.Kind == CodedText:
		return "words"
	}
	return ""
}

// check finds what is wrong with a coding that was read from a file.
func (c *Coding) check() error {
	switch c.Kind {
	case CodedNumber, CodedOffset:
		if c.Offset-c.Offset != 0 || c.Kind == CodedNumber && c.Offset != 0 {
			return fmt.Errorf("a number has the offset %g", c.Offset)
		}
		if c.Decimal != "." && c.Decimal != "," {
			return fmt.Errorf("the decimal separator is %q; it is . or ,", c.Decimal)
		}
	case CodedDate:
		if len(c.Layouts) == 0 || len(c.Layouts) > maxLayouts {
			return fmt.Errorf("a date has %d layouts; 1 to %d are possible", len(c.Layouts), maxLayouts)
		}
	case CodedOrdinal:
		if len(c.Values) == 0 {
			return fmt.Errorf("an ordinal column has no levels")
		}
	case CodedHashed:
		if c.Buckets < 1 || c.Buckets > maxBuckets {
			return fmt.Errorf("%d buckets; 1 to %d are possible", c.Buckets, maxBuckets)
		}
	case CodedText:
		if c.Buckets < 1 || c.Buckets > maxBuckets || len(c.IDF) != c.Buckets {
			return fmt.Errorf("%d buckets with %d weights; 1 to %d are possible, each with one", c.Buckets, len(c.IDF), maxBuckets)
		}
		for _, v := range c.IDF {
			if v-v != 0 || math.Abs(v) > 1e6 {
				return fmt.Errorf("a word has the weight %g", v)
			}
		}
	default:
		return fmt.Errorf("the coding %q is not known", c.Kind)
	}
	return nil
}

// coder turns the cells of a column into numbers. It belongs to one goroutine.
type coder interface {
	// code appends the values of a cell that is not missing, numbered from the column's first dimension, ascending;
	// what it leaves out is 0. known is false if the value was not among those of the training, which is no error.
	code(to []pair, cell []byte) (values []pair, known bool, err error)

	// fill appends the values of a missing cell.
	fill(to []pair) []pair
}

// cellCoder is a coder that takes some cells without their text; ok is false for others.
type cellCoder interface {
	codeCell(to []pair, c *cell) (values []pair, ok bool)
}

// newCoder makes the coder of a column that has a coding.
func newCoder(c *Column) coder {
	switch k := c.Coding; k.Kind {
	case CodedNumber, CodedOffset:
		return newNumberCoder(k, c.Mean)
	case CodedDate:
		return newDateCoder(k, c.Mean)
	case CodedOrdinal:
		return &ordinalCoder{levels: numbered(k.Values), mean: c.Mean}
	case CodedHashed:
		return &hashedCoder{frequent: numbered(k.Values), buckets: k.Buckets, rare: len(k.Values)}
	default:
		return newTextCoder(k)
	}
}

func numbered(values []string) map[string]int32 {
	m := make(map[string]int32, len(values))
	for i, v := range values {
		m[v] = int32(i)
	}
	return m
}

// ordinalCoder codes CodedOrdinal.
type ordinalCoder struct {
	levels map[string]int32
	mean   float64
}

func (o *ordinalCoder) code(to []pair, cell []byte) ([]pair, bool, error) {
	level, known := o.levels[string(cell)]
	if !known {
		return o.fill(to), false, nil
	}
	return append(to, pair{0, float32(level)}), true, nil
}

func (o *ordinalCoder) fill(to []pair) []pair { return append(to, pair{0, float32(o.mean)}) }

// hashedCoder codes CodedHashed. A missing cell is the value "".
type hashedCoder struct {
	frequent map[string]int32
	buckets  int
	rare     int
}

func (h *hashedCoder) code(to []pair, cell []byte) ([]pair, bool, error) {
	at, known := h.frequent[string(cell)]
	if !known {
		at = int32(h.rare + int(hashText(cell)%uint64(h.buckets)))
	}
	return append(to, pair{at, 1}), true, nil
}

func (h *hashedCoder) fill(to []pair) []pair {
	to, _, _ = h.code(to, nil)
	return to
}

// hashText is FNV-1a of 64 bits with a final mix. It is part of the model file's format.
func hashText(text []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// naturalOrder orders levels that come without an order: by the numbers in them where both begin with one, otherwise
// as text.
func naturalOrder(values []string) []string {
	sorted := slices.Clone(values)
	leading := func(s string) (float64, bool) {
		end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end < 0 {
			end = len(s)
		}
		v, err := strconv.ParseFloat(s[:end], 64)
		return v, err == nil
	}
	slices.SortFunc(sorted, func(a, b string) int {
		x, isX := leading(a)
		y, isY := leading(b)
		switch {
		case isX && isY && x != y:
			if x < y {
				return -1
			}
			return 1
		case isX != isY:
			if isX {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return sorted
}
