package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mercer/dataset"
	"mercer/internal/engine/atomicfile"
	"mercer/internal/solve/liblinear"
	"mercer/matrix"
)

func newLiblinearPredict() *cobra.Command {
	return &cobra.Command{
		Use:   "liblinear-predict [options] TEST_FILE MODEL_FILE OUTPUT_FILE",
		Short: "Predict with a model file of LIBLINEAR, as its predict does",
		Long: `Predict the rows of TEST_FILE, LIBSVM text that may be compressed, with a model that LIBLINEAR or
"mercer liblinear-train" wrote. OUTPUT_FILE gets a prediction a line, and the output says how
many are right, all as LIBLINEAR's own predict does. Options:

  -b 1   probabilities of the classes beside each prediction, of logistic regression only;
         the first line then names the classes in their order
  -q     print nothing`,
		Example: `  mercer liblinear-predict a9a.t a9a.model a9a.out
  mercer liblinear-predict -b 1 a9a.t.gz a9a.model a9a.out`,
		DisableFlagParsing:    true, // its options are LIBLINEAR's: one dash and several letters
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			p := liblinearPredict{}
			files, err := shortOptions(cmd, args, func(name, value string) error {
				switch name {
				case "-b":
					if value != "0" && value != "1" {
						return fmt.Errorf("%q is neither 0 nor 1", value)
					}
					p.probabilities = value == "1"
				case "-q":
					p.quiet = true
				default:
					return errUnknownOption
				}
				return nil
			}, "-q")
			if err != nil || files == nil {
				return err
			}
			if len(files) != 3 {
				return usagef("%d files; usage: %s", len(files), cmd.UseLine())
			}
			return p.run(cmd, files[0], files[1], files[2])
		},
	}
}

var errUnknownOption = errors.New("is no option")

// shortOptions reads options of one dash, which all take a value but for the named switches,
// up to the first argument that is none, and returns the rest; nil if help was asked for and
// has been printed.
func shortOptions(cmd *cobra.Command, args []string, set func(name, value string) error, switches ...string) ([]string, error) {
	args, err := takeThreads(cmd, args)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(args); i++ {
		name, value := args[i], ""
		switch {
		case name == "--help" || name == "-h":
			return nil, cmd.Help()
		case len(name) < 2 || name[0] != '-':
			return args[i:], nil
		case !contains(joined(switches), name):
			if i++; i == len(args) {
				return nil, usagef("%s wants a value (%s --help lists the options)", name, cmd.CommandPath())
			}
			value = args[i]
		}
		if err := set(name, value); errors.Is(err, errUnknownOption) {
			return nil, usagef("%s is no option (%s --help lists them)", name, cmd.CommandPath())
		} else if err != nil {
			return nil, usagef("%s %w", name, err)
		}
	}
	return []string{}, nil
}

// takeThreads obeys --threads, which all commands have, wherever it stands, and returns the other arguments.
func takeThreads(cmd *cobra.Command, args []string) (rest []string, err error) {
	flags := cmd.Root().PersistentFlags()
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		if name != "--threads" {
			rest = append(rest, args[i])
			continue
		}
		if !given {
			if i++; i == len(args) {
				return nil, usagef("--threads wants a value (%s --help lists the options)", cmd.CommandPath())
			}
			value = args[i]
		}
		if err := flags.Set("threads", value); err != nil {
			return nil, usagef("--threads %q is not a whole number", value)
		}
	}
	return rest, cmd.Root().PersistentPreRunE(cmd, nil)
}

func joined(words []string) string {
	all := ""
	for _, w := range words {
		all += w + " "
	}
	return all
}

// liblinearPredict is the state of the command of that name.
type liblinearPredict struct {
	probabilities, quiet bool
}

func (p *liblinearPredict) run(cmd *cobra.Command, path, modelPath, outPath string) error {
	if err := checkApart([]namedFile{{"OUTPUT_FILE", outPath}}, namedFile{"TEST_FILE", path}, namedFile{"MODEL_FILE", modelPath}); err != nil {
		return err
	}
	m, err := readLiblinear(modelPath)
	if err != nil {
		return err
	}
	if p.probabilities && !m.Solver.Logistic() {
		return fmt.Errorf("%s: a model of %s has no probabilities; only logistic regression has (-s 0, 6, 7)", modelPath, m.Solver)
	}
	src, err := dataset.Open(cmd.Context(), path, dataset.Options{Format: "libsvm", Base: "1"})
	if err != nil {
		return err
	}
	defer src.Close()
	f, err := atomicfile.Create(outPath)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<16)
	score, err := p.predict(cmd, m, src, w)
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	if !p.quiet {
		score.print(cmd.OutOrStdout(), m.Solver.Regression())
	}
	return nil
}

// readLiblinear reads a model file of LIBLINEAR.
func readLiblinear(path string) (*liblinear.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := liblinear.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// predict writes the predictions of all rows.
func (p *liblinearPredict) predict(cmd *cobra.Command, m *liblinear.Model, src dataset.Source, w *bufio.Writer) (*liblinearScore, error) {
	if p.probabilities {
		fmt.Fprint(w, "labels")
		for _, l := range m.Labels {
			fmt.Fprintf(w, " %d", l)
		}
		fmt.Fprintln(w)
	}
	values, probabilities := make([]float64, m.Outputs), make([]float64, len(m.Labels))
	score := &liblinearScore{}
	var line []byte
	for b, err := range dataset.Each(cmd.Context(), src) {
		if err != nil {
			return nil, err
		}
		if err := numericLabels(src, b.Batch); err != nil {
			return nil, err
		}
		for i := range b.X.Len() {
			m.Values(values, b.X, i)
			v := m.Predict(values)
			line = strconv.AppendFloat(line[:0], v, 'g', 17, 64)
			if p.probabilities {
				m.Probabilities(probabilities, values)
				for _, q := range probabilities {
					line = strconv.AppendFloat(append(line, ' '), q, 'g', 6, 64)
				}
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return nil, err
			}
			if b.Outputs == 1 {
				score.add(v, b.Y[i])
			}
		}
	}
	return score, nil
}

// numericLabels refuses labels that are no numbers.
func numericLabels(src dataset.Source, b *matrix.Batch) error {
	for i, name := range b.Names {
		if name != "" && !dataset.Numeric(name) {
			return fmt.Errorf("%s: row %d: the label %q is not a number, as LIBLINEAR's are", src.Name(), b.First+i+1, name)
		}
	}
	return nil
}

// liblinearScore compares predictions with labels as LIBLINEAR does.
type liblinearScore struct {
	n, right           int
	error              float64 // Σ(v-y)²
	v, y, vv, yy, both float64 // sums of v, y, v², y², vy
}

func (s *liblinearScore) add(v, y float64) {
	s.n++
	if v == y {
		s.right++
	}
	s.error += (v - y) * (v - y)
	s.v, s.y = s.v+v, s.y+y
	s.vv, s.yy, s.both = s.vv+v*v, s.yy+y*y, s.both+v*y
}

// accuracy is the share of right predictions in percent.
func (s *liblinearScore) accuracy() float64 { return 100 * float64(s.right) / float64(s.n) }

func (s *liblinearScore) meanSquared() float64 { return s.error / float64(s.n) }

// correlation is the squared correlation coefficient of predictions and labels.
func (s *liblinearScore) correlation() float64 {
	n := float64(s.n)
	c := n*s.both - s.v*s.y
	return c * c / ((n*s.vv - s.v*s.v) * (n*s.yy - s.y*s.y))
}

func (s *liblinearScore) print(w io.Writer, regression bool) {
	switch {
	case s.n == 0:
	case regression:
		fmt.Fprintf(w, "Mean squared error = %.6g (regression)\n", s.meanSquared())
		fmt.Fprintf(w, "Squared correlation coefficient = %.6g (regression)\n", s.correlation())
	default:
		fmt.Fprintf(w, "Accuracy = %.6g%% (%d/%d)\n", s.accuracy(), s.right, s.n)
	}
}
