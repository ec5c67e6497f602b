package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
	"mercer/internal/engine/spelling"
	"mercer/internal/engine/units"
)

// attribute is what is known of a column before it has a role.
type attribute struct {
	name       string
	text       bool     // most of its values are not numbers
	textual    bool     // the file declares it text: plain numbers are categories
	categories []string // declared, or nil

	firstCells
	wish

	bounds  bool   // some of its numbers are bounds, such as <0.01
	bound   string // the first of these
	measure measure
	coding  *Coding
}

// firstCells are what the first rows show of a column.
type firstCells struct {
	found   string   // the kind that they suggest
	cells   []string // without missing ones
	word    string   // the first that stands for a missing value and could be a name, such as none
	mark    string   // the first that stands for a missing value in a column of numbers or dates alone, such as -
	marks   []string // that come again among many numbers, such as T, and stand for a missing value in this column alone
	marked  int      // the cells that hold marks, of the first rows
	written bool     // numbers with separators, currencies, …
	decimal string   // their decimal separator
	unit    string   // what follows all numbers
	scales  bool     // thousands, millions and the like follow numbers
	times   bool     // whole numbers that may be times
	code    bool     // digits with leading zeros
	odd     string   // the first cell that is no number, in a column of categories that are mostly numbers
	oddDate string   // the first cell that is no date, in a column of categories that are mostly dates
	oddLine int      // the line of either
}

// wish is what the options, or a file of kinds, ask of a column.
type wish struct {
	kind    string   // that was asked for, or for which it is left out; "": as found
	forced  string   // the option that asked for it
	byFile  bool     // a file of kinds asked for it
	order   []string // of levels
	layouts []string // of dates
	buckets int      // of text
}

// assignLabels gives the columns that the options name the roles of group, labels and weight.
func (t *table) assignLabels() error {
	if err := t.assignGroup(); err != nil {
		return err
	}
	var weights []Place
	if t.opt.Weight != "" {
		var err error
		if weights, err = t.find("weight", t.opt.Weight); err != nil {
			return err
		}
		if len(weights) != 1 {
			return option.Errorf("%s: %s %q names %d columns; one is possible", t.Name(), option.Ref("weight"), t.opt.Weight, len(weights))
		}
	}
	switch {
	case t.opt.Label == "none" && !(t.schema.Header && slices.Contains(t.names, "none")):
	case t.opt.Label != "":
		places, err := t.find("label", t.opt.Label)
		if err != nil {
			return err
		}
		t.setLabels(places)
	case t.opt.LabelsFile == "" && t.opt.Schema == nil:
		last := len(t.roles) - 1
		for last >= 0 && (len(weights) == 1 && weights[0].At == last || t.roles[last].kind == group || last > 1 && t.isNothing(last)) {
			last--
		}
		if last >= 0 {
			t.setLabels([]Place{{t.names[last], last}})
		}
	}
	if t.opt.LabelSeparator != "" && len(t.schema.Labels) > 1 {
		return option.Errorf("%s: %s is for lists of labels in one column, but %s names %d", t.Name(), option.Ref("label_separator"),
			option.Ref("label"), len(t.schema.Labels))
	}
	if g := t.schema.Group; g != nil && t.roles[g.At].kind != group {
		return option.Errorf("%s: %s is the label and says which bag a row is of; name another %s or %s", t.Name(), t.column(g.At),
			option.Ref("group"), option.Ref("label"))
	}
	for i := range weights {
		w := &weights[i]
		if t.roles[w.At].kind == group {
			return option.Errorf("%s: %s is the weight and says which bag a row is of; name another %s or %s", t.Name(), t.column(w.At),
				option.Ref("group"), option.Ref("weight"))
		}
		if t.roles[w.At].kind == label {
			return option.Errorf("%s: %s is the label and the weight; name another %s or %s", t.Name(), t.column(w.At), option.Ref("weight"),
				option.Ref("label"))
		}
		t.roles[w.At] = role{kind: weight}
		t.schema.Weight = w
	}
	return nil
}

// assignGroup finds the column that identifies a row's bag: the one that the options name,
// or that of the model.
func (t *table) assignGroup() error {
	m, at := t.opt.Schema, -1
	switch {
	case t.opt.Group != "":
		places, err := t.find("group", t.opt.Group)
		if err != nil {
			return err
		}
		if len(places) != 1 {
			return option.Errorf("%s: %s %q names %d columns; one is possible", t.Name(), option.Ref("group"), t.opt.Group, len(places))
		}
		at = places[0].At
	case m == nil || m.Group == nil:
		return nil
	case t.schema.Header && slices.Contains(t.names, m.Group.Name):
		at = slices.Index(t.names, m.Group.Name)
	case t.schema.Header && m.Header:
	case len(t.roles) == m.Width:
		at = m.Group.At
	case len(t.roles) == m.Width-len(m.Labels):
		// Only the labels are missing, and later columns have moved up.
		at = m.Group.At
		for _, l := range m.Labels {
			if l.At < m.Group.At {
				at--
			}
		}
	}
	if at < 0 || at >= len(t.roles) {
		return option.Errorf("%s: there is no column %q, by which the model's rows came in bags; name one with %s; %s", t.Name(), m.Group.Name,
			option.Ref("group"), t.listColumns())
	}
	t.roles[at] = role{kind: group}
	t.schema.Group = &Place{t.names[at], at}
	return nil
}

// isNothing says that a column has neither a name nor, in the first rows, a value: lines end with several separators.
func (t *table) isNothing(i int) bool {
	return t.header != nil && t.header[i] == "" && len(t.attributes[i].cells) == 0 && t.attributes[i].word == "" && t.attributes[i].categories == nil
}

// setLabels makes columns the labels.
func (t *table) setLabels(places []Place) {
	for i, p := range places {
		t.roles[p.At] = role{kind: label, at: i}
	}
	t.schema.Labels = places
	if m := t.opt.Schema; t.opt.LabelSeparator == "" && m != nil && len(places) == 1 {
		t.schema.LabelSeparator = m.LabelSeparator
	} else {
		t.schema.LabelSeparator = t.opt.LabelSeparator
	}
}

// find looks up columns by name or by position, several separated by commas, that an option asks for.
func (t *table) find(asked, spec string) ([]Place, error) {
	if i := slices.Index(t.names, spec); i >= 0 && t.schema.Header {
		return []Place{{spec, i}}, t.onlyOne(asked, spec)
	}
	var places []Place
	for _, part := range option.List(spec) {
		if err := t.onlyOne(asked, part); err != nil {
			return nil, err
		}
		i := -1
		if t.schema.Header {
			i = slices.Index(t.names, part)
		}
		if i < 0 {
			var err error
			if i, err = strconv.Atoi(part); err != nil {
				return nil, option.Errorf("%s: there is no column %q for %s%s; %s", t.Name(), part, option.Ref(asked), t.meant(part), t.listColumns())
			}
			if i < 0 {
				i += len(t.names)
			}
			if i < 0 || i >= len(t.names) {
				return nil, option.Errorf("%s: there is no column %s for %s; %s", t.Name(), part, option.Ref(asked), t.listColumns())
			}
		}
		if slices.ContainsFunc(places, func(p Place) bool { return p.At == i }) {
			return nil, option.Errorf("%s: %s names %s twice", t.Name(), option.Ref(asked), t.column(i))
		}
		places = append(places, Place{t.names[i], i})
	}
	return places, nil
}

// onlyOne is an error if an option names a column by a name that several columns have.
func (t *table) onlyOne(asked, name string) error {
	var at []string
	for i, given := range t.header {
		if given == name && name != "" {
			at = append(at, strconv.Itoa(i))
		}
	}
	if len(at) < 2 {
		return nil
	}
	last := len(at) - 1
	return option.Errorf("%s: the columns %s and %s, counted from 0, are all named %q; say which by its number, such as %s", t.Name(),
		strings.Join(at[:last], ", "), at[last], name, option.Set(asked, at[last]))
}

// meant asks for the column whose name a wrong one was meant for, if one is near.
func (t *table) meant(name string) string {
	if !t.schema.Header {
		return ""
	}
	near := nearest(name, t.names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

// nearest is the name that one is most likely written for, "" if none is near.
func nearest(name string, names []string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
		return names[i]
	}
	return spelling.Near(name, names)
}

// listColumns lists the columns, for messages.
func (t *table) listColumns() string {
	const most = 12
	switch n := len(t.names); {
	case !t.schema.Header:
		return fmt.Sprintf("the columns are 0 to %d and have no names", n-1)
	case n > most:
		return fmt.Sprintf("the columns are %s and %d more", strings.Join(t.names[:most], ", "), n-most)
	}
	return "the columns are " + strings.Join(t.names, ", ")
}

// follow gives columns the roles that they had in training: by name if both files have
// names, otherwise by position.
func (t *table) follow(m *Schema) error {
	t.schema.Missing, t.schema.NA = m.Missing, m.NA
	if asked := t.opt.Missing; asked != "" && asked != missingAuto {
		if (m.Missing == "mean" || m.Missing == "zero" || m.Missing == missingAuto) && asked != m.Missing && asked != "error" {
			return option.Errorf("%s: %s contradicts the model, which was trained with %s; leave it out", t.Name(), option.Set("missing", asked),
				option.Set("missing", m.Missing))
		}
		t.schema.Missing = asked
	}
	if t.schema.Missing == "mean" && m.Missing != "mean" {
		return option.Errorf("%s: the model was trained without %s and knows no means; use %s, or train it again", t.Name(),
			option.Set("missing", "mean"), option.Set("missing", "zero"))
	}
	if m.Columns != nil && m.Header && t.schema.Header {
		return t.followNames(m)
	}
	return t.followPositions(m)
}

func (t *table) followNames(m *Schema) error {
	if err := t.lacks(m); err != nil {
		return err
	}
	for i, c := range m.Columns {
		at := slices.Index(t.names, c.Name)
		if t.roles[at].kind != ignored {
			return fmt.Errorf("%s: %s was an input when the model was trained; it cannot be the label or the weight", t.Name(), t.column(at))
		}
		t.follows(at, i, c)
	}
	if t.opt.Label != "" || t.opt.LabelsFile != "" {
		return nil
	}
	var labels []Place
	for _, l := range m.Labels {
		if at := slices.Index(t.names, l.Name); at >= 0 && t.roles[at].kind == ignored {
			labels = append(labels, Place{l.Name, at})
		}
	}
	if len(labels) == len(m.Labels) {
		t.setLabels(labels)
	}
	return nil
}

// lacks is an error if there are none of some columns.
func (t *table) lacks(m *Schema) error {
	const most = 10
	var names []string
	lacked := ""
	for _, c := range m.Columns {
		if !slices.Contains(t.names, c.Name) {
			lacked = c.Name
			names = append(names, strconv.Quote(c.Name))
		}
	}
	what, instead := "is no column ", ""
	switch n := len(names); {
	case n == 0:
		return nil
	case n == 1:
		others := slices.DeleteFunc(slices.Clone(t.names), func(name string) bool {
			return slices.ContainsFunc(m.Columns, func(c Column) bool { return c.Name == name })
		})
		if near := nearest(lacked, others); near != "" {
			instead = fmt.Sprintf(" (is it %q?)", near)
		}
	case n > most+1:
		what, names[most] = "are no columns ", fmt.Sprintf("%d more", n-most)
		names = names[:most+1]
	case n > 1:
		what = "are no columns "
	}
	return fmt.Errorf("%s: there %s%s, which %s%s; %s", t.Name(), what, strings.Join(names, ", "), t.opt.trainedOn(), instead, t.listColumns())
}

func (t *table) followPositions(m *Schema) error {
	inputs := m.Columns
	count := len(inputs)
	if inputs == nil {
		count = m.Dim
	}
	var free []int
	for i := range t.roles {
		if t.roles[i].kind == ignored {
			free = append(free, i)
		}
	}
	var labels []Place
	switch {
	case inputs != nil && len(t.roles) == m.Width:
		// The same columns as in training, so labels and weight are where they were.
		labels = m.Labels
		free = slices.DeleteFunc(free, func(i int) bool {
			isLabel := slices.ContainsFunc(labels, func(p Place) bool { return p.At == i })
			return isLabel && len(t.schema.Labels) == 0 || m.Weight != nil && m.Weight.At == i || m.leavesOut(i)
		})
	case inputs != nil && len(m.Ignored)+len(m.IDs) > 0 && len(t.roles) == m.Width-len(m.Labels):
		free = slices.DeleteFunc(free, func(i int) bool { return m.leavesOut(m.before(i)) })
	case inputs == nil && len(free) == count+1 && t.opt.Label == "" && t.opt.LabelsFile == "":
		// The model's data had no columns; its label is in the default position.
		last := free[count]
		labels, free = []Place{{t.names[last], last}}, free[:count]
	}
	if len(free) != count {
		return option.Errorf("%s: %s, but %s %s; check the file and %s", t.Name(), t.countColumns(len(free)), t.opt.trainedOn(),
			m.countInputs(count), option.Ref("label"))
	}
	for i, at := range free {
		c := Column{Place: Place{t.names[at], at}}
		if inputs != nil {
			c = inputs[i]
		}
		t.follows(at, i, c)
	}
	if t.opt.Label == "" && t.opt.LabelsFile == "" &&
		!slices.ContainsFunc(labels, func(p Place) bool { return t.roles[p.At].kind != ignored }) {
		t.setLabels(labels)
	}
	return nil
}

// leavesOut says that a column of the training was no input.
func (s *Schema) leavesOut(at int) bool {
	is := func(p Place) bool { return p.At == at }
	return slices.ContainsFunc(s.Ignored, is) || slices.ContainsFunc(s.IDs, is)
}

// before is the position, in the training, of column i of a file that lacks the labels.
func (s *Schema) before(i int) int {
	for at := 0; ; at++ {
		if slices.ContainsFunc(s.Labels, func(p Place) bool { return p.At == at }) {
			continue
		}
		if i--; i < 0 {
			return at
		}
	}
}

// follows makes column at of the file the input i of the model.
func (t *table) follows(at, i int, c Column) {
	t.roles[at] = role{kind: numeric, input: i}
	switch {
	case c.Categories != nil:
		t.roles[at].kind = categorical
	case c.Coding != nil:
		t.roles[at].kind = coded
	}
	t.schema.Columns = append(t.schema.Columns, c)
}

// countColumns is how many columns there are, as text; free ones count as inputs.
func (t *table) countColumns(free int) string {
	if free == len(t.roles) {
		return units.Plural(free, "column")
	}
	return units.Plural(free, "column") + " beside labels and weights"
}

// countInputs is how many columns the model was trained on, as text.
func (m *Schema) countInputs(inputs int) string {
	s := units.Plural(inputs, "input")
	if len(m.Labels) > 0 {
		s += fmt.Sprintf(" (and %s)", units.Plural(len(m.Labels), "label"))
	}
	return s
}
