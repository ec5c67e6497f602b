package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"mercer/internal/engine/units"
	"mercer/internal/engine/visible"
	"mercer/internal/reach/shard"
)

// ShardPlan tells of a plan of shards.
type ShardPlan struct {
	Data    string   `json:"data"`
	Pieces  int      `json:"pieces"`
	Shards  int      `json:"shards"`
	Most    int      `json:"pieces_of_largest"`
	Rounds  []string `json:"rounds"`
	Learner string   `json:"learner"`
	Sum     string   `json:"sha256"`

	open bool
}

// PlanOf describes a plan.
func PlanOf(p *shard.Plan) ShardPlan {
	s := ShardPlan{Data: p.Data.Path, Pieces: len(p.Data.All), Shards: p.Shards(), Rounds: p.Rounds(), Learner: cmp.Or(p.Config.LearnerName(), "auto"),
		Sum: p.Sum(), open: p.Open()}
	for i := range s.Shards {
		from, to := p.Pieces(i)
		s.Most = max(s.Most, to-from)
	}
	return s
}

// Text says what the plan is and what to do next.
func (p ShardPlan) Text(w io.Writer, folder string) {
	Line(w, "data", "%s: %s in %s, of at most %d", p.Data, units.Plural(p.Pieces, "piece"), units.Plural(p.Shards, "shard"), p.Most)
	if p.open {
		Line(w, "learner", "by the survey: the default, where the rows suit it")
		Line(w, "rounds", "%s, and those of the learner", strings.Join(p.Rounds, ", "))
	} else {
		Line(w, "learner", "%s", p.Learner)
		Line(w, "rounds", "%s", strings.Join(p.Rounds, ", "))
	}
	Line(w, "plan", "%s", folder)
	fmt.Fprintf(w, "\nFor each round: mercer shard run %s --shard 0 to %d, then mercer shard merge %s\n", visible.Text(folder), p.Shards-1, visible.Text(folder))
}

// ReceiptText says what a shard found.
func ReceiptText(w io.Writer, r *shard.Receipt, seconds float64) {
	size := int64(0)
	for _, f := range r.Files {
		size += f.Size
	}
	fmt.Fprintf(w, "shard %d, %s: %s rows, %s in %s, %s\n", r.Shard, r.Round, units.Count(r.Rows), units.Bytes(size),
		units.Plural(len(r.Files), "file"), units.Seconds(seconds))
}

// Predicted tells of the predictions of a shard.
type Predicted struct {
	Shard int    `json:"shard"`
	Rows  int    `json:"rows"`
	File  string `json:"file"`
}

// Text says so.
func (p Predicted) Text(w io.Writer, seconds float64) {
	fmt.Fprintf(w, "shard %d: %s rows in %s, %s\n", p.Shard, units.Count(p.Rows), visible.Text(p.File), units.Seconds(seconds))
}

// NotNeeded says that there is nothing to do in a round.
func NotNeeded(w io.Writer, round string, asJSON bool) {
	if !asJSON {
		fmt.Fprintf(w, "%s: the data need none\n", round)
	}
}

// Merged tells of a round that was merged.
type Merged struct {
	Round  string `json:"round"` // "" if there was none
	Rows   int    `json:"rows"`
	Shards int    `json:"shards"`
	Next   string `json:"next"` // "" if the model can be made

	// Learner is that on which the survey has decided, and Why the reason; "" if it was asked for.
	Learner string `json:"learner,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Text says so.
func (m Merged) Text(w io.Writer, folder string) {
	if m.Round != "" {
		fmt.Fprintf(w, "%s: %s rows of %s\n", m.Round, units.Count(m.Rows), units.Plural(m.Shards, "shard"))
	}
	if m.Learner != "" {
		fmt.Fprintf(w, "learner: %s (%s)\n", m.Learner, m.Why)
	}
	if m.Next == "" {
		fmt.Fprintf(w, "next: mercer shard solve %s -o MODEL\n", visible.Text(folder))
		return
	}
	fmt.Fprintf(w, "next: mercer shard run %s --round %s\n", visible.Text(folder), m.Next)
}

// NextRound is the round that is next, "" after the last.
type NextRound struct {
	Next   string `json:"next"`
	Shards int    `json:"shards"`
}

// Removed is what became of a plan.
type Removed struct {
	Plan  string `json:"plan"`
	Files int    `json:"files"`
}

// Text says so.
func (r Removed) Text(w io.Writer) {
	fmt.Fprintf(w, "removed %s of %s\n", units.Plural(r.Files, "file"), visible.Text(r.Plan))
}

// EstimateText says what a training in shards would take.
func EstimateText(w io.Writer, e *shard.Estimate) {
	Line(w, "rows", "%s of %s dimensions, %s in %s", units.Count(e.Rows), units.Count(e.Dim), units.Bytes(e.Bytes), units.Plural(e.Pieces, "piece"))
	if e.Leaves {
		Line(w, "leaves", "in %s of the rows, %s in all", units.Plural(e.Parts, "part"), units.Bytes(e.Sum))
	} else {
		Line(w, "features", "%s, statistics of %s of the rows: %s", units.Count(e.Feature), units.Plural(e.Parts, "part"), units.Bytes(e.Sum))
	}
	Line(w, "memory", "%s a worker, %s to solve, beside rows", units.Bytes(e.WorkerMemory), units.Bytes(e.SolveMemory))
	Line(w, "a row", "%s", rowTimes(e))
	if !e.Leaves {
		Line(w, "a sum", "add %s, write %s, read %s", units.Seconds(e.Add), units.Seconds(e.Write), units.Seconds(e.Read))
	}
	fmt.Fprintf(w, "\n%8s %10s %10s %10s %10s %11s %10s %10s\n", "workers", "rounds", "merge", "solve", "all", "moved", "price", "efficiency")
	for _, s := range e.Scales {
		fmt.Fprintf(w, "%8d %10s %10s %10s %10s %11s %10.2f %8.0f %%\n", s.Workers, units.Seconds(s.Rounds), units.Seconds(s.Merge), units.Seconds(s.Solve),
			units.Seconds(s.Seconds), units.Bytes(s.Moved), s.Price, 100*s.Share)
	}
	if k := e.Limit(); k > 0 && k < e.Scales[len(e.Scales)-1].Workers {
		fmt.Fprintf(w, "\nWith more than %s, more than half of the time of workers is lost: they wait for the merge and the solution, which one process does.\n",
			units.Plural(k, "worker"))
	}
}

// rowTimes are the seconds of a row in each round.
func rowTimes(e *shard.Estimate) string {
	var parts []string
	for _, round := range []string{"look", "survey", "statistics", "means", "columns", "sample", "rows", "leaves"} {
		if s, found := e.Row[round]; found {
			parts = append(parts, fmt.Sprintf("%s %.3g µs", round, 1e6*s))
		}
	}
	return strings.Join(parts, ", ")
}
