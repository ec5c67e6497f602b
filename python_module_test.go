package mercer

import (
	"os"
	"os/exec"
	"testing"
)

// The module of the Python library lists what the packages of this one import: go mod tidy in python/native if not.
func TestPythonModuleKnowsAllImports(t *testing.T) {
	list := exec.Command("go", "list", "-deps", ".")
	list.Dir = "python/native"
	list.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=-mod=readonly")
	if text, err := list.CombinedOutput(); err != nil {
		t.Errorf("run go mod tidy in python/native: %v\n%s", err, text)
	}
}
