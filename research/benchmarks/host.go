package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"mercer/internal/engine/vec"
)

// host is the machine, as far as it tells.
type host struct {
	CPU       string `json:"cpu"`
	Cores     int    `json:"cores"`
	Level     string `json:"level"` // of vector instructions
	MemoryGiB int    `json:"memory_gib,omitempty"`
	System    string `json:"system"`
	Go        string `json:"go"`
}

func (h host) String() string {
	text := fmt.Sprintf("%s, %d cores, %s", h.CPU, h.Cores, h.Level)
	if h.MemoryGiB > 0 {
		text += fmt.Sprintf(", %d GiB", h.MemoryGiB)
	}
	return text + ", " + h.System + ", " + h.Go
}

func thisHost() host {
	h := host{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Level: vec.Level(), System: runtime.GOOS, Go: runtime.Version()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		h.CPU = processor(text)
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		kib, _ := strconv.ParseFloat(strings.TrimSuffix(field(text, "MemTotal"), " kB"), 64)
		h.MemoryGiB = int(kib/(1<<20) + 0.5)
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.System += " " + string(bytes.TrimSpace(text))
	}
	return h
}

// processor is the name of a processor in /proc/cpuinfo; virtual machines name a maker alone, so
// its family and model are added.
func processor(text []byte) string {
	name := field(text, "model name")
	if name == "" {
		return runtime.GOARCH
	}
	return fmt.Sprintf("%s (family %s, model %s)", name, field(text, "cpu family"), field(text, "model"))
}

// field is the first value of a line "name : value".
func field(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// commit is that of the project in a folder, with "+" behind it if files that are not
// documentation differ from it.
func commit(root string) (string, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	id, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", fmt.Errorf("git says no commit of %s: %w", root, err)
	}
	changed, err := git("status", "--porcelain", "--", ".", ":!docs", ":!research/docs")
	if err != nil {
		return "", err
	}
	if changed != "" {
		id += "+"
	}
	return id, nil
}
