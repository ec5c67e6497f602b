package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/units"
)

// metric is a number or a word that a command says.
type metric struct{ id, key string }

// cell is a place in a table: what it takes of the measurements, and its text.
type cell interface {
	metrics() []metric
	text(measurements) string
}

// measurements are those of a section, by command.
type measurements map[string]*measured

// measured is what the rounds of a command said.
type measured struct {
	Line    string               `json:"line"`
	Numbers map[string][]float64 `json:"numbers,omitempty"` // one a round
	Words   map[string]string    `json:"words,omitempty"`   // of the last round
	Missing string               `json:"missing,omitempty"` // what to install that it may run
}

// notRun stands before what is missing for a measurement.
const notRun = "not run: "

// label is text that is not measured.
type label string

func (l label) metrics() []metric        { return nil }
func (l label) text(measurements) string { return string(l) }

// nothing is a cell where there is nothing to say.
const nothing = label("")

// format is how a number is written.
type format int

const (
	threeInAll format = iota // 1,230; 12.3; 0.0123
	integer
	tenths
	hundredths
)

func (f format) text(x float64) string {
	switch f {
	case integer:
		return units.Commas(strconv.FormatFloat(x, 'f', 0, 64))
	case tenths, hundredths:
		return strconv.FormatFloat(x, 'f', int(f-integer), 64)
	}
	return threeDigits(x)
}

// value is the median of a number, times scale (0: 1), and the unit behind it.
type value struct {
	metric
	scale  float64
	format format
	unit   string
}

func (v value) metrics() []metric { return []metric{v.metric} }

func (v value) text(m measurements) string {
	x, missing := m.numbers(v.metric)
	if missing != "" {
		return notRun + missing
	}
	scale := v.scale
	if scale == 0 {
		scale = 1
	}
	return v.format.text(median(x)*scale) + v.unit
}

// perSecond is work over the median of seconds.
type perSecond struct {
	seconds metric
	work    float64
}

func (p perSecond) metrics() []metric { return []metric{p.seconds} }

func (p perSecond) text(m measurements) string {
	x, missing := m.numbers(p.seconds)
	if missing != "" {
		return notRun + missing
	}
	return threeDigits(p.work / median(x))
}

// ratio is how many times as fast the first is as the second: of each round, the median, with the
// least and the most.
type ratio struct {
	ours, theirs metric
	rate         bool    // of work a second, so that more is faster
	scale        float64 // of ours, to be in the unit of theirs; 0: 1
}

func (r ratio) metrics() []metric { return []metric{r.ours, r.theirs} }

func (r ratio) text(m measurements) string {
	ours, missing := m.numbers(r.ours)
	theirs, peerMissing := m.numbers(r.theirs)
	if missing != "" || peerMissing != "" {
		return ""
	}
	var all []float64
	for i := range min(len(ours), len(theirs)) {
		x := ours[i]
		if r.scale != 0 {
			x *= r.scale
		}
		if r.rate {
			all = append(all, x/theirs[i])
		} else {
			all = append(all, theirs[i]/x)
		}
	}
	text := threeDigits(median(all))
	if least, most := threeDigits(slices.Min(all)), threeDigits(slices.Max(all)); least != most {
		text += " (" + least + " to " + most + ")"
	}
	return text
}

// word is a word that a command says.
type word struct{ metric }

func (w word) metrics() []metric { return []metric{w.metric} }

func (w word) text(m measurements) string {
	c := m[w.id]
	if c == nil {
		panic("no measurement of " + w.id)
	}
	if c.Missing != "" {
		return notRun + c.Missing
	}
	return c.Words[w.key]
}

// phrase is cells behind one another.
type phrase []cell

func (p phrase) metrics() []metric {
	var all []metric
	for _, c := range p {
		all = append(all, c.metrics()...)
	}
	return all
}

func (p phrase) text(m measurements) string {
	var b strings.Builder
	for _, c := range p {
		text := c.text(m)
		if strings.HasPrefix(text, notRun) {
			return text
		}
		b.WriteString(text)
	}
	return b.String()
}

// numbers are what the rounds said, or what is missing for them. A test checks that every cell
// names a command of its section, and measuring that the command says the key.
func (m measurements) numbers(of metric) (x []float64, missing string) {
	c := m[of.id]
	if c == nil {
		panic("no measurement of " + of.id)
	}
	if c.Missing != "" {
		return nil, c.Missing
	}
	if len(c.Numbers[of.key]) == 0 {
		panic(fmt.Sprintf("%s does not say %q", of.id, of.key))
	}
	return c.Numbers[of.key], ""
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	if n := len(x); n%2 == 0 {
		return (x[n/2-1] + x[n/2]) / 2
	}
	return x[len(x)/2]
}

// threeDigits writes a number to three digits, without an exponent.
func threeDigits(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	places := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	if rounded := math.Round(x*math.Pow10(places)) / math.Pow10(places); math.Log10(math.Abs(rounded)) >= float64(3-places) {
		places-- // 9.996 is 10.0
	}
	if places >= 0 {
		return strconv.FormatFloat(x, 'f', places, 64)
	}
	return units.Commas(strconv.FormatFloat(math.Round(x*math.Pow10(places))*math.Pow10(-places), 'f', 0, 64))
}

// Cells as they are mostly wanted.

func val(id, key string) value     { return value{metric: metric{id, key}} }
func seconds(id, key string) value { return value{metric: metric{id, key}, unit: " s"} }

func percent(id, key string) value {
	return value{metric: metric{id, key}, scale: 100, format: hundredths, unit: " %"}
}

func share(id, key string) value {
	return value{metric: metric{id, key + " share"}, scale: 100, format: integer, unit: " %"}
}

func megabytes(id, key string) value {
	return value{metric: metric{id, key}, scale: 1e-6, format: integer, unit: " MB"}
}

// milliseconds are those of a benchmark in a unit of nanoseconds.
func milliseconds(id, benchmark, unit string) value {
	return value{metric: metric{id, benchmark + " " + unit}, scale: 1e-6}
}

// faster is a ratio of times.
func faster(ours, ourKey, theirs, theirKey string) ratio {
	return ratio{ours: metric{ours, ourKey}, theirs: metric{theirs, theirKey}}
}
