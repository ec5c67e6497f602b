package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// peers is the folder of the scripts that time others' libraries.
const peers = "research/benchmarks/peers/"

// peerNames are the libraries whose versions the page tells, as peers/versions.py calls them, and
// as people do.
var (
	peerNames  = []string{"python", "numpy", "scipy", "sklearn", "openblas", "pyfftw"}
	peerTitles = map[string]string{
		"python": "Python", "numpy": "NumPy", "scipy": "SciPy", "sklearn": "scikit-learn", "openblas": "OpenBLAS", "pyfftw": "pyFFTW",
	}
)

// modules are what scripts import, by the names of pip.
var modules = map[string]string{
	"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "threadpoolctl": "threadpoolctl", "pyfftw": "pyfftw",
}

// imports are the modules of each script.
var imports = map[string][]string{
	"blas.py":      {"numpy", "scipy", "threadpoolctl"},
	"functions.py": {"numpy"},
	"fft.py":       {"numpy", "pyfftw"},
	"maps.py":      {"numpy", "scipy", "sklearn"},
	"nystroem.py":  {"numpy", "sklearn"},
	"pipeline.py":  {"numpy", "sklearn"},
	"pooling.py":   {"numpy", "scipy"},
	"solvers.py":   {"numpy", "sklearn"},
}

// programs are the packages of Debian that have them.
var programs = map[string]string{"svm-train": "libsvm-tools", "liblinear-train": "liblinear-tools"}

// missing says what to install that a command may run, "" if nothing is missing.
func (c command) missing(versions map[string]string) string {
	_, args := c.words()
	if pkg := programs[args[0]]; pkg != "" {
		if _, err := exec.LookPath(args[0]); err != nil {
			return "`apt-get install " + pkg + "`"
		}
	}
	if args[0] != "python3" {
		return ""
	}
	if versions["python"] == "" {
		return "`python3`"
	}
	var lacking []string
	for _, module := range imports[strings.TrimPrefix(args[1], peers)] {
		if versions[module] == "" {
			lacking = append(lacking, modules[module])
		}
	}
	if lacking == nil {
		return ""
	}
	return "`pip install " + strings.Join(lacking, " ") + "`"
}

// versionsOf asks a Python what it has installed; nothing where there is no Python.
func versionsOf(ctx context.Context, root, python string, env []string) map[string]string {
	found := map[string]string{}
	cmd := exec.CommandContext(ctx, python, peers+"versions.py")
	cmd.Dir, cmd.Env = root, env
	if out, err := cmd.Output(); err == nil {
		json.Unmarshal(out, &found)
	}
	return found
}

// coreType is the variable of the environment that tells OpenBLAS what the processor is.
const coreType = "OPENBLAS_CORETYPE"

// cores are what OpenBLAS may be told that the processor is. What it finds out by itself is not
// always what suits a processor that is newer than it, or of another maker.
var cores = []string{"", "Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids"}

// fastestCore is that core by which OpenBLAS multiplies fastest, "" being its own choice: peers
// are to run as fast as they can.
func fastestCore(rate func(core string) (float64, error)) (string, error) {
	best, most := "", 0.0
	var failed error
	for _, core := range cores {
		r, err := rate(core)
		if err != nil { // an instruction that the processor has not
			failed = errors.Join(failed, err)
			continue
		}
		if r > 1.1*most { // by less no two tries agree
			best, most = core, r
		}
	}
	if most == 0 {
		return "", fmt.Errorf("OpenBLAS does not run: %w", failed)
	}
	return best, nil
}
