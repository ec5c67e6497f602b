// Mercer trains and uses kernel machines at linear cost. "mercer demo" shows what it does;
// docs/cli.md describes every command.
package main

import (
	"os"
	"runtime/debug"

	"mercer/internal/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		// Batches, blocks and panels are used again, so there is little garbage; letting it
		// double a heap that is all data would only cost memory.
		debug.SetGCPercent(20)
	}
	os.Exit(cli.Main())
}
