package dataset

import (
	"slices"

	"mercer/internal/engine/option"
)

// contradiction is an error if an option says of columns that the file has what the model does not.
func (t *table) contradiction(m *Schema) error {
	o := &t.opt.Columns
	against := func(asked, value, what string) error {
		return option.Errorf("%s: %s contradicts the model, %s; leave it out, or train again", t.Name(), option.Set(asked, value), what)
	}
	for _, na := range o.markers() {
		if !slices.Contains(m.NA, na) {
			return against("na", na, "which was trained without it")
		}
	}
	if err := t.otherDecimal(m, against); err != nil {
		return err
	}
	is := map[int]string{} // the kinds of inputs, by column
	for i, r := range t.roles {
		if r.kind == numeric || r.kind == categorical || r.kind == coded {
			is[i] = t.schema.Columns[r.input].kind()
		}
	}
	for _, list := range []struct{ asked, spec, kind string }{
		{"numeric", o.Numeric, KindNumber}, {"categorical", o.Categorical, KindCategory}, {"date", o.Date, KindDate},
		{"text", o.Text, KindText}, {"ignore", o.Ignore, KindIgnored},
	} {
		places, _ := t.findAll(list.asked, list.spec) // the file may lack some
		for _, p := range places {
			if kind, isInput := is[p.At]; isInput && kind != list.kind {
				return against(list.asked, p.Name, "of which it is an input of the kind "+kind)
			}
		}
	}
	if only, err := t.findAll("only", o.Only); err == nil && o.Only != "" {
		for i := range t.roles {
			if !slices.ContainsFunc(only, func(p Place) bool { return p.At == i }) && is[i] != "" {
				return against("only", o.Only, "of which "+t.column(i)+" is an input")
			}
		}
	}
	if o.Kinds != nil {
		for _, c := range o.Kinds.Columns {
			at, there := t.position(c.Name)
			if kind := is[at]; there && kind != "" && kind != c.Kind {
				return option.Errorf("%s: %s is of the kind %s by the file of kinds (%s), but was of the kind %s when the model was trained; leave it out, "+
					"or train again", t.Name(), t.column(at), c.Kind, option.Ref("schema"), kind)
			}
		}
	}
	return nil
}

// otherDecimal is an error if the option Decimal is that of no number of the model.
func (t *table) otherDecimal(m *Schema, against func(asked, value, what string) error) error {
	asked, numbers := t.opt.Columns.Decimal, 0
	for i := range m.Columns {
		c, decimal := &m.Columns[i], "."
		if c.kind() != KindNumber {
			continue
		}
		if c.Coding != nil {
			decimal = c.Coding.Decimal
		}
		if decimal == asked {
			return nil
		}
		numbers++
	}
	if asked == "" || numbers == 0 {
		return nil
	}
	return against("decimal", asked, "whose numbers have another")
}

// kind is the kind of an input.
func (c *Column) kind() string {
	switch {
	case c.Categories != nil:
		return KindCategory
	case c.Coding == nil || c.Coding.isNumber():
		return KindNumber
	case c.Coding.Kind == CodedHashed:
		return KindCategory
	}
	return c.Coding.Kind // date, ordinal, text
}
