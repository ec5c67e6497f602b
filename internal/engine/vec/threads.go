package vec

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Threads is the number of goroutines that compute at the same time: GOMAXPROCS, which the
// command line's --threads sets, less what Spare added. Only this function decides it. No result depends on it.
func Threads() int { return max(1, runtime.GOMAXPROCS(0)-int(spare.Load())) }

var spare atomic.Int64

// Spare adds n to GOMAXPROCS for goroutines that do not compute, such as those that answer requests: else they would wait until others
// have computed, as Go takes a thread from a goroutine only after 10 ms. undo takes them back.
func Spare(n int) (undo func()) {
	spare.Add(int64(n))
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	return func() {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)-n))
		spare.Add(int64(-n))
	}
}

// Parallel calls f on consecutive ranges [lo, hi) that together cover [0, n), at most
// Threads at a time, and returns when all are done. A range is a multiple of grain long,
// except the last. f must give the same result however [0, n) is divided.
func Parallel(n, grain int, f func(lo, hi int)) {
	t := min(Threads(), (n+grain-1)/grain)
	if t <= 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	step := (n + t - 1) / t
	step = (step + grain - 1) / grain * grain
	var next atomic.Int64
	together(t, func() {
		for hi := int(next.Add(int64(step))); hi-step < n; hi = int(next.Add(int64(step))) {
			f(hi-step, min(hi, n))
		}
	})
}

// The pool: goroutines that live as long as the program and wait for work. One is started
// if a caller could use it and fewer than Threads()-1 exist.
var pool struct {
	sync.Mutex
	size int
	// idle counts those that wait, or are about to. A caller decrements it
	// before it sends, so a send never blocks and work never waits for
	// a worker that is itself waiting for work: nested products are safe.
	idle atomic.Int64
	work chan job
}

type job struct {
	f  func()
	of *gathering
}

// gathering is the goroutines that work together.
type gathering struct {
	done  sync.WaitGroup
	fault atomic.Pointer[any]
}

// faulty is deferred by a goroutine of the pool: memory that cannot be read, as that of a file that has become shorter, is a panic of the
// caller, who may know what to do. All other panics are faults of the program.
func (g *gathering) faulty() {
	if p := recover(); IsFault(p) {
		g.fault.Store(&p)
	} else if p != nil {
		panic(p)
	}
	g.done.Done()
}

// IsFault says whether what a goroutine recovered from was memory that cannot be read, after debug.SetPanicOnFault(true).
func IsFault(p any) bool {
	_, fault := p.(interface{ Addr() uintptr })
	return fault
}

// together runs f on the caller's goroutine and on as many of the pool as are idle, up to
// threads in all, and returns when all have returned. f takes its share of the work from a
// counter, so that it does not matter how many came.
func together(threads int, f func()) {
	var g gathering
	if threads > 1 {
		recruit()
	}
	defer func() { // also when f panics: nothing works on what the caller then frees
		if g.done.Wait(); g.fault.Load() != nil {
			panic(*g.fault.Load())
		}
	}()
	for range threads - 1 {
		if pool.idle.Add(-1) < 0 {
			pool.idle.Add(1)
			break
		}
		g.done.Add(1)
		pool.work <- job{f, &g}
	}
	f()
}

// recruit lets the pool grow to Threads()-1, at most MostThreads-1.
func recruit() {
	pool.Lock()
	defer pool.Unlock()
	if pool.work == nil {
		pool.work = make(chan job, MostThreads)
	}
	for want := min(Threads(), MostThreads) - 1; pool.size < want; pool.size++ {
		pool.idle.Add(1)
		go serve(pool.work)
	}
}

// MostThreads is the most that compute at a time, and that may be asked for: Go takes 10 KiB for each, without a way to interrupt it.
const MostThreads = 1024

func serve(work <-chan job) {
	debug.SetPanicOnFault(true)
	for j := range work {
		func() {
			defer j.of.faulty()
			defer pool.idle.Add(1)
			j.f()
		}()
	}
}
