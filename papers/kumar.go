package papers

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"mercer/dataset"
	"mercer/internal/random"
	"mercer/matrix"
	"mercer/model"
)

// problem is a data set of kumarResults, cut into a training and a test part.
type problem struct {
	train, test matrix.Rows
	y, yt       []float64 // targets, or
	names       []string  // classes
	namesTest   []string
	gamma       string // as in model.Config
	features    int    // D of the lecture
}

// The parts that the table takes of its data sets, and of them for the machine that takes n² memory.
const (
	kumarCPU     = 6500
	kumarCovtype = 50_000
	kumarExact   = 6500
)

// kumarResults is the lecture's table of regression and classification errors.
func kumarResults() *Table {
	columns := []string{"cpusmall, relative error %", "a9a, error %", "covtype, error %"}
	methods := []struct {
		name   string
		theirs string
		cfg    func(p *problem) model.Config
		rows   int // that it trains on, 0 for all
	}{
		{"linear, ridge", "", func(*problem) model.Config { return model.Config{Kernel: "linear", Learner: "ridge"} }, 0},
		{"random features, ridge", "3.6 14.9 11.6", func(p *problem) model.Config {
			return model.Config{Map: "rff", Features: p.features, Learner: "ridge"}
		}, 0},
		{"Falkon, 2,000 landmarks", "", func(*problem) model.Config { return model.Config{Learner: "falkon", Features: 2000, Tolerance: 1e-4} }, 0},
		{fmt.Sprintf("kernel ridge, %d rows (theirs: exact SVM)", kumarExact), "11 15.1 2.2", func(*problem) model.Config { return model.Config{Learner: "kernel-ridge"} }, kumarExact},
	}
	t := &Table{
		Name:   "K10-1",
		Title:  "Regression and classification by least squares on random features, and by the kernel itself",
		Source: "Kumar 2010 (lecture), example results; after Rahimi and Recht 2007",
		Protocol: "cpusmall (12 of the 21 columns of the lecture's): 6,500 rows to train on, drawn anew by every seed, the others to test on; the error is ‖y - f‖/‖y‖. " +
			"a9a: adult with its official split. covtype: 50,000 rows drawn to train on and as many to test on, class 2 against the others; the lecture has 522,000. " +
			"rbf kernel, γ by the median distance, 0.1 for covtype; columns of mean 0 and deviation 1, but a9a as it is; λ on held-out rows, of kernel ridge by leave-one-out. " +
			"Random features: D = 300, 500 and 5,000 as in the lecture. In the last row the lecture has an exact SVM on all of its rows.",
		Data:    "cpusmall", // and a9a and covtype
		Corner:  "Error in percent",
		Columns: columns,
	}
	for _, m := range methods {
		row := Row{Name: m.name}
		if m.theirs != "" {
			row.Theirs = figures(m.theirs)
		}
		t.Rows = append(t.Rows, row)
	}
	t.open = func(ctx context.Context, dir string, quick bool) (run, error) {
		cpu, err := cpusmall(dir)
		if err != nil {
			return nil, err
		}
		adult, err := a9a(ctx, dir)
		if err != nil {
			return nil, err
		}
		cover, err := coverTypes(ctx, dir)
		if err != nil {
			return nil, err
		}
		return func(seed uint64) (experiment, error) {
			all := []*problem{cpu.cut(kumarCPU, math.MaxInt, seed), adult, cover.cut(kumarCovtype, kumarCovtype, seed)}
			if quick {
				all = []*problem{cpu.cut(500, 500, seed)}
			}
			return func(i int) ([]float64, error) {
				var errors []float64
				for _, p := range all {
					cfg := methods[i].cfg(p)
					cfg.Gamma, cfg.Seed = p.gamma, seed
					e, err := p.error(ctx, cfg, methods[i].rows)
					if err != nil {
						return nil, err
					}
					errors = append(errors, e)
				}
				return errors, nil
			}, nil
		}, nil
	}
	return t
}

// error trains on the first rows of the training part, 0 for all, and returns the error in
// percent of the test part.
func (p *problem) error(ctx context.Context, cfg model.Config, rows int) (float64, error) {
	x, y, names := p.train, p.y, p.names
	if rows > 0 && rows < x.Len() {
		x = x.Slice(0, rows)
		if y != nil {
			y = y[:rows]
		} else {
			names = names[:rows]
		}
	}
	outputs := 1
	if y == nil {
		outputs = 0
	}
	src, err := dataset.FromRows(x, y, outputs, names)
	if err != nil {
		return 0, err
	}
	m, _, err := model.Fit(ctx, src, cfg, model.Options{})
	if err != nil {
		return 0, err
	}
	scores := matrix.NewDense(p.test.Len(), m.Outputs())
	if err := m.Scores(scores, p.test); err != nil {
		return 0, err
	}
	if y == nil {
		wrong := 0
		for i, name := range p.namesTest {
			if m.Classes()[m.Class(scores.Row(i))] != name {
				wrong++
			}
		}
		return 100 * float64(wrong) / float64(len(p.namesTest)), nil
	}
	off, size := 0.0, 0.0
	for i, v := range p.yt {
		e := v - float64(scores.Row(i)[0])
		off, size = off+e*e, size+v*v
	}
	return 100 * math.Sqrt(off/size), nil
}

// cut draws a training and a test part, of the rows of train.
func (p *problem) cut(train, test int, seed uint64) *problem {
	perm := random.New(seed, "papers.kumar").Perm(p.train.Len())
	train = min(train, len(perm)*4/5)
	test = min(test, len(perm)-train)
	c := *p
	take := func(rows []int) (x matrix.Rows, y []float64, names []string) {
		for _, i := range rows {
			if p.y != nil {
				y = append(y, p.y[i])
			} else {
				names = append(names, p.names[i])
			}
		}
		return matrix.Pick(p.train, rows), y, names
	}
	c.train, c.y, c.names = take(perm[:train])
	c.test, c.yt, c.namesTest = take(perm[train : train+test])
	return &c
}

// cpusmall reads an ARFF file of 13 numbers a row, the last of them the target.
func cpusmall(dir string) (*problem, error) {
	path, err := find(dir, "cpusmall", "cpu.small.arff")
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := unzipped(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := &problem{gamma: "median", features: 300}
	const columns = 12
	x := matrix.NewDense(0, columns)
	lines, data, number := bufio.NewScanner(r), false, 0
	for lines.Scan() {
		number++
		text := strings.TrimSpace(lines.Text())
		switch {
		case text == "" || text[0] == '%':
			continue
		case !data:
			data = strings.EqualFold(text, "@data")
			continue
		}
		fields := strings.Split(text, ",")
		if len(fields) != columns+1 {
			return nil, fmt.Errorf("%s:%d: %d numbers; expected %d", path, number, len(fields), columns+1)
		}
		for j, field := range fields {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %q is not a number", path, number, field)
			}
			if j == columns {
				p.y = append(p.y, v)
			} else {
				x.Data = append(x.Data, float32(v))
			}
		}
		x.Rows++
	}
	p.train = matrix.Rows{Dense: x}
	return p, lines.Err()
}

// a9a reads adult as zeros and ones, with its test part.
func a9a(ctx context.Context, dir string) (*problem, error) {
	p := &problem{gamma: "median", features: 500}
	for _, part := range []struct {
		name  string
		x     *matrix.Rows
		names *[]string
	}{{"a9a", &p.train, &p.names}, {"a9a.t", &p.test, &p.namesTest}} {
		path, err := find(dir, "a9a", part.name)
		if err != nil {
			return nil, err
		}
		if *part.x, *part.names, err = readLabelled(ctx, path, dataset.Options{Format: "libsvm", Dim: 123}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// coverTypes reads forest cover types, class 2 against the others.
func coverTypes(ctx context.Context, dir string) (*problem, error) {
	path, err := find(dir, "covtype", "covtype.data", "covtype.sample403k.data")
	if err != nil {
		return nil, err
	}
	p := &problem{gamma: "0.1", features: 5000}
	if p.train, p.names, err = readLabelled(ctx, path, dataset.Options{Format: "csv", Label: "-1", Header: "no"}); err != nil {
		return nil, err
	}
	for i, name := range p.names {
		if name != "2" {
			p.names[i] = "others"
		}
	}
	return p, nil
}
