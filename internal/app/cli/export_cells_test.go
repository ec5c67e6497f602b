package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mercer/feature"
	"mercer/internal/engine/testenv"
	"mercer/internal/reach/export"
	"mercer/kernel"
	"mercer/train"
)

// exportCell is a model of a map, or of a kernel without one, and a learner.
type exportCell struct {
	row, learner string
	with         string // what makes the cells of a row differ: the learner, or of a row that is a learner the map or kernel
	flags        []string
	data         string            // of those that it was trained on
	outcome      map[string]string // of each target: "" for one that works, or why it is refused
}

// exportCells lists the models of the lists in docs/export.md: every map with every learner of features, every kernel with
// every learner of the kernel itself, and the learners that not all targets have, as rows, with every map or kernel.
func exportCells() (maps, kernels, learners []*exportCell) {
	names, _ := feature.Names()
	for _, learner := range train.Learners() {
		if l := train.LearnerOf(learner); l.Exact() || learner == "rfm" { // not of features
			continue
		}
		for _, name := range append([]string{"none"}, names...) {
			c := &exportCell{row: name, learner: learner, with: learner}
			switch name {
			case "none":
				c.flags = []string{"--kernel", "linear"}
			case feature.Chain, feature.Sum:
				c.flags = []string{"--map", `{"map":"` + name + `","steps":[{"map":"rp","kernel":{"name":"linear"},"features":4},
					{"map":"rff","kernel":{"name":"rbf","gamma":0.3},"features":8}]}`}
			default:
				of := kernel.Kernel{Name: "rbf"}.WithDefaults()
				if all := feature.Kernels(name); all != nil && !slices.Contains(all, "rbf") {
					of = kernel.Kernel{Name: all[0]}.WithDefaults()
				}
				c.flags = []string{"--map", name, "--kernel", of.Name, "--scale", "minmax"}
				if of.Name == "poly" {
					c.flags = append(c.flags, "--degree", "2")
				}
				if !(feature.Config{Map: name, Kernel: of}).Decides() {
					c.flags = append(c.flags, "--features", "12")
				}
			}
			if learner == "residual" {
				c.row, c.with = learner, c.row
				learners = append(learners, c)
				continue
			}
			maps = append(maps, c)
		}
	}
	for _, learner := range train.Learners() {
		if !train.LearnerOf(learner).Exact() || learner == "rfm" { // not of a kernel
			continue
		}
		for _, name := range kernel.Names() {
			flags := []string{"--kernel", name, "--scale", "minmax"}
			if learner == "knn" {
				learners = append(learners, &exportCell{row: learner, learner: learner, with: name, flags: flags})
			} else {
				kernels = append(kernels, &exportCell{row: name, learner: learner, with: learner, flags: flags})
			}
		}
	}
	return maps, append(kernels, &exportCell{row: "the choice of rfm", learner: "rfm", with: "rfm", flags: nil}), learners
}

// allLearners are the cells of learners, and one that every target has of each learner that is in the other lists.
func allLearners(cells []*exportCell) (all []*exportCell) {
	for _, name := range train.Learners() {
		of := slices.DeleteFunc(slices.Clone(cells), func(c *exportCell) bool { return c.learner != name })
		if len(of) == 0 {
			of = []*exportCell{{row: name, outcome: map[string]string{}}}
		}
		all = append(all, of...)
	}
	return all
}

// columnsAtOnce is what differs between the learners of a map that a database has too few columns for.
var columnsAtOnce = regexp.MustCompile(`a row takes \d+ columns at once, and (\w+) has (\d+) at most`)

// fill trains the model of a cell and exports it to all targets. A cell that cannot be trained stays without outcome.
func (c *exportCell) fill(t *testing.T, dir, name string) (trained bool) {
	file := filepath.Join(dir, name+".mercer")
	for _, way := range [][]string{{"classes.csv"}, {"numbers.csv"}, {"numbers.csv", "--task", "outliers"}} {
		args := append([]string{"train", filepath.Join(dir, way[0]), "-o", file, "--learner", c.learner}, way[1:]...)
		if r := mercer(t, append(args, c.flags...)...); r.code != 0 {
			continue
		}
		c.outcome = map[string]string{}
		for _, target := range export.Targets {
			r := mercer(t, "export", file, "--target", target, "-o", filepath.Join(dir, name+"."+target))
			if target == "js" { // as Node knows modules by their names
				os.Rename(filepath.Join(dir, name+".js"), filepath.Join(dir, name+".mjs"))
			}
			if r.code != 0 {
				c.outcome[target] = strings.TrimSpace(strings.TrimPrefix(r.stderr, "mercer export: "))
				c.outcome[target] = strings.NewReplacer("the map "+c.row+" ", "the map ", "the kernel "+c.row+" ", "the kernel ",
					"the kernel "+c.with+" ", "the kernel ").Replace(columnsAtOnce.ReplaceAllString(c.outcome[target], "a row takes more than the $2 columns at once that $1 has"))
			}
		}
		ok(t, "predict", file, filepath.Join(dir, way[0]), "--scores", "--json", "-o", filepath.Join(dir, name+".told"))
		c.data = way[0]
		return true
	}
	return false
}

// exportLists say for each set of targets with the same outcome which maps, or kernels, can be exported, and why others cannot.
func exportLists(of string, cells []*exportCell) string {
	var lists []string // different ones
	var targets [][]string
	for _, target := range export.Targets {
		list := exportList(of, target, cells)
		if n := slices.Index(lists, list); n >= 0 {
			targets[n] = append(targets[n], target)
			continue
		}
		lists, targets = append(lists, list), append(targets, []string{target})
	}
	var b strings.Builder
	for i, list := range lists {
		fmt.Fprintf(&b, "- **%s**: %s\n", strings.Join(targets[i], ", "), list)
	}
	return b.String()
}

// exportList says it for one target. A map that is refused with some learners alone has their names in brackets, and so for other rows.
func exportList(of, target string, cells []*exportCell) string {
	rows := map[string][]*exportCell{} // those that can be trained
	for _, c := range cells {
		if c.outcome != nil {
			rows[c.row] = append(rows[c.row], c)
		}
	}
	var works, refused, reasons []string
	names := map[string][]string{} // by reason
	for _, c := range cells {
		row := rows[c.row]
		if len(row) == 0 || c != row[0] {
			continue
		}
		with := map[string][]string{} // what differs, by reason
		for _, c := range row {
			with[c.outcome[target]] = append(with[c.outcome[target]], c.with)
		}
		if len(with[""]) == len(row) {
			works = append(works, c.row)
			continue
		}
		refused = append(refused, c.row)
		for _, other := range row {
			reason := other.outcome[target]
			if reason == "" || with[reason][0] != other.with {
				continue
			}
			name := c.row
			if len(with[reason]) < len(row) {
				name += " (" + strings.Join(with[reason], ", ") + ")"
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
			names[reason] = append(names[reason], name)
		}
	}
	text := "every " + of
	if len(refused) > 0 && len(refused) < len(works)/2 {
		text += " but " + strings.Join(refused, ", ")
	} else if len(refused) > 0 {
		text = of + "s " + strings.Join(works, ", ")
	}
	for _, reason := range reasons {
		text += "\n  - " + strings.Join(names[reason], ", ") + ": " + reason + "."
	}
	return text
}

// Every map with every learner, and every kernel: docs/export.md says which targets work, and why others do not. All graphs,
// scripts and source files run, and predict what mercer predict does.
func TestEveryCellIsExportedOrRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	write(t, dir, "classes.csv", exportTable(160, 3, true))
	write(t, dir, "numbers.csv", exportTable(160, 0, true))
	maps, kernels, learners := exportCells()
	var checks []onnxCheck
	var scripts []sqlCheck
	var files []sourceCheck
	rows := map[string]string{}
	for _, name := range []string{"classes.csv", "numbers.csv"} {
		rows[name] = asRows(t, filepath.Join(dir, name), 25)
	}
	all := slices.Concat(maps, kernels, learners)
	some := testenv.Few(t, all, 9, "every map and kernel with every learner in every target, and the lists of docs/export.md")
	for i, c := range some {
		name := fmt.Sprint("cell", i)
		if !c.fill(t, dir, name) {
			continue
		}
		for _, target := range databases {
			if c.outcome[target] == "" {
				scripts = append(scripts, sqlCheck{Name: c.row + "/" + c.with, Target: target, Model: filepath.Join(dir, name+"."+target),
					Data: filepath.Join(dir, c.data), Told: filepath.Join(dir, name+".told"), View: "model", Table: "rows", Rows: 25})
			}
		}
		for _, target := range sources {
			if c.outcome[target] == "" {
				check := sourceCheck{Name: c.row + "/" + c.with, target: target, Rows: rows[c.data], told: filepath.Join(dir, name+".told"),
					file: filepath.Join(dir, name+".mercer"), Model: filepath.Join(dir, name+"."+strings.Replace(target, "js", "mjs", 1))}
				if c.row == feature.Words {
					check.ties = 0.05
				}
				files = append(files, check)
			}
		}
		if c.outcome["onnx"] == "" {
			check := onnxCheck{Name: c.row + "/" + c.with, Model: filepath.Join(dir, name+".onnx"),
				Data: filepath.Join(dir, c.data), Told: filepath.Join(dir, name+".told")}
			if c.row == feature.Words {
				check.Ties = 0.05 // in float32 a row may be as near to two words, which mercer tells apart in float64
			}
			if c.row == "knn" {
				check.Ties = 0.05 // of rows that are as near
			}
			checks = append(checks, check)
		}
	}
	const path, from, to = "../../../docs/export.md", "<!-- cells: go test ./internal/app/cli -run EveryCell -update -->\n", "<!-- end of cells -->\n"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(content), from)
	_, after, found := strings.Cut(rest, to)
	if !found {
		t.Fatalf("%s has no %q", path, to)
	}
	want := before + from + "\n" + exportLists("map", maps) + exportLists("kernel", kernels) + exportLists("learner", allLearners(learners)) + "\n" + to + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(some) == len(all) && want != string(content) {
		t.Error("the lists of docs/export.md are not what the targets do; run go test ./internal/app/cli -run EveryCell -update")
	}
	checkSources(t, files)
	runChecks(t, checks, onnxPython(t), "-B", "testdata/onnx_check.py")
	checkSQL(t, scripts)
}
