// Package bench measures how fast the vector kernels and the feature maps are on this machine,
// beside what the machine can do at most: multiply-adds that wait for nothing, and memory read
// and written in order. A kernel and the peak that bounds it alternate, so that a share of the
// peak means the same on a slow day.
package bench

import (
	"context"
	"runtime"
	"slices"
	"time"

	"mercer/internal/engine/vec"
)

// Report is what a Job found.
type Report struct {
	Level   string   `json:"level"` // of vector instructions
	Peak    Peak     `json:"peak"`
	Results []Result `json:"results"`
}

// Peak is what the machine can do at most on one thread, in 10⁹ floating-point operations and
// bytes a second.
type Peak struct {
	F32   float64 `json:"f32_gflops"`
	F64   float64 `json:"f64_gflops"`
	Read  float64 `json:"read_gbs"`
	Triad float64 `json:"triad_gbs"`
}

// Result is one kernel on some threads. Value is the median of the rounds.
type Result struct {
	Name    string  `json:"name"`
	Shape   string  `json:"shape"`
	Threads int     `json:"threads"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Share   float64 `json:"share"` // of the peak on as many threads, measured next to it
}

// Job says which kernels to measure. Each is measured on one thread and on all.
type Job struct {
	Quick bool     // small shapes and one round: to see that it runs, not how fast
	Only  []string // names of kernels, see Names; nil: all

	Started func(Report) // if not nil, called when level and peak are known
	Done    func(Result) // if not nil, called after each measurement
}

// Names are the kernels that a Job can measure.
func Names() []string {
	var names []string
	for _, c := range loops(true) {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// Run measures. It sets GOMAXPROCS while it runs, so nothing else should compute meanwhile.
func (j Job) Run(ctx context.Context) (Report, error) {
	m := meter{rounds: 5, least: 30 * time.Millisecond}
	if j.Quick {
		m.rounds, m.least = 1, time.Millisecond
	}
	all := vec.Threads()
	threads := []int{1}
	if all > 1 {
		threads = append(threads, all)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(1)
	report := Report{Level: vec.Level(), Results: []Result{}}
	report.Peak = Peak{F32: m.peak("f32", 1), F64: m.peak("f64", 1), Read: m.peak("read", 1), Triad: m.peak("triad", 1)}
	if j.Started != nil {
		j.Started(report)
	}
	for _, c := range loops(j.Quick) {
		if j.Only != nil && !slices.Contains(j.Only, c.name) {
			continue
		}
		for _, t := range threads {
			if err := ctx.Err(); err != nil {
				return report, err
			}
			runtime.GOMAXPROCS(t)
			r := m.measure(c, t)
			report.Results = append(report.Results, r)
			if j.Done != nil {
				j.Done(r)
			}
		}
	}
	return report, nil
}
