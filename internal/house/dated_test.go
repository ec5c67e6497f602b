package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Files of two clones have the same times if they are equal and others if not, so that Go keeps the results of tests that read them; the
// times of a tree with changes, or of a person's clone, stay.
func TestTimesByContent(t *testing.T) {
	t.Chdir(root)
	clone := func(name, content string, clean bool, env string) time.Time {
		dir := filepath.Join(t.TempDir(), name)
		script := fmt.Sprintf(`set -euo pipefail
source <(sed -n '/^clean_clone() {/p; /^dated() {/,/^}/p' .ci/run)
mkdir "$1" && cd "$1" && git init -q .
printf %%s "$2" >file && printf same >other
git add . && git -c user.name=n -c user.email=e commit -qm m
[ %v = true ] || echo change >>other
dated`, clean)
		cmd := exec.Command("bash", "-c", script, "bash", dir, content)
		cmd.Env = append(os.Environ(), "CI="+env)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	one := clone("a", "one", true, "1")
	if again := clone("b", "one", true, "1"); !again.Equal(one) {
		t.Errorf("equal files have the times %v and %v", one, again)
	}
	if other := clone("c", "two", true, "1"); other.Equal(one) {
		t.Errorf("two contents have the time %v", one)
	}
	if mine, changed := clone("d", "one", true, ""), clone("e", "one", false, "1"); mine.Equal(one) || changed.Equal(one) {
		t.Errorf("a person's clone has the time %v, one with changes %v", mine, changed)
	}
}
