package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mercer/internal/engine/spelling"
)

// firstWord finds a command line whose first word is no command, before its flags are taken for those of the
// program itself.
func firstWord(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "__") || args[0] == "help" || args[0] == "completion" {
		return nil // help, completion and what shells ask for are cobra's
	}
	if cmd, _, err := root.Find(args[:1]); err == nil && cmd != root {
		return nil
	}
	return unknownCommand(root, args[0])
}

// unknownCommand is the error that a word is no command, with the one that was meant.
func unknownCommand(root *cobra.Command, word string) error {
	var known []string
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	if near := spelling.Near(word, known); near != "" {
		return usagef("%q is no command; did you mean %s? %s --help lists them", word, near, root.Name())
	}
	if there(word) {
		return usagef("%q is a file and no command; what is to be done with it? %s --help lists the commands", word, root.Name())
	}
	return usagef("%q is no command; %s --help lists them", word, root.Name())
}

// unknownFlag is the error of a flag, with the one that was meant where there is none of its name.
func unknownFlag(cmd *cobra.Command, err error) error {
	meant := ""
	var e *pflag.NotExistError
	if errors.As(err, &e) {
		word := e.GetSpecifiedName()
		if short := e.GetSpecifiedShortnames(); short != "" {
			word = short // of a long flag with one dash
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		word, _, _ = strings.Cut(word, "=")
		if near := spelling.Near(word, known); near != "" {
			meant = "; did you mean --" + near + "?"
		}
	}
	return usagef("%w%s (%s --help lists the flags)", err, meant, cmd.CommandPath())
}
