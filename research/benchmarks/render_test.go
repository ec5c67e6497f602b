package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages in testdata instead of comparing")

// two are sections that the results in testdata are of, in either size.
func two(s sizes) []*section {
	speed := &section{name: "speed", title: "Speed", intro: "How fast.", notes: "Behind the tables.",
		files: []file{{"made", `zcat "$DATA/a.gz" > "$WORK/made"`}}}
	speed.turns(
		command{"ours", "mercer bench --json " + s.text("--rows 1000", "--rows 10"), readJSON},
		command{"theirs", "python3 peers/x.py", readJSON})
	speed.groups = append(speed.groups, group{once: true, commands: []command{{"long", "mercer train $WORK/made --json", readJSON}}})
	first := table{head: []string{"what", "Mercer", "peer", "times as fast"}}
	first.add(label("seconds"), seconds("ours", "s"), seconds("theirs", "s"), faster("ours", "s", "theirs", "s"))
	first.add(label("rate"), val("ours", "rate"), nothing, nothing)
	second := table{intro: "Once:", head: []string{"learner", "error", "memory"}}
	second.add(word{metric{"long", "learner"}}, percent("long", "error"), megabytes("long", "bytes"))
	speed.tables = []table{first, second}

	size := &section{name: "size", title: "Size", intro: "How large."}
	size.turns(command{"large", "mercer inspect a", readJSON})
	size.tables = []table{{head: []string{"", "bytes"}, rows: [][]cell{{label("all"), megabytes("large", "bytes")}}}}
	return []*section{speed, size, {name: "later", title: "Not measured"}}
}

// The pages are testdata/*.md, of the results in testdata/*.json.
func TestPagesOfFixedResults(t *testing.T) {
	for _, name := range []string{"page", "missing", "mixed"} {
		all, err := readResults("testdata/" + name + ".json")
		if err != nil || len(all.Runs) == 0 {
			t.Fatalf("%s: %d runs, %v", name, len(all.Runs), err)
		}
		got, err := page(all, all.Runs[len(all.Runs)-1], two)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden := "testdata/" + name + ".md"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the page is\n%s", name, got)
		}
	}
}

func TestResultsOfOtherCommandsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m measurements)
		want   string
	}{
		"another line": {func(m measurements) { m["ours"].Line = "mercer bench --rows 7" }, "not of the command mercer bench --json --rows 1000"},
		"no command":   {func(m measurements) { delete(m, "theirs") }, "not of the command python3 peers/x.py"},
		"no key":       {func(m measurements) { delete(m["ours"].Numbers, "rate") }, `lack "rate" of mercer bench`},
	} {
		all, err := readResults("testdata/page.json")
		if err != nil {
			t.Fatal(err)
		}
		c.change(all.Runs[0].Sections["speed"])
		if _, err := page(all, all.Runs[0], two); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The real sections become a page whatever their numbers are, and whatever is missing.
func TestSectionsBecomeAPage(t *testing.T) {
	for _, size := range allSizes {
		for _, missing := range []bool{false, true} {
			r := runOf("one")
			r.Quick, r.Threads, r.Sections = size.quick, size.threads, map[string]measurements{}
			for _, s := range sections(size) {
				m := measurements{}
				for _, g := range s.groups {
					for _, c := range g.commands {
						_, args := c.words()
						of := &measured{Line: c.line, Numbers: map[string][]float64{}, Words: map[string]string{}}
						if missing && (args[0] == "python3" || programs[args[0]] != "") {
							of.Missing = "`a package`"
						}
						for i, key := range s.wanted(c.id) {
							of.Numbers[key], of.Words[key] = []float64{float64(i + 1), 2, 3}, "word"
						}
						m[c.id] = of
					}
				}
				r.Sections[s.name] = m
			}
			text, err := page(&results{Runs: []*run{r}}, r, sections)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text, "not run: `a package`") != missing {
				t.Errorf("%+v: missing %t, and the page says otherwise", size, missing)
			}
			for _, s := range sections(size) {
				if !strings.Contains(text, "\n## "+s.title+"\n\n"+s.intro+"\n") {
					t.Errorf("%+v: no section %s", size, s.title)
				}
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "|") && !strings.HasSuffix(line, "|\n") || strings.Contains(line, "%!") {
					t.Errorf("%+v: %s", size, line)
				}
			}
		}
	}
}
