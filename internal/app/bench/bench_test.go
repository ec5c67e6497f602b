package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"mercer/feature"
	"mercer/internal/engine/vec"
	"mercer/kernel"
)

func TestJobMeasuresEveryLoopAtOneThreadAndAtAll(t *testing.T) {
	report, err := Job{Quick: true}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p := report.Peak; !(p.F32 > 0 && p.F64 > 0 && p.Read > 0 && p.Triad > 0) || report.Level != vec.Level() {
		t.Errorf("level %q, peak %+v", report.Level, p)
	}
	seen := map[[2]string][]int{}
	for _, r := range report.Results {
		key := [2]string{r.Name, r.Shape}
		seen[key] = append(seen[key], r.Threads)
		if !(r.Value > 0 && r.Share > 0) || math.IsInf(r.Value, 0) || math.IsInf(r.Share, 0) {
			t.Errorf("%+v", r)
		}
	}
	want := []int{1}
	if n := vec.Threads(); n > 1 {
		want = append(want, n)
	}
	for _, c := range loops(true) {
		if got := seen[[2]string{c.name, c.shape}]; !slices.Equal(got, want) {
			t.Errorf("%s %s is measured at threads %d, want %d", c.name, c.shape, got, want)
		}
	}
}

func TestJobOfSomeTellsAsItGoes(t *testing.T) {
	var told []string
	threads := vec.Threads()
	report, err := Job{
		Quick:   true,
		Only:    []string{"dpotrf", "cos32"},
		Started: func(r Report) { told = append(told, r.Level) },
		Done:    func(r Result) { told = append(told, r.Name) },
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{vec.Level()}
	for _, r := range report.Results {
		want = append(want, r.Name)
	}
	if !slices.Equal(told, want) || !slices.Contains(want, "dpotrf") || !slices.Contains(want, "cos32") || slices.Contains(want, "sgemm") {
		t.Errorf("told of %q, reported %q", told, want)
	}
	if vec.Threads() != threads {
		t.Errorf("the number of threads was %d before and is %d", threads, vec.Threads())
	}
}

func TestInterruptedJobSaysSo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	job := Job{Quick: true, Done: func(Result) { stop() }}
	if r, err := job.Run(ctx); !errors.Is(err, context.Canceled) || len(r.Results) != 1 {
		t.Errorf("%d results, %v", len(r.Results), err)
	}
	j := MapJob{Config: feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}, Features: 8}, D: 4, Rows: 10}
	if _, err := j.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a map: %v", err)
	}
}

func TestNamesAreThoseOfTheLargeLoopsToo(t *testing.T) {
	names := Names()
	for _, c := range loops(false) {
		if !slices.Contains(names, c.name) {
			t.Errorf("%s is not named", c.name)
		}
	}
}

func TestValuesAreInTheirUnit(t *testing.T) {
	for _, c := range []struct {
		unit string
		want float64
	}{{"GFLOP/s", 8}, {"GB/s", 8}, {"ns/element", 0.125}, {"ns", 0.125}, {"us/row", 0.000125}} {
		if got := (loop{unit: c.unit, work: 4e9}).value(0.5); math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("4·10⁹ in half a second are %g %s, want %g", got, c.unit, c.want)
		}
	}
}

// A call of 2 ms that does 20 million operations has all of a peak of 10 GFLOP/s, and half of it if it is said to need half as many.
func TestShareIsThatOfThePeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := meter{rounds: 3, least: 5 * time.Millisecond, peaks: func(kind string, threads int) float64 {
			if kind != "f32" || threads != 2 {
				t.Errorf("asked for the peak of %s on %d threads", kind, threads)
			}
			return 10
		}}
		for issue, want := range map[float64]float64{0: 1, 1e7: 0.5} {
			c := loop{unit: "GFLOP/s", work: 2e7, issue: issue, peak: "f32", parallel: true, make: func() func() { return func() { time.Sleep(2 * time.Millisecond) } }}
			if r := m.measure(c, 2); math.Abs(r.Share-want) > 1e-12 || math.Abs(r.Value-10) > 1e-12 {
				t.Errorf("%g GFLOP/s, share %g, want 10 and %g", r.Value, r.Share, want)
			}
		}
	})
}

func TestPreparationIsNotTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := meter{least: 10 * time.Millisecond}
		prepared, ran := 0, 0
		took := m.timeOn(func() { prepared++; time.Sleep(20 * time.Millisecond) }, func() { ran++; time.Sleep(time.Millisecond) })
		if prepared != ran || ran != 11 || took != 0.001 {
			t.Errorf("prepared %d times, run %d times, %g s a run", prepared, ran, took)
		}
	})
}

func TestMapJob(t *testing.T) {
	for name, j := range map[string]MapJob{
		"dense":      {Config: feature.Config{Map: "orf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.1}, Features: 64}, D: 10, Rows: 50},
		"sparse":     {Config: feature.Config{Map: "orf", Kernel: kernel.Kernel{Name: "rbf", Gamma: 0.1}, Features: 64}, D: 10, Rows: 50, NNZ: 3},
		"histograms": {Config: feature.Config{Map: "homogeneous", Kernel: kernel.Kernel{Name: "chi2", Gamma: 1}}, D: 10, Rows: 50},
	} {
		r, err := j.Run(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Map != j.Config.Map || r.Features <= 0 || r.D != 10 || r.Rows != 50 || r.Threads != vec.Threads() ||
			!(r.PerRow > 0 && r.OneRow > 0) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestGeneratedRows(t *testing.T) {
	x := MapJob{D: 10, Rows: 7, NNZ: 3}.generate().CSR
	if x.Rows != 7 || x.Cols != 10 || len(x.Val) != 21 || len(x.Ptr) != 8 {
		t.Fatalf("%+v", x)
	}
	for i := range x.Rows {
		row := x.Idx[x.Ptr[i]:x.Ptr[i+1]]
		if len(row) != 3 || !slices.IsSorted(row) || row[2] >= 10 {
			t.Errorf("row %d has elements at %d", i, row)
		}
	}
}

func TestMapJobSaysWhatIsWrong(t *testing.T) {
	rbf := feature.Config{Map: "rff", Kernel: kernel.Kernel{Name: "rbf", Gamma: 1}, Features: 8}
	for _, c := range []struct {
		job  MapJob
		want string
	}{
		{MapJob{Config: rbf, D: 0, Rows: 1}, "d 0: give 1 or more"},
		{MapJob{Config: rbf, D: 4, Rows: 0}, "rows 0, nnz 0: rows must be 1 or more, and nnz from 0 to d, which is 4"},
		{MapJob{Config: rbf, D: 4, Rows: 5, NNZ: 5}, "rows 5, nnz 5: rows must be 1 or more, and nnz from 0 to d, which is 4"},
	} {
		if _, err := c.job.Run(t.Context()); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.job, err, c.want)
		}
	}
	bad := MapJob{Config: feature.Config{Map: "magic", Features: 8}, D: 4, Rows: 5}
	if _, err := bad.Run(t.Context()); err == nil {
		t.Error("there is a map of the name magic")
	}
}
