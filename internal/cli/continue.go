package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/dataset"
	"mercer/internal/whole"
	"mercer/lab"
	"mercer/learn"
	"mercer/matrix"
	"mercer/model"
	"mercer/train"
)

// continues are the flags of train that may stand beside --continue; all others would change
// what the model has already.
const continues = "output test test-labels online continue json progress memory threads report plots " +
	"format label labels label-separator weight header base missing batch group"

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
	if err := t.pages.check(t.out, t.from, path, t.test, t.testLabels); err != nil {
		return err
	}
	p, err := newProgress(cmd, t.progress)
	if err != nil {
		return err
	}
	m, err := model.Load(t.from)
	if err != nil {
		return err
	}
	o, err := train.Continue(m)
	if err != nil {
		return errors.New(t.from + ": " + err.Error())
	}
	if err := t.checkTestOf(cmd, m); err != nil {
		return err
	}
	out, err := whole.Create(t.out)
	if err != nil {
		return err
	}
	out.Close()
	o.Validated(func(v learn.OnlinePoint) { p.say("  " + v.String()) })
	t.data.Stream = true // there is one pass
	data, err := openRows(cmd, m, path, t.data)
	if err != nil {
		return err
	}
	defer data.Close()
	if f, ok := data.file.(*dataset.File); ok {
		f.LastPass()
	}
	err = o.PartialFitSource(cmd.Context(), data, func(rows int, share float64) { p.report("train", rows, share) })
	p.done()
	if err != nil {
		return err
	}
	warnUnseen(cmd, data)
	if m, err = o.Model(); err != nil {
		return err
	}
	return t.finish(cmd, m, &train.Report{}, nil, p, filepath.Base(path), start)
}

// checkTestOf says before the training what would keep the model from being tested after it: what checkTest finds, or what the
// model of now cannot do with the first rows.
func (t *training) checkTestOf(cmd *cobra.Command, m *model.Model) error {
	if err := t.findTest(); err != nil {
		return err
	}
	if m.Bag() == nil {
		if err := t.checkTest(cmd.Context(), m.Info().Schema, t.from, "train that with"); err != nil {
			return err
		}
	}
	if !t.testsFiles() && !isFolder(t.test) {
		return nil
	}
	o := t.data
	o.LabelsFile = t.testLabels
	test, err := openRows(cmd, m, t.test, o)
	if err != nil {
		return err
	}
	defer test.Close()
	_, err = lab.Evaluate(cmd.Context(), m, firstRows{test}, lab.Options{})
	return err
}

// firstRows is the first batch of a source.
type firstRows struct{ dataset.Source }

func (s firstRows) Open(ctx context.Context) (dataset.Reader, error) {
	r, err := s.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &firstReader{Reader: r}, nil
}

type firstReader struct {
	dataset.Reader
	read bool
}

func (r *firstReader) Next() (*matrix.Batch, error) {
	if r.read {
		return nil, io.EOF
	}
	r.read = true
	return r.Reader.Next()
}
