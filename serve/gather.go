package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"mercer/matrix"
)

// gatherer computes the rows of concurrent requests in one product. There is no waiting for more rows: a request that finds
// a free place computes at once. Those that arrive meanwhile wait, and whoever is first of them computes for all, up to
// gatherRows rows. So batches grow with the load, and a row has the same scores in any of them.
//
// A large request is computed in parts. Large ones wait in a line of their own, and while others wait too, each line has every other turn.
// So a large request delays others by no more than it takes itself, ends with its deadline, and once begun it is not overtaken by others
// of its kind, which would be in vain under overload.
type gatherer struct {
	score  func(dst *matrix.Dense, x matrix.Rows) error
	limit  int     // rows that may wait
	meters *meters // nil: none

	mu           sync.Mutex
	small, large line
	later, begun int     // rows of parts that are not in line yet, of large requests that wait for their first, and of others
	largeNext    bool    // the next turn is that of the large ones
	running      int     // products
	places       int     // for products
	took, had    float64 // seconds of a product, and its rows: moving averages
	free         []*product
}

// line is what waits to be computed.
type line struct {
	jobs []*waiting
	rows int
}

func (l *line) insert(at int, w *waiting) {
	l.jobs = slices.Insert(l.jobs, at, w)
	l.rows += w.x.Rows
}

// cut takes the first n out of the line.
func (l *line) cut(n int) {
	for _, w := range l.jobs[:n] {
		w.taken = true
		l.rows -= w.x.Rows
	}
	l.jobs = slices.Delete(l.jobs, 0, n)
}

// drop takes one out of the line, if it is there.
func (l *line) drop(w *waiting) {
	if at := slices.Index(l.jobs, w); at >= 0 {
		l.jobs = slices.Delete(l.jobs, at, at+1)
		l.rows -= w.x.Rows
	}
}

// waiting are the rows of one request, or of a part of it.
type waiting struct {
	x, scores *matrix.Dense
	err       error
	taken     bool      // it is being computed, or computes
	rest      int       // rows of the parts behind it, if it is the first of several
	more      bool      // there are parts behind it
	kept      bool      // its place is kept for the next part
	told      chan turn // has room for one
	expires   time.Time // zero: never
	since     time.Time // in line
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
		return g.wait(ctx, &waiting{x: x, scores: scores}, &g.small, -1)
	}
	g.mu.Lock()
	err := g.full(ctx, x.Rows, &g.large)
	kept, part := false, &struct { // memory for one after the other
		job       waiting
		x, scores matrix.Dense
	}{}
	for at, place := 0, len(g.large.jobs); err == nil && at < x.Rows; place = 0 {
		end := min(x.Rows, at+g.partRows())
		left, job := x.Rows-end, &part.job
		part.x, part.scores = *x.Slice(at, end), *scores.Slice(at, end)
		*job = waiting{x: &part.x, scores: &part.scores, more: left > 0, kept: kept}
		if at == 0 && g.busy() {
			job.rest = left
			g.later += left
		} else {
			g.begun += left
		}
		g.mu.Unlock()
		err = g.part(ctx, job, place, left)
		g.mu.Lock()
		if over, ok := ctx.Deadline(); ok && err == nil && time.Until(over) < seconds(g.perRow()*float64(left)) {
			err = errHopeless
		}
		if kept = job.kept; kept && err != nil {
			g.pass(false)
		}
		at = end
	}
	g.mu.Unlock()
	return err
}

// part computes a part of a large request, with rows left behind it.
func (g *gatherer) part(ctx context.Context, job *waiting, place, left int) error {
	defer func() { // also if the model fails
		g.mu.Lock()
		defer g.mu.Unlock()
		if job.rest > 0 {
			g.later -= left
		} else {
			g.begun -= left
		}
	}()
	return g.wait(ctx, job, &g.large, place)
}

// errHopeless is the error of rows that could only be computed too late.
var errHopeless = &overloaded{time.Second, "the deadline of the request would be over before its rows are computed"}

// partRows are the rows of a part of a large request.
func (g *gatherer) partRows() int {
	each := g.perRow()
	if each == 0 {
		return gatherRows
	}
	return int(max(gatherRows, min(partRows, partTime/each)))
}

// perRow is the time of a row in seconds.
func (g *gatherer) perRow() float64 { return g.took / max(1, g.had) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// busy says whether what comes now has to wait.
func (g *gatherer) busy() bool {
	return g.running == g.places || len(g.small.jobs)+len(g.large.jobs) > 0
}

// wait computes a job, when it is its turn: at a place of a line, -1 for its end if there is room in it.
func (g *gatherer) wait(ctx context.Context, job *waiting, in *line, place int) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	g.mu.Lock()
	if job.kept || !g.busy() {
		if !job.kept {
			g.running++
		}
		p := g.take()
		g.mu.Unlock()
		job.taken = true
		p.jobs = append(p.jobs, job)
		g.meters.waited(0)
		g.compute(p)
		return job.err
	}
	if place < 0 {
		if err := g.full(ctx, job.x.Rows, in); err != nil {
			g.mu.Unlock()
			return err
		}
		place = len(in.jobs)
	}
	job.told, job.since = make(chan turn, 1), time.Now()
	if at, ok := ctx.Deadline(); ok {
		job.expires = at
	}
	in.insert(min(place, len(in.jobs)), job)
	g.mu.Unlock()
	select {
	case what := <-job.told:
		if what == yourTurn {
			g.lead(job)
		}
		return job.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	if !job.taken {
		in.drop(job)
		g.mu.Unlock()
		return ended(ctx)
	}
	g.mu.Unlock()
	// Somebody is computing these rows, in the memory of this request, or it is this request's turn.
	if what := <-job.told; what == yourTurn {
		g.lead(job)
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

// refuse refuses a request that could not be answered in time even if it had one row only.
func (g *gatherer) refuse(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.full(ctx, 1, &g.small)
}

// full refuses rows for a line in which there is no room for them, or where they would not be computed before their deadline is over.
func (g *gatherer) full(ctx context.Context, rows int, in *line) error {
	if !g.busy() {
		return nil
	}
	small, large := g.small.rows, g.large.rows+g.later+g.begun
	there, ahead := small, small+min(small, large) // every other turn is for the other line
	if in == &g.large {
		there, ahead = large-g.begun, large+min(small, large+rows)
	}
	each := g.perRow()
	// On average half of a product is still to be computed before the first place is free.
	before := each * float64(ahead) / float64(g.places)
	wait := seconds(1.2 * (g.took/2 + before + max(g.took, each*float64(rows)))) // no estimate is exact
	after := max(time.Second, seconds(before).Round(time.Second))
	if there > 0 && there+rows > g.limit {
		return &overloaded{after, fmt.Sprintf("%d rows wait to be computed, of %d that may", there, g.limit)}
	}
	if at, ok := ctx.Deadline(); ok && time.Until(at) < wait {
		return &overloaded{after, fmt.Sprintf("behind what is computed and %d rows that wait, these would take about %.2g s, longer than the deadline of the request allows",
			small+large, wait.Seconds())}
	}
	return nil
}

// lead computes for the requests that wait, job among them, which was the first of them when it got its turn. Those that it could not
// answer before their deadlines are refused, or a queue that is as long as deadlines would only compute what nobody waits for.
func (g *gatherer) lead(job *waiting) {
	g.mu.Lock()
	p := g.take()
	p.jobs = append(p.jobs, job)
	rows, n, now := job.x.Rows, 0, time.Now()
	done := now.Add(seconds(g.took))
	for _, w := range g.small.jobs {
		late := !w.expires.IsZero() && done.After(w.expires)
		if !late && rows+w.x.Rows > gatherRows {
			break
		}
		n++
		if late {
			w.err = errHopeless
			w.told <- finished
			continue
		}
		rows += w.x.Rows
		p.jobs = append(p.jobs, w)
	}
	g.small.cut(n)
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
		first := p.jobs[0]
		clear(p.jobs)
		p.jobs = p.jobs[:0]
		g.mu.Lock()
		g.free = append(g.free, p)
		if rows > 0 {
			newest := 0.1
			if g.took == 0 {
				newest = 1
			}
			g.took += newest * (took - g.took)
			g.had += newest * (float64(rows) - g.had)
		}
		first.kept = g.pass(first.more && !panicked)
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

// pass gives the place of a product that is done to the first request that waits, if there is one. If the product was a part of a large request
// with more to come, and it is the turn of large ones, that request keeps the place.
func (g *gatherer) pass(more bool) (kept bool) {
	in := &g.small
	if len(in.jobs) == 0 || g.largeNext && (more || len(g.large.jobs) > 0) {
		if in = &g.large; more {
			g.largeNext = false
			return true
		}
	}
	if len(in.jobs) == 0 {
		g.running--
		return false
	}
	g.largeNext = in == &g.small
	first := in.jobs[0]
	in.cut(1)
	g.later, g.begun, first.rest = g.later-first.rest, g.begun+first.rest, 0
	first.told <- yourTurn
	return false
}

// waits is the number of rows that wait, and the seconds that they will.
func (g *gatherer) waits() (rows int, seconds float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rows = g.small.rows + g.large.rows + g.later + g.begun
	return rows, g.perRow() * float64(rows) / float64(g.places)
}
