package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// measurePeak is the variable of the environment that makes this test binary the program, which takes every
// work for a long one and says in the end what it held.
const measurePeak = "MERCER_TEST_MEASURE_PEAK"

func measuredProgram() int {
	longWork = 0
	defer runtime.KeepAlive(collectSeldom()) // as Main does
	code := Run(context.Background(), os.Args[1:], strings.NewReader(""), os.Stdout, os.Stderr)
	fmt.Fprintf(os.Stderr, "peak %d\n", peakRSS())
	return code
}

// measured runs the program, and gives what it printed and its peak memory. It may hold so many bytes besides the 64 MiB of
// collectSeldom: a collector that is told so frees what is garbage at once, however busy the machine is, and what is in use shows.
func measured(t *testing.T, bytes float64, args ...string) (stdout, stderr string, peak float64) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), measurePeak+"=1", fmt.Sprintf("GOMEMLIMIT=%.0f", 64<<20+bytes))
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("mercer %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	text, last, _ := strings.Cut(errs.String(), "peak ")
	peak, err := strconv.ParseFloat(strings.TrimSpace(last), 64)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), text, peak
}

// checkPeak compares a forecast with the memory that was held: 16 to 60 MB are the program, batches and what
// the collector leaves, and of squares of D it may be that only the halves that are used are resident.
func checkPeak(t *testing.T, forecast, squares, peak float64) {
	t.Helper()
	t.Logf("forecast %.0f MB, %.0f MB of them squares; %.0f MB at its peak", forecast/1e6, squares/1e6, peak/1e6)
	if least, most := 16e6+forecast-squares/2, 60e6+forecast; peak < 0.85*least || peak > 1.25*most {
		t.Errorf("%.0f MB at its peak, the forecast says %.0f to %.0f", peak/1e6, least/1e6, most/1e6)
	}
}

func TestForecastsTellTheMemory(t *testing.T) {
	testenv.Long(t, "the peak memory of tune, compare and curve is what they said")
	if runtime.GOOS != "linux" || raceDetector || testing.Short() {
		t.Skip("peak memory is known on Linux, and takes long trainings")
	}
	dir := t.TempDir()
	numbers, classes := write(t, dir, "curve.csv", curve(12_000)), write(t, dir, "steps.csv", steps(24_000, 2))
	out := filepath.Join(dir, "m")
	said := regexp.MustCompile(` note: (\d+) (configurations|points), (\d+) trainings: about .* s and (\d+) MiB\n`)
	for _, c := range []struct {
		forecast float64 // roughly
		squares  float64 // of the forecast
		args     string
	}{
		{100e6, 0, "tune " + classes + " -o " + out + " --features 1024 --learner svm --c 0.01,0.1 --gamma 1 --folds 2"},
		{117e6, 8 * 1024 * 1024 * 8, "tune " + numbers + " -o " + out + " --features 1024 --learner ridge --lambda 0.1,1 --gamma 1 --folds 5"},
		{67e6, 8 * 1024 * 1024 * 8, "tune " + numbers + " -o " + out +
			" --features 1024 --learner ridge --lambda 0.1,1 --gamma 1 --folds 5 --memory 80MB"},
		{99e6, 0, "compare " + classes + " --config=--kernel=linear --config --features=2048§--learner=svm§--c=0.01 --folds 2"},
		{134e6, 24 * 2048 * 2048, "curve " + numbers +
			" --features 2048 --learner ridge --lambda-by held-out --at-rows 500,8000 --at-features 64 --seeds 1"},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "§", " ")
		}
		text, note, peak := measured(t, 30e6+c.forecast, append(args, "--json")...)
		m := said.FindStringSubmatch(note)
		if m == nil {
			t.Errorf("mercer %s: on standard error %q", c.args, note)
			continue
		}
		v := object(t, text)
		if search, ok := v["search"].(map[string]any); ok {
			v = search
		}
		f, ok := v["forecast"].(map[string]any)
		if !ok || fmt.Sprint(f["configurations"], f["trainings"]) != m[1]+" "+m[3] || !(f["seconds"].(float64) > 0) {
			t.Errorf("mercer %s: the forecast is %v, said is %q", c.args, f, note)
			continue
		}
		bytes, _ := strconv.ParseFloat(m[4], 64)
		if b := f["bytes"].(float64); b < 1<<20*(bytes-1) || b > 1<<20*(bytes+1) {
			t.Errorf("mercer %s: the forecast has %g bytes, said is %q", c.args, b, note)
		}
		checkPeak(t, f["bytes"].(float64), c.squares, peak)
		os.Remove(out)
	}
}

// A curve of few rows tells what the training of all takes.
func TestCurvesTellTheMemoryOfMoreRows(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || raceDetector || testing.Short() {
		t.Skip("peak memory is known on Linux, and takes a long training")
	}
	dir := t.TempDir()
	data := write(t, dir, "steps.csv", steps(40_000, 2))
	learner := []string{data, "--features", "1024", "--learner", "svm", "--c", "0.01", "--max-iter", "5", "--json"}
	c := object(t, ok(t, append([]string{"curve", "--rows", "1200", "--at-rows", "100,200,400,800", "--at-features", "64",
		"--seeds", "1"}, learner...)...))
	var rows, bytes []float64
	for _, part := range []string{"by_rows", "extrapolated"} {
		for _, p := range c[part].([]any) {
			rows, bytes = append(rows, p.(map[string]any)["rows"].(float64)), append(bytes, p.(map[string]any)["bytes"].(float64))
		}
	}
	if fmt.Sprint(rows) != "[100 200 400 800 1600 3200 40000]" {
		t.Fatalf("points of %v rows", rows)
	}
	for i := range rows {
		if least, most := 4*1024*rows[i], 4*1024*rows[i]+100*rows[i]+1e6; bytes[i] < least || bytes[i] > most {
			t.Errorf("%g rows take %g bytes, the formula says %g to %g", rows[i], bytes[i], least, most)
		}
	}
	_, _, peak := measured(t, 30e6+bytes[len(bytes)-1], append([]string{"train", "-o", filepath.Join(dir, "m")}, learner...)...)
	checkPeak(t, bytes[len(bytes)-1], 0, peak)
}

// Features in a temporary file are no memory of the program: those here would be 98 MB beside what else it holds, and a mapping would show them all.
func TestFeaturesInAFileTakeNoMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || raceDetector || testing.Short() {
		t.Skip("peak memory is known on Linux, and takes seconds of training")
	}
	dir := t.TempDir()
	var rows strings.Builder
	for i := range 48_000 {
		a, b := math.Mod(float64(i)*math.Phi, 1), math.Mod(float64(i)*math.Sqrt2, 1)
		fmt.Fprintf(&rows, "%.4f,%.4f,%t\n", a, b, a > b)
	}
	data := write(t, dir, "half.csv", "a,b,class\n"+rows.String())
	for _, learner := range []string{"svm", "logistic"} {
		text, _, peak := measured(t, 80e6, "train", data, "-o", filepath.Join(dir, learner), "--learner", learner, "--features", "512", "--c", "0.01", "--memory", "30MB")
		if peak > 110e6 || !strings.Contains(text, "features in a temporary file") {
			t.Errorf("%s: %.0f MB at its peak, with 80 MB for the program beside --memory 30MB:\n%s", learner, peak/1e6, text)
		}
	}
}
