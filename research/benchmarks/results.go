package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"mercer/internal/engine/atomicfile"
)

// results are what is kept between runs: of each section the last measurements.
type results struct {
	Runs []*run `json:"runs"` // oldest first
}

// run is one call of the program.
type run struct {
	Commit   string                  `json:"commit"` // with "+" behind it if files of the program were changed
	Date     time.Time               `json:"date"`
	Quick    bool                    `json:"quick,omitempty"`
	Rounds   int                     `json:"rounds"`
	Threads  int                     `json:"threads"`
	Seconds  float64                 `json:"seconds"`
	Host     host                    `json:"host"`
	Peers    map[string]string       `json:"peers"`          // versions of libraries; of OpenBLAS what it takes the processor for
	Core     string                  `json:"core,omitempty"` // what OpenBLAS was told that the processor is
	Sections map[string]measurements `json:"sections"`
}

// readResults reads a file of results; none if there is no such file.
func readResults(path string) (*results, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &results{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(results)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *results) write(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return writeFile(path, append(text, '\n'))
}

// writeFile writes a file that appears whole or not at all.
func writeFile(path string, text []byte) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Commit()
}

// add puts a section's measurements of a run in the place of older ones.
func (r *results) add(to *run, section string, m measurements) {
	for _, old := range r.Runs {
		delete(old.Sections, section)
	}
	if !slices.Contains(r.Runs, to) {
		r.Runs = append(r.Runs, to)
	}
	if to.Sections == nil {
		to.Sections = map[string]measurements{}
	}
	to.Sections[section] = m
	r.Runs = slices.DeleteFunc(r.Runs, func(old *run) bool { return len(old.Sections) == 0 })
}

// of is the run that measured a section, nil if none has.
func (r *results) of(section string) *run {
	for _, run := range r.Runs {
		if run.Sections[section] != nil {
			return run
		}
	}
	return nil
}

// differs says in what two runs differ that makes their figures no parts of one page, "" if in
// nothing.
func (a *run) differs(b *run) string {
	if a == b {
		return ""
	}
	var what []string
	say := func(name, of, other string) {
		if of != other {
			what = append(what, fmt.Sprintf("%s %s and %s", name, of, other))
		}
	}
	if strings.HasSuffix(a.Commit, "+") && a.Commit == b.Commit {
		what = append(what, "changes to commit "+strings.TrimSuffix(a.Commit, "+")+" that may not be the same")
	}
	say("commit", a.Commit, b.Commit)
	say("host", a.Host.String(), b.Host.String())
	say("quick", fmt.Sprint(a.Quick), fmt.Sprint(b.Quick))
	say("threads", fmt.Sprint(a.Threads), fmt.Sprint(b.Threads))
	for _, name := range peerNames {
		x, _, _ := strings.Cut(a.Peers[name], " for ") // whatever processor OpenBLAS was told
		if y, _, _ := strings.Cut(b.Peers[name], " for "); x != "" && y != "" {
			say(peerTitles[name], x, y)
		}
	}
	return strings.Join(what, "; ")
}

// mixed says which sections cannot stand on one page with those of the last run and why, other
// than those that are measured again.
func (r *results) mixed(last *run, again []string) error {
	for _, run := range r.Runs {
		why := run.differs(last)
		var sections []string
		for name := range run.Sections {
			if !slices.Contains(again, name) {
				sections = append(sections, name)
			}
		}
		if why != "" && len(sections) > 0 {
			slices.Sort(sections)
			return fmt.Errorf("the results have %s of another run (%s): measure these again, or give -mix", strings.Join(sections, ", "), why)
		}
	}
	return nil
}
