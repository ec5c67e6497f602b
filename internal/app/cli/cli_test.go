package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/option"
)

// Packages name options by their fields; here they are flags, however deep in an error they are named.
func TestErrorsNameFlags(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{option.Errorf("leave out %s or %s", option.Ref("label"), option.Ref("labels_file")), "leave out --label or --labels"},
		{fmt.Errorf("f: %w", option.Errorf("use %s", option.Set("survey_rows", "10"))), "f: use --survey-rows 10"},
		{usagef("f: %w", option.Errorf("feature: use %s", option.Ref("max_iter"))), "f: use --max-iter"},
		{option.Errorf("written by %s", option.Ref("save_stats")), "written by train --save-stats"},
		{fmt.Errorf("kernel: label=x\nis no %s", "option"), "label=x is no option"},
	} {
		if got := oneLine(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// One error has both faces: a Go program reads fields, a person at the command line flags.
func TestErrorsHaveTwoFaces(t *testing.T) {
	data := "age,y\n1,0\n,1\n3,0\n"
	want := `ages.csv:3: column "age": "" is not a number (a missing value? `
	src, err := dataset.OpenBytes(context.Background(), "ages.csv", []byte(data), dataset.Options{Missing: "error"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	_, err = dataset.Survey(context.Background(), src, dataset.SurveyOptions{})
	if err == nil || err.Error() != want+"missing=mean or missing=zero fills it in)" {
		t.Errorf("for a Go program: %v", err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "ages.csv", data)
	r := mercer(t, "train", "ages.csv", "-o", "m", "--missing", "error")
	if got := strings.TrimSpace(r.stderr); got != "mercer train: "+want+"--missing mean or --missing zero fills it in)" {
		t.Errorf("at the command line: %s", got)
	}
}
