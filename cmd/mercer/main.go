// Mercer trains and uses kernel machines at linear cost. "mercer demo" shows what it does;
// docs/cli.md describes every command.
package main

import (
	"os"

	"mercer/internal/app/cli"
)

func main() { os.Exit(cli.Main()) }
