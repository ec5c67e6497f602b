package cli

import (
	"strings"
	"testing"
)

func TestCheckTellsWrongCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"train a.csv -o m --features 64 --threads 2": "",
		"bench --map rff --d 10 --json":              "",
		"liblinear-train -s 1 -q a.svm":              "",
		"trian a.csv":                                "trian",
		"":                                           "no command",
		"train a.csv -o m --featurs 64":              "featurs",
		"train a.csv -o m --features many":           "many",
		"bench a.csv":                                "1 arguments",
		"train a.csv b.csv -o m":                     "2 arguments",
	} {
		err := Check(strings.Fields(line))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("mercer %s: %v, want %q", line, err, want)
		}
	}
}
