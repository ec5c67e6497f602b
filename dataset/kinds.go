package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mercer/internal/engine/option"
)

// Kinds say in a file what the columns of a table are, so that a person can edit it (Profile.Kinds writes what was found).
type Kinds struct {
	// Decimal is the decimal separator of numbers, "." (or "") or ",", and NA are texts that stand for a missing
	// value besides the usual ones.
	Decimal string   `json:"decimal,omitempty"`
	NA      []string `json:"na,omitempty"`

	// Columns are columns by name. Those that are not there are as the data say.
	Columns []ColumnKind `json:"columns"`
}

// ColumnKind is the kind of one column.
type ColumnKind struct {
	// Name is the column's name, or its position where the file has no names.
	Name string `json:"name"`

	// Kind is "number", "category", "ordinal", "date", "text", "id", "ignore", "label", "weight" or "group".
	Kind string `json:"kind"`

	// Order are the levels of an ordinal column, from low to high.
	Order []string `json:"order,omitempty"`

	// Layouts are those of a date, as in Go's package time; "unix", "unixmilli", "unixmicro" and "unixnano" count from 1970, "quarter"
	// is one such as 2024Q3, "week" one such as 2024-W07. None means that they are found out.
	Layouts []string `json:"layouts,omitempty"`

	// NA are texts that stand for a missing value in this column of numbers or dates alone. nil means that they are found out.
	NA []string `json:"na,omitempty"`

	// Buckets is the number of dimensions of a text.
	Buckets int `json:"buckets,omitempty"`
}

// maxKinds bounds a file of kinds.
const maxKinds = 16 << 20

// ReadKinds reads a file of kinds in JSON; name is what messages call it.
func ReadKinds(r io.Reader, name string) (*Kinds, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKinds+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxKinds {
		return nil, fmt.Errorf("%s: is longer than %d bytes, too long for kinds of columns", name, maxKinds)
	}
	if err := CheckUTF8(name, text); err != nil {
		return nil, err
	}
	k := &Kinds{}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(k); err != nil {
		if strings.Contains(err.Error(), "unknown field") { // encoding/json has no type for it
			err = fmt.Errorf("%w; a column may have %s", err, strings.Join(kindFields(), ", "))
		}
		return nil, fmt.Errorf("%s: is no file of kinds of columns in JSON: %w", name, err)
	}
	if d.More() {
		return nil, fmt.Errorf("%s: something follows the kinds of columns", name)
	}
	if err := k.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}

// kindFields are what a file of kinds may say of a column.
func kindFields() []string {
	var names []string
	for f := range reflect.TypeFor[ColumnKind]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, strconv.Quote(name))
	}
	return names
}

var allKinds = []string{KindNumber, KindCategory, KindOrdinal, KindDate, KindText, KindID, KindIgnored, KindLabel, KindWeight, KindGroup}

func (k *Kinds) check() error {
	seen, labels := map[string]bool{}, 0
	for i, c := range k.Columns {
		switch {
		case c.Name == "":
			return fmt.Errorf("column %d of the list has no name", i+1)
		case seen[c.Name]:
			return fmt.Errorf("column %q is there twice", c.Name)
		case !slices.Contains(allKinds, c.Kind):
			return fmt.Errorf("column %q has the kind %q, which is not known; known are %s", c.Name, c.Kind, strings.Join(allKinds, ", "))
		case c.Order != nil && c.Kind != KindOrdinal:
			return fmt.Errorf("column %q has an order, but is no ordinal column", c.Name)
		case c.Layouts != nil && c.Kind != KindDate:
			return fmt.Errorf("column %q has layouts, but is no date", c.Name)
		case len(c.NA) > 0 && c.Kind != KindNumber && c.Kind != KindDate:
			return fmt.Errorf("column %q has texts that stand for a missing value (na), which are for columns of numbers and dates", c.Name)
		case len(c.Layouts) > maxLayouts:
			return fmt.Errorf("column %q has %d layouts; %d are possible", c.Name, len(c.Layouts), maxLayouts)
		case c.Buckets != 0 && c.Kind != KindText:
			return fmt.Errorf("column %q has buckets, but is no text", c.Name)
		case c.Buckets < 0 || c.Buckets > maxBuckets:
			return fmt.Errorf("column %q has %d buckets; 1 to %d are possible", c.Name, c.Buckets, maxBuckets)
		case len(slices.Compact(slices.Sorted(slices.Values(c.Order)))) != len(c.Order):
			return fmt.Errorf("column %q has a level twice in its order", c.Name)
		case c.Kind == KindLabel:
			labels++
		}
		seen[c.Name] = true
	}
	if k.Decimal != "" && k.Decimal != "." && k.Decimal != "," {
		return fmt.Errorf("the decimal separator %q is not known; known are . and ,", k.Decimal)
	}
	return nil
}

// Write writes the kinds as JSON, a column a line.
func (k *Kinds) Write(w io.Writer) error {
	rest := *k
	rest.Columns = nil
	head, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	var out strings.Builder
	out.WriteString(strings.TrimSuffix(string(head), `"columns":null}`))
	out.WriteString("\"columns\": [\n")
	for i, c := range k.Columns {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		out.WriteString("  " + string(line))
		if i < len(k.Columns)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("]}\n")
	_, err = io.WriteString(w, out.String())
	return err
}

// named are the columns of a kind, for the options label, weight and group, which a file of kinds may give as well.
func (k *Kinds) named(kind string) string {
	var names []string
	if k != nil {
		for _, c := range k.Columns {
			if c.Kind == kind {
				names = append(names, c.Name)
			}
		}
	}
	return option.Listed(names)
}

// applyKinds gives columns the kinds of a file.
func (t *table) applyKinds(columns []attribute, k *Kinds) error {
	if k == nil {
		return nil
	}
	for _, c := range k.Columns {
		at, ok := t.position(c.Name)
		if !ok {
			return fmt.Errorf("%s: there is no column %q of the file of kinds; %s", t.Name(), c.Name, t.listColumns())
		}
		if t.roles[at].kind != ignored {
			continue // a role that the options or the file gave it
		}
		switch c.Kind {
		case KindLabel, KindWeight, KindGroup:
			return option.Errorf("%s: %s is the %s by the file of kinds, but another column by %s", t.Name(), t.column(at), c.Kind,
				option.Ref(c.Kind))
		}
		if err := t.checkDeclared(at, columns[at], c.Kind); err != nil {
			return err
		}
		a := &columns[at]
		a.kind, a.order, a.layouts, a.buckets, a.byFile = c.Kind, c.Order, c.Layouts, c.Buckets, true
		if c.NA != nil {
			a.marks, a.marked = c.NA, 0
		}
	}
	return nil
}

var errDeclared = errors.New("the file declares its values")

// checkDeclared rejects another kind for a column whose values the file declares (ARFF).
func (t *table) checkDeclared(at int, a attribute, kind string) error {
	if a.categories == nil || kind == KindCategory || kind == KindIgnored || kind == KindID {
		return nil
	}
	return fmt.Errorf("%s: %s cannot be a %s: %w", t.Name(), t.column(at), kind, errDeclared)
}
