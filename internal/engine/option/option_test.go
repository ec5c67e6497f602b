package option

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// flags names options as a command line does.
func flags(option, value string) string {
	flag := "--" + strings.ReplaceAll(option, "_", "-")
	if value != "" {
		flag += " " + value
	}
	return flag
}

func TestBothFaces(t *testing.T) {
	cell := []byte("n/a")
	missing := Errorf("%q is not a number; %s or %s fills it in", cell, Set("missing", "mean"), Set("missing", "zero"))
	copy(cell, "xyz") // a reader's memory
	for _, c := range []struct {
		err           error
		field, atFlag string
	}{
		{errors.New("no options"), "no options", "no options"},
		{missing, `"n/a" is not a number; missing=mean or missing=zero fills it in`,
			`"n/a" is not a number; --missing mean or --missing zero fills it in`},
		{fmt.Errorf("f.csv:3: %w", missing), `f.csv:3: "n/a" is not a number; missing=mean or missing=zero fills it in`,
			`f.csv:3: "n/a" is not a number; --missing mean or --missing zero fills it in`},
		{Errorf("name %d columns by %s", 2, Ref("label_separator")), "name 2 columns by label_separator", "name 2 columns by --label-separator"},
		{Errorf("%s %q: %w", Ref("label"), "missing", Errorf("leave out %s", Ref("group"))),
			`label "missing": leave out group`, `--label "missing": leave out --group`},
		{Errorf("inside an argument: %v", Errorf("leave out %s", Ref("group"))),
			"inside an argument: leave out group", "inside an argument: leave out --group"},
		{Errorf("too much; use %s", Phrasef("%s, or %s,", Phrasef("fewer %s", Ref("features")), Set("learner", "ridge"))),
			"too much; use fewer features, or learner=ridge,", "too much; use fewer --features, or --learner ridge,"},
		{errors.Join(Errorf("take %s", Ref("a")), Errorf("or %s", Ref("b_c"))), "take a\nor b_c", "take --a\nor --b-c"},
		{fmt.Errorf("%w and %w", Errorf("give %s", Ref("a")), Errorf("give %s", Ref("a"))), "give a and give a", "give --a and give --a"},
		// A text that hides its cause is as it is.
		{hiding{Errorf("leave out %s", Ref("group"))}, "something is wrong", "something is wrong"},
		// Data that look like options are no options.
		{fmt.Errorf("group=x: %w", Errorf("the column %q is not there; name another %s", "group", Ref("group"))),
			`group=x: the column "group" is not there; name another group`, `group=x: the column "group" is not there; name another --group`},
		{Renamed(fmt.Errorf("f: %w", Errorf("name another %s or %s", Ref("group"), Ref("label"))), "group", "fold_group"),
			"f: name another fold_group or label", "f: name another --fold-group or --label"},
		{fmt.Errorf("tune: %w", Renamed(Errorf("leave out %s", Set("group", "a")), "group", "fold_group")),
			"tune: leave out fold_group=a", "tune: leave out --fold-group a"},
	} {
		if got := c.err.Error(); got != c.field {
			t.Errorf("for a Go program %q, want %q", got, c.field)
		}
		if got := Text(c.err, flags); got != c.atFlag {
			t.Errorf("for the command line %q, want %q", got, c.atFlag)
		}
	}
}

type hiding struct{ in error }

func (h hiding) Error() string { return "something is wrong" }
func (h hiding) Unwrap() error { return h.in }

func TestWrappedErrorsAreFound(t *testing.T) {
	cause := &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}
	for _, err := range []error{
		Errorf("%s: %w", Ref("labels_file"), cause),
		Renamed(Errorf("%s: %w", Ref("labels_file"), cause), "labels_file", "labels"),
	} {
		var path *fs.PathError
		if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &path) || path != cause {
			t.Errorf("%v does not lead to its cause", err)
		}
	}
}
