package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mercer/internal/engine/atomicfile"
)

// exitInterrupted is the exit code of a command that was interrupted: that of a shell for SIGINT.
const exitInterrupted = 130

// grace is how long an interrupted command may take to end by itself. A dense solve takes longer, and is left.
var grace = 250 * time.Millisecond // a constant but for tests

// collectSeldom lets garbage be a fifth of the heap, or 13 MB, as long as what it returns is alive: it counts as heap, and takes no memory, since
// nothing is written to it. Batches, blocks and panels are used again, so there is little garbage: letting it double a heap that is all
// data would only cost memory, and collecting a fifth of a small one takes a tenth of a training's time.
func collectSeldom() []byte {
	debug.SetGCPercent(20)
	return make([]byte, 64<<20)
}

// written is the annotation of a command that says what an interruption leaves written.
const written = "written"

// whatIsWritten says it.
func whatIsWritten(cmd *cobra.Command) string {
	return cmp.Or(cmd.Annotations[written], "nothing was written")
}

// Main runs the command line of this process until it ends or a signal (SIGINT, SIGTERM) ends it: with exit
// code 130, one line, and no half-written file, after half a second at most. A server first answers what it
// has been asked. A second signal ends anything at once.
func (p *Program) Main() int {
	if os.Getenv("GOGC") == "" {
		defer runtime.KeepAlive(collectSeldom())
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- p.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr) }()
	select {
	case code := <-done:
		return code
	case <-signals:
	}
	cancel()
	cmd, _, err := p.root().Find(os.Args[1:])
	var late <-chan time.Time
	if err != nil || cmd.Name() != "serve" {
		late = time.After(grace)
	}
	select {
	case code := <-done:
		return code
	case <-late:
	case <-signals:
	}
	atomicfile.Abandon()
	select {
	case code := <-done: // in the meantime
		return code
	default:
	}
	name, what := p.Name, whatIsWritten(p.root())
	if err == nil {
		name, what = cmd.CommandPath(), whatIsWritten(cmd)
		if cmd.Flags().Lookup("journal") != nil {
			what = "what is done is in the journal, and the same command goes on from there"
		}
	}
	fmt.Fprintf(os.Stderr, "%s%s: interrupted; %s\n", erased(), name, what)
	return exitInterrupted
}
