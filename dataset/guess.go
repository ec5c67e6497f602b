package dataset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

const (
	textBuckets = 128 // dimensions of a text, unless a file of kinds says otherwise
	mostOneHot  = 255 // values of a column with a dimension each
	frequent    = 64  // values with a dimension each of a column that has more
	rareBuckets = 16  // dimensions of its other values

	worthTelling = 50  // dimensions of a column of text that are told of
	leakRows     = 500 // with fewer, numbers that say all of the label are nothing unusual
	leakTexts    = 200 // with fewer, nor are texts and two different numbers
	fewRows      = 50  // with fewer, nothing is taken for an ID or a leak
	fewIndices   = 10  // with fewer, nothing is taken for an index of the rows
)

// guess finds from the first rows what a column holds.
func (a *attribute) guess(rows [][]string, j int, isMissing func([]byte) bool, decimals string) {
	a.found = KindNumber
	if a.categories != nil {
		a.found = KindCategory
		return
	}
	a.cells = nil
	for _, row := range rows {
		switch {
		case j >= len(row):
		case !isMissing([]byte(row[j])):
			a.cells = append(a.cells, row[j])
		case a.word == "" && isWord([]byte(row[j])):
			a.word = row[j]
		}
	}
	all := a.cells
	if a.withoutBounds(decimals); !a.bounds {
		a.guessNumbers(decimals)
	}
	if a.found != KindNumber && a.found != KindDate {
		a.cells, a.mark, a.marks = all, "", nil
	}
}

// guessNumbers is guess for what is left beside the usual marks of missing values.
func (a *attribute) guessNumbers(decimals string) {
	a.withoutMarks()
	a.withoutOwnMarks(decimals)
	a.guessOf(decimals)
	if a.found == KindCategory && a.withoutDateMarks() {
		a.guessOf(decimals)
	}
	if a.found == KindCategory && !a.code {
		a.withoutErrors(decimals)
	}
}

// withoutErrors takes a column for one of written numbers or of dates if hardly any cell is none, as a column of plain numbers stays
// one: the pass over all rows then tells of the first that is none.
func (a *attribute) withoutErrors(decimals string) {
	try := func(others []string) bool {
		n := len(others)
		if n == 0 || float64(n) > codedShare*float64(len(a.cells)) && (n > 1 || len(a.cells) <= fewIndices) {
			return false
		}
		right := *a
		right.cells = slices.DeleteFunc(slices.Clone(a.cells), func(cell string) bool { return slices.Contains(others, cell) })
		right.found = KindNumber
		right.guessOf(decimals)
		if right.found == KindNumber || right.found == KindDate {
			*a = right
			return true
		}
		return false
	}
	for _, by := range []byte(decimals) {
		others := slices.DeleteFunc(slices.Clone(a.cells), func(cell string) bool {
			number, _ := splitUnit(trimWide([]byte(cell)))
			_, ok := parseWritten(number, by)
			return ok || notFinite([]byte(cell))
		})
		if try(others) {
			return
		}
	}
	try(oddDates(a.cells))
}

// withoutDateMarks is withoutOwnMarks for texts among dates, such as never, and says whether there are any.
func (a *attribute) withoutDateMarks() bool {
	counts := map[string]int{}
	odd := oddDates(a.cells)
	for _, cell := range odd {
		counts[cell]++
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n < 2 })
	if len(counts) == 0 || len(counts) > mostMarks || float64(len(odd)) < codedShare*float64(len(a.cells)) {
		return false
	}
	dates := slices.DeleteFunc(slices.Clone(a.cells), func(cell string) bool { return counts[cell] > 0 })
	a.marks, a.marked, a.cells = slices.Sorted(maps.Keys(counts)), len(a.cells)-len(dates), dates
	return true
}

// mostMarks is how many different texts may stand for a missing value in one column of numbers.
const mostMarks = 3

// withoutOwnMarks takes texts out of the cells that are known if there are few, they come again, and all others are numbers of which there are
// many: codes have fewer values, and typing errors are rarer.
func (a *attribute) withoutOwnMarks(decimals string) {
	for _, by := range []byte(decimals) {
		isOther := func(cell string) bool { return !isNumber(cell) && !allWritten([]string{cell}, by) }
		first := slices.IndexFunc(a.cells, isOther)
		if first < 0 {
			return
		}
		counts := map[string]int{}
		for _, cell := range a.cells[first:] {
			if len(counts) <= 2*mostMarks && isOther(cell) {
				counts[cell]++
			}
		}
		if len(counts) > 2*mostMarks {
			continue
		}
		maps.DeleteFunc(counts, func(_ string, n int) bool { return n < 2 })
		numbers := slices.DeleteFunc(slices.Clone(a.cells), func(cell string) bool { return counts[cell] > 0 })
		n := len(a.cells) - len(numbers)
		often := n > 0 && float64(n) >= codedShare*float64(len(a.cells)) && n < len(numbers)
		if often && len(counts) <= mostMarks && len(slices.Compact(slices.Sorted(slices.Values(numbers)))) > fewCodes {
			a.marks, a.cells, a.marked = slices.Sorted(maps.Keys(counts)), numbers, n
			return
		}
	}
}

// among says that a cell is one of some texts.
func among(texts []string, cell []byte) bool {
	return texts != nil && slices.Contains(texts, string(cell))
}

// withoutMarks takes cells that stand for a missing number or date out of those that are known, if there are others.
func (a *attribute) withoutMarks() {
	values := slices.DeleteFunc(slices.Clone(a.cells), func(cell string) bool { return noNumber([]byte(cell)) })
	if n := len(values); n > 0 && n < len(a.cells) {
		a.mark = a.cells[slices.IndexFunc(a.cells, func(cell string) bool { return noNumber([]byte(cell)) })]
		a.cells = values
	}
}

// guessOf is guess for the cells that are known.
func (a *attribute) guessOf(decimals string) {
	a.decimal = decimals[:1]
	if decimals == "," {
		a.text = !allWritten(a.cells, ',')
		a.written = !a.text
	} else if slices.ContainsFunc(a.cells, func(cell string) bool { return !isNumber(cell) }) {
		for _, by := range []byte(decimals) {
			if allWritten(a.cells, by) {
				a.written, a.text, a.decimal = true, false, string(by)
				break
			}
		}
	}
	for _, by := range []byte(decimals) {
		if !a.text || len(a.cells) == 0 {
			break
		}
		a.scales = scaled(a.cells, by)
		if a.unit = ""; !a.scales {
			var ok bool
			if a.unit, ok = unitOf(a.cells, by); !ok {
				a.unit = ""
			}
		}
		if a.scales || a.unit != "" {
			a.written, a.text, a.decimal = true, false, string(by)
		}
	}
	if !a.text {
		if isCode(a.cells) {
			a.found, a.code, a.text = KindCategory, true, true
		}
		return
	}
	a.found = KindCategory
	if len(a.cells) == 0 {
		return
	}
	if layouts, _ := findLayouts(a.cells, false); layouts != nil {
		a.found = KindDate
		return
	}
	if words, distinct := wordsOf(a.cells); len(a.cells) >= 20 && words >= 4 && 2*distinct > len(a.cells) {
		a.found = KindText
	}
}

// allWritten says that all cells are numbers as people write them.
func allWritten(cells []string, decimal byte) bool {
	return len(cells) > 0 && !slices.ContainsFunc(cells, func(cell string) bool {
		_, ok := parseWritten([]byte(cell), decimal)
		return !ok && !notFinite([]byte(cell))
	})
}

func hasPoint(cell string) bool { return strings.Contains(cell, ".") }

// pointsOfThousands says that plain numbers may have points that separate thousands: there are whole numbers below 1000, and all others
// have three digits behind a point.
func pointsOfThousands(cells []string) bool {
	return slices.ContainsFunc(cells, hasPoint) && slices.ContainsFunc(cells, func(cell string) bool { return !hasPoint(cell) }) &&
		!slices.ContainsFunc(cells, func(cell string) bool {
			plain, ok := withoutGroups([]byte(strings.TrimLeft(cell, "+-")), ',')
			return !ok || !hasPoint(cell) && len(plain) > 3
		})
}

// isCode says that cells are codes of digits such as postcodes: all as long as each other, three digits or more, and some
// with a leading zero.
func isCode(cells []string) bool {
	zero := false
	for _, cell := range cells {
		if len(cell) < 3 || len(cell) != len(cells[0]) || strings.Trim(cell, "0123456789") != "" {
			return false
		}
		zero = zero || cell[0] == '0'
	}
	if !zero {
		return false
	}
	// 000 and 001 are numbers of images, and 00017 is one that was padded, but the postcodes of a region, such as 02139, may all begin with 0.
	return slices.ContainsFunc(cells, func(cell string) bool { return cell[0] != '0' || len(cell) >= 5 && cell[1] != '0' })
}

// wordsOf is the mean number of words in cells, and the number of different cells.
func wordsOf(cells []string) (words float64, distinct int) {
	seen := map[string]bool{}
	for _, cell := range cells {
		words += float64(len(strings.Fields(cell)))
		seen[cell] = true
	}
	return words / float64(len(cells)), len(seen)
}

// layoutNote says what dates look like, and of which zone they are.
func (a *attribute) layoutNote() string {
	if a.coding == nil {
		return ""
	}
	note := strings.Join(a.coding.Layouts, " or ")
	zone := ", time zone as written"
	for _, layout := range a.coding.Layouts {
		switch {
		case sinceUnits[layout] > 0:
			zone = ", UTC"
		case strings.Contains(layout, "07") || strings.Contains(layout, "MST"):
			zone = ", with offsets of time zones"
		}
	}
	if !a.coding.Hours {
		zone = ""
	}
	return note + zone
}

// settle decides how a column that is an input is coded, as far as its first rows tell.
func (t *table) settle(i int) (Column, error) {
	a := &t.attributes[i]
	column := Column{Place: Place{Name: a.name, At: i}}
	kind := a.kind
	if kind == "" {
		if a.found == "" { // ARFF, which declares it
			a.found = KindNumber
			if a.text || a.categories != nil {
				a.found = KindCategory
			}
		}
		kind = a.found
	}
	if a.mark != "" && a.kind == "" {
		t.notice(i, "missing", "takes %q for a missing value; %s takes the column as text", a.mark, option.Set("categorical", a.name))
	}
	if kind != KindNumber && kind != KindDate {
		a.marks = nil
	}
	t.tellOfUnits(i)
	switch kind {
	case KindNumber:
		a.measure, t.roles[i].kind, column.Marks = measureNumber, numeric, a.marks
		t.tellOfMarks(i)
		if a.written || a.bounds || t.decimal == "," || a.text && a.kind == KindNumber {
			column.Coding = &Coding{Kind: CodedNumber, Decimal: cmp.Or(a.decimal, t.decimal), Unit: a.unit, Scales: a.scales, Bounds: a.bounds, Sign: usualSign(a.cells)}
			if (a.unit != "" || a.scales) && a.kind == "" {
				t.notice(i, "numbers", "has numbers with units, such as %q; %s takes the column as text", a.cells[0], option.Set("categorical", a.name))
			}
			a.measure = measureWritten
		} else if a.kind == "" && pointsOfThousands(a.cells) {
			t.notice(i, "numbers", "has numbers such as %s and whole ones, so its points may separate thousands; %s takes them for that",
				a.cells[slices.IndexFunc(a.cells, hasPoint)], option.Set("decimal", ","))
		} else if a.times = looksLikeTimes(a.name, a.cells); a.times && a.kind == "" && t.schema.Header {
			t.notice(i, "date", "has whole numbers such as %s that may be times; %s takes them for such", a.cells[0], option.Set("date", a.name))
		}
	case KindCategory:
		a.measure, t.roles[i].kind = measureText, categorical
		column.Categories = a.categories
	case KindOrdinal:
		a.measure = measureText
		column.Coding = &Coding{Kind: CodedOrdinal, Values: a.order}
	case KindDate:
		layouts, hours := a.layouts, true
		if a.withoutMarks(); layouts == nil {
			layouts, hours = findLayouts(a.cells, true)
		} else {
			hours = hoursOf(a.cells, layouts) || a.cells == nil && strings.Contains(layouts[0], "04")
		}
		if layouts == nil {
			return column, option.Errorf("%s: %s is to be a date (%s), but holds %s; give its layout in a file of kinds (%s)", t.Name(),
				t.column(i), option.Ref("date"), firstOther(a.cells), option.Ref("schema"))
		}
		a.layouts = layouts
		a.measure, column.Marks = measureDate, a.marks
		t.tellOfMarks(i)
		column.Coding = &Coding{Kind: CodedDate, Layouts: layouts, Hours: hours}
		if a.kind == "" && a.cells != nil && ambiguous(layouts, a.cells) {
			t.notice(i, "date", "has dates such as %q, of which the first number is taken for the %s; a file of kinds says otherwise (%s)",
				a.cells[0], firstPart(layouts[0]), option.Ref("schema"))
		}
	case KindText:
		if a.buckets == 0 {
			a.buckets = textBuckets
		}
		a.measure = measureWords
		column.Coding = &Coding{Kind: CodedText, Buckets: a.buckets}
	}
	if column.Coding != nil {
		t.roles[i].kind = coded
		a.coding = column.Coding
	}
	return column, nil
}

// tellOfMarks tells of texts that stand for a missing value in a column of numbers alone.
func (t *table) tellOfMarks(i int) {
	a := &t.attributes[i]
	if a.marked == 0 || a.marks == nil {
		return
	}
	var quoted []string
	for _, mark := range a.marks {
		quoted = append(quoted, strconv.Quote(string(shorten([]byte(mark)))))
	}
	t.notice(i, "missing", "takes %s, in %s of the first %s values, for a missing value among %ss; %s takes the column as text",
		strings.Join(quoted, " and "), units.Count(a.marked), units.Count(a.marked+len(a.cells)), cmp.Or(a.kind, a.found), option.Set("categorical", a.name))
}

func firstPart(layout string) string {
	if strings.HasPrefix(layout, "02") || strings.HasPrefix(layout, "2/") {
		return "day"
	}
	return "month"
}

func firstOther(cells []string) string {
	if len(cells) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%q", shorten([]byte(cells[0])))
}

// hoursOf says whether dates of given layouts have times of the day.
func hoursOf(cells []string, layouts []string) (hours bool) {
	for _, cell := range cells {
		for _, layout := range layouts {
			if t, ok := parseDate(layout, cell); ok {
				hours = hours || t.Hour() != 0 || t.Minute() != 0 || t.Second() != 0
				break
			}
		}
	}
	return hours
}

// complete reads all rows and settles what only they tell: categories, means, what is missing, and columns that are
// left out.
func (t *table) complete(ctx context.Context) error {
	collect := t.collect
	if t.opt.look != nil {
		collect = func(context.Context) (*collected, *collector, error) { return t.opt.look(t) }
	}
	c, by, err := collect(ctx)
	if err != nil {
		return err
	}
	inputs := 0
	for i := range t.roles {
		if t.roles[i].isInput() {
			inputs++
		}
	}
	summed := t.tellOfSums(c)
	for i := range t.attributes {
		if t.roles[i].kind == label {
			t.tellOfStandIns(c, i)
		}
		if t.roles[i].kind == ignored || t.roles[i].kind == label {
			continue
		}
		t.warnOfNumbers(i)
		t.leaveOut(c, i, &inputs)
		if t.roles[i].isInput() {
			t.takeBounds(by, i)
			t.tellOfSigns(by, i)
			t.tellOfStandIns(c, i)
			if !summed {
				t.tellOfTotals(c, i)
			}
		}
		t.takeOffset(c, i)
	}
	var kept []Column
	for i := range t.attributes {
		r := &t.roles[i]
		if !r.isInput() {
			continue
		}
		column := t.schema.Columns[r.input]
		r.input = len(kept)
		t.finish(&column, c, by, i)
		kept = append(kept, column)
	}
	if len(kept) == 0 {
		return option.Errorf("%s: no column is left as input: they look like IDs, or are empty; name those to keep by %s or %s", t.Name(),
			option.Ref("categorical"), option.Ref("numeric"))
	}
	t.schema.Columns = kept
	t.tellOfLabels(c, by)
	t.profile = t.describe(c)
	t.warnOfLeaks()
	t.warnOfLabel()
	t.warnOfUnlabelled()
	t.notices = condensed(t.notices)
	t.profile.Notices = t.notices
	return nil
}

// warnOfNumbers tells of a column that the file declares text and that holds plain numbers, which may be codes.
func (t *table) warnOfNumbers(i int) {
	a := &t.attributes[i]
	if a.textual && a.kind == "" && a.measure == measureText && !a.code && len(a.cells) > 0 &&
		!slices.ContainsFunc(a.cells, func(cell string) bool { return !isNumber(cell) }) {
		t.notice(i, "numbers", "is text in the file, such as %q, and is not taken for numbers; %s does", a.cells[0], option.Set("numeric", a.name))
	}
}

// leaveOut leaves out a column that is empty or an ID, unless the user said what it is.
func (t *table) leaveOut(c *collected, i int, inputs *int) {
	a, col := &t.attributes[i], &c.columns[i]
	if r := t.roles[i].kind; r == weight || r == group || a.measure == measureNothing {
		return
	}
	known := c.rows - col.missing
	drop := func(kind string) {
		if t.roles[i].isInput() {
			*inputs--
		}
		t.roles[i] = role{}
		a.kind = kind
		place := Place{a.name, i}
		if kind == KindID {
			t.schema.IDs = append(t.schema.IDs, place)
		} else {
			t.schema.Ignored = append(t.schema.Ignored, place)
		}
	}
	asked := a.forced != "" || a.byFile
	whole := a.measure == measureNumber && !col.fraction && t.schema.Header
	different := col.many || col.numbers.n == known || col.rising
	if whole && min(math.Abs(col.min), math.Abs(col.max)) >= 1<<53 && len(a.cells) >= fewRows { // float64 does not tell all of them apart
		different = len(slices.Compact(slices.Sorted(slices.Values(a.cells)))) == len(a.cells)
	}
	switch {
	case t.opt.Missing == "error" || t.arff && a.measure != measureText:
	case known == 0 && c.rows > 1 && *inputs > 1 && !asked && t.auto():
		drop(KindIgnored)
		t.notice(i, "empty", "has no value in any row and is left out")
	case asked || *inputs == 1 || known < fewIndices:
	case whole && t.isIndex(i) && (different || 2*col.numbers.n > known):
		drop(KindID)
		t.notice(i, "id", "looks like an ID, an index of the rows (%s), and is left out; %s keeps it", strings.Join(firsts(a.cells, 2), ", "),
			option.Set("numeric", a.name))
	case known < fewRows:
	case a.measure == measureText && a.categories == nil && !a.code && a.odd == "" && a.oddDate == "" && 10*len(col.values) > 9*known:
		drop(KindID)
		t.notice(i, "id", "looks like an ID (%s different texts in %s rows, such as %q) and is left out; %s keeps it", units.Count(len(col.values)),
			units.Count(known), shorten([]byte(append(a.cells, col.values...)[0])), option.Set("categorical", a.name))
	case whole && different && !a.times && (isIDName(a.name) || col.min >= 1e11):
		drop(KindID)
		t.notice(i, "id", "looks like an ID (a different whole number in each row) and is left out; %s keeps it", option.Set("numeric", a.name))
	case whole && isIDName(a.name) && col.numbers.n > fewRows:
		t.notice(i, "id", "is named like an ID, and has %s different whole numbers; if that is no input, %s leaves it out", units.Count(col.numbers.n),
			option.Set("ignore", a.name))
	case a.measure == measureNumber && col.rising && t.schema.Header:
		t.notice(i, "id", "counts the rows (%s, %s, …); if that is no input, %s leaves it out", number(col.min), number(col.min+1),
			option.Set("ignore", a.name))
	}
	if d := col.numbers.n + len(col.values); d == 1 && known == c.rows && c.rows > 1 && t.roles[i].kind != ignored &&
		a.measure != measureWords &&
		t.schema.Header {
		t.notice(i, "constant", "has the same value in all rows")
	}
}

// isIndex says that a column is the index of the rows that pandas or R wrote: the first one, without a name, or one of their names.
func (t *table) isIndex(i int) bool {
	if n := strings.ToLower(t.names[i]); strings.HasPrefix(n, "unnamed:") || slices.Contains([]string{"index", "level_0", "__index_level_0__", "rownames"}, n) {
		return true
	}
	return i == 0 && t.header != nil && t.header[0] == ""
}

// idNames match names of columns of IDs: id and the like alone or as the last of several words, or behind what has one.
var idNames = regexp.MustCompile(`^(?i:id|uuid|guid|key|index|row|rownum|row_number|rowid|unnamed.*|(cust|customer|client|user|member|account|acct|order|item|product|` +
	`article|invoice|transaction|trans|txn|session|visitor|patient|passenger|employee|emp|student|ticket|case|record|loan|policy|device|store)(id|no|nr|num|number))$|` +
	`[_ .-](?i:id|key|no|nr|num|number|uuid|guid|idx|pk)$|[a-z](Id|ID|No|Nr|Num|Number|Key)$|^(?i:id)[_ .-]`)

// isIDName says that a column is called like an ID.
func isIDName(name string) bool { return idNames.MatchString(name) }

// auto says that missing values are filled in by themselves.
func (t *table) auto() bool { return t.schema.Missing == missingAuto }

// finish settles a column that stays.
func (t *table) finish(column *Column, c *collected, by *collector, i int) {
	a, col := &t.attributes[i], &c.columns[i]
	known := c.rows - col.missing
	switch a.measure {
	case measureText:
		values := col.values
		if date := a.oddDate; date != "" && a.kind == "" {
			t.notice(i, "dates", "looks like dates, but %q in line %d is none: it becomes categories, of which it has %s; %s counts such cells as missing",
				shorten([]byte(date)), a.oddLine, units.Count(len(values)), option.Set("na", date))
		}
		if a.odd != "" && a.kind == "" {
			t.notice(i, "numbers", "looks like numbers, but %q in line %d is none: it becomes categories, of which it has %s; %s counts such cells as "+
				"missing", shorten([]byte(a.odd)), a.oddLine, units.Count(len(values)), option.Set("na", a.odd))
		}
		if col.missing > 0 && t.auto() && a.kind != KindOrdinal && !slices.Contains(values, "") {
			values = append([]string{""}, values...)
		}
		switch {
		case column.Coding != nil: // levels
			if column.Coding.Values == nil {
				column.Coding.Values = naturalOrder(values)
				a.order = column.Coding.Values
				t.notice(i, "ordinal", "has the levels %s, in this order; give another as %s", strings.Join(firsts(a.order, 6), " < "),
					option.Set("ordinal", a.name+"=low<middle<high"))
			}
			t.tellOfOtherLevels(column.Coding.Values, c, i)
			t.meanLevel(column, col, known)
		case len(values) > mostOneHot && a.categories == nil && a.kind != KindCategory && t.auto():
			if t.values == nil {
				t.values = map[int][]string{}
			}
			t.values[t.roles[i].input], column.Categories = values, nil
			column.Coding = &Coding{Kind: CodedHashed, Values: mostFrequent(col, frequent), Buckets: rareBuckets}
			a.coding = column.Coding
			t.roles[i].kind = coded
			if !a.byFile {
				t.notice(i, "many", "has %s different values: the %d most frequent become columns, the others %d by a hash", units.Count(len(values)),
					len(column.Coding.Values), rareBuckets)
			}
		default:
			column.Categories = values
			if len(values) > worthTelling && a.categories == nil && a.kind == "" && !a.byFile {
				t.notice(i, "many", "has %s different values, each of which becomes a column unless means of the target stand for them; %s leaves it out",
					units.Count(len(values)), option.Set("ignore", a.name))
			}
		}
	case measureWords:
		column.Coding.IDF = idfOf(by.documents[i], c.rows)
		if a.kind == "" {
			t.notice(i, "text", "holds text: its words become %d columns by TF-IDF; %s takes each text as one value", column.Coding.Buckets,
				option.Set("categorical", a.name))
		}
	default:
		if known > 0 && (t.schema.Missing == "mean" || t.auto()) {
			column.Mean = col.sum / float64(known)
			if column.Coding != nil && column.Coding.Kind == CodedOffset {
				column.Mean = c.sampleMean(i) // the sum is of rounded numbers
			}
		}
	}
	isNumber := column.Categories == nil && (column.Coding == nil || column.Coding.isNumber() || column.Coding.Kind == CodedDate ||
		column.Coding.Kind == CodedOrdinal)
	column.Indicator = isNumber && t.auto() && col.missing > 0
}

// tellOfOtherLevels tells of values that are no levels, where these were given.
func (t *table) tellOfOtherLevels(levels []string, c *collected, i int) {
	other, rows := "", 0
	col := &c.columns[i]
	for k, value := range col.values {
		if !slices.Contains(levels, value) {
			if rows == 0 {
				other = value
			}
			rows += col.counts[k]
		}
	}
	if rows > 0 {
		t.notice(i, "ordinal", "has values that are none of its levels (%s) in %s of %s, such as %q, and they count as the mean of the others", strings.Join(firsts(levels, 6), " < "),
			units.Count(rows), units.Plural(c.rows, "row"), other)
	}
}

// meanLevel is the mean of the positions of levels.
func (t *table) meanLevel(column *Column, col *collectedColumn, known int) {
	sum := 0.0
	for at, level := range column.Coding.Values {
		if k, found := slices.BinarySearch(col.values, level); found {
			sum += float64(at) * float64(col.counts[k])
		}
	}
	column.Mean = sum / float64(max(known, 1))
}

func firsts(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(slices.Clone(list[:n]), "…")
}

// mostFrequent are the values of a column with the most rows, in their order.
func mostFrequent(col *collectedColumn, n int) []string {
	var list []string
	for _, f := range top(col, n) {
		list = append(list, f.Value)
	}
	slices.Sort(list)
	return list
}

// warnOfLeaks tells of columns that alone predict the label nearly perfectly.
func (t *table) warnOfLeaks() {
	if !t.schema.Header || len(t.schema.Columns) < 3 || t.profile.Rows < leakTexts {
		return // a curve, or made-up data
	}
	for i := range t.profile.Columns {
		d := &t.profile.Columns[i]
		if r := t.roles[i].kind; r != numeric && r != categorical && r != coded ||
			r != categorical && t.profile.Rows < leakRows && (d.Many || d.Distinct > 2) {
			continue
		}
		switch {
		case d.Relation >= 0.9999:
			t.notice(i, "duplicate", "says all of the label %q: is it known when the label is to be predicted? If not, %s leaves it out",
				t.schema.Labels[0].Name, option.Set("ignore", d.Name))
		case d.Relation > 0.98:
			t.notice(i, "leak", "alone predicts the label %q nearly perfectly (%.1f %%): is it known when the label is to be predicted? If not, "+
				"%s leaves it out", t.schema.Labels[0].Name, 100*d.Relation, option.Set("ignore", d.Name))
		}
	}
}

// warnOfLabel tells of an input whose name is that of a label. Beside a label that was named, class and y are common
// names of inputs; beside x, y is a coordinate.
func (t *table) warnOfLabel() {
	if !t.schema.Header || len(t.schema.Labels) != 1 {
		return
	}
	names := []string{"label", "target", "class", "y"}
	if t.opt.Label != "" {
		names = names[:2]
	}
	label := t.schema.Labels[0].Name
	if slices.Contains(names, strings.ToLower(label)) {
		return
	}
	for i, name := range t.names {
		isInput := t.roles[i].kind == numeric || t.roles[i].kind == categorical || t.roles[i].kind == coded
		coordinate := strings.EqualFold(name, "y") && slices.ContainsFunc(t.names, func(n string) bool { return strings.EqualFold(n, "x") })
		if isInput && !coordinate && slices.Contains(names, strings.ToLower(name)) {
			t.notice(i, "label", "has the name of a label, but the label is the column %q; if it is the label, give %s, and if it is no input, %s",
				label, option.Set("label", name), option.Set("ignore", name))
		}
	}
}

// tell calls the notices of the options.
func (t *table) tell() {
	if told := t.opt.Columns.Notice; told != nil {
		for _, n := range t.notices {
			told(n)
		}
	}
}
