// Benchmarks makes docs/benchmarks.md: it measures everything that the page tells, Mercer and its peers
// by turns, and writes the page.
//
//	go run ./benchmarks -data ../../shared/data -python /tmp/venv/bin/python3 -results results.json
//
// Peers are scikit-learn, NumPy and SciPy with OpenBLAS, and FFTW by the scripts in peers, and the
// programs of LIBSVM and LIBLINEAR. Nothing is installed: what lacks a peer says so on the page,
// with the package that has it. With -only some sections are measured, and the page shows the
// others from the file of results, which must be of the same commit and host.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	data, python, out, results, work string
	only                             []string
	rounds, threads                  int
	quick, mix, render               bool
}

func main() {
	var o options
	var only string
	flag.StringVar(&o.data, "data", "../../shared/data", "folder of the public data sets")
	flag.StringVar(&o.python, "python", "python3", "Python that has the peers' libraries")
	flag.StringVar(&o.out, "o", "docs/benchmarks.md", "file to write the page to")
	flag.StringVar(&o.results, "results", "", "file that keeps what is measured, for sections that are not measured again")
	flag.StringVar(&o.work, "work", "", "folder for files in between (default: a temporary one)")
	all := strings.Join(names(sections(sizes{threads: 1})), ",")
	flag.StringVar(&only, "only", "", "measure these sections alone, separated by commas: "+all)
	flag.IntVar(&o.rounds, "rounds", 3, "how often each measurement is repeated")
	flag.IntVar(&o.threads, "threads", runtime.NumCPU(), "threads where the page does not say one")
	flag.BoolVar(&o.quick, "quick", false, "small sizes and one round: to see that it runs, not how fast")
	flag.BoolVar(&o.mix, "mix", false, "show sections of several commits or hosts on one page, each with its own")
	flag.BoolVar(&o.render, "render", false, "measure nothing: write the page from -results")
	flag.Parse()
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

func names(all []*section) []string {
	var list []string
	for _, s := range all {
		list = append(list, s.name)
	}
	return list
}

// run measures and writes.
func (o options) run(ctx context.Context, log io.Writer) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q: there are no arguments, flags alone", flag.Args())
	}
	if o.rounds < 1 || o.threads < 1 {
		return errors.New("-rounds and -threads must be 1 or more")
	}
	kept := &results{}
	if o.results != "" {
		var err error
		if kept, err = readResults(o.results); err != nil {
			return err
		}
	}
	if o.render {
		if len(kept.Runs) == 0 {
			return errors.New("-render: there are no -results")
		}
		return o.page(kept, kept.Runs[len(kept.Runs)-1])
	}
	if o.quick {
		o.rounds = 1
	}
	todo := sections(sizes{quick: o.quick, threads: o.threads})
	for _, name := range o.only {
		if !slices.Contains(names(todo), name) {
			return fmt.Errorf("-only: there is no section %q; there are %s", name, strings.Join(names(todo), ", "))
		}
	}
	if o.only != nil {
		todo = slices.DeleteFunc(todo, func(s *section) bool { return !slices.Contains(o.only, s.name) })
	}
	r, this, err := o.prepare(ctx, log)
	if err != nil {
		return err
	}
	if o.work == "" {
		defer os.RemoveAll(r.work)
	}
	if err := kept.mixed(this, names(todo)); err != nil && !o.mix {
		return err
	}
	start := time.Now()
	var failed []string
	for _, s := range todo {
		fmt.Fprintf(log, "== %s (after %.0f s)\n", s.name, time.Since(start).Seconds())
		m, err := r.measure(ctx, s)
		if ctx.Err() != nil {
			return errors.New("interrupted; sections that were finished are in the results")
		}
		if err != nil {
			fmt.Fprintf(log, "section %s: %v\n", s.name, err)
			failed = append(failed, s.name)
			continue
		}
		this.Seconds = time.Since(start).Seconds()
		kept.add(this, s.name, m)
		if o.results != "" {
			if err := kept.write(o.results); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(log, "== done after %.0f s\n", time.Since(start).Seconds())
	if failed != nil {
		return fmt.Errorf("no page is written, since these sections failed: %s", strings.Join(failed, ", "))
	}
	return o.page(kept, this)
}

func (o options) page(kept *results, last *run) error {
	if err := kept.mixed(last, nil); err != nil && !o.mix {
		return err
	}
	text, err := page(kept, last, sections)
	if err != nil {
		return err
	}
	return writeFile(o.out, []byte(text))
}

// prepare builds the program and finds out what there is to measure on and with.
func (o options) prepare(ctx context.Context, log io.Writer) (*runner, *run, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go env GOMOD: %w", err)
	}
	root := filepath.Dir(filepath.Dir(strings.TrimSpace(string(mod)))) // the folder that has Mercer and this module
	data, err := filepath.Abs(o.data)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(data); err != nil {
		return nil, nil, fmt.Errorf("-data: %w", err)
	}
	work, err := filepath.Abs(o.work)
	if err != nil {
		return nil, nil, err
	}
	if o.work == "" {
		if work, err = os.MkdirTemp("", "mercer-page-"); err != nil {
			return nil, nil, err
		}
	}
	// Tests of the benchmarks look for data by MERCER_DATA.
	env := append(os.Environ(), "MERCER_DATA="+data)
	r := &runner{root: root, data: data, work: work, python: o.python, env: env, rounds: o.rounds, log: log}
	if out, err := r.run(ctx, nil, []string{"go", "build", "-o", filepath.Join(work, "mercer"), "./cmd/mercer"}); err != nil {
		return nil, nil, fmt.Errorf("go build: %s%w", out, err)
	}
	r.versions = versionsOf(ctx, root, o.python, env)
	core := os.Getenv(coreType)
	if r.versions["openblas"] != "" && core == "" {
		if core, err = fastestCore(func(core string) (float64, error) { return r.blasRate(ctx, core) }); err != nil {
			return nil, nil, err
		}
		if core != "" {
			r.env = append(r.env, coreType+"="+core)
			r.versions = versionsOf(ctx, root, o.python, r.env)
		}
	}
	id, err := commit(root)
	if err != nil {
		return nil, nil, err
	}
	return r, &run{
		Commit: id, Date: time.Now().UTC(), Quick: o.quick, Rounds: o.rounds, Threads: o.threads,
		Host: thisHost(), Peers: r.versions, Core: core,
	}, nil
}

// blasRate is how fast the libraries of NumPy and SciPy multiply, as the mean of their rates by
// ratios, where they are told a processor's name.
func (r *runner) blasRate(ctx context.Context, core string) (float64, error) {
	var env []string
	if core != "" {
		env = []string{coreType + "=" + core}
	}
	rate := 1.0
	for name, shape := range map[string]string{"sgemm": "1024x784x1024", "ssyrk": "1024x1024"} {
		out, err := r.run(ctx, env, []string{"python3", peers + "blas.py", name, "--shapes", shape, "--threads", "1"})
		if err != nil {
			return 0, err
		}
		numbers, _, err := readJSON(out)
		if err != nil {
			return 0, err
		}
		rate *= math.Sqrt(numbers[name+" "+shape+" @1"])
	}
	fmt.Fprintf(r.log, "%8.0f GFLOP/s of OpenBLAS %s\n", rate, core)
	return rate, nil
}
