package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	front "mercer"
	"mercer/dataset"
	"mercer/eval"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/solve/learn"
	"mercer/matrix"
	"mercer/model"
)

// predict is the state of the command of that name.
type predict struct {
	predictedColumns
	following
	data     dataset.Options
	out      destination
	interval string // "": none
	level    float64
	args     []string
	proba    bool
	json     bool
	progress string

	check string
	drift *eval.Drift
}

// predictedColumns are what a prediction has.
type predictedColumns struct {
	scores    bool
	variance  bool
	withInput bool
	top       int
	threshold string
}

// following is how predictions go on.
type following struct {
	more   func() (*rows, error) // rows that follow those of the first source, nil at the end; nil if there are none
	count  int                   // of rows that were predicted
	unseen []front.Unseen
}

func newPredict() *cobra.Command {
	p := &predict{}
	cmd := &cobra.Command{
		Use:   "predict [flags] MODEL DATA",
		Short: "Predict rows, one prediction a line",
		Long: `Predict every row of DATA with MODEL: one line a row, the class label or the number.

DATA is read as the training data were: columns by name where both have names, else by
position; labels may be there or not. The rows are never all in memory.

--scores adds the scores after a tab, one a class in the order of "mercer inspect MODEL"
(two classes: one score, positive for the second). --proba adds the probabilities, one a
class, of every classifier by default; with --json they are an object by class.

With -o NAME.csv, .tsv, .jsonl, .parquet, .arrow or .arrows, or with --output-format, --id, --with-input or
--top-k, the predictions are a table with names that joins to the input: the columns of --id (by default those that the model knows as IDs), or
all columns with --with-input, then the prediction, and the probabilities by class if the model has them.

A model of two classes that was trained with --threshold applies it; --threshold here takes its place.

--check compares DATA with the rows of the training: it counts rows with a value outside the ranges that the training had, and tests
for each column whether its values come from the same source (docs/evaluation.md has the tests). With --check=fail the exit code is 3
if any column has drifted; the predictions are written all the same.

A model of labels of which a row may have any number writes those that it predicts separated by
commas, an empty line for none.

--interval 0.9 adds the ends of the interval that holds the truth nine times out of ten, after each number and a tab: of a
regression by rfm, the default for tables, at any level, and of ridge regression at the level of its --conformal. One that was
trained with --variance tells with --variance the standard deviation of each number.

MODEL may also be a text model of LIBSVM or LIBLINEAR, which its content tells: predictions are
those of svm-predict, for DATA of numbers in the order of its columns; --scores adds the
decision values, --proba the probabilities of the labels in the order of the file.

A model of bags predicts bags, one a line; DATA may come in any of the forms that "mercer
train --help" tells of. Where bags have names, by a column or as files, a line is the name, a
tab and the prediction.`,
		Example: `  mercer predict adult.mercer new.csv -o predictions.txt
  mercer predict churn.mercer new.csv --id customer_id -o predictions.csv
  mercer predict adult.mercer a9a.t.gz --scores | head
  mercer predict churn.mercer new.csv --check=fail -o predictions.csv
  cut -d, -f1-14 rows.csv | mercer predict adult.mercer -
  mercer predict birds.mercer folder-of-descriptors`,
		Args: func(cmd *cobra.Command, args []string) error {
			p.args = p.withoutLevel(args)
			return nArgs(2, 2)(cmd, p.args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd, p.args[0], p.args[1]) },
	}
	f := cmd.Flags()
	f.StringVarP(&p.out.path, "output", "o", "", "file to write the predictions to (default: standard output)")
	f.StringVar(&p.out.format, "output-format", "auto", "how the predictions are written: auto (by the name of the file), csv, tsv, jsonl, parquet, arrow, arrows")
	p.predictedColumns.flags(cmd)
	f.BoolVar(&p.variance, "variance", false, "add the standard deviation of each predicted number (of a model trained with --variance)")
	f.IntVar(&p.top, "top-k", 0, "the classes with the largest probabilities, so many, in a table with names (default: the probabilities of all)")
	f.StringVar(&p.interval, "interval", "", "add the lower and upper end of the interval that holds the truth with this probability "+
		"(default 0.9, or that of --conformal)")
	f.Lookup("interval").NoOptDefVal = anyLevel
	f.BoolVar(&p.proba, "proba", false, "add the probabilities of the classes or labels")
	f.StringVar(&p.check, "check", "", "compare DATA with what the training had: warn tells of rows outside its ranges and of columns that have drifted, fail "+
		"exits with code 3 as well if any has")
	f.Lookup("check").NoOptDefVal = "warn"
	dataFlags(cmd, &p.data)
	groupFlag(cmd, &p.data)
	f.BoolVar(&p.json, "json", false, "one JSON object a line, with prediction and scores, and probabilities where the model has them")
	ProgressFlag(cmd, &p.progress)
	return cmd
}

func (p *predictedColumns) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.scores, "scores", false, "add the scores")
	f.BoolVar(&p.withInput, "with-input", false, "write all columns of the input before the prediction, in a table with names")
	thresholdFlag(cmd, &p.threshold)
}

// unwritten are the endings of files that say what the lines of a text are not.
var unwritten = []string{".json", ".xlsx", ".xls", ".ods", ".npy", ".npz", ".avro", ".orc", ".pkl", ".pickle", ".h5", ".html", ".xml",
	".gz", ".zst", ".bz2", ".zip", ".xz", ".parq", ".pq"}

// destination is where predictions go and how they are written.
type destination struct{ path, format string }

// table is the format if it is one of tables: what was asked for, or what the name of the file implies.
func (d destination) table() (dataset.TableFormat, bool) {
	if d.format != "auto" {
		return dataset.TableFormatOf("." + d.format)
	}
	return dataset.TableFormatOf(d.path)
}

// check says what is wrong with it.
func (d destination) check() error {
	if _, known := d.table(); d.format != "auto" && !known {
		return usagef("--output-format %q is not known; known are auto, csv, tsv, jsonl, parquet, arrow and arrows", d.format)
	}
	if ending := strings.ToLower(filepath.Ext(d.path)); d.format == "auto" && slices.Contains(unwritten, ending) {
		return usagef("-o %s: predictions are not written as %s; .jsonl has a JSON object a line, .csv, .tsv, .parquet, .arrow and .arrows are tables",
			d.path, ending)
	}
	return nil
}

// anyLevel is the level of intervals that is not given.
const anyLevel = "usual"

// withoutLevel are the arguments without the level in "--interval LEVEL", which a flag that may stand alone leaves among them: the first
// that is a level, or else is no file.
func (p *predict) withoutLevel(args []string) []string {
	if p.interval != anyLevel || len(args) != 3 {
		return args
	}
	at := slices.IndexFunc(args, func(text string) bool { _, err := levelOf(text); return err == nil })
	if at < 0 {
		at = slices.IndexFunc(args, func(text string) bool { _, err := os.Stat(text); return text != "-" && err != nil })
	}
	if at < 0 {
		return args
	}
	p.interval = args[at]
	return slices.Delete(slices.Clone(args), at, at+1)
}

// levelOf reads a probability between 0 and 1, or a percentage.
func levelOf(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	level, err := strconv.ParseFloat(number, 64)
	if percent {
		level /= 100
	}
	return level, cmp.Or(err, learn.CheckLevel(level))
}

func (p *predict) run(cmd *cobra.Command, modelPath, path string) error {
	if p.interval != "" && p.interval != anyLevel {
		level, err := levelOf(p.interval)
		if err != nil {
			return usagef("--interval %s is not a probability between 0 and 1, such as 0.9", p.interval)
		}
		p.level = level
	}
	if err := p.out.check(); err != nil {
		return err
	}
	if err := checkData(&p.data); err != nil {
		return err
	}
	bars, err := NewProgress(cmd, p.progress)
	if err != nil {
		return err
	}
	if err := modelThenData(cmd, modelPath, path); err != nil {
		return err
	}
	if kind := foreignKind(modelPath); kind != "" {
		return p.runForeign(cmd, kind, modelPath, path, bars)
	}
	m, err := p.load(modelPath)
	if err != nil {
		return err
	}
	src, err := openRows(cmd, m, path, p.data)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := p.writeAll(cmd, m, src, bars); err != nil {
		return err
	}
	return p.endCheck(cmd, path)
}

// load reads a model that can predict what is asked for, and settles how its data are read.
func (p *predict) load(path string) (*model.Model, error) {
	m, err := model.Load(path)
	if err != nil {
		return nil, err
	}
	if m, err = divided(m, path, p.threshold); err != nil {
		return nil, err
	}
	if _, err := p.spread(m, matrix.Rows{Dense: matrix.NewDense(0, m.Dim())}, matrix.NewDense(0, m.Outputs())); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := m.NoProbabilities(); p.proba && err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := p.beginCheck(m, path); err != nil {
		return nil, err
	}
	if p.top < 0 {
		return nil, usagef("--top-k %d: give 1 or more", p.top)
	}
	if p.data.Columns.Carry = "id"; p.withInput {
		p.data.Columns.Carry = "all"
	}
	if !p.tabular() || m.Bag() != nil {
		p.data.Columns.Carry = ""
	}
	m.Info().Schema.Unlabelled = true
	return m, nil
}

// writeAll writes the predictions of the rows of src, and of those that follow.
func (p *predict) writeAll(cmd *cobra.Command, m *model.Model, src *rows, bars *Progress) (err error) {
	if p.tabular() && m.Bag() == nil {
		err = p.runTable(cmd, m, src, bars)
	} else {
		err = p.output(cmd, bars, func(w *bufio.Writer) error {
			return p.eachScored(cmd, m, src, bars, func(b dataset.Step, scores *matrix.Dense, extra spread) error {
				return p.write(w, m, scores, extra, bagKeys(b.Pass))
			})
		})
	}
	if err == nil {
		warnUnseen(cmd, p.unseen)
	}
	return err
}

// output lets work write to the file that was asked for, which appears whole or not at all, or to
// standard output.
func (p *predict) output(cmd *cobra.Command, bars *Progress, work func(w *bufio.Writer) error) error {
	var out io.Writer = cmd.OutOrStdout()
	commit := func() error { return nil }
	if p.out.path != "" {
		f, err := atomicfile.Create(p.out.path)
		if err != nil {
			return err
		}
		defer f.Close()
		out, commit = f, f.Commit
	} else {
		bars.w = nil // predictions and a progress line would mix on a terminal
	}
	w := bufio.NewWriterSize(out, 1<<16)
	err := work(w)
	bars.Done()
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return commit()
}

// eachScored predicts the rows of src, and of those that follow, batch by batch.
func (p *predict) eachScored(cmd *cobra.Command, m *model.Model, src *rows, bars *Progress,
	body func(b dataset.Step, scores *matrix.Dense, extra spread) error) error {
	var scores matrix.Dense
	first := src
	closeFollower := func() { // those that follow are many, and one is open at a time
		if src != first {
			_ = src.Close()
		}
	}
	defer closeFollower()
	for p.count = 0; ; {
		for b, err := range dataset.Each(cmd.Context(), src) {
			if err != nil {
				return err
			}
			scores.Reshape(b.X.Len(), m.Outputs())
			var extra spread
			if err = m.Learned(&scores, b.X); err == nil {
				extra, err = p.spread(m, b.X, &scores)
			}
			if err != nil {
				return dataset.Locate(err, src, b.First)
			}
			p.compared(b.X)
			if err := body(b, &scores, extra); err != nil {
				return err
			}
			p.count += b.X.Len()
			bars.Report("predict", p.count, b.Pass.Progress())
		}
		p.unseen = append(p.unseen, unseenIn(src)...)
		if p.more == nil {
			return nil
		}
		next, err := p.more()
		if next == nil {
			return err
		}
		closeFollower()
		src = next
	}
}

// spread is how sure a regression is of each row.
type spread struct {
	deviations, lower, upper *matrix.Dense // nil: not asked for
}

// spreadOf is the spread of one row.
type spreadOf struct{ deviations, lower, upper []float32 }

func (s *spread) row(i int) (of spreadOf) {
	if s.deviations != nil {
		of.deviations = s.deviations.Row(i)
	}
	if s.lower != nil {
		of.lower, of.upper = s.lower.Row(i), s.upper.Row(i)
	}
	return of
}

func (p *predict) spread(m *model.Model, x matrix.Rows, scores *matrix.Dense) (s spread, err error) {
	if p.variance {
		s.deviations = matrix.NewDense(scores.Rows, scores.Cols)
		if err := m.Deviations(s.deviations, x); err != nil {
			return s, err
		}
	}
	if p.interval != "" {
		s.lower, s.upper = matrix.NewDense(scores.Rows, scores.Cols), matrix.NewDense(scores.Rows, scores.Cols)
		err = m.IntervalsAround(p.level, s.lower, s.upper, scores, s.deviations, x)
	}
	return s, err
}

// appendTabbed appends numbers, a tab before each.
func appendTabbed(line []byte, numbers ...float32) []byte {
	for _, v := range numbers {
		line = strconv.AppendFloat(append(line, '\t'), float64(v), 'g', -1, 32)
	}
	return line
}

// appendTabbedValue appends a tab and the prediction of a target, or an end of its interval.
func appendTabbedValue(line []byte, m *model.Model, t int, score float32) []byte {
	return strconv.AppendFloat(append(line, '\t'), m.Value(t, score), 'g', -1, m.ValueBits())
}

// valuesOf are the predictions of a regression for JSON, or the scores of classes: float32, or float64 for a model with an offset.
func valuesOf(m *model.Model, scores []float32) any {
	if m.ValueBits() == 32 {
		return scores
	}
	values := make([]float64, len(scores))
	for t, v := range scores {
		values[t] = m.Value(t, v)
	}
	return values
}

// probabilities are those of classes or labels by name, in the order of the model, which a map would not keep.
type probabilities struct {
	names  []string
	values []float64
}

// MarshalJSON makes an object of them, as mercer serve does.
func (p *probabilities) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for k, name := range p.names {
		if k > 0 {
			object = append(object, ',')
		}
		text, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		object = append(append(object, text...), ':')
		object = strconv.AppendFloat(object, p.values[k], 'g', -1, 64)
	}
	return append(object, '}'), nil
}

// write writes a line a row, beginning with the name of the bag that it was.
func (p *predict) write(w *bufio.Writer, m *model.Model, scores *matrix.Dense, extra spread, keys []string) error {
	var line []byte
	var proba []float64
	if p.proba || p.json && m.HasProbabilities() {
		proba = make([]float64, max(len(m.Classes()), len(m.Labels())))
	}
	for i := range scores.Rows {
		row, of := scores.Row(i), extra.row(i)
		if proba != nil {
			if err := m.Probabilities(proba, row); err != nil {
				return err
			}
		}
		var key *string
		if keys != nil {
			key = &keys[i]
		}
		if p.json {
			var err error
			if line, err = answerJSON(m, row, of, proba, key); err != nil {
				return err
			}
		} else {
			line = p.appendAnswer(line[:0], m, row, of, proba, key)
		}
		line = append(line, '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// answerJSON is the line of a row as JSON.
func answerJSON(m *model.Model, scores []float32, extra spreadOf, proba []float64, key *string) ([]byte, error) {
	v := struct {
		Bag           *string        `json:"bag,omitempty"`
		Prediction    any            `json:"prediction"`
		Scores        any            `json:"scores"`
		Deviations    []float32      `json:"deviations,omitempty"`
		Lower         any            `json:"lower,omitempty"`
		Upper         any            `json:"upper,omitempty"`
		Probabilities *probabilities `json:"probabilities,omitempty"`
	}{Bag: key, Scores: valuesOf(m, scores), Deviations: extra.deviations}
	if proba != nil {
		v.Probabilities = &probabilities{slices.Concat(m.Classes(), m.Labels()), proba}
	}
	if extra.lower != nil {
		v.Lower, v.Upper = valuesOf(m, extra.lower), valuesOf(m, extra.upper)
	}
	switch {
	case m.Classes() != nil:
		v.Prediction = m.Classes()[m.Class(scores)]
	case m.Labels() != nil:
		v.Prediction = m.Predicted(scores)
	case len(scores) == 1 && m.ValueBits() == 32:
		v.Prediction = scores[0]
	case len(scores) == 1:
		v.Prediction = m.Value(0, scores[0])
	default:
		v.Prediction = valuesOf(m, scores)
	}
	return json.Marshal(v)
}

// appendAnswer appends the line of a row as text.
func (p *predict) appendAnswer(line []byte, m *model.Model, scores []float32, extra spreadOf, proba []float64, key *string) []byte {
	if key != nil {
		line = append(append(line, *key...), '\t')
	}
	line = m.AppendPrediction(line, scores)
	if p.scores {
		for t, v := range scores {
			line = appendTabbedValue(line, m, t, v)
		}
	}
	line = appendTabbed(line, extra.deviations...)
	for t, lower := range extra.lower {
		line = appendTabbedValue(appendTabbedValue(line, m, t, lower), m, t, extra.upper[t])
	}
	for _, v := range proba {
		line = append(line, '\t')
		line = strconv.AppendFloat(line, v, 'g', 6, 64)
	}
	return line
}
