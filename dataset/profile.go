package dataset

import (
	"math"
	"slices"
)

// Profile describes the columns of a table, from one pass over all rows.
type Profile struct {
	Rows    int             `json:"rows"`
	Columns []ColumnProfile `json:"columns"`

	// Notices are what a person should know of the columns.
	Notices []Notice `json:"notices,omitempty"`
}

// ColumnProfile describes one column of a table.
type ColumnProfile struct {
	Place

	// Kind is one of the Kind constants: what the column is used as. A column that is left out because of what it
	// holds is KindID or KindIgnored.
	Kind string `json:"kind"`

	// Note says more of the kind: "whole numbers", "constant", "booleans", the layout of dates.
	Note string `json:"note,omitempty"`

	// Missing is the number of rows without a value. Distinct is the number of different values; if Many is set there
	// are more, which were not counted.
	Missing  int  `json:"missing"`
	Distinct int  `json:"distinct"`
	Many     bool `json:"many,omitempty"`

	// Min to Deviation describe numbers, and dates as days since 1970. Quantiles are those of 5, 25, 50, 75 and 95 %,
	// of a sample of the rows.
	Min       float64   `json:"min"`
	Max       float64   `json:"max"`
	Mean      float64   `json:"mean"`
	Deviation float64   `json:"deviation"`
	Quantiles []float64 `json:"quantiles,omitempty"`

	// Top are the most frequent values of a column of categories, at most eight.
	Top []Frequency `json:"top,omitempty"`

	// Values are the values of numbers and dates in the sample, sorted.
	Values []float64 `json:"-"`

	// Relation is how well the column alone predicts the label on rows of the sample, from 0, not at all, to 1; -1 if it was
	// not measured.
	Relation float64 `json:"relation"`

	layouts []string
	order   []string
	marks   []string
	buckets int
}

// Frequency is the number of rows with a value.
type Frequency struct {
	Value string `json:"value"`
	Rows  int    `json:"rows"`
}

// Numeric says that the column holds numbers, or dates as days.
func (c *ColumnProfile) Numeric() bool { return c.Quantiles != nil }

// Text is a number of the column as text: a date as a date.
func (c *ColumnProfile) Text(v float64) string {
	if c.Kind == KindDate {
		return dayText(v)
	}
	return number(v)
}

// Kinds are the kinds that were found, to be edited and given to a training (ColumnOptions.Kinds).
func (p *Profile) Kinds() *Kinds {
	k := &Kinds{}
	for i := range p.Columns {
		c := &p.Columns[i]
		k.Columns = append(k.Columns, ColumnKind{Name: c.Name, Kind: c.Kind, Order: c.order, Layouts: c.layouts, NA: c.marks, Buckets: c.buckets})
	}
	return k
}

// Profile describes the columns of the file, nil if it is no table or was opened with a model's schema.
func (f *File) Profile() *Profile {
	if t := f.table(); t != nil {
		return t.profile
	}
	return nil
}

// Notices are what was found that a person should know of the columns.
func (f *File) Notices() []Notice {
	if t := f.table(); t != nil {
		return t.notices
	}
	return nil
}

// table is the table behind a file, nil if it is none.
func (f *File) table() *table {
	src := f.Source
	if l, ok := src.(*labelled); ok {
		src = l.Source
	}
	t, _ := src.(*table)
	return t
}

// describe makes the profile of a collection.
func (t *table) describe(c *collected) *Profile {
	p := &Profile{Rows: c.rows}
	target := t.relationTarget(c)
	for i := range t.attributes {
		a, col := &t.attributes[i], &c.columns[i]
		d := ColumnProfile{Place: Place{a.name, i}, Kind: t.kindOf(i), Missing: col.missing, Relation: -1,
			layouts: a.layouts, order: a.order, buckets: a.buckets}
		if d.Kind == KindNumber {
			d.marks = a.marks
		}
		switch a.measure {
		case measureNothing:
		case measureText:
			d.Distinct, d.Many = len(col.counts), col.many
			d.Top = top(col, 8)
			if d.Distinct == 2 && booleans(col) {
				d.Note = "booleans"
			}
		case measureWords:
			d.Note = "words"
		default:
			d.Distinct, d.Many = col.numbers.n, col.many
			c.describeNumbers(&d, i)
			switch {
			case a.measure == measureDate:
				d.Note = a.layoutNote()
			case a.coding != nil && a.coding.Decimal == "," && col.fraction:
				d.Note = "decimal comma"
			case a.coding != nil && (a.coding.Decimal != "," || col.fraction):
				d.Note = "written numbers"
			case !col.fraction && d.Distinct > 0:
				d.Note = "whole numbers"
			}
		}
		if d.Distinct == 1 && col.missing == 0 && !d.Many {
			d.Note = "constant"
		}
		if target != nil && t.roles[i].kind != label && a.measure != measureNothing && a.measure != measureWords {
			d.Relation = target.strength(c, i, t.attributes[i].measure == measureText)
		}
		p.Columns = append(p.Columns, d)
	}
	p.Notices = t.notices
	return p
}

// kindOf is the kind of a column in a profile.
func (t *table) kindOf(i int) string {
	switch t.roles[i].kind {
	case label:
		return KindLabel
	case weight:
		return KindWeight
	case group:
		return KindGroup
	}
	if k := t.attributes[i].kind; k != "" {
		return k
	}
	return t.attributes[i].found
}

// describeNumbers fills in what is known of numbers.
func (c *collected) describeNumbers(d *ColumnProfile, i int) {
	col := &c.columns[i]
	n := float64(c.rows - col.missing)
	if n == 0 {
		return
	}
	d.Min, d.Max, d.Mean = col.min, col.max, col.sum/n
	for _, row := range c.sample {
		if v := row.values[i]; v-v == 0 {
			d.Values = append(d.Values, v)
		}
	}
	slices.Sort(d.Values)
	square := 0.0
	for _, v := range d.Values {
		square += (v - d.Mean) * (v - d.Mean)
	}
	d.Deviation = math.Sqrt(square / float64(max(1, len(d.Values))))
	d.Quantiles = []float64{}
	for _, q := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		if len(d.Values) > 0 {
			d.Quantiles = append(d.Quantiles, d.Values[int(q*float64(len(d.Values)-1)+0.5)])
		}
	}
}

// top are the most frequent values of a column.
func top(col *collectedColumn, most int) []Frequency {
	var list []Frequency
	for id, n := range col.counts {
		list = append(list, Frequency{col.values[id], n})
	}
	slices.SortFunc(list, func(a, b Frequency) int {
		if a.Rows != b.Rows {
			return b.Rows - a.Rows
		}
		if a.Value < b.Value {
			return -1
		}
		return 1
	})
	return list[:min(most, len(list))]
}

func booleans(col *collectedColumn) bool {
	for _, pair := range [][2]string{{"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"on", "off"}, {"wahr", "falsch"}, {"ja", "nein"},
		{"vrai", "faux"}, {"oui", "non"}} {
		found := 0
		for _, v := range col.values {
			if l := lower([]byte(v)); l == pair[0] || l == pair[1] {
				found++
			}
		}
		if found == 2 {
			return true
		}
	}
	return false
}
