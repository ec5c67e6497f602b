// Package house checks how the project is built: which packages import which, what is documented, what .ci/run runs.
package house

import (
	"fmt"
	"os"
	"testing"
)

// The tests run in the project's folder, and name files from there.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
