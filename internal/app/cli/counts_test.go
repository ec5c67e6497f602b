package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		text, wrong string
		want        []int
	}{
		{"256", "", []int{256}},
		{"256,1024", "", []int{256, 1024}},
		{"256:1024", "", []int{256, 512, 1024}},
		{"100:400, 1000", "", []int{100, 200, 400, 1000}},
		{"7:7", "", []int{7}},
		{"", "", []int{}},
		{"0", "", []int{0}},
		{"-5", "", []int{-5}},
		{"256:1000", "1000 is not 256 doubled some times; give a range that ends at 512 or 1024", nil},
		{"1024:256", "which doubles from one to the other", nil},
		{"0:4", "which doubles", nil},
		{"1e3", "give whole numbers", nil},
		{"1:2:4", "give whole numbers", nil},
	} {
		var got []int
		err := countsValue{&got}.Set(c.text)
		if c.wrong == "" && (err != nil || !slices.Equal(got, c.want)) || c.wrong != "" &&
			(err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%q: %v, %v, want %v %s", c.text, got, err, c.want, c.wrong)
		}
	}
}

func TestApproxOfARangeOfSizes(t *testing.T) {
	data := write(t, t.TempDir(), "data.csv", cloud(100, func(v float64) float64 { return v }))
	var got []float64
	for _, r := range approxOf(t, data, "--map", "rff", "--features", "16:64", "--rows", "20", "--seeds", "1").Results {
		got = append(got, r["features"].(float64))
	}
	if !slices.Equal(got, []float64{16, 32, 64}) {
		t.Errorf("--features 16:64 measures %v", got)
	}
	if v := object(t, ok(t, "curve", data, "--at-rows", "10:40", "--at-features", "8:16", "--seeds", "1", "--learner", "ridge",
		"--json", "--progress", "never")); len(v["by_rows"].([]any)) != 3 {
		t.Errorf("--at-rows 10:40 has the points %v", v["by_rows"])
	}
}

// --threads is a flag of the commands with LIBLINEAR's options, too, wherever it stands.
func TestThreadsOfLiblinear(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "x.svm", "1 1:1\n-1 2:1\n1 1:2\n-1 2:2\n")
	for _, args := range []string{
		"liblinear-train --threads 1 -q " + data + " " + dir + "/m",
		"liblinear-train -q --threads=2 " + data + " " + dir + "/m",
		"--threads 1 liblinear-train -q " + data + " " + dir + "/m",
		"liblinear-train -q " + data + " " + dir + "/m --threads 1",
		"liblinear-predict --threads 1 -q " + data + " " + dir + "/m " + dir + "/p",
	} {
		ok(t, strings.Fields(args)...)
	}
	for args, want := range map[string]string{
		"liblinear-train --threads":              "--threads wants a value",
		"liblinear-train --threads many " + data: `--threads "many" is not a whole number`,
		"liblinear-predict --threads -1 " + data: "--threads -1: give 1 to 1024",
	} {
		if r := mercer(t, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}
