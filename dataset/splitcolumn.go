package dataset

import (
	"slices"

	"mercer/internal/engine/option"
)

// split is the column by which rows are to be divided, and how: group, time, column, or "" for none.
func (o *ColumnOptions) split() (kind, column string) {
	switch {
	case o.SplitGroup != "":
		return "group", o.SplitGroup
	case o.SplitTime != "":
		return "time", o.SplitTime
	case o.SplitColumn != "":
		return "column", o.SplitColumn
	}
	return "", ""
}

// chooseSplit finds the column by which rows are to be divided. But for a time it is no input.
func (t *table) chooseSplit(columns []attribute) error {
	o := &t.opt.Columns
	kind, column := o.split()
	if kind == "" {
		return nil
	}
	asked := "split_" + kind
	if n := len(slices.DeleteFunc([]string{o.SplitGroup, o.SplitTime, o.SplitColumn}, func(s string) bool { return s == "" })); n > 1 {
		return option.Errorf("%s: rows are divided by one column; give one of %s, %s and %s", t.Name(), option.Ref("split_group"),
			option.Ref("split_time"), option.Ref("split_column"))
	}
	places, err := t.findAll(asked, column)
	if err != nil {
		return err
	}
	if len(places) != 1 {
		return option.Errorf("%s: %s %q names %d columns; one is possible", t.Name(), option.Ref(asked), column, len(places))
	}
	at := places[0].At
	if t.roles[at].kind == label {
		return option.Errorf("%s: %s is the label, so rows cannot be divided by it; name the label with %s, or another column with %s", t.Name(),
			t.column(at), option.Ref("label"), option.Ref(asked))
	}
	t.split = places
	if c := &columns[at]; kind != "time" && t.roles[at].kind == ignored && c.kind != KindID {
		c.kind = KindIgnored
	}
	return nil
}

// splitBy is for SplitBy.
func (t *table) splitBy() (kind, column string) {
	if t.split == nil {
		return "", ""
	}
	kind, _ = t.opt.Columns.split()
	return kind, t.split[0].Name
}

func (l *libsvm) splitBy() (kind, column string) {
	if !l.divided {
		return "", ""
	}
	return "group", "qid"
}
