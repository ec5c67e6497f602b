package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how many characters a line of help has at most.
const helpWidth = 80

// helpAll is the flag that asks for the help with all flags.
const helpAll = "help-all"

// allHelp is that flag of a command: --help, and more of it.
type allHelp struct {
	cmd   *cobra.Command
	asked bool
}

var _ pflag.Value = (*allHelp)(nil)

func (h *allHelp) String() string { return strconv.FormatBool(h.asked) }
func (h *allHelp) Type() string   { return "bool" }

func (h *allHelp) Set(text string) (err error) {
	if h.asked, err = strconv.ParseBool(text); err != nil || !h.asked {
		return err
	}
	h.cmd.InitDefaultHelpFlag()
	return h.cmd.Flags().Set("help", "true")
}

// helpFlags gives a command and those below it --help-all, and all of them the help by groups.
func helpFlags(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(cmd.OutOrStdout(), cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprintf(cmd.OutOrStderr(), "Usage:\n  %s\n", cmd.UseLine())
		return err
	})
	for _, cmd := range root.Commands() {
		if !cmd.DisableFlagParsing {
			cmd.Flags().VarPF(&allHelp{cmd: cmd}, helpAll, "", "help with all flags").NoOptDefVal = "true"
		}
	}
}

// fewExamples is how many examples --help has; --help-all has all.
const fewExamples = 3

// printHelp prints what a command does in a paragraph, how it is called, and its flags; --help-all prints all of them, and at the end the
// rest of what there is to say.
func printHelp(w io.Writer, cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	all := true
	if f := cmd.Flags().Lookup(helpAll); f != nil {
		if h, is := f.Value.(*allHelp); is {
			all = h.asked
		}
	}
	text, more, _ := strings.Cut(text, "\n\n")
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", filled(text, helpWidth), cmd.UseLine())
	if examples := strings.Split(cmd.Example, "\n"); cmd.HasExample() {
		if !all {
			examples = examples[:min(len(examples), fewExamples)]
		}
		fmt.Fprintf(w, "\nExamples:\n%s\n", filledCommands(strings.Join(examples, "\n"), helpWidth))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintln(w, hanging(fmt.Sprintf("  %-18s", c.Name()), c.Short, helpWidth))
			}
		}
	}
	left, number := 0, 0
	for _, g := range groupsOf(cmd, all) {
		left, number = left+g.left, number+g.left+len(g.flags)
		if len(g.flags) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", g.title)
		for _, f := range g.flags {
			fmt.Fprintln(w, hanging(flagColumn(f), flagUsage(f), helpWidth))
		}
	}
	switch {
	case all && more != "":
		fmt.Fprintf(w, "\nMore:\n\n%s\n", filled(more, helpWidth))
	case !all && left > 0:
		fmt.Fprintf(w, "\n%s --%s has all %d flags, and says more.\n", cmd.CommandPath(), helpAll, number)
	case !all && more != "":
		fmt.Fprintf(w, "\n%s --%s says more.\n", cmd.CommandPath(), helpAll)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help tells about a command.\n", cmd.CommandPath())
	}
}

// usageColumn is where the descriptions of flags begin.
const usageColumn = 26

// files are the flags that take the name of a file, folders that of a folder.
const (
	files   = "output test test-labels labels report append like save-stats unlabelled journal fit continue results space csv"
	folders = "plots data"
)

// flagColumn is the first column of a flag's help: its names and what it takes.
func flagColumn(f *pflag.Flag) string {
	name := "  --" + f.Name
	if f.Shorthand != "" {
		name = "  -" + f.Shorthand + ", --" + f.Name
	}
	takes, known := map[string]string{
		"bool": "", "string": "TEXT", "stringArray": "TEXT", "stringSlice": "TEXT,…",
		"int": "N", "uint64": "N", "intSlice": "N,…", "numbers": "N,…",
		"float64": "NUMBER", "float64Slice": "NUMBER,…", "float": "NUMBER", "bytes": "BYTES", "duration": "TIME", "values": "VALUES",
	}[f.Value.Type()]
	switch {
	case contains(files, f.Name):
		takes = "FILE"
	case contains(folders, f.Name):
		takes = "FOLDER"
	case !known:
		takes = strings.ToUpper(f.Value.Type())
	}
	if name += " " + takes; len([]rune(name)) < usageColumn {
		return name + strings.Repeat(" ", usageColumn-len([]rune(name)))
	}
	return name
}

// flagUsage is what a flag says, with its default.
func flagUsage(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
		return f.Usage
	}
	if strings.Contains(f.Usage, "(default") {
		return f.Usage
	}
	return f.Usage + " (default " + f.DefValue + ")"
}

// hanging is text behind the first column of a line, in as many lines as it takes; a first column that is too
// long has a line of its own.
func hanging(first, text string, width int) string {
	column := len([]rune(first))
	if column > usageColumn {
		return first + "\n" + broken(text, strings.Repeat(" ", usageColumn), strings.Repeat(" ", usageColumn), width)
	}
	return broken(text, first, strings.Repeat(" ", column), width)
}
