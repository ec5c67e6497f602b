package main

import (
	"fmt"
	"strings"

	"mercer/internal/engine/units"
)

const beginning = "# Benchmarks\n\n" +
	"Made by `cd research && go run ./benchmarks -data DATA -python PYTHON`, which measures all that stands here " +
	"(`go doc ./benchmarks`). Edit that program, not this page.\n\n"

const howToRead = "A figure is the median of its rounds; commands that are compared take turns, a round each. " +
	"A ratio says how many times as fast Mercer is, above 1 in its favour: the median of the rounds' ratios, with the least and the most. " +
	"Behind the tables of a section stand its commands, exactly as they ran: `$DATA` is the folder of the public data sets, " +
	"`$WORK` one for files in between. Virtual machines drift by a tenth or two with their neighbours: read ratios, not digits.\n"

// page is the text of docs/benchmarks.md, of sections in the sizes of their runs. Those of other
// runs than the last say which they are of.
func page(all *results, last *run, sections func(sizes) []*section) (string, error) {
	var b strings.Builder
	b.WriteString(beginning)
	if last.Quick {
		b.WriteString("**A quick run: small sizes, one round. It shows that the commands work and says nothing of speed.**\n\n")
	}
	b.WriteString(head(last))
	b.WriteString(howToRead)
	for _, s := range sections(sizes{quick: last.Quick, threads: last.Threads}) {
		from := all.of(s.name)
		if from == nil {
			continue
		}
		if from.Quick != last.Quick || from.Threads != last.Threads { // mixed on demand: tables are those of its sizes
			for _, other := range sections(sizes{quick: from.Quick, threads: from.Threads}) {
				if other.name == s.name {
					s = other
				}
			}
		}
		if err := s.complete(from.Sections[s.name]); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if why := from.differs(last); why != "" {
			small := ""
			if from.Quick {
				small = ", in small sizes that say nothing of speed"
			}
			day := from.Date.Format("2 January 2006")
			fmt.Fprintf(&b, "**Not of the run above:** commit %s, %s, on %s%s.\n\n", version(from), day, from.Host, small)
		}
		b.WriteString(s.text(from.Sections[s.name]))
	}
	return b.String(), nil
}

// complete says what a section lacks in measurements, as those of an older program may.
func (s *section) complete(m measurements) error {
	for _, g := range s.groups {
		for _, c := range g.commands {
			of := m[c.id]
			if of == nil || of.Line != c.line {
				return fmt.Errorf("section %s: the results are not of the command %s: measure it again", s.name, c.line)
			}
			for _, key := range s.wanted(c.id) {
				if of.Missing == "" && len(of.Numbers[key]) == 0 && of.Words[key] == "" {
					return fmt.Errorf("section %s: the results lack %q of %s: measure it again", s.name, key, c.line)
				}
			}
		}
	}
	return nil
}

// head is a table of what was measured, on what and when.
func head(r *run) string {
	var libraries []string
	for _, name := range peerNames {
		if v := r.Peers[name]; v != "" {
			libraries = append(libraries, peerTitles[name]+" "+v)
		}
	}
	if libraries == nil {
		libraries = []string{"none"}
	}
	h := r.Host
	memory := ""
	if h.MemoryGiB > 0 {
		memory = fmt.Sprintf(", %d GiB", h.MemoryGiB)
	}
	told := ""
	if r.Core != "" {
		told = ", `" + coreType + "=" + r.Core + "`"
	}
	var b strings.Builder
	b.WriteString("| | |\n| --- | --- |\n")
	fmt.Fprintf(&b, "| commit | %s, %s |\n", version(r), r.Date.Format("2 January 2006"))
	fmt.Fprintf(&b, "| host | %s, %d cores, %s instructions%s |\n", h.CPU, h.Cores, h.Level, memory)
	fmt.Fprintf(&b, "| system | %s, %s |\n", h.System, h.Go)
	fmt.Fprintf(&b, "| peers' libraries | %s%s |\n", strings.Join(libraries, ", "), told)
	fmt.Fprintf(&b, "| measured | %s in %s |\n\n", units.Plural(r.Rounds, "round"), units.Plural(int(r.Seconds/60+0.5), "minute"))
	return b.String()
}

// version is the commit of a run as people read it.
func version(r *run) string {
	if id, changed := strings.CutSuffix(r.Commit, "+"); changed {
		return id + " with changes"
	}
	return r.Commit
}

// text is a section without its title: tables, and the commands that made them.
func (s *section) text(m measurements) string {
	var b strings.Builder
	b.WriteString(s.intro + "\n")
	for _, t := range s.tables {
		if t.intro != "" {
			b.WriteString("\n" + t.intro + "\n")
		}
		fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(t.head, " | "), strings.Repeat(" --- |", len(t.head)))
		for _, row := range t.rows {
			texts := make([]string, len(row))
			for i, c := range row {
				texts[i] = c.text(m)
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(texts, " | "))
		}
	}
	if s.notes != "" {
		b.WriteString("\n" + s.notes + "\n")
	}
	b.WriteString("\n```sh\n")
	for _, f := range s.files {
		b.WriteString(f.line + "\n")
	}
	for _, g := range s.groups {
		for _, c := range g.commands {
			line := m[c.id].Line
			if g.once {
				line += "  # once"
			}
			b.WriteString(line + "\n")
		}
	}
	b.WriteString("```\n")
	return b.String()
}
