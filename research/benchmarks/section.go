package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// section is a part of the page: commands to measure and tables of what they said.
type section struct {
	name   string // for -only
	title  string
	intro  string
	files  []file
	groups []group
	tables []table
	notes  string // behind the tables
}

// file is what commands of a section read and a shell makes before. The line names the folder of
// the data $DATA and the folder that the file is made in $WORK.
type file struct{ name, line string }

// group is commands that take turns, a round each. What takes long and scatters little is
// measured once.
type group struct {
	once     bool
	commands []command
}

// command is a line to run as the page shows it: variables of the environment, a program and its
// arguments, separated by blanks. Regular expressions stand in single quotes.
type command struct {
	id   string // in the section
	line string
	read reader
}

// words splits the line: variables of the environment first, then program and arguments.
func (c command) words() (env, args []string) {
	for _, w := range strings.Fields(c.line) {
		if at := strings.IndexByte(w, '='); len(args) == 0 && at > 0 && strings.ToUpper(w[:at]) == w[:at] {
			env = append(env, w)
			continue
		}
		args = append(args, strings.Trim(w, "'"))
	}
	return env, args
}

// turns adds commands that take turns: mostly ours and its peer's.
func (s *section) turns(commands ...command) {
	s.groups = append(s.groups, group{commands: commands})
}

// make adds files, once each.
func (s *section) make(files ...file) {
	for _, f := range files {
		if !slices.Contains(s.files, f) {
			s.files = append(s.files, f)
		}
	}
}

// table is rows of cells under their names, with a line of text before.
type table struct {
	intro string
	head  []string
	rows  [][]cell
}

func (t *table) add(row ...cell) { t.rows = append(t.rows, row) }

// wanted is the keys that the tables take of a command.
func (s *section) wanted(id string) []string {
	seen := map[string]bool{}
	var keys []string
	for _, t := range s.tables {
		for _, row := range t.rows {
			for _, c := range row {
				for _, m := range c.metrics() {
					if m.id == id && !seen[m.key] {
						seen[m.key] = true
						keys = append(keys, m.key)
					}
				}
			}
		}
	}
	return keys
}

// sizes say how large the work of all sections is.
type sizes struct {
	quick   bool // only to see that everything runs
	threads int  // of everything that does not say one
}

// n is a number, or another in a quick run.
func (s sizes) n(full, quick int) int {
	if s.quick {
		return quick
	}
	return full
}

// text is one of two texts.
func (s sizes) text(full, quick string) string {
	if s.quick {
		return quick
	}
	return full
}

// sections are those of the page in its order.
func sections(s sizes) []*section {
	return []*section{
		trainings(s), scikitLearn(s), solvers(s), streams(s), predictor(s), parsers(s),
		engine(s), featureMaps(s), digits(s), nystrom(s), pooling(s), photographs(s),
	}
}

// python is the line of a peer's script.
func python(script, format string, args ...any) string {
	return "python3 " + peers + script + " " + fmt.Sprintf(format, args...)
}

// goBench is the line that runs benchmarks of a package.
func goBench(pkg, benchmarks string, threads int, time string) string {
	return fmt.Sprintf("go test -run '^$' -bench '%s' -cpu %d -benchtime %s %s", benchmarks, threads, time, pkg)
}

// idx is a file with the first n images of MNIST, or their labels, as IDX.
func idx(n int, labels bool) file {
	name, part, size := fmt.Sprintf("mnist%d", n), "images-idx3", 784*n
	header := []byte{0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 28} // kind, rows, height and width
	if labels {
		name, part, size, header = name+".labels", "labels-idx1", n, []byte{0, 0, 8, 1, 0, 0, 0, 0}
	}
	binary.BigEndian.PutUint32(header[4:], uint32(n))
	octal := ""
	for _, b := range header {
		octal += fmt.Sprintf(`\%03o`, b)
	}
	return file{name, fmt.Sprintf(`(printf '%s'; zcat "$DATA/mnist/train-%s-ubyte.gz" | tail -c +%d | head -c %d) > "$WORK/%s"`,
		octal, part, len(header)+1, size, name)}
}

const (
	mnistTestImages = "$DATA/mnist/t10k-images-idx3-ubyte.gz"
	mnistTestLabels = "$DATA/mnist/t10k-labels-idx1-ubyte.gz"
	mnistTest       = "--test " + mnistTestImages + " --test-labels " + mnistTestLabels
)

// mnist is the first n of the 60,000 training images and their labels, and the files to make.
func mnist(n int) (images, labels string, files []file) {
	if n == 60_000 {
		return "$DATA/mnist/train-images-idx3-ubyte.gz", "$DATA/mnist/train-labels-idx1-ubyte.gz", nil
	}
	x, y := idx(n, false), idx(n, true)
	return "$WORK/" + x.name, "$WORK/" + y.name, []file{x, y}
}
