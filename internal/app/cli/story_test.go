package cli

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// customers are rows as companies have them: an ID, dates, quoted text with line breaks, written numbers, gaps, a column of mixed kinds,
// postcodes with leading zeros, and a column that is filled in only after the label is known. Without labels there is neither.
func customers(seed uint64, n int, labels bool) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	b.WriteString("customer_id,joined,zip,income,age,score,plan,note")
	if labels {
		b.WriteString(",closed_on,churn")
	}
	b.WriteString("\n")
	for i := range n {
		age, plan := 18+r.IntN(60), []string{"basic", "plus", "pro"}[r.IntN(3)]
		income := 15_000 + r.IntN(90_000)
		leaves := float64(age)/30+float64(income)/60_000+map[string]float64{"basic": 0, "plus": 0.6, "pro": 1.2}[plan]+r.NormFloat64()/3 < 2
		ages, score := fmt.Sprint(age), fmt.Sprintf("%.2f", r.NormFloat64())
		if r.IntN(12) == 0 {
			ages = []string{"NA", "", "?"}[r.IntN(3)]
		}
		if r.IntN(20) == 0 {
			score = "n/a"
		}
		note := []string{"called, was \"\"friendly\"\"", "wrote:\nwhere is my bill?", "", "asked about the price; again"}[r.IntN(4)]
		fmt.Fprintf(&b, "%c%06d,2023-%02d-%02d,0%04d,\"$%d,%03d\",%s,%s,%s,\"%s\"", 'A'+rune(seed), i, 1+r.IntN(12), 1+r.IntN(28), 1000+r.IntN(4),
			income/1000, income%1000, ages, score, plan, note)
		if labels {
			closed, label := "", "no"
			if leaves {
				closed, label = "2024-02-01", "yes"
			}
			b.WriteString("," + closed + "," + label)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestTheStoryOfTheGuide runs the commands of the guide that lead from a messy table to decisions, and checks what they say
// and write.
func TestTheStoryOfTheGuide(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	text, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	const rows = 700
	dir := t.TempDir()
	write(t, dir, "customers.csv", customers(1, 1400, true))
	write(t, dir, "new.csv", strings.Replace(customers(2, rows, false), ",pro,", ",gold,", 3))
	if err := os.Symlink(program(t), filepath.Join(dir, "mercer")); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	var commands []string
	for _, line := range strings.Split(strings.TrimSpace(scriptOf(t, string(text), "From a messy table to decisions")), "\n") {
		cmd := exec.Command("sh", "-c", "PATH=.:$PATH\n"+line)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		said[line] = string(out)
		commands = append(commands, line)
	}
	for k, wants := range [][]string{
		{"customer_id", "looks like an ID", `"closed_on" says all of the label "churn"`, "written numbers", "date", "missing"},
		{"threshold yes from", "recall=0.9), chosen on", "test      25 % of the rows of each class, held back: 350 rows", "accuracy", "AUC", "report    training.html"},
		{"report    card.html", "threshold yes from", "relevance"},
		{"accuracy", "precision"},
		{"income", "age", "plan"},
		{`column "plan" has values that the model was not trained on, such as "gold" (3 rows)`, "of 700 rows have a value that the training did not have", "plan 3", "none of 6 columns has drifted"},
		{`such as "gold"`},
	} {
		for _, want := range wants {
			if !strings.Contains(said[commands[k]], want) {
				t.Errorf("%s does not say %q:\n%s", commands[k], want, said[commands[k]])
			}
		}
	}
	if strings.Contains(said[commands[1]], "closed_on") {
		t.Errorf("the leak is still there:\n%s", said[commands[1]])
	}
	for page, wants := range map[string][]string{
		"customers.html": {"customer_id", "looks like an ID", "closed_on", "<svg"},
		"training.html":  {"How good it is", "Confusion", "ROC curve", "Precision and recall", "threshold"},
		"card.html": {"Model card", "95 % interval", "accuracy", "recall=0.9", "Relevance of columns", "What the training had in each column", "income",
			"SHA-256", "mercer train DATA --label churn --id customer_id --ignore closed_on", "--threshold recall=0.9", "--holdout 0.25"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", page, want)
			}
		}
	}
	// Predictions join to the rows, whose notes have line breaks.
	input, err := csv.NewReader(strings.NewReader(strings.Replace(customers(2, rows, false), ",pro,", ",gold,", 3))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "predictions.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	told, err := csv.NewReader(f).ReadAll()
	if err != nil || len(told) != rows+1 || strings.Join(told[0], " ") != "customer_id prediction p_no p_yes" {
		t.Fatalf("%d lines, %v, %v", len(told), told[0], err)
	}
	for i := range told {
		if told[i][0] != input[i][0] {
			t.Fatalf("line %d is of %s, the input of %s", i, told[i][0], input[i][0])
		}
	}
	joined := ok(t, "convert", filepath.Join(dir, "joined.parquet"), filepath.Join(dir, "joined.csv")) + ok(t, "inspect", filepath.Join(dir, "joined.parquet"), "--label", "prediction")
	g, err := os.Open(filepath.Join(dir, "joined.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	wide, err := csv.NewReader(g).ReadAll()
	if err != nil || len(wide) != rows+1 || !slices.Equal(wide[0][:len(input[0])], input[0]) {
		t.Fatalf("%d lines, %v, %v: %s", len(wide), wide[0], err, joined)
	}
	for i := 1; i < len(wide); i++ {
		if wide[i][len(input[0])] != told[i][1] || wide[i][7] != input[i][7] {
			t.Fatalf("line %d is %q beside %q and %q", i, wide[i], told[i], input[i])
		}
	}
}
