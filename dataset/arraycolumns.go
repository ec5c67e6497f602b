package dataset

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"mercer/internal/engine/option"
)

// orTable is the array as a source: as a table if it has missing values, or is for a model of one.
func (a *array) orTable(ctx context.Context) (Source, error) {
	m, opt := a.opt.Schema, a.opt
	switch {
	case a.bag > 0 || opt.within != "" || streamed(a.in) || m != nil && (len(m.Columns) == 0 || hasCategories(m)):
	case m != nil && !slices.ContainsFunc(m.Columns, func(c Column) bool { return c.Width() != 1 || c.Coding != nil || c.Means != nil }) && !a.hasGaps(ctx):
	case m == nil && (opt.Missing == "error" || !a.hasGaps(ctx)):
	default:
		switch {
		case opt.Label != "" || opt.LabelsFile != "":
		case m == nil && opt.AllInputs:
			opt.Label = "none"
		case m != nil && len(m.Labels) == 0 && a.cols == len(m.Columns)+1: // as of an array without gaps
			opt.Label = strconv.Itoa(a.cols - 1)
		}
		return newTypedTable(ctx, &arrayTable{a}, opt)
	}
	return a, a.assign()
}

// assign gives the columns their roles as inputs, labels, weight and group.
func (a *array) assign() error {
	model := &Schema{} // of the same columns, if there is one
	if a.bag == 0 && a.asTrained() {
		model = a.opt.Schema
	}
	var err error
	if a.group, err = a.single("group", a.opt.Group, model.Group); err != nil {
		return err
	}
	if err := a.chooseLabels(); err != nil {
		return err
	}
	if a.weight, err = a.single("weight", a.opt.Weight, model.Weight); err != nil {
		return err
	}
	if a.opt.Weight != "" {
		a.schema.Weight = &Place{strconv.Itoa(a.weight), a.weight}
	}
	used, err := a.taken()
	if err != nil {
		return err
	}
	a.schema.Dim, a.schema.Width = a.cols-len(used), a.cols
	if len(used) > 0 {
		for j := range a.cols {
			if !used[j] {
				a.inputs = append(a.inputs, j)
			}
		}
	}
	return a.checkInputs()
}

// asTrained says that the file has all columns of the one that a model was trained on, labels as well.
func (a *array) asTrained() bool {
	m := a.opt.Schema
	return m != nil && m.Format == "npy" && a.cols == m.Width
}

// places are the columns that an option names.
func (a *array) places(asked, spec string) ([]int, error) {
	list, err := positions(spec, a.cols)
	if err != nil {
		return nil, option.Errorf("%s: %s: %w", a.in.Name(), option.Ref(asked), err)
	}
	return list, nil
}

// single is the column that an option names, or if it names none that of the model, or -1.
func (a *array) single(asked, spec string, model *Place) (int, error) {
	switch {
	case spec == "" && model != nil:
		return model.At, nil
	case spec == "":
		return -1, nil
	}
	list, err := a.places(asked, spec)
	if err != nil {
		return -1, err
	}
	if len(list) != 1 {
		return -1, option.Errorf("%s: %s %q names %d columns; one is possible", a.in.Name(), option.Ref(asked), spec, len(list))
	}
	return list[0], nil
}

// chooseLabels finds the columns of labels: those asked for, those of the model, or the last.
func (a *array) chooseLabels() (err error) {
	m := a.opt.Schema
	grouped := 0
	if a.group >= 0 {
		grouped = 1
	}
	switch {
	case a.bag > 0:
	case a.opt.Label == "none" || a.schema.Format == "idx" && a.opt.Label == "":
	case a.opt.Label != "":
		a.targets, err = a.places("label", a.opt.Label)
	case a.opt.LabelsFile != "":
	case m != nil && a.cols == m.Dim+grouped:
		// Rows to predict, without labels.
	case a.asTrained():
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
	return err
}

// taken are the columns of labels, weight and group, which the schema gets. Each is one of these alone.
func (a *array) taken() (map[int]bool, error) {
	used := map[int]bool{}
	for _, t := range a.targets {
		used[t] = true
		a.schema.Labels = append(a.schema.Labels, Place{strconv.Itoa(t), t})
	}
	if a.weight >= 0 {
		if used[a.weight] {
			return nil, option.Errorf("%s: column %d is the label and the weight; name another %s or %s", a.in.Name(), a.weight,
				option.Ref("weight"), option.Ref("label"))
		}
		used[a.weight] = true
	}
	if a.group >= 0 {
		if used[a.group] {
			return nil, option.Errorf("%s: column %d says which bag a row is of and is the label or the weight; name another %s, %s or %s",
				a.in.Name(), a.group, option.Ref("group"), option.Ref("label"), option.Ref("weight"))
		}
		used[a.group] = true
		a.schema.Group = &Place{strconv.Itoa(a.group), a.group}
	}
	return used, nil
}

// checkInputs finds that there are no inputs, or others than a model was trained on.
func (a *array) checkInputs() error {
	m := a.opt.Schema
	switch {
	case a.schema.Dim == 0:
		return fmt.Errorf("%s: no inputs are left beside the label", a.in.Name())
	case m != nil && a.schema.Dim != m.Dim:
		return option.Errorf("%s: rows have %d inputs, but %s %d; check %s and the file", a.in.Name(), a.schema.Dim, a.opt.trainedOn(), m.Dim,
			option.Ref("label"))
	case m != nil && hasCategories(m):
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
