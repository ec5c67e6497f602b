package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// Every system of docs/systems.md runs. The rows of data are few.
func TestEverySystemRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	text, err := os.ReadFile("../../../docs/systems.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(systemsData(t))
	output := map[string]string{"train": "m.mercer", "tune": "m.mercer", "transform": "z.npy", "kernel": "k.npy"}
	papers, systems := 0, 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "## ") {
			papers++
		}
		name, command, is := strings.Cut(line, ": `")
		if !is || !strings.HasPrefix(line, "- ") {
			continue
		}
		systems++
		if strings.HasPrefix(command, "cd research ") {
			continue // TestSystemsOfResearchRun runs it
		}
		args := arguments(strings.TrimRight(command, "`\n"))
		if file := output[args[0]]; file != "" {
			args = append(args, "-o", file)
		}
		if r := mercer(t, args...); r.code != 0 {
			t.Errorf("%s: mercer %s: exit code %d: %s", name, command, r.code, r.stderr)
		}
	}
	if papers != 5 || systems < 90 {
		t.Errorf("the page has %d systems of %d papers; it has at least 90 of 5", systems, papers)
	}
}

// arguments divides a command at blanks that are not in single quotes.
func arguments(command string) (args []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return args
}

// systemsData writes the files that the table names to a new folder.
func systemsData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	stream := random.New(1, "cli.systems")
	var numbers, plane, classes, histograms, more, words, bags strings.Builder
	header := func(b *strings.Builder, d int, last string) {
		for j := range d {
			fmt.Fprintf(b, "x%d,", j)
		}
		b.WriteString(last + "\n")
	}
	header(&numbers, 4, "y")
	header(&plane, 2, "y")
	header(&classes, 4, "class")
	header(&histograms, 6, "class")
	header(&more, 6, "class")
	header(&bags, 4, "bag,class")
	for i := range 150 {
		class := i % 3
		x := make([]float64, 4)
		for j := range x {
			x[j] = stream.Normal() + float64((j+class)%3)
			fmt.Fprintf(&numbers, "%.3f,", x[j])
			fmt.Fprintf(&classes, "%.3f,", x[j])
		}
		y := math.Sin(x[0]) + x[1]*x[2]
		fmt.Fprintf(&numbers, "%.3f\n", y)
		fmt.Fprintf(&classes, "%c\n", 'a'+class)
		fmt.Fprintf(&plane, "%.3f,%.3f,%.3f\n", x[0], x[1], math.Sin(x[0])+x[1])
		for j := range 6 {
			bin := math.Floor(6 * math.Abs(stream.Normal()) * float64(1+(j+class)%3))
			fmt.Fprintf(&histograms, "%g,", bin)
			fmt.Fprintf(&more, "%g,", bin+1)
		}
		fmt.Fprintf(&histograms, "%c\n", 'a'+class)
		fmt.Fprintf(&more, "%c\n", 'a'+class)
		fmt.Fprintf(&words, "%d %d:1 %d:2\n", class, 1+i*7%20, 21+i*3%30)
	}
	for i := range 180 {
		bag := i / 6
		class := bag % 3
		for j := range 4 {
			fmt.Fprintf(&bags, "%.3f,", stream.Normal()+float64((j+class)%3))
		}
		fmt.Fprintf(&bags, "%d,%c\n", bag, 'a'+class)
	}
	errors := "set,first,second,third\none,0.1,0.2,0.3\ntwo,0.2,0.3,0.25\nthree,0.1,0.15,0.2\nfour,0.3,0.35,0.5\n"
	for name, text := range map[string]string{"numbers.csv": numbers.String(), "plane.csv": plane.String(), "classes.csv": classes.String(),
		"histograms.csv": histograms.String(), "more.csv": more.String(), "words.svm": words.String(), "bags.csv": bags.String(), "errors.csv": errors} {
		write(t, dir, name, text)
	}
	return filepath.Clean(dir)
}
