package export

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// datePart is a part of a layout of dates: a field as package time writes it, and what stands after it.
type datePart struct{ field, after string }

// dateFields are the fields that are cut, those first that others are the beginning of.
var dateFields = []string{"2006", "January", "Jan", "Monday", "Mon", "01", "02", "15", "04", "05", "06", "1", "2"}

// dateParts cuts a layout into its fields.
func dateParts(layout string) ([]datePart, error) {
	for _, hard := range []string{"07", "MST", "PM", "3:"} {
		if strings.Contains(layout, hard) {
			return nil, fmt.Errorf("dates written as %q have a time zone or half days, which are not cut there", layout)
		}
	}
	var parts []datePart
	for rest := layout; rest != ""; {
		found := ""
		for _, f := range dateFields {
			if strings.HasPrefix(rest, f) {
				found = f
				break
			}
		}
		switch {
		case found == "" && len(parts) == 0:
			return nil, fmt.Errorf("dates written as %q begin with no number", layout)
		case found == "":
			parts[len(parts)-1].after += rest[:1]
			rest = rest[1:]
		case len(parts) > 0 && parts[len(parts)-1].after == "":
			return nil, fmt.Errorf("dates written as %q have numbers side by side", layout)
		default:
			parts, rest = append(parts, datePart{field: found}), rest[len(found):]
		}
	}
	return parts, nil
}

// date turns texts into the dimensions of a date.
func (o *onnx) date(c *column, in string) (string, int, error) {
	if len(c.Coding.Layouts) != 1 {
		return "", 0, errors.New("its dates are written in several ways, and a graph knows no second try; write them in one way")
	}
	layout := c.Coding.Layouts[0]
	some := time.Unix(0, 0).UTC().Format(layout)
	if layout == "unix" || layout == "unixmilli" {
		some = "0"
	}
	missing := o.isMissing(in, "-", "--", "—", "–", ".", "NaT", "nat", "unknown", "Unknown")
	in = o.op("Where", missing, o.strings([]int{1, 1}, []string{some}), in)
	var days, year, yearday, seconds string // int64, but for the seconds, all n×1
	switch layout {
	case "unix", "unixmilli":
		seconds = o.cast(in, typeDouble)
		if layout == "unixmilli" {
			seconds = o.op("Div", seconds, o.two(1000))
		}
		whole := o.op("Floor", o.op("Div", o.op("Floor", seconds), o.two(86400)))
		seconds = o.op("Floor", o.op("Sub", seconds, o.op("Mul", whole, o.two(86400))))
		days = o.cast(whole, typeInt64)
		year = o.yearOf(days)
	case "20060102":
		all := o.cast(in, typeInt64)
		rest := o.op("Mod", all, o.list(10000))
		year = o.op("Div", all, o.list(10000))
		days = o.daysOf(year, o.op("Div", rest, o.list(100)), o.op("Mod", rest, o.list(100)))
	default:
		parts, err := dateParts(layout)
		if err != nil {
			return "", 0, err
		}
		if days, year, seconds, err = o.cut(parts, in); err != nil {
			return "", 0, err
		}
	}
	o.opset = opsetDates
	yearday = o.op("Sub", days, o.daysOf(year, o.list(1), o.list(1)))
	part := o.cast(days, typeDouble)
	if seconds != "" {
		part = o.op("Add", part, o.op("Div", seconds, o.two(86400)))
	}
	cells := []string{part, o.cast(year, typeDouble)}
	cycle := func(share string) {
		angle := o.op("Mul", share, o.two(2*math.Pi))
		cells = append(cells, o.op("Sin", angle), o.op("Sin", o.op("Add", angle, o.two(math.Pi/2))))
	}
	cycle(o.op("Div", o.cast(yearday, typeDouble), o.two(365.25)))
	cycle(o.op("Div", o.cast(o.op("Mod", o.op("Add", days, o.list(4)), o.list(7)), typeDouble), o.two(7)))
	if c.Coding.Hours {
		if seconds == "" {
			seconds = o.op("Mul", part, o.two(0))
		}
		cycle(o.op("Div", o.op("Floor", seconds), o.two(86400)))
	}
	fill := make([]float32, len(cells))
	if o.Missing != "zero" {
		fill[0] = float32(c.Mean)
		fill[1] = float32(time.Unix(int64(c.Mean*86400), 0).UTC().Year())
	}
	row := o.cast(o.join(cells), typeFloat)
	return o.op("Where", missing, o.float([]int{1, len(cells)}, fill), row), len(cells), nil
}

// months are the numbers of months by their names.
func (o *onnx) months(in, layout string) string {
	codes := map[string]int64{}
	for m := time.January; m <= time.December; m++ {
		name := time.Date(2001, m, 1, 0, 0, 0, 0, time.UTC).Format(layout)
		for _, key := range []string{name, strings.ToUpper(name), strings.ToLower(name)} {
			codes[key] = int64(m)
		}
	}
	return o.codes(in, codes, 0)
}

// cut turns texts of a layout into days since 1970, the year, and the seconds of the day, "" if there are none.
func (o *onnx) cut(parts []datePart, in string) (days, year, seconds string, err error) {
	month, day := o.list(1), o.list(1)
	second := func(v string, each float64) {
		if v = o.cast(v, typeDouble); each != 1 {
			v = o.op("Mul", v, o.two(each))
		}
		if seconds != "" {
			v = o.op("Add", seconds, v)
		}
		seconds = v
	}
	for i, p := range parts {
		cell := in
		if i < len(parts)-1 {
			both := []string{o.value(), o.value()}
			o.named("StringSplit", []string{in}, both, text("delimiter", p.after), integer("maxsplit", 1)) // n×1×2
			pick := func(at int64) string {
				return o.node("Gather", []string{both[0], o.whole([]int{}, []int64{at})}, integer("axis", 2))
			}
			cell, in = pick(0), pick(1)
		}
		switch p.field {
		case "2006":
			year = o.cast(cell, typeInt64)
		case "06":
			year = o.cast(cell, typeInt64)
			year = o.op("Add", year, o.op("Where", o.op("Less", year, o.list(69)), o.list(2000), o.list(1900)))
		case "01", "1":
			month = o.cast(cell, typeInt64)
		case "January", "Jan":
			month = o.months(cell, p.field)
		case "02", "2":
			day = o.cast(cell, typeInt64)
		case "15":
			second(cell, 3600)
		case "04":
			second(cell, 60)
		case "05":
			second(cell, 1)
		}
	}
	if year == "" {
		return "", "", "", errors.New("its dates have no year")
	}
	return o.daysOf(year, month, day), year, seconds, nil
}

// daysOf are the days since 1970 of a date of the Gregorian calendar. Years begin in March, so that the leap day is their last.
func (o *onnx) daysOf(year, month, day string) string {
	early := o.op("Less", month, o.list(3))
	y := o.op("Sub", year, o.cast(early, typeInt64))
	m := o.op("Add", month, o.op("Where", early, o.list(9), o.list(-3)))
	before := o.op("Div", o.op("Add", o.op("Mul", m, o.list(153)), o.list(2)), o.list(5))
	leap := o.op("Add", o.op("Sub", o.op("Div", y, o.list(4)), o.op("Div", y, o.list(100))), o.op("Div", y, o.list(400)))
	days := o.op("Add", o.op("Add", o.op("Mul", y, o.list(365)), leap), o.op("Add", before, day))
	return o.op("Sub", days, o.list(719469))
}

// yearOf is the year of days since 1970.
func (o *onnx) yearOf(days string) string {
	z := o.op("Add", days, o.list(719468))
	era := o.op("Div", z, o.list(146097))
	of := o.op("Sub", z, o.op("Mul", era, o.list(146097)))
	part := func(n int64) string { return o.op("Div", of, o.list(n)) }
	year := o.op("Sub", o.op("Add", o.op("Sub", of, part(1460)), part(36524)), part(146096))
	year = o.op("Div", year, o.list(365))
	leap := o.op("Sub", o.op("Div", year, o.list(4)), o.op("Div", year, o.list(100)))
	day := o.op("Sub", of, o.op("Add", o.op("Mul", year, o.list(365)), leap))
	month := o.op("Div", o.op("Add", o.op("Mul", day, o.list(5)), o.list(2)), o.list(153))
	year = o.op("Add", year, o.op("Mul", era, o.list(400)))
	return o.op("Add", year, o.cast(o.op("Greater", month, o.list(9)), typeInt64))
}
