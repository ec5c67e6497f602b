package dataset

import (
	"bytes"
	"fmt"
	"strconv"

	"mercer/internal/engine/option"
)

// assign gives the columns their roles as inputs, labels and weight.
func (a *array) assign() error {
	place := func(asked, spec string) ([]int, error) {
		list, err := positions(spec, a.cols)
		if err != nil {
			return nil, option.Errorf("%s: %s: %w", a.in.Name(), option.Ref(asked), err)
		}
		return list, nil
	}
	var err error
	m := a.opt.Schema
	want := 0
	if m != nil {
		want = m.Dim
	}
	if a.opt.Group != "" {
		g, err := place("group", a.opt.Group)
		if err != nil {
			return err
		}
		if len(g) != 1 {
			return option.Errorf("%s: %s %q names %d columns; one is possible", a.in.Name(), option.Ref("group"), a.opt.Group, len(g))
		}
		a.group = g[0]
	} else if m != nil && m.Group != nil && a.bag == 0 && m.Format == "npy" && a.cols == m.Width {
		a.group = m.Group.At
	}
	grouped := 0
	if a.group >= 0 {
		grouped = 1
	}
	switch {
	case a.bag > 0:
	case a.opt.Label == "none" || a.schema.Format == "idx" && a.opt.Label == "":
	case a.opt.Label != "":
		if a.targets, err = place("label", a.opt.Label); err != nil {
			return err
		}
	case a.opt.LabelsFile != "":
	case m != nil && a.cols == want+grouped:
		// Rows to predict, without labels.
	case m != nil && m.Format == "npy" && a.cols == m.Width:
		for _, l := range m.Labels {
			a.targets = append(a.targets, l.At)
		}
	case m == nil && a.opt.AllInputs:
	case a.cols > 1+grouped:
		a.targets = []int{a.cols - 1}
		if a.group == a.cols-1 {
			a.targets[0]--
		}
	}
	if a.opt.Weight != "" {
		w, err := place("weight", a.opt.Weight)
		if err != nil {
			return err
		}
		if len(w) != 1 {
			return option.Errorf("%s: %s %q names %d columns; one is possible", a.in.Name(), option.Ref("weight"), a.opt.Weight, len(w))
		}
		a.weight = w[0]
		a.schema.Weight = &Place{strconv.Itoa(w[0]), w[0]}
	} else if m != nil && m.Weight != nil && a.bag == 0 && m.Format == "npy" && a.cols == m.Width {
		a.weight = m.Weight.At
	}
	used := map[int]bool{}
	for _, t := range a.targets {
		used[t] = true
		a.schema.Labels = append(a.schema.Labels, Place{strconv.Itoa(t), t})
	}
	if a.weight >= 0 {
		if used[a.weight] {
			return option.Errorf("%s: column %d is the label and the weight; name another %s or %s", a.in.Name(), a.weight, option.Ref("weight"),
				option.Ref("label"))
		}
		used[a.weight] = true
	}
	if a.group >= 0 {
		if used[a.group] {
			return option.Errorf("%s: column %d says which bag a row is of and is the label or the weight; name another %s, %s or %s", a.in.Name(),
				a.group,
				option.Ref("group"), option.Ref("label"), option.Ref("weight"))
		}
		used[a.group] = true
		a.schema.Group = &Place{strconv.Itoa(a.group), a.group}
	}
	a.schema.Dim, a.schema.Width = a.cols-len(used), a.cols
	if len(used) > 0 {
		for j := range a.cols {
			if !used[j] {
				a.inputs = append(a.inputs, j)
			}
		}
	}
	if a.schema.Dim == 0 {
		return fmt.Errorf("%s: no inputs are left beside the label", a.in.Name())
	}
	if m != nil && a.schema.Dim != want {
		return option.Errorf("%s: rows have %d inputs, but %s %d; check %s and the file", a.in.Name(), a.schema.Dim, a.opt.trainedOn(), want,
			option.Ref("label"))
	}
	if m != nil && hasCategories(m) {
		return fmt.Errorf("%s: the model was trained on a table with columns of text (%s), so it needs a table", a.in.Name(), firstCategorical(m))
	}
	return nil
}

func hasCategories(m *Schema) bool { return firstCategorical(m) != "" }

func firstCategorical(m *Schema) string {
	for _, c := range m.Columns {
		if c.Categories != nil {
			return c.Name
		}
	}
	return ""
}

// positions reads a list of positions among n columns, separated by commas.
func positions(spec string, n int) ([]int, error) {
	var list []int
	for part := range bytes.SplitSeq([]byte(spec), []byte{','}) {
		v, err := strconv.Atoi(string(bytes.TrimSpace(part)))
		if err != nil {
			return nil, fmt.Errorf("there is no column %q; the columns are 0 to %d and have no names", part, n-1)
		}
		if v < 0 {
			v += n
		}
		if v < 0 || v >= n {
			return nil, fmt.Errorf("there is no column %s; the columns are 0 to %d", part, n-1)
		}
		for _, u := range list {
			if u == v {
				return nil, fmt.Errorf("column %d is named twice", v)
			}
		}
		list = append(list, v)
	}
	return list, nil
}
