package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mercer/dataset"
	"mercer/internal/engine/remote"
	"mercer/internal/engine/vec"
	"mercer/internal/engine/visible"
)

// Program is a program with commands. Errors, help, signals and the flags that all commands have are alike in
// every program.
type Program struct {
	// Name is what it is called on a command line.
	Name string

	// Short, Long and Example are what its help says.
	Short, Long, Example string

	// Commands make its commands, anew for each command line.
	Commands []func() *cobra.Command
}

// Run runs a command line: it returns the exit code.
func (p *Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := p.root()
	root.Annotations = map[string]string{commandLine: p.typed(args)}
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &checkedOutput{Writer: stdout}
	shown, told := &visible.Writer{W: out}, &visible.Writer{W: stderr}
	root.SetOut(shown)
	root.SetErr(told)
	cmd, err := root, vec.CheckLevel()
	if err != nil {
		err = UsageError{err}
	} else {
		err = firstWord(root, args)
	}
	if err == nil {
		steady, done := dataset.Steady(ctx)
		defer done()
		cmd, err = root.ExecuteContextC(steady)
	}
	shown.Flush() // its error is that of out
	told.Flush()
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	interrupted := ctx.Err() != nil
	if interrupted && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; " + whatIsWritten(cmd))
	}
	if errors.Is(err, syscall.EPIPE) {
		return 1
	}
	fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), oneLine(err))
	if interrupted {
		return exitInterrupted
	}
	var wrong UsageError
	if errors.As(err, &wrong) {
		return 2
	}
	var drifted driftError
	if errors.As(err, &drifted) {
		return exitDrifted
	}
	return 1
}

// tellOfSilence tells who looks at a terminal that the command waits for another machine.
func tellOfSilence(cmd *cobra.Command, host string) {
	text := fmt.Sprintf("%s: note: %s has not answered for a second; waits for up to %v", cmd.CommandPath(), visible.Text(host), remote.Patience)
	if f := cmd.Flags().Lookup("progress"); f != nil && f.Value.String() == "never" {
		return
	}
	if p := current.Load(); p.draws() {
		p.say(text)
	} else if isTerminal(cmd.ErrOrStderr()) {
		fmt.Fprintln(cmd.ErrOrStderr(), text)
	}
}

// isTerminal says that what is written is seen on a terminal.
func isTerminal(w io.Writer) bool {
	if shown, is := w.(*visible.Writer); is {
		w = shown.W
	}
	f, is := w.(*os.File)
	return is && term.IsTerminal(int(f.Fd()))
}

// root is the command of the program itself.
func (p *Program) root() *cobra.Command {
	threads := 0
	root := &cobra.Command{
		Use:           p.Name,
		Short:         p.Short,
		Long:          p.Long,
		Example:       p.Example,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if threads < 0 || threads > vec.MostThreads {
				return usagef("--threads %d: give 1 to %d, or 0 for all processors", threads, vec.MostThreads)
			}
			if threads > 0 {
				runtime.GOMAXPROCS(threads)
			}
			current.Store(nil)
			remote.WhenSilent(func(host string) { tellOfSilence(cmd, host) })
			return checkArguments(cmd, args)
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.PersistentFlags().IntVar(&threads, "threads", 0, "goroutines that compute at a time; 0: one a processor (the result is the same)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return unknownFlag(cmd, err)
	})
	for _, command := range p.Commands {
		root.AddCommand(command())
	}
	helpFlags(root)
	return root
}
