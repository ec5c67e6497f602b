package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mercer/internal/app/bench"
)

// reader takes numbers and words out of what a command printed.
type reader func(out string) (numbers map[string]float64, words map[string]string, err error)

// readJSON reads one object: numbers and words under the names that lead to them, joined by
// points, such as seconds.total. Arrays are left out.
func readJSON(out string) (numbers map[string]float64, words map[string]string, err error) {
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		return nil, nil, fmt.Errorf("no JSON object: %w", err)
	}
	numbers, words = map[string]float64{}, map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if path != "" {
					name = path + "." + name
				}
				walk(name, inner)
			}
		case float64:
			numbers[path] = v
		case string:
			words[path] = v
		}
	}
	walk("", v)
	return numbers, words, nil
}

// readBench reads mercer bench --json: "sgemm 4096x784x4096 @1" and the same with "share" behind
// it; and the peak, as peak.f32_gflops.
func readBench(out string) (numbers map[string]float64, words map[string]string, err error) {
	numbers, words, err = readJSON(out)
	if err != nil {
		return nil, nil, err
	}
	var v bench.Report
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		return nil, nil, err
	}
	for _, r := range v.Results {
		key := fmt.Sprintf("%s %s @%d", r.Name, r.Shape, r.Threads)
		numbers[key], numbers[key+" share"] = r.Value, r.Share
	}
	return numbers, words, nil
}

var cpuSuffix = regexp.MustCompile(`-\d+$`)

// readGo reads the lines of go test -bench: "Pool/full/thesis/169x512 ns/op". A benchmark on more
// than one thread has their number at the end of its name, which is left out.
func readGo(threads int) reader {
	return func(out string) (numbers map[string]float64, words map[string]string, err error) {
		numbers = map[string]float64{}
		for line := range strings.Lines(out) {
			f := strings.Fields(line)
			if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
				continue
			}
			name := strings.TrimPrefix(f[0], "Benchmark")
			if threads > 1 {
				name = cpuSuffix.ReplaceAllString(name, "")
			}
			for i := 2; i+1 < len(f); i += 2 {
				number, err := strconv.ParseFloat(f[i], 64)
				if err != nil {
					return nil, nil, fmt.Errorf("%q is no number in %q", f[i], line)
				}
				numbers[name+" "+f[i+1]] = number
			}
		}
		if len(numbers) == 0 {
			return nil, nil, fmt.Errorf("no benchmark in %q", out)
		}
		return numbers, nil, nil
	}
}

// photographLine is a line of the program pooling: a method, and numbers from its 25th place on.
var photographLine = regexp.MustCompile(`^(.+?)\s{2,}(\d+)\s+([\d.]+) ± ([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$`)

// readPhotographs reads the table of pooling: "full bilinear accuracy" and the like.
func readPhotographs(out string) (numbers map[string]float64, words map[string]string, err error) {
	numbers = map[string]float64{}
	for line := range strings.Lines(out) {
		m := photographLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		for i, name := range []string{"features", "accuracy", "scatter", "pooling", "scores", "memory"} {
			number, err := strconv.ParseFloat(m[i+2], 64)
			if err != nil {
				return nil, nil, fmt.Errorf("%q: %w", line, err)
			}
			numbers[m[1]+" "+name] = number
		}
	}
	if len(numbers) == 0 {
		return nil, nil, fmt.Errorf("no table in %q", out)
	}
	return numbers, nil, nil
}

// readNothing is for programs of which the time alone counts.
func readNothing(string) (numbers map[string]float64, words map[string]string, err error) {
	return map[string]float64{}, nil, nil
}
