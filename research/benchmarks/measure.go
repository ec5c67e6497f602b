package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// runner runs the commands of sections.
type runner struct {
	root, data, work string // folders: of the project, of the public data, of what is made
	python           string
	env              []string // of all commands
	versions         map[string]string
	rounds           int
	log              io.Writer
}

// longest is how long one command may take.
const longest = 20 * time.Minute

// measure runs a section: the commands of a group by turns, as many rounds as asked.
func (r *runner) measure(ctx context.Context, s *section) (measurements, error) {
	for _, f := range s.files {
		if err := r.make(ctx, f); err != nil {
			return nil, err
		}
	}
	m := measurements{}
	for _, g := range s.groups {
		rounds := r.rounds
		if g.once {
			rounds = 1
		}
		for round := range rounds {
			for _, c := range g.commands {
				if round == 0 {
					m[c.id] = &measured{Line: c.line, Missing: c.missing(r.versions)}
				}
				if m[c.id].Missing != "" {
					continue
				}
				if err := r.add(ctx, s, c, m[c.id]); err != nil {
					return nil, fmt.Errorf("%s: %w", c.line, err)
				}
			}
		}
	}
	return m, nil
}

// add runs a command once and keeps what the section's tables take of what it says. "wall" is the
// seconds that all of it took.
func (r *runner) add(ctx context.Context, s *section, c command, to *measured) error {
	env, args := c.words()
	start := time.Now()
	out, err := r.run(ctx, env, args)
	if err != nil {
		return err
	}
	wall := time.Since(start).Seconds()
	fmt.Fprintf(r.log, "%8.1f s  %s\n", wall, c.line)
	numbers, words, err := c.read(out)
	if err != nil {
		return err
	}
	numbers["wall"] = wall
	for _, key := range s.wanted(c.id) {
		if number, is := numbers[key]; is {
			if to.Numbers == nil {
				to.Numbers = map[string][]float64{}
			}
			to.Numbers[key] = append(to.Numbers[key], number)
		} else if text, is := words[key]; is {
			if to.Words == nil {
				to.Words = map[string]string{}
			}
			to.Words[key] = text
		} else {
			return fmt.Errorf("it does not say %q; it prints %.2000s", key, out)
		}
	}
	return nil
}

// run runs a program with the folders in the place of their names and gives its output.
func (r *runner) run(ctx context.Context, env, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	names := strings.NewReplacer("$DATA", r.data, "$WORK", r.work)
	args = slices.Clone(args)
	for i := range args {
		args[i] = names.Replace(args[i])
	}
	switch args[0] {
	case "mercer":
		args[0] = filepath.Join(r.work, "mercer")
	case "python3":
		args[0] = r.python
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, &out, &said
	cmd.Env = slices.Concat(r.env, env)
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", fmt.Errorf("%w: %.2000s", err, strings.TrimSpace(said.String()+out.String()))
	}
	return out.String(), nil
}

// make makes a file that is not there yet.
func (r *runner) make(ctx context.Context, f file) error {
	path := filepath.Join(r.work, f.name)
	if _, err := os.Stat(path); err == nil {
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", "-c", f.line)
	cmd.Dir, cmd.Stderr = r.root, &said
	path = r.work + string(os.PathListSeparator) + os.Getenv("PATH") // mercer is there
	cmd.Env = slices.Concat(r.env, []string{"DATA=" + r.data, "WORK=" + r.work, "PATH=" + path})
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.2000s", f.line, err, said.String())
	}
	if st, err := os.Stat(filepath.Join(r.work, f.name)); err != nil || st.Size() == 0 {
		return fmt.Errorf("%s: made no %s: %.2000s", f.line, f.name, said.String())
	}
	fmt.Fprintf(r.log, "     made   %s\n", f.name)
	return nil
}
