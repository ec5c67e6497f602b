package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/units"
)

// Axis describes an axis. The zero value fits the data.
type Axis struct {
	// Name says what is shown, with its unit.
	Name string

	// Log makes the axis logarithmic.
	Log bool

	// From and To are the range; both 0: that of the data, rounded.
	From, To float64

	// Percent writes 0.5 as 50 %.
	Percent bool

	// At are the places of the ticks, such as the few numbers that were measured; nil: round numbers.
	At []float64
}

// largest bounds the numbers that are shown, so that what is computed with them stays finite.
const largest = 1e300

// shows says that the axis has a place for v.
func (a Axis) shows(v float64) bool {
	return math.Abs(v) < largest && (!a.Log || v > 1/largest) // false for NaN
}

// fit is the axis with a range around the data and a little room.
func (a Axis) fit(s span) Axis {
	if a.From != 0 || a.To != 0 {
		return a
	}
	lo, hi := s.lo, s.hi
	switch {
	case !s.any && a.Log:
		lo, hi = 1, 10
	case !s.any:
		lo, hi = 0, 1
	case lo == hi && a.Log:
		lo, hi = lo/2, hi*2
	case lo == hi:
		room := max(math.Abs(lo)/10, 1e-12)
		lo, hi = lo-room, hi+room
	}
	if a.Log {
		room := math.Exp(0.04 * (math.Log(hi) - math.Log(lo)))
		a.From, a.To = max(lo/room, 2/largest), min(hi*room, largest/2)
		return a
	}
	room := (hi - lo) * 0.04
	a.From, a.To = lo-room, hi+room
	// Values that have no sign begin at 0 where that is near, and shares end at 1.
	if lo >= 0 && a.From < 0 || lo >= 0 && lo < 0.25*(hi-lo) {
		a.From = 0
	}
	if a.Percent && hi <= 1 && a.To > 1 {
		a.To = 1
	}
	return a
}

// check says what is wrong with a range.
func (a Axis) check() error {
	if !a.shows(a.From) && a.From != 0 || !a.shows(a.To) && a.To != 0 || a.From > a.To || a.Log && a.From < 0 || a.Log && a.To != 0 &&
		a.From == 0 {
		return fmt.Errorf("axis %q: cannot run from %g to %g", a.Name, a.From, a.To)
	}
	if a.From == a.To && a.From != 0 {
		return fmt.Errorf("axis %q: from and to are both %g", a.Name, a.From)
	}
	return nil
}

// place is where v lies on the axis, 0 at its beginning and 1 at its end.
func (a Axis) place(v float64) float64 {
	if a.Log {
		return (math.Log(v) - math.Log(a.From)) / (math.Log(a.To) - math.Log(a.From))
	}
	return (v - a.From) / (a.To - a.From)
}

// tick is a value with its label.
type tick struct {
	at    float64
	label string
}

// ticks are about n ticks at round numbers.
func (a Axis) ticks(n int) []tick {
	if a.At != nil {
		return a.ticksAt()
	}
	if a.Log {
		return a.logTicks(n)
	}
	span := a.To - a.From
	if a.Percent {
		span *= 100
	}
	step := niceStep(span / float64(n))
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if a.Percent {
		step /= 100
	}
	var list []tick
	for k := math.Ceil(a.From/step - 1e-9); k*step <= a.To+1e-9*step && len(list) <= 4*n; k++ {
		v := k * step
		if a.Percent {
			list = append(list, tick{v, minus(strconv.FormatFloat(100*v, 'f', decimals, 64)) + " %"})
			continue
		}
		list = append(list, tick{v, fixedText(v, decimals, max(math.Abs(a.From), math.Abs(a.To)))})
	}
	return list
}

// ticksAt are ticks at the places that are given, as far as the axis has them.
func (a Axis) ticksAt() []tick {
	var list []tick
	for _, v := range slices.Compact(slices.Sorted(slices.Values(a.At))) {
		if a.shows(v) && v >= a.From && v <= a.To {
			list = append(list, tick{v, a.say(v)})
		}
	}
	return list
}

// niceStep is the smallest of 1, 2, 5, 10, … times a power of ten that is not below v.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// logTicks are powers of ten where there are several of them, else also 2 and 5 times these.
func (a Axis) logTicks(n int) []tick {
	lo, hi := math.Log10(a.From), math.Log10(a.To)
	if hi-lo < 1 {
		plain := a
		plain.Log = false
		return plain.ticks(n)
	}
	multiples := []float64{1}
	if hi-lo < 1.3 {
		multiples = []float64{1, 2, 5}
	} else if hi-lo < 2.3 {
		multiples = []float64{1, 3}
	}
	every := max(1, int(math.Ceil((hi-lo)/float64(n))))
	var list []tick
	for e := int(math.Floor(lo)); e <= int(math.Ceil(hi)); e++ {
		if every > 1 && ((e%every)+every)%every != 0 {
			continue
		}
		for _, m := range multiples {
			v := m * math.Pow(10, float64(e))
			if v < a.From*(1-1e-9) || v > a.To*(1+1e-9) {
				continue
			}
			label := powerText(e)
			if lo >= -4.5 && hi <= 6.5 || m != 1 {
				label = shortText(v)
				if a.Percent {
					label = shortText(100*v) + " %"
				}
			}
			list = append(list, tick{v, label})
		}
	}
	return list
}

func powerText(e int) string {
	if e == 0 {
		return "1"
	}
	if e == 1 {
		return "10"
	}
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	text := "10"
	if e < 0 {
		text += "⁻"
	}
	for _, d := range strconv.Itoa(max(e, -e)) {
		text += string(digits[d-'0'])
	}
	return text
}

// fixedText writes v with so many decimals; large and tiny numbers in powers of ten.
func fixedText(v float64, decimals int, largest float64) string {
	if largest >= 1e7 || decimals > 5 {
		return shortText(v)
	}
	return minus(units.Commas(strconv.FormatFloat(v, 'f', decimals, 64)))
}

// shortText writes v to four digits or so, as people read it.
func shortText(v float64) string {
	if v == 0 {
		return "0"
	}
	size := math.Abs(v)
	if size >= 1e7 || size < 1e-4 {
		s := strconv.FormatFloat(v, 'e', 3, 64)
		m, e, _ := strings.Cut(s, "e")
		m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
		exponent, _ := strconv.Atoi(e)
		switch m {
		case "1":
			return powerText(exponent)
		case "-1":
			return "−" + powerText(exponent)
		}
		return minus(m) + "·" + powerText(exponent)
	}
	decimals := max(0, 3-int(math.Floor(math.Log10(size))))
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return minus(units.Commas(s))
}

// minus writes a sign as it is printed, and no sign before a 0.
func minus(s string) string {
	if !strings.HasPrefix(s, "-") {
		return s
	}
	if strings.Trim(s, "-0.,") == "" {
		return s[1:]
	}
	return "−" + s[1:]
}
