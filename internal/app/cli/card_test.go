package cli

import (
	"bytes"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCardsTellHowToMakeTheModelAgain runs the command of a card, which makes the same model, byte for byte.
func TestCardsTellHowToMakeTheModelAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	t.Chdir(t.TempDir())
	write(t, ".", "people.csv", exportTable(240, 2, true))
	code := regexp.MustCompile(`(?s)<pre[^>]*><code>(mercer train .*?)</code>`)
	for _, args := range []string{
		"--learner svm --features 32 --threshold max-f1 --holdout 0.25",
		"--learner rfm --kernel rbf --label y --threshold recall=0.9",
		"--kernel laplacian --features 48 --learner ridge --lambda 0.5 --seed 3 --holdout 0.2 --holdout-kind random",
		"--task regress --label shop --id town --learner kernel-ridge --kernel matern --nu 2.5 --split-group town",
		"--learner online --optimizer adagrad --epochs 2 --ignore size --features 16",
	} {
		ok(t, append([]string{"train", "people.csv", "-o", "m.mercer"}, strings.Fields(args)...)...)
		ok(t, "inspect", "m.mercer", "--report", "card.html", "--data", "people.csv")
		card, err := os.ReadFile("card.html")
		if err != nil {
			t.Fatal(err)
		}
		found := code.FindSubmatch(card)
		if found == nil {
			t.Fatalf("%s: no command in %s", args, card)
		}
		command := html.UnescapeString(string(found[1]))
		fields := strings.Fields(strings.NewReplacer("DATA", "people.csv", "MODEL", "again.mercer", "'", "").Replace(command))
		ok(t, fields[1:]...)
		one, _ := os.ReadFile("m.mercer")
		two, _ := os.ReadFile("again.mercer")
		if !bytes.Equal(one, two) {
			t.Errorf("%s: %s makes another model", args, command)
		}
	}
	if r := mercer(t, "inspect", "m.mercer", "--data", "people.csv"); r.code != 2 {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if r := mercer(t, "inspect", "people.csv", "--data", "people.csv", "--report", "x.html"); r.code != 2 {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}
