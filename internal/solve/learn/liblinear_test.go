package learn

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
	"mercer/matrix"
)

// lines reads a compressed text file.
func lines(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.Open(testenv.Data(t, path))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = bzip2.NewReader(file)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	var out []string
	s := bufio.NewScanner(r)
	for s.Scan() {
		if text := strings.TrimSpace(s.Text()); text != "" {
			out = append(out, text)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// published reads a data set as testdata/liblinear_objectives.py does.
func published(t *testing.T, name string) (z *matrix.CSR, y []float64) {
	t.Helper()
	z = &matrix.CSR{Ptr: []int{0}}
	add := func(j int, v float64) {
		if v != 0 {
			z.Idx, z.Val = append(z.Idx, int32(j)), append(z.Val, float32(v))
			z.Cols = max(z.Cols, j+1)
		}
	}
	row := func(label float64) {
		y = append(y, label)
		z.Ptr = append(z.Ptr, len(z.Idx))
		z.Rows++
	}
	switch name {
	case "letter":
		for _, line := range lines(t, "letter/letter-recognition.data.gz") {
			parts := strings.Split(line, ",")
			for j, p := range parts[1:] {
				add(j, float64(float32(number(t, p))/15))
			}
			row(float64(parts[0][0] - 'A'))
		}
	case "cpusmall":
		all := lines(t, "cpusmall/cpu.small.arff.gz")
		start := slices.IndexFunc(all, func(l string) bool { return strings.EqualFold(l, "@data") })
		var x [][]float64
		for _, line := range all[start+1:] {
			if strings.HasPrefix(line, "%") {
				continue
			}
			var v []float64
			for _, p := range strings.Split(line, ",") {
				v = append(v, number(t, strings.TrimSpace(p)))
			}
			x = append(x, v)
		}
		d := len(x[0]) - 1
		low, high := slices.Clone(x[0]), slices.Clone(x[0])
		mean, square := 0.0, 0.0
		for _, v := range x {
			for j := range d {
				low[j], high[j] = min(low[j], v[j]), max(high[j], v[j])
			}
			mean += v[d] / float64(len(x))
		}
		for _, v := range x {
			square += (v[d] - mean) * (v[d] - mean) / float64(len(x))
		}
		for _, v := range x {
			for j := range d {
				add(j, 2*(v[j]-low[j])/(high[j]-low[j])-1)
			}
			row((v[d] - mean) / math.Sqrt(square))
		}
	default:
		path := map[string]string{"a9a": "a9a/a9a.gz", "w8a": "w8a/w8a.gz", "ijcnn1": "ijcnn1/ijcnn1.trn.bz2",
			"reuters": "reuters_lasvm/reuters.trn.bz2"}[name]
		for _, line := range lines(t, path) {
			parts := strings.Fields(line)
			for _, p := range parts[1:] {
				j, v, _ := strings.Cut(p, ":")
				add(int(number(t, j))-1, number(t, v))
			}
			row(number(t, parts[0]))
		}
	}
	return z, y
}

// withConstant adds LIBLINEAR's constant column.
func withConstant(z *matrix.CSR, bias float64) *matrix.CSR {
	out := &matrix.CSR{Rows: z.Rows, Cols: z.Cols + 1, Ptr: []int{0}}
	for i := range z.Rows {
		idx, val := z.Row(i)
		out.Idx = append(append(out.Idx, idx...), int32(z.Cols))
		out.Val = append(append(out.Val, val...), float32(bias))
		out.Ptr = append(out.Ptr, len(out.Idx))
	}
	return out
}

// TestObjectivesAreThoseOfLIBLINEAR compares with testdata/liblinear_objectives.json, which
// liblinear_objectives.py wrote with LIBLINEAR, and LIBSVM for the one-class machine.
func TestObjectivesAreThoseOfLIBLINEAR(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	text, err := os.ReadFile("testdata/liblinear_objectives.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Data      string
		Solver    int
		C         float64
		Bias      float64
		Nu        float64
		Objective float64
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d objectives", len(all))
	}
	// These take seconds each; MERCER_LONG=1 has them all.
	long := []string{"a9a 1 -1", "a9a 3 1", "a9a 4 1", "w8a 1 -1", "w8a 1 1", "letter 1 -1", "letter 7 1", "letter 4 1"}
	losses := map[int]string{1: "squared_hinge", 3: "hinge", 7: "logistic", 4: "hinge", 12: "squared_epsilon", 13: "epsilon"}
	sets := map[string]*matrix.CSR{}
	labels := map[string][]float64{}
	for _, want := range all {
		name := fmt.Sprint(want.Data, " ", want.Solver, " ", want.Bias)
		if os.Getenv("MERCER_LONG") == "" && (slices.Contains(long, name) || testing.Short() && want.Data != "ijcnn1" &&
			want.Data != "cpusmall") {
			continue
		}
		if sets[want.Data] == nil {
			sets[want.Data], labels[want.Data] = published(t, want.Data)
		}
		z, y := sets[want.Data], labels[want.Data]
		if want.Bias >= 0 && want.Solver != 21 {
			z = withConstant(z, want.Bias)
		}
		rows := InMemory(matrix.Rows{CSR: z})
		if want.Data == "letter" || want.Data == "cpusmall" {
			dense := &matrix.Dense{}
			z.Densify(dense)
			rows = InMemory(matrix.Rows{Dense: dense})
		}
		var report *DualReport
		var linear *Linear
		switch want.Solver {
		case 12, 13:
			l, r, err := FitSVR(context.Background(), rows, y, 1, nil,
				SVR{C: want.C, Loss: losses[want.Solver], Epsilon: 0.1, NoIntercept: true, MaxIter: 5000})
			if err != nil {
				t.Fatal(err)
			}
			linear, report = l, &r.DualReport
		case 21:
			l, r, err := FitOneClass(context.Background(), rows, nil, OneClass{Outliers: want.Nu, MaxIter: 5000})
			if err != nil {
				t.Fatal(err)
			}
			// LIBSVM prints the dual objective, of which mine is the negative.
			r.Objective = -(r.Objective)
			linear, report = l, &r.DualReport
		default:
			kinds := slices.Compact(slices.Sorted(slices.Values(y)))
			class := make([]int, len(y))
			for i, v := range y {
				class[i], _ = slices.BinarySearch(kinds, v)
			}
			opt := SVM{C: want.C, Loss: losses[want.Solver], CrammerSinger: want.Solver == 4, NoIntercept: true, MaxIter: 5000}
			l, r, err := FitSVM(context.Background(), rows, class, len(kinds), nil, opt)
			if err != nil {
				t.Fatal(err)
			}
			linear, report = l, &r.DualReport
		}
		if !report.Converged {
			t.Errorf("%+v: %+v", want, report)
		}
		if far := report.Objective/want.Objective - 1; math.Abs(far) > 1e-3 {
			t.Errorf("%s, solver %d, C = %g, bias %g, ν = %g: objective %.8g, recorded %.8g, %.2g apart", want.Data,
				want.Solver, want.C, want.Bias, want.Nu, report.Objective, want.Objective, far)
		}
		if linear.W.Rows != z.Cols {
			t.Errorf("%s: %d weights for %d columns", want.Data, linear.W.Rows, z.Cols)
		}
	}
}
