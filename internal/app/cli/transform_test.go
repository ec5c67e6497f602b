package cli

import (
	"bytes"
	"context"
	little "encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mercer/dataset"
	"mercer/matrix"
)

// rowsOf reads all rows of a file, of cols numbers, as dense ones.
func rowsOf(t *testing.T, path string, cols int, opt dataset.Options) (*matrix.Dense, *matrix.Batch) {
	t.Helper()
	f, err := dataset.Open(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := dataset.Collect(context.Background(), f, cols)
	if err != nil {
		t.Fatal(err)
	}
	if b.X.CSR == nil {
		return b.X.Dense, b
	}
	var z matrix.Dense
	b.X.CSR.Densify(&z)
	return &z, b
}

func TestTransformWritesSparseFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	histograms := write(t, dir, "h.svm", strings.Repeat("red 1:0.25 3:0.75\nblue 2:1\nred 1:0.5 2:0.125 4:0.375\nblue\n", 300))
	labels := write(t, dir, "labels", strings.Repeat("red\nblue\nred\nblue\n", 300))
	dense := write(t, dir, "h.csv", strings.Repeat("0.25,0,0.75,1\n0,1,0,2\n", 20))
	for _, c := range []struct {
		data   string
		flags  string
		names  bool
		sparse float64 // the largest share of values that are not 0
	}{
		{histograms, "--kernel intersection --map unary", true, 0.4},
		{histograms, "--kernel chi2 --map homogeneous --terms 3", true, 0.5},
		{histograms, "--kernel poly --degree 2 --gamma 1 --coef0 0 --map explicit-poly", true, 0.5},
		{histograms, "--kernel linear --map countsketch --features 64", true, 0.1},
		{histograms, "--kernel linear", true, 0.5},
		{histograms, "--features 16", true, 1},
		{histograms, "--features 64 --components 3", true, 1},
		{dense, "--kernel intersection --map unary", false, 0.5},
		{dense, "--features 16", false, 1},
	} {
		var want *matrix.Dense
		for _, name := range []string{"z.npy", "z.npz", "z.libsvm"} {
			out := filepath.Join(dir, name)
			args := append([]string{"transform", c.data, "-o", out, "--json"}, strings.Fields(c.flags)...)
			v := object(t, ok(t, args...))
			d := int(v["features"].(float64))
			opt := dataset.Options{Dim: d}
			if name == "z.npy" {
				opt.Label = "none"
			}
			z, b := rowsOf(t, out, d, opt)
			if want == nil {
				want = z
			}
			if z.Rows != want.Rows || !slices.Equal(z.Data, want.Data) {
				t.Errorf("%s: %s holds other features than z.npy", c.flags, name)
			}
			nonZeros := 0
			for _, x := range want.Data {
				if x != 0 {
					nonZeros++
				}
			}
			if format := strings.TrimPrefix(name, "z."); v["format"] != format || v["nonzeros"] != float64(nonZeros) {
				t.Errorf("%s: %v %v, want %s %d", c.flags, v["format"], v["nonzeros"], format, nonZeros)
			}
			if share := float64(nonZeros) / float64(len(want.Data)); share > c.sparse {
				t.Errorf("%s: %.3g of the features are not 0", c.flags, share)
			}
			if stored := b.X.CSR; name != "z.npy" && (stored == nil || stored.NNZ() != nonZeros) {
				t.Errorf("%s: %s does not store what is not 0", c.flags, name)
			}
			if name == "z.libsvm" && c.names && !slices.Equal(b.Names[:5], []string{"red", "blue", "red", "blue", "red"}) {
				t.Errorf("%s: labels %v", c.flags, b.Names[:5])
			}
			if name == "z.libsvm" && !c.names && !slices.Equal(b.Y[:3], []float64{1, 2, 1}) {
				t.Errorf("%s: labels %v", c.flags, b.Y[:3])
			}
		}
	}
	// All of them train the same model.
	var scores []string
	for _, name := range []string{"z.npz", "z.npy", "z.libsvm"} {
		out, m := filepath.Join(dir, name), filepath.Join(dir, name+".mercer")
		d := object(t, ok(t, "transform", histograms, "--kernel", "intersection", "--map", "unary", "-o", out, "--json"))["features"]
		args := []string{"train", out, "-o", m, "--kernel", "linear", "--scale", "none", "--learner", "ridge", "--lambda", "0.1"}
		if name == "z.libsvm" {
			args = append(args, "--dim", fmt.Sprint(d))
		} else {
			args = append(args, "--labels", labels)
		}
		ok(t, args...)
		scores = append(scores, ok(t, "predict", m, filepath.Join(dir, "z.npz"), "--scores"))
	}
	if scores[0] != scores[1] || scores[0] != scores[2] {
		t.Error("models of the same features in different formats predict differently")
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

func TestTransformOutputFormat(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "x.csv", strings.Repeat("1,0,light blue\n0,2,red\n", 5))
	out := filepath.Join(dir, "z.svm")
	ok(t, "transform", data, "--features", "8", "-o", out, "--output-format", "npz")
	b, err := os.ReadFile(out)
	if err != nil || !bytes.HasPrefix(b, []byte("PK")) {
		t.Errorf("--output-format npz wrote %.20q, %v", b, err)
	}
	// An error leaves the file that was there.
	for _, c := range []struct {
		flags string
		code  int
		want  string
	}{
		{"", 1, `z.svm: row 1: the label "light blue" has a blank, a colon, a comma or a #, which cannot stand in LIBSVM text; write NPY or npz`},
		{"--output-format xlsx", 2, `mercer transform: --output-format "xlsx" is not known; known are auto, npy, npz, csv, libsvm, parquet, arrow, arrows`},
		{"--label 0,1", 1, "LIBSVM text holds one label a row, and these rows have 2"},
	} {
		if r := mercer(t, append([]string{"transform", data, "--kernel", "linear", "-o", out},
			strings.Fields(c.flags)...)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %+v, want %q", c.flags, r, c.want)
		}
		if now, err := os.ReadFile(out); err != nil || !bytes.Equal(now, b) {
			t.Errorf("%s: the old file has changed", c.flags)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("files are left: %v", files)
	}
	// Rows without labels, lists of labels, and bags.
	plain := write(t, dir, "plain.csv", "1,2\n0,0\n3,4\n")
	ok(t, "transform", plain, "--label", "none", "--kernel", "linear", "--scale", "none", "-o", out)
	if b, _ := os.ReadFile(out); string(b) != "0 1:1 2:2\n0\n0 1:3 2:4\n" {
		t.Errorf("rows without labels: %q", b)
	}
	lists := write(t, dir, "lists.svm", "3,7 1:1\n 2:1\n5 1:2\n")
	ok(t, "transform", lists, "--kernel", "linear", "--scale", "none", "-o", out)
	if b, _ := os.ReadFile(out); string(b) != "3,7 1:1\n 2:1\n5 1:2\n" {
		t.Errorf("lists of labels: %q", b)
	}
	bags := write(t, dir, "bags.csv", "g,x,y\na,1,4\na,3,4\nb,2,5\n")
	ok(t, "transform", bags, "--group", "g", "--bag-features", "4", "-o", out)
	if z, b := rowsOf(t, out, 4, dataset.Options{Dim: 4}); z.Rows != 2 || !slices.Equal(b.Y, []float64{4, 5}) {
		t.Errorf("%d bags with the labels %v", z.Rows, b.Y)
	}
}

// The complex form is the pairs, each as one number of complex64, so that the real part of z(x)·conj(z(y)) is the estimate of the pairs.
func TestTransformWritesComplexForms(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "data.csv", cloud(70, func(v float64) float64 { return v }))
	wide := write(t, dir, "wide.svm", strings.Repeat("1 1:0.5 20000:1\n2 3:0.25 700:2\n1 1:1 5:3\n", 20)) // a chain, with a sketch before the map
	for _, c := range []struct{ data, flags string }{
		{data, "--map rff"}, {data, "--map sorf --kernel matern"}, {data, "--map qmc"}, {data, "--kernel skewed-chi2 --scale minmax"}, {wide, ""},
	} {
		flags := append(strings.Fields(c.flags), "--features", "32", "--progress", "never")
		pairs, complexes := filepath.Join(dir, "p.npy"), filepath.Join(dir, "c.npy")
		ok(t, append([]string{"transform", c.data, "-o", pairs}, flags...)...)
		if out := ok(t, append([]string{"transform", c.data, "-o", complexes, "--form", "complex"}, flags...)...); !strings.Contains(out, "× 16 features, complex64 (npy)") {
			t.Error(out)
		}
		z, _ := rowsOf(t, pairs, 32, dataset.Options{Label: "none"})
		file, err := os.ReadFile(complexes)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("'descr': '<c8', 'fortran_order': False, 'shape': (%d, 16)", z.Rows); !bytes.Contains(file[:128], []byte(want)) {
			t.Fatalf("%s: the header is %q, without %s", c.flags, file[:128], want)
		}
		file = file[128:]
		if len(file) != 8*16*z.Rows {
			t.Fatalf("%s: %d bytes", c.flags, len(file))
		}
		number := func(i, j, part int) float64 {
			return float64(math.Float32frombits(little.LittleEndian.Uint32(file[8*(16*i+j)+4*part:])))
		}
		for i := range z.Rows {
			var real, imaginary, want float64
			for j := range 16 {
				a, b, u, v := number(i, j, 0), number(i, j, 1), number(0, j, 0), number(0, j, 1)
				real, imaginary = real+a*u+b*v, imaginary+b*u-a*v
				want += float64(z.Row(i)[j])*float64(z.Row(0)[j]) + float64(z.Row(i)[16+j])*float64(z.Row(0)[16+j])
			}
			if math.Abs(real-want) > 1e-6 || i == 0 && (math.Abs(real-1) > 1e-5 || math.Abs(imaginary) > 1e-6) {
				t.Fatalf("%s, row %d: %g + %gi, want %g", c.flags, i, real, imaginary, want)
			}
		}
	}
	for flags, want := range map[string]string{
		"-o z.csv --form complex":                        "complex numbers are written as npy, and the output is csv",
		"-o z.npy --form complex --components 3":         "components are no pairs of cosines and sines",
		"-o z.npy --form complex --map nystrom":          "map nystrom has no option form",
		"-o z.npy --form complex --map rff --features 7": "a cos and a sin make two",
		"-o z.npy --form complex --kernel arccos":        "leave form out",
	} {
		args := append([]string{"transform", data}, strings.Fields(strings.Replace(flags, "-o z", "-o "+dir+"/z", 1))...)
		if r := mercer(t, args...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d: %s, want %q", flags, r.code, r.stderr, want)
		}
	}
}

// A map that ignores the kernel needs no γ, which rows that are all equal do not have, and the summary has no kernel.
func TestMapsWithoutKernelTakeEqualRows(t *testing.T) {
	dir := t.TempDir()
	data, out := write(t, dir, "equal.csv", strings.Repeat("1,2,a\n1,2,b\n", 30)), filepath.Join(dir, "out")
	for _, flags := range []string{
		"--map wavelets", "--map words --features 4", "--map sigmoid --features 4 --landmarks projected", `--map {"map":"sum","steps":[{"map":"wavelets"}]}`,
	} {
		for _, command := range []string{"transform " + data + " -o " + out + ".npy ", "train " + data + " --learner ridge -o " + out + ".mercer "} {
			if text := ok(t, strings.Fields(command+flags)...); strings.Contains(text, "kernel  ") {
				t.Errorf("%s: %s", flags, text)
			}
		}
	}
	one := write(t, dir, "one.csv", "1,2\n")
	ok(t, "transform", one, "--label", "none", "--map", "wavelets", "-o", out+".npy")
	if r := mercer(t, "transform", data, "-o", out+".npy", "--map", "sigmoid", "--landmarks", "leverage"); !strings.Contains(r.stderr, "all rows are equal") {
		t.Errorf("centres by the kernel need its γ: %s", r.stderr)
	}
}
