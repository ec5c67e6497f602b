package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"mercer/matrix"
)

// gatherer computes the rows of concurrent requests in one product. There is no waiting for more rows: a request that finds
// a free place computes at once. Those that arrive meanwhile wait, and whoever is first of them computes for all, up to
// gatherRows rows. So batches grow with the load, and a row has the same scores in any of them. A large request is computed in parts,
// between which others have their turn, and of which none begins after its deadline.
type gatherer struct {
	score  func(dst *matrix.Dense, x matrix.Rows) error
	limit  int     // rows that may wait
	meters *meters // nil: none

	mu      sync.Mutex
	queue   []*waiting
	rows    int     // in queue
	later   int     // of large requests, in parts that come after those in queue
	running int     // products
	places  int     // for products
	perRow  float64 // seconds, a moving average
	free    []*product
}

// waiting are the rows of one request.
type waiting struct {
	x, scores *matrix.Dense
	err       error
	taken     bool      // it is being computed, or computes
	told      chan turn // has room for one
	expires   time.Time // zero: never
	since     time.Time // in queue
}

type turn uint8

const (
	finished turn = iota
	yourTurn      // to compute
)

// product is the memory of a product.
type product struct {
	jobs      []*waiting
	x, scores matrix.Dense
}

// gatherRows bounds the rows of several requests in a product. A part of a large request has up to partRows of them, as many as take
// partTime, and at least gatherRows.
const (
	gatherRows = 256
	partRows   = 1024
	partTime   = 0.05 // seconds
)

func newGatherer(score func(dst *matrix.Dense, x matrix.Rows) error, places, limit int, m *meters) *gatherer {
	return &gatherer{score: score, limit: limit, places: places, meters: m}
}

// overloaded is the error of rows that would wait too long.
type overloaded struct {
	after  time.Duration // when to try again
	reason string
}

func (e *overloaded) Error() string {
	return e.reason + "; try again later, or send fewer rows at a time"
}

// errDeadline is the error of a request whose time is over before its rows are computed.
var errDeadline = errors.New("the deadline of the request is over")

// run scores the rows x, and returns when that is done or ctx is.
func (g *gatherer) run(ctx context.Context, scores, x *matrix.Dense) error {
	if x.Rows <= gatherRows {
		return g.part(ctx, scores, x, false)
	}
	g.mu.Lock()
	if g.running == g.places || len(g.queue) > 0 {
		if err := g.full(ctx, x.Rows); err != nil {
			g.mu.Unlock()
			return err
		}
	}
	rest := x.Rows
	g.later += rest
	for at := 0; at < x.Rows; {
		end := min(x.Rows, at+g.partRows())
		g.later -= end - at
		rest -= end - at
		g.mu.Unlock()
		err := g.part(ctx, scores.Slice(at, end), x.Slice(at, end), true)
		g.mu.Lock()
		if at = end; err != nil {
			g.later -= rest
			g.mu.Unlock()
			return err
		}
	}
	g.mu.Unlock()
	return nil
}

// partRows are the rows of a part of a large request.
func (g *gatherer) partRows() int {
	if g.perRow == 0 {
		return gatherRows
	}
	return int(max(gatherRows, min(partRows, partTime/g.perRow)))
}

// part is run for rows of one product; admitted ones are taken if there is room or not.
func (g *gatherer) part(ctx context.Context, scores, x *matrix.Dense, admitted bool) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	job := waiting{x: x, scores: scores}
	g.mu.Lock()
	if g.running < g.places && len(g.queue) == 0 {
		g.running++
		p := g.take()
		g.mu.Unlock()
		job.taken = true
		p.jobs = append(p.jobs, &job)
		g.meters.waited(0)
		g.compute(p)
		return job.err
	}
	if err := g.full(ctx, x.Rows); err != nil && !admitted {
		g.mu.Unlock()
		return err
	}
	job.told, job.since = make(chan turn, 1), time.Now()
	if at, ok := ctx.Deadline(); ok {
		job.expires = at
	}
	g.queue = append(g.queue, &job)
	g.rows += x.Rows
	g.mu.Unlock()
	select {
	case what := <-job.told:
		if what == yourTurn {
			g.lead(&job)
		}
		return job.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	if !job.taken {
		g.drop(&job)
		g.mu.Unlock()
		return ended(ctx)
	}
	g.mu.Unlock()
	// Somebody is computing these rows, in the memory of this request, or it is this request's turn.
	if what := <-job.told; what == yourTurn {
		g.lead(&job)
	}
	return ended(ctx)
}

// ended is the error of a context that is done.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errDeadline
	}
	return ctx.Err()
}

// full refuses rows for which there is no room, or which would wait until their deadline is over.
func (g *gatherer) full(ctx context.Context, rows int) error {
	before := g.rows + g.later
	wait := time.Duration(g.perRow * float64(before+rows) / float64(g.places) * float64(time.Second))
	after := max(time.Second, wait.Round(time.Second))
	if before > 0 && before+rows > g.limit {
		return &overloaded{after, fmt.Sprintf("%d rows wait to be computed, of %d that may", before, g.limit)}
	}
	if at, ok := ctx.Deadline(); ok && time.Until(at) < wait {
		return &overloaded{after, fmt.Sprintf("%d rows wait to be computed, longer than the deadline of the request allows", before)}
	}
	return nil
}

// drop takes a request out of the queue.
func (g *gatherer) drop(job *waiting) {
	for i, w := range g.queue {
		if w == job {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			g.rows -= job.x.Rows
			return
		}
	}
}

// lead computes for the requests that wait, job among them, which was the first of them when it got its turn.
func (g *gatherer) lead(job *waiting) {
	g.mu.Lock()
	p := g.take()
	p.jobs = append(p.jobs, job)
	rows, n, now := job.x.Rows, 0, time.Now()
	for _, w := range g.queue {
		if !w.expires.IsZero() && now.After(w.expires) {
			break // it will go by itself
		}
		if rows+w.x.Rows > gatherRows {
			break
		}
		rows += w.x.Rows
		w.taken = true
		g.rows -= w.x.Rows
		p.jobs = append(p.jobs, w)
		n++
	}
	rest := copy(g.queue, g.queue[n:])
	clear(g.queue[rest:])
	g.queue = g.queue[:rest]
	g.mu.Unlock()
	for _, j := range p.jobs {
		g.meters.waited(now.Sub(j.since))
	}
	g.compute(p)
}

// take returns memory for a product.
func (g *gatherer) take() *product {
	if n := len(g.free); n > 0 {
		p := g.free[n-1]
		g.free = g.free[:n-1]
		return p
	}
	return new(product)
}

// compute scores the rows of all jobs of a product, tells them, and passes the place on.
func (g *gatherer) compute(p *product) {
	start, rows := time.Now(), 0
	for _, j := range p.jobs {
		rows += j.x.Rows
	}
	panicked := true
	defer func() {
		took := time.Since(start).Seconds()
		g.meters.computed(rows, took)
		for _, j := range p.jobs {
			if panicked {
				j.err = errors.New("the model failed on these rows")
			}
			if j.told != nil {
				j.told <- finished
			}
		}
		clear(p.jobs)
		p.jobs = p.jobs[:0]
		g.mu.Lock()
		g.free = append(g.free, p)
		if rows > 0 {
			const newest = 0.1
			if g.perRow == 0 {
				g.perRow = took / float64(rows)
			}
			g.perRow += newest * (took/float64(rows) - g.perRow)
		}
		g.pass()
		g.mu.Unlock()
	}()
	if len(p.jobs) == 1 {
		j := p.jobs[0]
		j.err = g.score(j.scores, matrix.Rows{Dense: j.x})
	} else if !g.together(p, rows) {
		for _, j := range p.jobs { // so that each has its own error
			j.err = g.score(j.scores, matrix.Rows{Dense: j.x})
		}
	}
	panicked = false
}

// together scores the rows of several jobs at once; false if one of them cannot be scored.
func (g *gatherer) together(p *product, rows int) bool {
	p.x.Reshape(rows, p.jobs[0].x.Cols)
	p.scores.Reshape(rows, p.jobs[0].scores.Cols)
	at := 0
	for _, j := range p.jobs {
		for i := range j.x.Rows {
			copy(p.x.Row(at), j.x.Row(i))
			at++
		}
	}
	if g.score(&p.scores, matrix.Rows{Dense: &p.x}) != nil {
		return false
	}
	at = 0
	for _, j := range p.jobs {
		for i := range j.x.Rows {
			copy(j.scores.Row(i), p.scores.Row(at))
			at++
		}
	}
	return true
}

// pass gives the place of a product that is done to the first request that waits, if there is one.
func (g *gatherer) pass() {
	if len(g.queue) == 0 {
		g.running--
		return
	}
	first := g.queue[0]
	rest := copy(g.queue, g.queue[1:])
	clear(g.queue[rest:])
	g.queue = g.queue[:rest]
	g.rows -= first.x.Rows
	first.taken = true
	first.told <- yourTurn
}

// waits is the number of rows that wait, and the seconds that they will.
func (g *gatherer) waits() (rows int, seconds float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rows = g.rows + g.later
	return rows, math.Max(0, g.perRow*float64(rows)/float64(g.places))
}
