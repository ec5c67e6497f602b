package cli

import (
	"strings"
)

// Check says what is wrong with a command line as far as its command, flags and number of
// arguments tell, without running it. The options of liblinear-train and liblinear-predict, which
// have their own grammar, are left to them.
func Check(args []string) error {
	root := newRoot()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if cmd == root {
		return usagef("%q is no command", strings.Join(args, " "))
	}
	if cmd.DisableFlagParsing {
		return nil
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return cmd.FlagErrorFunc()(cmd, err)
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
