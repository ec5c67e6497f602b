package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	front "mercer"
	"mercer/dataset"
	"mercer/eval"
	"mercer/model"
	"mercer/train"
)

// continues are the flags of train that may stand beside --continue; all others would change
// what the model has already.
const continues = "output test test-labels online continue json progress memory threads report plots " +
	"format label labels label-separator weight header base missing batch group query table"

// goOn continues the training of a model with more data.
func (t *training) goOn(cmd *cobra.Command, path string) error {
	start := time.Now()
	var other []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !contains(continues, f.Name) {
			other = append(other, "--"+f.Name)
		}
	})
	switch {
	case len(other) > 0:
		return usagef("%s cannot be given with --continue: the model keeps the settings that it was trained with", strings.Join(other, ", "))
	case t.out == "":
		return usagef("no file to write the model to; give -o MODEL")
	}
	if err := checkData(&t.data); err != nil {
		return err
	}
	if err := t.pages.Check(t.out, t.from, path, t.test, t.testLabels); err != nil {
		return err
	}
	p, err := NewProgress(cmd, t.progress)
	if err != nil {
		return err
	}
	if err := t.findTest(); err != nil {
		return err
	}
	m, err := model.Load(t.from)
	if err != nil {
		return err
	}
	if err := noGroup(m, t.data); err != nil {
		return err
	}
	if err := writable(t.out); err != nil {
		return err
	}
	cfg := front.Config{
		Continue: m, Test: t.testData(),
		Training: train.Options{Progress: p.Report, Validated: t.validated(p)},
		Metrics:  eval.Options{Curves: t.pages.Wanted(), Intervals: true},
	}
	data := t.data
	data.Stream = true // there is one pass
	r, err := front.Train(cmd.Context(), front.File(path, data), cfg)
	p.Done()
	var cannot *front.ContinueError
	if errors.As(err, &cannot) {
		return fmt.Errorf("%s: %w", t.from, cannot.Err)
	}
	return t.finish(cmd, r, tooWide(err, t.from, "train that with"), filepath.Base(dataset.ShownPath(path)), start, nil)
}
