package papers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/testenv"
)

func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".gz") {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Close()
		data = b.Bytes()
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func images(n int) []byte {
	b := []byte{0, 0, 8, 3}
	for _, size := range []uint32{uint32(n), 28, 28} {
		b = binary.BigEndian.AppendUint32(b, size)
	}
	for i := range n * 784 {
		b = append(b, byte(i%256))
	}
	return b
}

func TestReaders(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()

	put(t, dir, "mnist/train-images-idx3-ubyte.gz", images(3))
	put(t, dir, "mnist/t10k-images-idx3-ubyte", images(2))
	train, test, err := mnist(ctx, dir)
	if err != nil || train.Len() != 3 || test.Len() != 2 || train.Dim() != 784 {
		t.Fatalf("mnist: %d and %d rows, %v", train.Len(), test.Len(), err)
	}
	if x := train.Dense.Row(0); x[0] != -1 || x[255] != 1 || math.Abs(float64(x[51])+0.6) > 1e-6 {
		t.Errorf("mnist: pixels 0, 51, 255 are %g, %g, %g; they go from -1 to 1", x[0], x[51], x[255])
	}

	put(t, dir, "isolet/isolet1+2+3+4.csv", []byte("0.5,-1,1\n0.25,1,26\n"))
	put(t, dir, "isolet/isolet5.data.gz", []byte("1.0000,  -0.5000, 3.\n"))
	train, all, err := isolet(ctx, dir)
	if err != nil || train.Len() != 2 || all.Len() != 3 || all.Dim() != 2 || all.Dense.Row(1)[0] != 0.25 || all.Dense.Row(2)[1] != -0.5 {
		t.Errorf("isolet: %d of %d rows, %v", train.Len(), all.Len(), err)
	}

	put(t, dir, "w8a/w8a", []byte("-1 3:1 300:1\n1\n-1 1:1\n"))
	words, err := w8a(ctx, dir)
	if err != nil || words.Len() != 3 || words.Dim() != 300 {
		t.Errorf("w8a: %d rows of %d, %v", words.Len(), words.Dim(), err)
	}

	record := make([]byte, 3073)
	record[0], record[1], record[3072] = 9, 255, 102
	put(t, dir, "cifar10/data_batch_1_first4000.bin.gz", append(record, record...))
	x, err := cifar10(dir)
	if err != nil || x.Len() != 2 || x.Dim() != 3072 {
		t.Fatalf("cifar10: %d rows of %d, %v", x.Len(), x.Dim(), err)
	}
	if r := x.Dense.Row(1); r[0] != 1 || r[1] != -1 || math.Abs(float64(r[3071])+0.2) > 1e-6 {
		t.Errorf("cifar10: %g, %g, %g", r[0], r[1], r[3071])
	}
	put(t, dir, "cifar10/data_batch_1.bin", record[:3000])
	if _, err := cifar10(dir); err == nil || !strings.Contains(err.Error(), "3000 bytes are no images") {
		t.Errorf("cifar10, cut short: %v", err)
	}

	if _, err := find(dir, "mnist", "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestDrawAndPart(t *testing.T) {
	x := normal(50, 3, 9)
	place := map[float32]int{}
	for i := range 50 {
		place[x.Dense.Row(i)[0]] = i
	}
	some, rest := part(x, 20, 4)
	seen := map[int]bool{}
	for _, y := range [][]float32{some.Dense.Data, rest.Dense.Data} {
		for i := 0; i < len(y); i += 3 {
			seen[place[y[i]]] = true
		}
	}
	if some.Len() != 20 || rest.Len() != 30 || len(seen) != 50 {
		t.Errorf("%d and %d rows, %d different", some.Len(), rest.Len(), len(seen))
	}
	a, b := draw(x, 10, 1, "rows"), draw(x, 10, 2, "rows")
	if a.Len() != 10 || a.Dense.Data[0] == b.Dense.Data[0] && a.Dense.Data[3] == b.Dense.Data[3] {
		t.Error("two seeds draw the same rows")
	}
	if draw(x, 100, 1, "rows").Len() != 50 {
		t.Error("more rows than there are")
	}
}

// On the data themselves, one quick run: ISOLET's distances, where a projection of 100 rows is
// within what ten of 200 rows gave.
func TestISOLETTable(t *testing.T) {
	testenv.Long(t, "the table on ISOLET has the errors that the page says")
	dir := testenv.Data(t, "")
	if testing.Short() {
		t.Skip("reads ISOLET")
	}
	table, err := Find("LS18-2")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), table, Options{Dir: dir, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range table.Rows {
		c := r.Cells[i][0]
		if c.Mark == NotRun && strings.HasPrefix(row.Name, "KG-RP") {
			continue
		}
		// One run of another seed and half of the rows: three of the paper's standard deviations, and
		// as much for the rows.
		if theirs := row.Theirs[0]; math.Abs(c.Mean-theirs.Mean) > 6*theirs.SD {
			t.Errorf("%s: %.3f beside %s", row.Name, c.Mean, theirs.Text)
		}
	}
}

// On the data themselves, quick runs of other tables that take a few seconds each: they make figures, all of them
// finite and not negative, and only what lacks data says so. Tables that take longer even so (S14-4.6, LS18-1,
// LS19-4.2, LS19-3.6, LS19-4.4 and the like) are left to mercer reproduce --quick.
func TestQuickTables(t *testing.T) {
	testenv.Long(t, "every table of the papers runs in its quick form")
	dir := testenv.Data(t, "")
	if testing.Short() {
		t.Skip("reads the data sets")
	}
	for _, name := range []string{
		"LS18-F2b", "LS19-F2.5", "LS19-4.3", "LS19-4.8", "LS19-4.9", "LS19-4.9-time", "LS19-4.10-time", "LS19-3.5", "LS19-F4.6",
		"K10-1", "K10-1-time", "K10-4",
	} {
		t.Run(name, func(t *testing.T) {
			table, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), table, Options{Dir: dir, Quick: true})
			if err != nil {
				t.Fatal(err)
			}
			if r.Missing != "" {
				testenv.Missing(t, "there is no %s", r.Missing)
			}
			rows, columns := table.made()
			figures := 0
			for i, cells := range r.Cells {
				for j, c := range cells {
					switch lacks := i >= rows || j >= columns; {
					case i >= rows && i < rows+table.AloneRows, i < rows && j >= columns && j < columns+table.AloneColumns:
						if c.Mark != Alone {
							t.Errorf("%s: %q", table.Rows[i].Name, c.Mark)
						}
					case lacks != (c.Mark == NoData):
						t.Errorf("%s, %s: %q", table.Rows[i].Name, table.Columns[j], c.Mark)
					case lacks || c.Mark == NotRun:
					case !(c.Mean >= 0 && c.Mean < math.Inf(1)) || c.SD != 0:
						t.Errorf("%s, %s: %g ± %g", table.Rows[i].Name, table.Columns[j], c.Mean, c.SD)
					case c.Mean > 0:
						figures++
					}
				}
			}
			if figures == 0 {
				t.Error("no figures")
			}
		})
	}
}
