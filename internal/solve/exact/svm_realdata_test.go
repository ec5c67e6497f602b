package exact

import (
	"testing"

	"mercer/dataset"
	"mercer/internal/engine/testenv"
	"mercer/kernel"
	"mercer/matrix"
)

// firstRows reads rows of a data set, and its labels as numbers and as classes.
func firstRows(t *testing.T, path, label string, n int) (x matrix.Rows, y []float64, class []int, classes int) {
	t.Helper()
	src, err := dataset.Open(ctx, testenv.Data(t, path), dataset.Options{Label: label})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	sum, err := dataset.Survey(ctx, src, dataset.SurveyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := dataset.Collect(ctx, src, sum.Dim)
	if err != nil {
		t.Fatal(err)
	}
	first := all.Slice(0, n)
	known := map[string]int{} // in the order in which they appear, as LIBSVM has them
	numbers := map[float64]int{}
	for i, v := range first.Y {
		c, ok := numbers[v]
		if first.Names != nil && first.Names[i] != "" {
			if c, ok = known[first.Names[i]]; !ok {
				c = len(known)
				known[first.Names[i]] = c
			}
		} else if !ok {
			c = len(numbers)
			numbers[v] = c
		}
		class = append(class, c)
	}
	return first.X, first.Y, class, max(len(known), len(numbers))
}

// rescaled divides every column by a number.
func rescaled(x matrix.Rows, by func(j int) float32) matrix.Rows {
	m := matrix.NewDense(x.Len(), x.Dim())
	for i := range m.Rows {
		for j, v := range x.Dense.Row(i) {
			m.Row(i)[j] = v / by(j)
		}
	}
	return matrix.Rows{Dense: m}
}

// The objectives are those that svm-train prints for the same rows, to 10⁻⁴ of them.
func TestObjectivesAreLIBSVMsOnRealData(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, want := range loadLIBSVM(t).Real {
		t.Run(want.Data, func(t *testing.T) {
			path := map[string]string{
				"a9a": "a9a/a9a.gz", "w8a": "w8a/w8a.gz", "ijcnn1": "ijcnn1/ijcnn1.trn.bz2", "letter": "letter/letter-recognition.data.gz",
				"reuters_lasvm": "reuters_lasvm/reuters.trn.bz2", "cpusmall": "cpusmall/cpu.small.arff.gz",
			}[want.Data]
			label := ""
			if want.Data == "letter" {
				label = "0"
			}
			x, y, class, classes := firstRows(t, path, label, want.Rows)
			kind, gamma, o := options(want.Options)
			k := kernel.Kernel{Name: "rbf", Gamma: map[string]float64{"0.05": 0.05, "1": 1, "2": 2, "5": 5}[gamma]}
			var r *SVMReport
			var err error
			switch want.Data {
			case "letter":
				x = rescaled(x, func(int) float32 { return 16 })
			case "cpusmall":
				most := make([]float32, x.Dim())
				for i := range x.Len() {
					for j, v := range x.Dense.Row(i) {
						most[j] = max(most[j], v)
					}
				}
				x = rescaled(x, func(j int) float32 { return most[j] })
				for i := range y {
					y[i] /= 100
				}
			}
			if kind == "3" {
				_, r, err = FitSVR(ctx, k, x, y, 1, o)
			} else {
				_, r, err = FitSVC(ctx, k, x, class, classes, o)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !r.Converged || r.Machines != len(want.Objective) {
				t.Fatalf("%+v", r)
			}
			for p, objective := range want.Objective {
				if !near(r.Objective[p], objective, 1e-4) {
					t.Errorf("machine %d: objective %g, LIBSVM's %g", p, r.Objective[p], objective)
				}
			}
			if !near(float64(r.SupportVectors), float64(want.Vectors), 0.02) {
				t.Errorf("%d support vectors, LIBSVM has %d", r.SupportVectors, want.Vectors)
			}
		})
	}
}
