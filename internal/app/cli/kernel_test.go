package cli

import (
	endian "encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/kernel"
	"mercer/matrix"
)

// numbers reads a float64 array that kernel wrote.
func numbers(t *testing.T, path string, rows, cols int) []float64 {
	t.Helper()
	header, data := npy(t, path)
	if !strings.Contains(header, fmt.Sprintf("(%d, %d)", rows, cols)) || !strings.Contains(header, "<f8") || len(data) != 8*rows*cols {
		t.Fatalf("%s: %s and %d bytes, want %d × %d float64", path, header, len(data), rows, cols)
	}
	v := make([]float64, rows*cols)
	for i := range v {
		v[i] = math.Float64frombits(endian.LittleEndian.Uint64(data[8*i:]))
	}
	return v
}

func TestEveryKernelFromTheCommandLine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seconds")
	}
	dir := t.TempDir()
	signed := [][]float32{{1, 2, 0}, {2, 0, 4}, {0, 0, 0}, {0, 5, 0.25}, {2, 0, 4}, {-3, 1, 1}}
	histograms := append(slices.Clone(signed[:5]), []float32{3, 1, 1})
	csv := func(name string, rows [][]float32) string {
		var b strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&b, "%g,%g,%g,label\n", r[0], r[1], r[2])
		}
		return write(t, dir, name, b.String())
	}
	svm := func(name string, rows [][]float32) string {
		var b strings.Builder
		for _, r := range rows {
			b.WriteString("1")
			for j, v := range r {
				if v != 0 || j == 2 {
					fmt.Fprintf(&b, " %d:%g", j+1, v)
				}
			}
			b.WriteString("\n")
		}
		return write(t, dir, name, b.String())
	}
	median := func(name string) float64 {
		x := signed
		if name == "exp-chi2" {
			x = histograms
		}
		dense := matrix.NewDense(len(x), 3)
		for i, r := range x {
			copy(dense.Row(i), r)
		}
		gamma, err := kernel.MedianGamma(matrix.Rows{Dense: dense}, 1, name)
		if err != nil {
			t.Fatal(err)
		}
		return gamma
	}
	tested := map[string]bool{}
	for _, c := range []struct {
		flags string
		want  kernel.Kernel
	}{
		{"--kernel linear", kernel.Kernel{}},
		{"--kernel poly", kernel.Kernel{Gamma: median("poly"), Degree: 3, Coef0: 1}},
		{"--kernel poly --degree 2 --coef0 0.5 --gamma 0.1", kernel.Kernel{Gamma: 0.1, Degree: 2, Coef0: 0.5}},
		{"--kernel exp", kernel.Kernel{Gamma: median("exp")}},
		{"--kernel arccos", kernel.Kernel{Degree: 1}},
		{"--kernel arccos --degree 0 --gamma scale", kernel.Kernel{}},
		{"", kernel.Kernel{Name: "rbf", Gamma: median("rbf")}},
		{"--kernel rbf --sigma 2", kernel.Kernel{Gamma: 0.125}},
		{"--kernel laplacian", kernel.Kernel{Gamma: median("laplacian")}},
		{"--kernel cauchy", kernel.Kernel{Gamma: median("cauchy")}},
		{"--kernel matern", kernel.Kernel{Gamma: median("matern"), Nu: 1.5}},
		{"--kernel matern --nu 0.8 --sigma 2", kernel.Kernel{Gamma: 0.125, Nu: 0.8}},
		{"--kernel hellinger", kernel.Kernel{Homogeneity: 1}},
		{"--kernel chi2", kernel.Kernel{Homogeneity: 1}},
		{"--kernel chi2 --homogeneity 0.5 --gamma scale", kernel.Kernel{Homogeneity: 0.5}},
		{"--kernel intersection --homogeneity 2", kernel.Kernel{Homogeneity: 2}},
		{"--kernel jensen-shannon", kernel.Kernel{Homogeneity: 1}},
		{"--kernel exp-chi2", kernel.Kernel{Gamma: median("exp-chi2")}},
		{"--kernel exp-chi2 --gamma 0.25", kernel.Kernel{Gamma: 0.25}},
		{"--kernel skewed-chi2", kernel.Kernel{Coef0: 1}},
		{"--kernel skewed-chi2 --coef0 4", kernel.Kernel{Coef0: 4}},
		{"--kernel skewed-intersection --coef0 0.5", kernel.Kernel{Coef0: 0.5}},
	} {
		fields := strings.Fields(c.flags)
		if len(fields) > 0 {
			c.want.Name = fields[1]
		}
		tested[c.want.Name] = true
		x := signed
		if c.want.Lowest() > -3 {
			x = histograms
		}
		y := x[1:4]
		for _, files := range [][]string{{csv("x.csv", x)}, {csv("x.csv", x), csv("y.csv", y)}, {svm("x.svm", x), svm("y.svm", y)}} {
			right := x
			if len(files) == 2 {
				right = y
			}
			for _, distance := range []bool{false, true} {
				path := filepath.Join(dir, "k.npy")
				args := append(append([]string{"kernel", "--scale", "none", "-o", path}, files...), fields...)
				name := "kernel"
				if distance {
					args, name = append(args, "--distance"), "distance"
				}
				v := object(t, ok(t, append(args, "--json")...))
				if v["values"] != name || v["kernel"].(map[string]any)["name"] != c.want.Name {
					t.Errorf("%v says %v", args, v)
				}
				if gamma, _ := v["kernel"].(map[string]any)["gamma"].(float64); gamma != c.want.Gamma {
					t.Errorf("%v: gamma is %g, want %g", args, gamma, c.want.Gamma)
				}
				got := numbers(t, path, len(x), len(right))
				for i := range x {
					for j := range right {
						want := c.want.Eval(x[i], right[j])
						if distance {
							want = c.want.Distance2(x[i], right[j])
						}
						if g := got[i*len(right)+j]; math.Abs(g-want) > 1e-12*max(1, want) || want == 0 && distance && g != 0 {
							t.Errorf("%v: [%d,%d] is %g, want %g", args, i, j, g, want)
						}
					}
				}
				os.Remove(path)
				if out := ok(t, args...); !strings.Contains(out, c.want.Name) || strings.Contains(out, "squared distances") != distance {
					t.Errorf("%v says %q", args, out)
				}
			}
		}
	}
	help := ok(t, "kernel", "--help-all")
	for _, name := range kernel.Names() {
		if !tested[name] {
			t.Errorf("%s is not tested", name)
		}
		if !strings.Contains(help, "  "+name+"  ") {
			t.Errorf("the help has no formula for %s", name)
		}
	}
}

func TestKernelRefuses(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", "1,2,a\n3,4,b\n500,60,b\n")
	zero := write(t, dir, "zero.csv", "0,0,a\n0,0,b\n")
	named := write(t, dir, "named.csv", "red,green,class\n1,2,a\n0.25,-0.5,b\n")
	indexed := write(t, dir, "x.svm", "1 2:1 7:-3\n")
	out := filepath.Join(dir, "k.npy")
	for _, c := range []struct {
		data, flags string
		code        int
		want        string
	}{
		{data, "--kernel magic", 2, "known are linear, poly, exp, arccos, rbf, laplacian, cauchy, matern"},
		{data, "--kernel arccos --degree 2", 2, "arccos: degree is 2; it must be 0 or 1"},
		{data, "--kernel matern --nu 0", 2, "--nu 0: of matern it must be a number from"},
		{data, "--kernel poly --coef0 -1", 2, "poly: coef0 is -1"},
		{data, "--sigma -1", 2, "sigma -1 is not a positive number"},
		{data, "--gamma 1 --sigma 1", 2, "gamma and sigma are two names for one thing"},
		{data, "--kernel exp --gamma 1 --scale none", 1,
			"the value of rows 2 and 3 (from 1) is too large for a float64; give a smaller --gamma or scale the data"},
		{data, "--kernel exp --gamma 1 --distance --scale none", 1, "the value of rows 1 and 3 (from 1) is too large"},
		{zero, "--kernel poly", 1, "all rows are 0; give gamma as a number"},
		{zero, "--kernel matern", 1, "all rows are equal; give gamma as a number"},
		{zero, "--kernel cauchy --gamma scale", 1, "give gamma as a number"},
		{zero, "--kernel exp-chi2", 1, "all rows are equal; give gamma as a number"},
		{zero, "--kernel exp-chi2 --gamma scale", 1, "give gamma as a number"},
		{data, "--kernel chi2 --homogeneity -1", 2, "chi2: homogeneity is -1"},
		{data, "--kernel skewed-chi2 --coef0 0", 2, "--coef0 0: of skewed-chi2 it must be a positive number"},
		{named, "--kernel chi2", 1, `named.csv: row 2, column "green": -0.5 is too small; chi2 takes numbers of 0 or more`},
		{named, "--kernel exp-chi2", 1, `column "green": -0.5 is too small; exp-chi2 takes`},
		{named, "--kernel skewed-chi2 --coef0 0.5", 1,
			`column "green": -0.5 is too small; skewed-chi2 takes numbers above -0.5, which is -coef0`},
		{data + " " + named, "--kernel intersection", 1, `named.csv: row 2, column "1": -0.00833`},
		{data + " " + named, "--kernel intersection --scale none", 1, `named.csv: row 2, column "1": -0.5`},
		{indexed, "--kernel hellinger", 1, `x.svm: row 1, index 7: -3 is too small`},
		{data, "--kernel jensen-shannon --scale standard", 1, `data.csv: row 1, column "0": -0.7`},
		{data, "--kernel jensen-shannon --scale standard", 1,
			"after scaling (standard); use another kernel, or a --scale that leaves no such numbers"},
	} {
		r := mercer(t, append(append([]string{"kernel", "-o", out}, strings.Fields(c.data)...), strings.Fields(c.flags)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, want %d: %q, want %q", c.flags, r.code, c.code, r.stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s: something is at the output path", c.flags)
		}
	}
}
