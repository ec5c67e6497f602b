package bench

import (
	"slices"
	"strings"
	"sync"
	"time"

	"mercer/internal/engine/vec"
)

// loop is what is measured. make prepares one copy of it, with its own memory; its result
// does work units of work a call.
type loop struct {
	name, shape string
	unit        string  // GFLOP/s, GB/s, or ns or us of something
	work        float64 // floating-point operations, bytes or numbers in a call
	issue       float64 // what bounds a call, in the peak's floating-point operations or bytes; 0: work
	peak        string  // f32, f64, read, triad
	parallel    bool    // uses all threads by itself
	make        func() func()

	// makeOn, in place of make, is for what overwrites the data it works on: prepare makes them
	// anew and is not timed. Only where parallel is set.
	makeOn func() (prepare, run func())
}

// value is the result, in its unit, where a call takes so many seconds.
func (c loop) value(seconds float64) float64 {
	switch {
	case strings.HasPrefix(c.unit, "ns"):
		return seconds * 1e9 / c.work
	case strings.HasPrefix(c.unit, "us"):
		return seconds * 1e6 / c.work
	default:
		return c.work / seconds / 1e9
	}
}

// meter measures loops beside the machine's peak.
type meter struct {
	rounds int
	least  time.Duration // of one measurement

	memories map[[2]int][]float32
	peaks    func(kind string, threads int) float64 // in place of peak, for tests; nil: peak
}

// measure alternates a loop with the peak that bounds it.
func (m *meter) measure(c loop, threads int) Result {
	copies := threads
	if c.parallel {
		copies = 1
	}
	var once func() float64 // seconds of a call
	if c.makeOn != nil {
		prepare, run := c.makeOn()
		once = func() float64 { return m.timeOn(prepare, run) }
	} else {
		runs := make([]func(), copies)
		for i := range runs {
			runs[i] = c.make()
			runs[i]() // touches its memory
		}
		once = func() float64 { return m.time(runs) / float64(copies) }
	}
	issue := c.issue
	if issue == 0 {
		issue = c.work
	}
	peaks := m.peaks
	if peaks == nil {
		peaks = m.peak
	}
	var seconds, shares []float64
	for range m.rounds {
		peak := peaks(c.peak, threads)
		s := once()
		seconds = append(seconds, s)
		shares = append(shares, issue/s/1e9/peak)
	}
	return Result{Name: c.name, Shape: c.shape, Threads: threads, Value: c.value(median(seconds)), Unit: c.unit, Share: median(shares)}
}

// time is how many seconds a call takes when all runs go on at the same time, each as often
// as m.least asks.
func (m *meter) time(runs []func()) float64 {
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
		if took >= m.least {
			return took.Seconds() / float64(turns)
		}
		turns = 1 + int(1.3*float64(turns)*float64(m.least)/float64(max(took, time.Microsecond)))
	}
}

// timeOn is how many seconds a run takes without what prepares it, as often as m.least asks and
// once before.
func (m *meter) timeOn(prepare, run func()) float64 {
	prepare()
	run()
	var took time.Duration
	turns := 0
	for ; took < m.least; turns++ {
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
func (m *meter) peak(kind string, threads int) float64 {
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
			x := m.memory(i, 0)
			work += 4 * float64(len(x))
			runs[i] = func() { vec.Read(x) }
		case "triad":
			dst, x, y := m.memory(i, 0), m.memory(i, 1), m.memory(i, 2)
			work += 12 * float64(len(x))
			runs[i] = func() { vec.Triad(dst, x, y) }
		}
	}
	return work / m.time(runs) / 1e9
}

// memory is a large slice, the same at every call, whose pages are there.
func (m *meter) memory(thread, which int) []float32 {
	key := [2]int{thread, which}
	if m.memories[key] == nil {
		if m.memories == nil {
			m.memories = map[[2]int][]float32{}
		}
		x := make([]float32, peakMemory)
		for i := range x {
			x[i] = 1
		}
		m.memories[key] = x
	}
	return m.memories[key]
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
