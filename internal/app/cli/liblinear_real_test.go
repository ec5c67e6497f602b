package cli

import (
	"compress/bzip2"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

// published is the text of a data set, or of a part of it.
func published(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(testenv.Data(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = bzip2.NewReader(f)
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testText is that of the test rows of ../../internal/solve/liblinear/testdata/real.py, as LIBSVM text.
func testText(t *testing.T, set string) string {
	switch set {
	case "a9a":
		return published(t, "a9a/a9a.t.gz")
	case "w8a":
		return published(t, "w8a/w8a.gz")
	case "ijcnn1":
		return published(t, "ijcnn1/ijcnn1.tst.bz2")
	case "reuters":
		return published(t, "reuters_lasvm/reuters.tst.bz2")
	case "letter":
		var b strings.Builder
		for _, row := range strings.Fields(published(t, "letter/letter-recognition.data.gz"))[16000:] {
			fields := strings.Split(row, ",")
			fmt.Fprint(&b, fields[0][0]-'A'+1)
			for j, v := range fields[1:] {
				if v != "0" {
					fmt.Fprintf(&b, " %d:%s", j+1, v)
				}
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	var b strings.Builder
	n := 0
	for row := range strings.Lines(published(t, "cpusmall/cpu.small.arff.gz")) {
		row = strings.ReplaceAll(strings.TrimSpace(row), " ", "")
		if row == "" || row[0] == '%' || row[0] == '@' {
			continue
		}
		if n++; n <= 6000 {
			continue
		}
		fields := strings.Split(row, ",")
		b.WriteString(fields[len(fields)-1])
		for j, v := range fields[:len(fields)-1] {
			x, err := strconv.ParseFloat(v, 64)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, " %d:%.6g", j+1, x/1000)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Models that LIBLINEAR trained predict here what they predict there: of classes the same bytes,
// of numbers the same up to the rounding of the rows to float32.
func TestLiblinearModelsOnRealData(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads six data sets")
	}
	f, err := os.Open("../../solve/liblinear/testdata/real.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Set, Model, Said, SHA256 string
		Solver                   int
		First                    []string
	}
	if err := json.NewDecoder(r).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s -s %d", c.Set, c.Solver), func(t *testing.T) {
			dir := t.TempDir()
			rows, m, out := write(t, dir, "rows", testText(t, c.Set)), write(t, dir, "m", c.Model), filepath.Join(dir, "out")
			said := ok(t, "liblinear-predict", rows, m, out)
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(text)
			if c.Solver < 11 {
				if said != c.Said || hex.EncodeToString(sum[:]) != c.SHA256 {
					t.Errorf("says %q, LIBLINEAR %q; the predictions' sum is %x, LIBLINEAR's %s", said, c.Said, sum, c.SHA256)
				}
				return
			}
			for i, want := range c.First {
				a, _ := strconv.ParseFloat(strings.Fields(string(text))[i], 64)
				b, _ := strconv.ParseFloat(want, 64)
				if math.Abs(a-b) > 1e-5*math.Max(1, math.Abs(b)) {
					t.Errorf("row %d: %g, LIBLINEAR %g", i, a, b)
				}
			}
			if said != c.Said {
				t.Errorf("says %q, LIBLINEAR %q", said, c.Said)
			}
		})
	}
}
