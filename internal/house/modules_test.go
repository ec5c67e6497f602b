package house

import (
	"os"
	"os/exec"
	"testing"
)

// The modules of the Python library and of the papers' tables list what the packages of this one import: go mod tidy in their
// folders if not.
func TestModulesKnowAllImports(t *testing.T) {
	t.Chdir(root)
	for folder, packages := range map[string][]string{"python/native": {"."}, "research": {"-test", "./..."}} {
		list := exec.Command("go", append([]string{"list", "-deps"}, packages...)...)
		list.Dir = folder
		list.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=-mod=readonly")
		if text, err := list.CombinedOutput(); err != nil {
			t.Errorf("run go mod tidy in %s: %v\n%s", folder, err, text)
		}
	}
}
