package dataset

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
)

// ColumnOptions say what the columns of a table are; where they do not, the data decide. Lists of columns are names,
// positions from 0 (negative: from the end), ranges (2-5, or first..last by name, quoted or not) and patterns (price_*),
// separated by commas. They apply to training; a model remembers what its columns are.
type ColumnOptions struct {
	// Ignore are no inputs. If Only is not "", all others are no inputs either.
	Ignore string `json:"ignore,omitempty"`
	Only   string `json:"only,omitempty"`

	// ID are columns that name a row. They are no inputs, but can be read beside predictions (Carry).
	ID string `json:"id,omitempty"`

	// SplitGroup, SplitTime and SplitColumn, one of them at most, name a column by which Holdout divides the rows: all rows
	// of a group on one side, the last of a time held out, or as a column says by the words train and test. The column
	// of a time is an input unless Ignore names it, the other two are none. In LIBSVM text SplitGroup is qid.
	SplitGroup  string `json:"split_group,omitempty"`
	SplitTime   string `json:"split_time,omitempty"`
	SplitColumn string `json:"split_column,omitempty"`

	// Numeric, Categorical, Date and Text are inputs of these kinds, whatever they look like.
	Numeric     string `json:"numeric,omitempty"`
	Categorical string `json:"categorical,omitempty"`
	Date        string `json:"date,omitempty"`
	Text        string `json:"text,omitempty"`

	// Ordinal are levels that become their positions: size=S<M<L, or only the name of a column whose levels are in
	// the order of the numbers that they begin with, or else of the alphabet.
	Ordinal string `json:"ordinal,omitempty"`

	// NA are texts that stand for a missing value besides the usual ones, separated by commas.
	NA string `json:"na,omitempty"`

	// Decimal is the decimal separator of numbers, "." or ","; "" means what all cells of a column allow, a point if both do.
	Decimal string `json:"decimal,omitempty"`

	// Kinds are kinds of columns from a file (ReadKinds). The lists above take precedence.
	Kinds *Kinds `json:"kinds,omitempty"`

	// Notice, if not nil, is told what is found that a person should know: columns that were left out, or that look
	// like a mistake. It is not called when a model's schema says what the columns are.
	Notice func(Notice) `json:"-"`

	// Progress, if not nil, is called with the rows read and the share of the table while its columns are looked at.
	Progress func(rows int, share float64) `json:"-"`

	// Carry keeps the cells of columns beside the rows, for Carried: "id" those of ID, or of the IDs of the model that the
	// table has; "all" those of all columns.
	Carry string `json:"-"`

	// Exact counts different numbers in all rows for the profile, not only in the first 100,000.
	Exact bool `json:"-"`
}

// Kinds of columns, in Kinds and in profiles.
const (
	KindNumber   = "number"
	KindCategory = "category"
	KindOrdinal  = "ordinal"
	KindDate     = "date"
	KindText     = "text"
	KindID       = "id"
	KindIgnored  = "ignore"
	KindLabel    = "label"
	KindWeight   = "weight"
	KindGroup    = "group"
)

// choose applies the options to the columns: it sets the roles of those that are no inputs, and the kinds of the others.
func (t *table) choose(columns []attribute) error {
	o := &t.opt.Columns
	if err := t.applyKinds(columns, o.Kinds); err != nil {
		return err
	}
	for _, list := range []struct{ asked, spec, kind string }{
		{"numeric", o.Numeric, KindNumber}, {"categorical", o.Categorical, KindCategory}, {"date", o.Date, KindDate},
		{"text", o.Text, KindText}, {"id", o.ID, KindID}, {"ignore", o.Ignore, KindIgnored},
	} {
		places, err := t.findAll(list.asked, list.spec)
		if err != nil {
			return err
		}
		for _, p := range places {
			if err := t.mayBe(p, list.asked, list.kind, columns); err != nil {
				return err
			}
		}
	}
	if err := t.chooseOrdinal(columns, o.Ordinal); err != nil {
		return err
	}
	if err := t.chooseSplit(columns); err != nil {
		return err
	}
	if o.Only != "" {
		only, err := t.findAll("only", o.Only)
		if err != nil {
			return err
		}
		for i := range columns {
			isAsked := slices.ContainsFunc(only, func(p Place) bool { return p.At == i })
			if !isAsked && columns[i].kind != KindID {
				columns[i].kind = KindIgnored
			}
		}
	}
	for i, c := range columns {
		if t.roles[i].kind != ignored {
			continue
		}
		switch c.kind {
		case KindID:
			t.schema.IDs = append(t.schema.IDs, Place{c.name, i})
		case KindIgnored:
			t.schema.Ignored = append(t.schema.Ignored, Place{c.name, i})
		}
	}
	return nil
}

// mayBe gives a column a kind that an option asks for.
func (t *table) mayBe(p Place, asked, want string, columns []attribute) error {
	c := &columns[p.At]
	role := map[kind]string{label: "the label", weight: "the weight", group: "the group"}[t.roles[p.At].kind]
	if role != "" {
		if want == KindIgnored {
			return nil // as a pattern may cover it
		}
		return option.Errorf("%s: %s is %s, so it cannot be named by %s", t.Name(), t.column(p.At), role, option.Ref(asked))
	}
	if c.forced != "" && c.kind != want {
		return option.Errorf("%s: %s is named by %s and by %s; name it once", t.Name(), t.column(p.At), option.Ref(c.forced), option.Ref(asked))
	}
	c.kind, c.forced = want, asked
	return nil
}

// chooseOrdinal reads the option Ordinal.
func (t *table) chooseOrdinal(columns []attribute, spec string) error {
	if spec == "" {
		return nil
	}
	for _, part := range option.List(spec) {
		name, levels, ordered := strings.Cut(part, "=")
		if at := slices.Index(t.names, part); at >= 0 {
			name, ordered = part, false
		}
		places, err := t.findAll("ordinal", name)
		if err != nil {
			return err
		}
		for _, p := range places {
			if err := t.mayBe(p, "ordinal", KindOrdinal, columns); err != nil {
				return err
			}
			if !ordered {
				continue
			}
			order := strings.Split(levels, "<")
			for i, level := range order {
				order[i] = strings.TrimSpace(level)
				if order[i] == "" || slices.Contains(order[:i], order[i]) {
					return option.Errorf("%s: %s: the levels %q of %s are empty or repeated; give them as %s=low<middle<high", t.Name(),
						option.Ref("ordinal"), levels, t.column(p.At), name)
				}
			}
			columns[p.At].order = order
		}
	}
	return nil
}

// findAll looks up a list of columns: names, positions, ranges and patterns. "" is an empty list.
func (t *table) findAll(asked, spec string) ([]Place, error) {
	if spec == "" {
		return nil, nil
	}
	if i := slices.Index(t.names, spec); i >= 0 && t.schema.Header {
		return []Place{{spec, i}}, t.onlyOne(asked, spec)
	}
	var places []Place
	add := func(from, to int) {
		for i := from; i <= to; i++ {
			if !slices.ContainsFunc(places, func(p Place) bool { return p.At == i }) {
				places = append(places, Place{t.names[i], i})
			}
		}
	}
	for _, part := range option.List(spec) {
		if err := t.onlyOne(asked, part); err != nil {
			return nil, err
		}
		if i, ok := t.position(part); ok {
			add(i, i)
			continue
		}
		if first, last, found := option.Range(part); found {
			for _, end := range []string{first, last} {
				if err := t.onlyOne(asked, end); err != nil {
					return nil, err
				}
			}
			i, isFirst := t.position(first)
			j, isLast := t.position(last)
			if isFirst && isLast && i <= j {
				add(i, j)
				continue
			}
		}
		if first, last, found := strings.Cut(part, "-"); found {
			i, err := strconv.Atoi(first)
			j, err2 := strconv.Atoi(last)
			if err == nil && err2 == nil && i <= j && j < len(t.names) {
				add(i, j)
				continue
			}
		}
		n := len(places)
		if strings.ContainsAny(part, "*?[") {
			for i, name := range t.names {
				if match, err := path.Match(strings.ReplaceAll(part, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00")); err == nil && match {
					add(i, i)
				}
			}
			if len(places) > n || n > 0 && part == "*" {
				continue
			}
		}
		return nil, option.Errorf("%s: there is no column %q for %s%s; %s", t.Name(), part, option.Ref(asked), t.meant(part), t.listColumns())
	}
	return places, nil
}

// position is the column of a name or a position.
func (t *table) position(name string) (i int, ok bool) {
	if t.schema.Header {
		if i := slices.Index(t.names, name); i >= 0 {
			return i, true
		}
	}
	i, err := strconv.Atoi(name)
	if err == nil && i < 0 {
		i += len(t.names)
	}
	return i, err == nil && i >= 0 && i < len(t.names)
}

// markers are the texts of the option NA.
func (o *ColumnOptions) markers() []string {
	var list []string
	if o.Kinds != nil {
		list = append(list, o.Kinds.NA...)
	}
	if o.NA != "" {
		for _, part := range option.List(o.NA) {
			if !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	return list
}

// decimal is the decimal separator.
func (o *ColumnOptions) decimal() (string, error) {
	d := o.Decimal
	if d == "" && o.Kinds != nil {
		d = o.Kinds.Decimal
	}
	switch d {
	case "", ".":
		return ".", nil
	case ",":
		return d, nil
	}
	return "", option.Errorf("%s %q is not known; known are . and ,", option.Ref("decimal"), d)
}

// Notice is something about a column that a person should know.
type Notice struct {
	// Column is the column, "" for the whole table.
	Column string `json:"column,omitempty"`

	// Kind is "id", "constant", "empty", "leak", "duplicate", "number", "date", "text", "many", "ordinal", "digits", "label" or "header".
	Kind string `json:"kind"`

	// Text is one line. Err is the same for messages that call options by their flags.
	Text string `json:"text"`
	Err  error  `json:"-"`
}

func (t *table) notice(at int, kind, format string, args ...any) {
	err := option.Errorf("%s "+format, append([]any{t.column(at)}, args...)...)
	t.notices = append(t.notices, Notice{Column: t.names[at], Kind: kind, Text: err.Error(), Err: err})
}

// mostNotices is of how many columns a notice of one kind is told; where there are more, a few are, and the others counted.
const mostNotices, fewNotices = 20, 3

// condensed has one notice for the many of a kind.
func condensed(all []Notice) (few []Notice) {
	of, more := map[string]int{}, map[string][]string{}
	for _, n := range all {
		of[n.Kind]++
	}
	for _, n := range all {
		if of[n.Kind] > mostNotices && n.Column != "" {
			if more[n.Kind] = append(more[n.Kind], n.Column); len(more[n.Kind]) > fewNotices {
				continue
			}
		}
		few = append(few, n)
	}
	for _, kind := range slices.Sorted(maps.Keys(more)) {
		names := more[kind][fewNotices:]
		err := fmt.Errorf("%s more notes of the kind %q, about %s, …", units.Count(len(names)), kind, strings.Join(names[:fewNotices], ", "))
		few = append(few, Notice{Kind: kind, Text: err.Error(), Err: err})
	}
	return few
}

// carryColumns finds the columns whose cells are kept.
func (t *table) carryColumns() error {
	o := &t.opt.Columns
	var places []Place
	if o.Carry == "" && t.opt.Schema == nil {
		t.carry = t.split
		return nil
	}
	switch o.Carry {
	case "all":
		for i, name := range t.names {
			places = append(places, Place{name, i})
		}
	case "id":
		var err error
		if places, err = t.findAll("id", o.ID); err != nil {
			return err
		}
		if m := t.opt.Schema; o.ID == "" && m != nil {
			for _, p := range m.IDs {
				at := p.At
				if t.schema.Header {
					at = slices.Index(t.names, p.Name)
				} else if len(t.roles) != m.Width {
					at = -1
				}
				if at >= 0 && at < len(t.names) {
					places = append(places, Place{t.names[at], at})
				}
			}
		}
	}
	t.carry = places
	return nil
}

// CarriedColumns are the names of the columns that Carry keeps.
func (f *File) CarriedColumns() []string {
	t := f.table()
	if t == nil {
		return nil
	}
	var names []string
	for _, p := range t.carry {
		names = append(names, p.Name)
	}
	return names
}

// CarriedTexts says which of CarriedColumns are texts by the type that the data give them.
func (f *File) CarriedTexts() []bool {
	var texts []bool
	for _, name := range f.CarriedColumns() {
		texts = append(texts, f.table().opt.texts[name])
	}
	return texts
}

// Carried are the cells that Carry keeps of the last batch of a pass over a table, those of a row after another; nil if
// there are none.
func Carried(r Reader) []string {
	if c, ok := r.(interface{ carried() []string }); ok {
		return c.carried()
	}
	return nil
}
