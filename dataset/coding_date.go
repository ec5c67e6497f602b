package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dateDims are the names of the dimensions of a date.
func (c *Coding) dateDims() []string {
	dims := []string{"days", "year", "month (sine)", "month (cosine)", "weekday (sine)", "weekday (cosine)"}
	if c.Hours {
		dims = append(dims, "hour (sine)", "hour (cosine)")
	}
	return dims
}

// dateCoder codes CodedDate. Days count from 1970 in UTC. Year, month, weekday and hour are as written: a cell with an
// offset of its zone keeps its local time.
type dateCoder struct {
	layouts []string
	hours   bool
	mean    float64 // days
}

func newDateCoder(c *Coding, mean float64) *dateCoder {
	return &dateCoder{layouts: slices.Clone(c.Layouts), hours: c.Hours, mean: mean}
}

func (d *dateCoder) code(to []pair, cell []byte) ([]pair, bool, error) {
	t, ok := d.parse(string(cell))
	if !ok {
		return to, true, fmt.Errorf("%q is not a date like the others of the column, %s", shorten(cell), strings.Join(d.layouts, " or "))
	}
	return d.values(to, t, daysOf(t)), true, nil
}

// values appends those of a time as its clock showed it, so many days after 1970.
func (d *dateCoder) values(to []pair, clock time.Time, days float64) []pair {
	to = append(to, pair{0, float32(days)}, pair{1, float32(clock.Year())})
	year, weekday := float64(clock.YearDay()-1)/365.25, float64(clock.Weekday())/7
	to = cyclic(cyclic(to, 2, year), 4, weekday)
	if d.hours {
		to = cyclic(to, 6, float64(clock.Hour()*3600+clock.Minute()*60+clock.Second())/86400)
	}
	return to
}

// codeCell implements cellCoder.
func (d *dateCoder) codeCell(to []pair, c *cell) ([]pair, bool) {
	clock, days, ok := d.clock(c)
	if !ok {
		return to, false
	}
	return d.values(to, clock, days), true
}

// clock is the time of a cell that has one, or a number of units since 1970 if the column has such, as its clock
// showed it, and in days since 1970.
func (d *dateCoder) clock(c *cell) (clock time.Time, days float64, ok bool) {
	if v, number := c.float(); number && len(d.layouts) == 1 {
		if unit := sinceUnits[d.layouts[0]]; unit > 0 {
			clock, ok = sinceEpoch(v / unit)
		}
		return clock, daysOf(clock), ok
	}
	if c.kind != cellDay && c.kind != cellTime {
		return clock, 0, false
	}
	clock = c.clock()
	days = (float64(c.whole) + float64(c.nanos)/1e9) / 86400
	return clock, days, math.Abs(days) <= maxDays && clock.Year() >= 0 && clock.Year() <= 9999
}

// sinceEpoch is a time by whole seconds since 1970.
func sinceEpoch(seconds float64) (time.Time, bool) {
	if math.Abs(seconds) > maxDays*86400 {
		return time.Time{}, false
	}
	return time.Unix(int64(math.Floor(seconds)), 0).UTC(), true
}

// fill is the mean day without a season.
func (d *dateCoder) fill(to []pair) []pair {
	return append(to, pair{0, float32(d.mean)}, pair{1, float32(time.Unix(int64(d.mean*86400), 0).UTC().Year())})
}

// cyclic appends sine and cosine of a share of a cycle.
func cyclic(to []pair, at int32, share float64) []pair {
	sin, cos := math.Sincos(2 * math.Pi * share)
	return append(to, pair{at, float32(sin)}, pair{at + 1, float32(cos)})
}

// daysOf is the number of days since 1970.
func daysOf(t time.Time) float64 { return (float64(t.Unix()) + float64(t.Nanosecond())/1e9) / 86400 }

// maxDays bounds days, so that they have a year of four digits.
const maxDays = 2_932_896

// parse takes dates in ISO 8601 in any column: a table may be read from Parquet once, and once from the CSV that somebody made of it.
func (d *dateCoder) parse(cell string) (time.Time, bool) {
	for i, layout := range d.layouts {
		if t, ok := parseDate(layout, cell); ok {
			if i > 0 { // the next cell probably has the same
				d.layouts[0], d.layouts[i] = d.layouts[i], d.layouts[0]
			}
			return t, true
		}
	}
	if len(cell) >= len(time.DateOnly) && cell[4] == '-' {
		for _, clock := range clockLayouts {
			if t, ok := parseDate(time.DateOnly+clock, cell); ok {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// sinceUnits are layouts of times in units since 1970, so many a second.
var sinceUnits = map[string]float64{"unix": 1, "unixmilli": 1e3, "unixmicro": 1e6, "unixnano": 1e9}

// parseDate parses a cell by one layout.
func parseDate(layout, cell string) (time.Time, bool) {
	if unit := sinceUnits[layout]; unit > 0 {
		v, ok := parseNumber([]byte(cell))
		if !ok {
			return time.Time{}, false
		}
		return sinceEpoch(v / unit)
	}
	if layout == "quarter" || layout == "week" {
		return parsePeriod(layout, cell)
	}
	t, err := time.Parse(layout, cell)
	return t, err == nil && math.Abs(daysOf(t)) <= maxDays
}

var periods = map[string]*regexp.Regexp{
	"quarter": regexp.MustCompile(`^(\d{4})[-/ ]?[Qq]([1-4])$|^[Qq]([1-4])[-/ ]?(\d{4})$`),
	"week":    regexp.MustCompile(`^(\d{4})-?W(0[1-9]|[1-4]\d|5[0-3])$`),
}

// parsePeriod is the first day of a quarter, such as 2024Q3, or the Monday of a week of ISO 8601, such as 2024-W07.
func parsePeriod(layout, cell string) (time.Time, bool) {
	m := periods[layout].FindStringSubmatch(cell)
	if m == nil {
		return time.Time{}, false
	}
	first, second := m[1], m[2]
	if first == "" {
		first, second = m[4], m[3]
	}
	year, _ := strconv.Atoi(first)
	n, _ := strconv.Atoi(second)
	if layout == "quarter" {
		return time.Date(year, time.Month(3*n-2), 1, 0, 0, 0, 0, time.UTC), true
	}
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is in week 1
	return fourth.AddDate(0, 0, 7*(n-1)-(int(fourth.Weekday())+6)%7), true
}

// dateLayouts are those that are found out: each may be followed by a time of the day. An unclear order of day and
// month is settled by the rows; where these leave it open, the earlier layout counts.
var dateLayouts = []string{"2006-01-02", "2006/01/02", "2006.01.02", "01/02/2006", "02/01/2006", "02.01.2006", "02-01-2006", "01-02-2006", "2.1.2006",
	"1/2/2006", "2/1/2006", "1/2/06", "2/1/06", "02.01.06", "2.1.06", "2006-1-2", "2006/1/2", "2-1-2006", "1-2-2006", "2 Jan 2006", "2 January 2006", "2 Jan 06",
	"Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006", "02-Jan-2006", "2-Jan-06", "02Jan2006", "2/Jan/2006", "Mon, 02 Jan 2006",
	"Monday, January 2, 2006", "Monday, 2 January 2006", "2006年1月2日", "2006-01", "2006/01", "01/2006", "Jan 2006", "January 2006", "Jan-06", "Jan-2006", "2006-002"}

// clockLayouts are those of times of the day, after a date.
var clockLayouts = []string{"", " 15:04:05", "T15:04:05", "T15:04:05Z07:00", " 15:04:05Z07:00", " 15:04:05-07", " 15:04:05 -0700", " 15:04",
	"T15:04", "T15:04Z07:00", " 3:04 PM", " 3:04:05 PM", " 15:04:05 MST", "T15:04:05Z0700", " 15:04:05Z0700", " 3:04PM", " 3:04:05PM", " 3:04 pm", " 3:04:05 pm",
	" 3:04pm", ", 3:04:05 PM", ", 3:04 PM", ", 15:04:05", ", 15:04", "T15", " 15", ":15:04:05", ":15:04:05 -0700"}

// wholeLayouts have their time of the day elsewhere, or none.
var wholeLayouts = []string{"20060102T150405", "20060102T150405Z0700", "Mon Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 15:04:05 -0700 2006",
	"quarter", "week"}

// mostLayouts is how many layouts the dates of a column may have.
const mostLayouts = 3

// findLayouts finds layouts of which each cell matches one, none if there are no such. numbers says that cells may
// also be days such as 20060102, or seconds or milliseconds since 1970.
func findLayouts(cells []string, numbers bool) (layouts []string, hours bool) {
	left := cells
	for len(left) > 0 {
		layout := commonLayout(left, numbers)
		if layout == "" || len(layouts) == mostLayouts {
			return nil, false
		}
		layouts = append(layouts, layout)
		left = slices.DeleteFunc(slices.Clone(left), func(cell string) bool {
			_, ok := parseDate(layout, cell)
			return ok
		})
	}
	return layouts, hoursOf(cells, layouts)
}

// commonLayout is the layout that most of the cells match, the first of them included, "" if there is none.
func commonLayout(cells []string, numbers bool) string {
	best, most := "", 0
	try := func(layout string) {
		if _, ok := parseDate(layout, cells[0]); !ok {
			return
		}
		n := 0
		for _, cell := range cells {
			if _, ok := parseDate(layout, cell); ok {
				n++
			}
		}
		if n > most {
			best, most = layout, n
		}
	}
	first := cells[0]
	if len(first) < 6 || len(first) > 40 {
		return ""
	}
	if numbers && isNumber(first) {
		for _, layout := range []string{"20060102", "20060102150405", "unix", "unixmilli", "unixmicro", "unixnano", "2006"} {
			if strings.HasPrefix(layout, "unix") && best != "" {
				break
			}
			try(layout)
		}
		return best
	}
	if !strings.ContainsAny(first, "0123456789") {
		return ""
	}
	for _, date := range dateLayouts {
		for _, clock := range clockLayouts {
			try(date + clock)
		}
	}
	for _, layout := range wholeLayouts {
		try(layout)
	}
	return best
}

// timeNames are parts of names of columns of times.
var timeNames = regexp.MustCompile(`(?i)time|date|epoch|stamp|created|modified|_at$|_ts$|^ts$`)

// looksLikeTimes says that plain whole numbers may be dates such as 20240131, or count from 1970.
func looksLikeTimes(name string, cells []string) bool {
	if len(cells) < 2 {
		return false
	}
	layout := commonLayout(cells, true)
	if layout == "" || layout == "2006" || layout == "unix" && !timeNames.MatchString(name) {
		return false
	}
	return !slices.ContainsFunc(cells, func(cell string) bool {
		t, ok := parseDate(layout, cell)
		return !ok || t.Year() < 1900 || t.Year() > 2100 || sinceUnits[layout] > 0 && t.Year() < 1990
	})
}

// oddDates are the cells that are no dates, if most of them are dates of a few layouts; nil if all are, or most are none.
func oddDates(cells []string) []string {
	const mostBefore = 8 // cells that are no dates, before the first of a layout
	for _, from := range []int{0, len(cells) / 3, len(cells) / 2} {
		if from >= len(cells) {
			continue
		}
		var before []string
		others := append([]string{cells[from]}, cells...)
		for layouts := 0; layouts < mostLayouts && len(before) < mostBefore && len(others) > 0; {
			layout := commonLayout(others, false)
			if layout == "" && layouts == 0 {
				break
			} else if layout == "" {
				before, others = append(before, others[0]), others[1:]
				continue
			}
			layouts++
			others = slices.DeleteFunc(others, func(cell string) bool {
				_, ok := parseDate(layout, cell)
				return ok
			})
		}
		if others = append(before, others...); 2*len(others) < len(cells) {
			return others
		}
	}
	return nil
}

// ambiguous says that day and month could be the other way round in all cells of a layout.
func ambiguous(layouts []string, cells []string) bool {
	for _, layout := range layouts {
		other := ""
		for _, pair := range [][2]string{{"01/02/2006", "02/01/2006"}, {"1/2/2006", "2/1/2006"}, {"1/2/06", "2/1/06"}, {"01-02-2006", "02-01-2006"},
			{"1-2-2006", "2-1-2006"}} {
			for i := range pair {
				if strings.HasPrefix(layout, pair[i]) {
					other = pair[1-i] + layout[len(pair[i]):]
				}
			}
		}
		if other == "" {
			continue
		}
		same := !slices.ContainsFunc(cells, func(cell string) bool {
			_, ok := parseDate(other, cell)
			return !ok
		})
		if same {
			return true
		}
	}
	return false
}

// dayText is days since 1970 as a date.
func dayText(days float64) string {
	if !(math.Abs(days) <= maxDays) {
		return strconv.FormatFloat(days, 'g', -1, 64)
	}
	t := time.Unix(int64(math.Round(days*86400)), 0).UTC()
	if t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02 15:04:05")
}
