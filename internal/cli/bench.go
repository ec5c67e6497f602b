package cli

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"mercer/internal/present"
	"mercer/internal/vec"
)

// benchReport is what bench --json prints.
type benchReport struct {
	Level   string        `json:"level"`
	Peak    benchPeak     `json:"peak"`
	Results []benchResult `json:"results"`
}

// benchPeak is what the machine can do at most, on one thread.
type benchPeak struct {
	F32   float64 `json:"f32_gflops"`
	F64   float64 `json:"f64_gflops"`
	Read  float64 `json:"read_gbs"`
	Triad float64 `json:"triad_gbs"`
}

type benchResult struct {
	Name    string  `json:"name"`
	Shape   string  `json:"shape"`
	Threads int     `json:"threads"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Share   float64 `json:"share"` // of the peak on as many threads, measured next to it
}

func newBench() *cobra.Command {
	var (
		asJSON, quick bool
		only          []string
		m             mapBench
	)
	cmd := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure the vector kernels and the maps on this machine",
		Long: `Measure how fast the loops are that everything rests on, at one thread and at all, beside
what this machine can do at most: multiply-adds that wait for nothing, and memory read and
written in order. The two alternate, several rounds; a figure is the median, a share that of
the peak next to it. Shares of functions count the instructions that their method needs.

With --map, measure one map instead: generated rows of --d dimensions to --features.

The environment variable MERCER_CPU=generic, avx2 or avx512 chooses lesser instructions than
the machine has.`,
		Example: `  mercer bench
  mercer bench --only sgemm,dgemm --json
  mercer bench --map orf --d 784 --features 4096 --rows 10000`,
		Args: nArgs(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if m.cfg.Map != "" {
				return m.run(cmd, asJSON)
			}
			b := &bench{rounds: 5, least: 30 * time.Millisecond}
			if quick {
				b.rounds, b.least = 1, time.Millisecond
			}
			cases := benchCases(quick)
			for _, name := range only {
				if !slices.ContainsFunc(cases, func(c benchCase) bool { return c.name == name }) {
					return usagef("--only %q is not known; known are %s", name, strings.Join(benchNames(cases), ", "))
				}
			}
			w := cmd.OutOrStdout()
			if asJSON {
				w = io.Discard
			}
			report := b.run(cmd, w, cases, only)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				return present.JSON(cmd.OutOrStdout(), report)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	f.BoolVar(&quick, "quick", false, "small shapes and one round: to see that it runs, not how fast")
	f.StringSliceVar(&only, "only", nil, "measure these alone, by name")
	m.flags(cmd)
	return cmd
}

// bench measures cases beside the machine's peak.
type bench struct {
	rounds int
	least  time.Duration // of one measurement
}

// benchCase is a loop to measure. make prepares one copy of it, with its own memory; its
// result does work units of work a call.
type benchCase struct {
	name, shape string
	unit        string  // GFLOP/s, GB/s, or ns or us of something
	work        float64 // floating-point operations, bytes or numbers in a call
	issue       float64 // instructions' worth of floating-point operations or bytes in a call, of which the peak says how many are possible; 0: work
	peak        string  // f32, f64, read, triad
	parallel    bool    // uses all threads by itself
	make        func() func()

	// makeOn, in place of make, is for what overwrites the data it works on: prepare makes them
	// anew and is not timed. Only where parallel is set.
	makeOn func() (prepare, run func())
}

func (b *bench) run(cmd *cobra.Command, w io.Writer, cases []benchCase, only []string) benchReport {
	all := vec.Threads()
	threads := []int{1}
	if all > 1 {
		threads = append(threads, all)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	report := benchReport{Level: vec.Level(), Results: []benchResult{}}
	runtime.GOMAXPROCS(1)
	report.Peak = benchPeak{F32: b.peak("f32", 1), F64: b.peak("f64", 1), Read: b.peak("read", 1), Triad: b.peak("triad", 1)}
	fmt.Fprintf(w, "Instructions: %s. At most, on one thread: %.0f GFLOP/s in float32, %.0f in float64; %.1f GB/s read, %.1f GB/s x + 3y\n\n",
		report.Level, report.Peak.F32, report.Peak.F64, report.Peak.Read, report.Peak.Triad)
	fmt.Fprintf(w, "  %-12s %-18s %8s %10s  %-14s %s\n", "", "shape", "threads", "", "", "share of peak")
	for _, c := range cases {
		if only != nil && !slices.Contains(only, c.name) {
			continue
		}
		for _, t := range threads {
			if cmd.Context().Err() != nil {
				return report
			}
			runtime.GOMAXPROCS(t)
			r := b.measure(c, t)
			report.Results = append(report.Results, r)
			fmt.Fprintf(w, "  %-12s %-18s %8d %10s  %-14s %5.0f %%\n", r.Name, r.Shape, r.Threads, fmt.Sprintf("%.3g", r.Value), r.Unit, 100*r.Share)
		}
	}
	return report
}

// measure alternates a case with the peak that bounds it.
func (b *bench) measure(c benchCase, threads int) benchResult {
	copies := threads
	if c.parallel {
		copies = 1
	}
	var once func() float64 // seconds of a call
	if c.makeOn != nil {
		prepare, run := c.makeOn()
		once = func() float64 { return b.timeOn(prepare, run) }
	} else {
		runs := make([]func(), copies)
		for i := range runs {
			runs[i] = c.make()
			runs[i]() // touches its memory
		}
		once = func() float64 { return b.time(runs) / float64(copies) }
	}
	issue := c.issue
	if issue == 0 {
		issue = c.work
	}
	var seconds, shares []float64
	for range b.rounds {
		peak := b.peak(c.peak, threads)
		s := once()
		seconds = append(seconds, s)
		shares = append(shares, issue/s/1e9/peak)
	}
	r := benchResult{Name: c.name, Shape: c.shape, Threads: threads, Unit: c.unit, Share: median(shares)}
	switch took := median(seconds); c.unit[:2] {
	case "ns":
		r.Value = took * 1e9 / c.work
	case "us":
		r.Value = took * 1e6 / c.work
	default:
		r.Value = c.work / took / 1e9
	}
	return r
}

// time is how many seconds a call takes when all runs go on at the same time, each as often
// as b.least asks.
func (b *bench) time(runs []func()) float64 {
	turns := 1
	for {
		start := time.Now()
		var wait sync.WaitGroup
		for _, run := range runs[1:] {
			wait.Go(func() {
				for range turns {
					run()
				}
			})
		}
		for range turns {
			runs[0]()
		}
		wait.Wait()
		took := time.Since(start)
		if took >= b.least {
			return took.Seconds() / float64(turns)
		}
		turns = 1 + int(1.3*float64(turns)*float64(b.least)/float64(max(took, time.Microsecond)))
	}
}

// timeOn is how many seconds a run takes without what prepares it, as often as b.least asks and
// once before.
func (b *bench) timeOn(prepare, run func()) float64 {
	prepare()
	run()
	var took time.Duration
	turns := 0
	for ; took < b.least; turns++ {
		prepare()
		start := time.Now()
		run()
		took += time.Since(start)
	}
	return took.Seconds() / float64(turns)
}

// peakMemory is how many numbers the loops over memory take: more than caches hold.
const peakMemory = 1 << 24

// peak is what threads do at most together, in 10⁹ floating-point operations or bytes a second.
func (b *bench) peak(kind string, threads int) float64 {
	const adds = 1 << 20
	runs := make([]func(), threads)
	work := 0.0
	for i := range runs {
		switch kind {
		case "f32":
			work += 2 * float64(vec.MultiplyAdds32(adds))
			runs[i] = func() { vec.MultiplyAdds32(adds) }
		case "f64":
			work += 2 * float64(vec.MultiplyAdds64(adds))
			runs[i] = func() { vec.MultiplyAdds64(adds) }
		case "read":
			x := memory(i, 0)
			work += 4 * float64(len(x))
			runs[i] = func() { vec.Read(x) }
		case "triad":
			dst, x, y := memory(i, 0), memory(i, 1), memory(i, 2)
			work += 12 * float64(len(x))
			runs[i] = func() { vec.Triad(dst, x, y) }
		}
	}
	return work / b.time(runs) / 1e9
}

var memoryOf = map[[2]int][]float32{}

// memory is a large slice, the same at every call, whose pages are there.
func memory(thread, which int) []float32 {
	key := [2]int{thread, which}
	if memoryOf[key] == nil {
		x := make([]float32, peakMemory)
		for i := range x {
			x[i] = 1
		}
		memoryOf[key] = x
	}
	return memoryOf[key]
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

func benchNames(cases []benchCase) []string {
	var names []string
	for _, c := range cases {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}
