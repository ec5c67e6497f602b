package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"mercer/internal/engine/units"
	"mercer/internal/engine/visible"
)

// Progress draws one line on a terminal: what is going on, the share done, rows a second
// and the time left.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer // nil: draw nothing
	stage string
	start time.Time // of the stage
	from  float64   // the share that was done at once, as by a run before
	last  time.Time // of the last drawing
	width int       // of what is drawn

	notes io.Writer // for what is said where nothing is drawn, nil: nothing is
	name  string    // of the command
}

// ProgressFlag adds the flag that says when progress is drawn.
func ProgressFlag(cmd *cobra.Command, v *string) {
	cmd.Flags().StringVar(v, "progress", "auto", "progress on standard error: auto (when it is a terminal), always, never")
}

// NewProgress is the progress of a command, drawn as the value of its flag says.
func NewProgress(cmd *cobra.Command, when string) (*Progress, error) {
	p := &Progress{notes: cmd.ErrOrStderr(), name: cmd.CommandPath()}
	drawn := p.notes // moves the cursor
	if w, shows := drawn.(*visible.Writer); shows {
		drawn = w.W
	}
	switch when {
	case "auto":
		if isTerminal(drawn) {
			p.w = drawn
		}
	case "always":
		p.w = drawn
	case "never":
		p.notes = nil
	default:
		return nil, usagef("--progress %q is not known; known are auto, always, never", when)
	}
	if ctx := cmd.Context(); ctx != nil {
		cmd.SetContext(context.WithValue(ctx, progressKey{}, p))
	}
	current.Store(p)
	return p, nil
}

// current is the progress of the command that this process runs, for goroutines that may not look into its context.
var current atomic.Pointer[Progress]

// progressKey is the key of a command's progress in its context.
type progressKey struct{}

// progressOf is the progress of a command, nil as long as it has none.
func progressOf(cmd *cobra.Command) *Progress {
	ctx := cmd.Context()
	if ctx == nil {
		return nil
	}
	p, _ := ctx.Value(progressKey{}).(*Progress)
	return p
}

// draws says that there is a line on a terminal.
func (p *Progress) draws() bool { return p != nil && p.w != nil }

// atOnce is the beginning of a stage in which what is done was done before, and says nothing of its pace.
const atOnce = 100 * time.Millisecond

// drawEvery is the least time from one drawing to the next. A test that is to see each step makes it 0.
var drawEvery = 100 * time.Millisecond

// Report draws the state of a stage: rows done and the share of the whole in [0, 1], either
// negative if unknown. It draws a few times a second at most.
func (p *Progress) Report(stage string, rows int, share float64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if stage != p.stage {
		p.stage, p.start, p.from, p.last = stage, now, 0, time.Time{}
	}
	if now.Sub(p.start) < atOnce {
		p.from = max(0, share)
	}
	if now.Sub(p.last) < drawEvery {
		return
	}
	p.last = now
	elapsed := now.Sub(p.start)
	line := fmt.Sprintf("%-9s", stage)
	if share >= 0 {
		share = min(share, 1)
		line += " " + bar(share, 24) + fmt.Sprintf(" %3.0f %%", 100*share)
	}
	if rows > 0 {
		line += fmt.Sprintf("  %s rows", units.Count(rows))
		if s := elapsed.Seconds(); s > 0.2 {
			line += fmt.Sprintf("  %s rows/s", units.Count(int(float64(rows)/s)))
		}
	}
	if share-p.from > 0.02 && elapsed > time.Second {
		left := time.Duration(float64(elapsed) * (1 - share) / (share - p.from))
		line += "  " + left.Round(time.Second).String() + " left"
	}
	p.draw(line)
}

// say writes a line of its own above the progress.
func (p *Progress) say(text string) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw(text)
	fmt.Fprintln(p.w)
	p.width = 0
	shown.Store(0)
}

// note is say, and where no progress is drawn a note on standard error, as for a log; but not
// where no progress is wanted.
func (p *Progress) note(text string) {
	switch {
	case p.w != nil:
		p.say(text)
	case p.notes != nil:
		fmt.Fprintf(p.notes, "%s: note: %s\n", p.name, visible.Text(text))
	}
}

// tells says whether anybody is told what note says.
func (p *Progress) tells() bool { return p.w != nil || p.notes != nil }

// draw replaces the line.
func (p *Progress) draw(line string) {
	line = visible.Text(line)
	n := len([]rune(line))
	fmt.Fprint(p.w, "\r", line, strings.Repeat(" ", max(0, p.width-n)))
	p.width = n
	shown.Store(int64(n))
}

// shown is the width of the line of progress that this process shows.
var shown atomic.Int64

// erased is what removes that line, for a process that ends while its command still runs.
func erased() string {
	n := shown.Load()
	if n == 0 {
		return ""
	}
	return "\r" + strings.Repeat(" ", int(n)) + "\r"
}

// Done removes the line.
func (p *Progress) Done() {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		p.draw("")
		fmt.Fprint(p.w, "\r")
		p.width = 0
	}
	p.stage = ""
}

// bar is a bar of the given width in characters, filled to a share in [0, 1].
func bar(share float64, width int) string {
	full := int(share*float64(width) + 0.5)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
