package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mercer/matrix"
)

// row is one row of a source, for comparison.
type row struct {
	first  int
	x      map[int]float32 // what is not 0
	y      []float64
	name   string
	weight float64
}

func (r row) equal(other row) bool {
	return r.first == other.first && maps.Equal(r.x, other.x) && slices.Equal(r.y, other.y) && r.name == other.name && r.weight == other.weight
}

// readRows reads a whole source and checks what every batch must be. It returns the rows
// before an error together with it.
func readRows(t testing.TB, src Source, most int) ([]row, error) {
	t.Helper()
	r, err := src.Open(context.Background())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var rows []row
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		n := b.X.Len()
		if n == 0 || n > most {
			t.Fatalf("a batch of %d rows, want 1 to %d", n, most)
		}
		if dim := src.Schema().Dim; dim != 0 && b.X.Dim() != dim {
			t.Fatalf("a batch of %d dimensions, the schema says %d", b.X.Dim(), dim)
		}
		if len(b.Y) != n*b.Outputs || b.Names != nil && len(b.Names) != n || b.Weights != nil && len(b.Weights) != n {
			t.Fatalf("%d rows with %d targets of %d, %d names, %d weights", n, len(b.Y), b.Outputs, len(b.Names), len(b.Weights))
		}
		if b.First != len(rows) {
			t.Fatalf("the batch says it starts at row %d, it is %d", b.First, len(rows))
		}
		for i := range n {
			one := row{first: b.First + i, x: map[int]float32{}, weight: 1}
			if x := b.X.CSR; x != nil {
				idx, val := x.Row(i)
				for k, j := range idx {
					if int(j) >= x.Cols || j < 0 || k > 0 && idx[k-1] >= j || val[k] == 0 {
						t.Fatalf("row %d has indices %v, values %v, %d columns", one.first, idx, val, x.Cols)
					}
					one.x[int(j)] = val[k]
				}
			} else {
				for j, v := range b.X.Dense.Row(i) {
					if v != 0 {
						one.x[j] = v
					}
				}
			}
			for j, v := range one.x {
				if v-v != 0 {
					t.Fatalf("row %d, dimension %d: %v", one.first, j, v)
				}
			}
			one.y = append(one.y, b.Y[i*b.Outputs:(i+1)*b.Outputs]...)
			if b.Names != nil {
				one.name = b.Names[i]
			}
			for j, y := range one.y {
				if y-y != 0 {
					if one.name == "" {
						t.Fatalf("row %d: target %v without a name", one.first, y)
					}
					one.y[j] = 0
				}
			}
			if b.Weights != nil {
				one.weight = b.Weights[i]
				if !(one.weight >= 0 && one.weight < math.Inf(1)) {
					t.Fatalf("row %d: weight %v", one.first, one.weight)
				}
			}
			rows = append(rows, one)
		}
	}
}

// csvSource is a table in memory.
func csvSource(t testing.TB, text string, opt Options) Source {
	t.Helper()
	src, err := newTable(context.Background(), &memInput{"f.csv", []byte(text)}, opt, "")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// libsvmSource is LIBSVM text in memory.
func libsvmSource(t testing.TB, text string, opt Options) Source {
	t.Helper()
	src, err := newLIBSVM(&memInput{"f", []byte(text)}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// longTable has rows of uneven length over more than two blocks. Where quoted, a cell of
// each row holds newlines and quotes.
func longTable(quoted bool) (text string, rows int) {
	var b strings.Builder
	for b.Len() < 5*blockSize/2 {
		fmt.Fprintf(&b, "%d,%d.5,", rows, rows%977)
		if quoted {
			fmt.Fprintf(&b, "\"a \"\"b\"\"\n%s, \n\",", strings.Repeat("x\n", rows%5))
		}
		fmt.Fprintf(&b, "%s%d\n", strings.Repeat(" ", rows%31), rows%10)
		rows++
	}
	return b.String(), rows
}

func TestRowsDoNotDependOnThreadsOrBatches(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, quoted := range []bool{false, true} {
		text, n := longTable(quoted)
		var want []row
		for _, c := range []struct{ threads, batch, most int }{{1, 0, 4096}, {3, 0, 4096}, {3, 17, 17}} {
			runtime.GOMAXPROCS(c.threads)
			got, err := readRows(t, csvSource(t, text, Options{BatchRows: c.batch}), c.most)
			if err != nil || len(got) != n {
				t.Fatalf("quoted %v, %+v: %d rows, want %d; error %v", quoted, c, len(got), n, err)
			}
			if want == nil {
				want = got
				for i, r := range got {
					if r.x[0] != float32(i) || r.x[1] != float32(i%977)+.5 || r.y[0] != float64(i%10) {
						t.Fatalf("row %d is %v", i, r)
					}
				}
			}
			if !slices.EqualFunc(got, want, row.equal) {
				t.Fatalf("quoted %v, %+v: other rows", quoted, c)
			}
		}
	}
}

func TestErrorsHaveTheirLineInAnyBlock(t *testing.T) {
	for _, quoted := range []bool{false, true} {
		text, n := longTable(quoted)
		line := strings.Count(text, "\n") + 1
		cell := ""
		if quoted {
			cell = "t,"
		}
		src := csvSource(t, text+"1,oops,"+cell+"1\n2,bad,"+cell+"2\n", Options{Label: "0"})
		if quoted {
			// The texts are as many as the rows modulo 5, and one more in the rows added.
			if d := src.Schema().Dim; d != 1+6+1 {
				t.Fatalf("%d dimensions", d)
			}
		}
		rows, err := readRows(t, src, 4096)
		want := fmt.Sprintf(`f.csv:%d: column 1: "oops" is not a number`, line)
		if err == nil || err.Error() != want {
			t.Fatalf("error %v, want %s", err, want)
		}
		if len(rows) != n {
			t.Errorf("%d rows before the error, want %d", len(rows), n)
		}
	}
}

func TestLineEndsAndMarks(t *testing.T) {
	want, err := readRows(t, csvSource(t, "1,2,3\n4,5,6\n7,8,9\n", Options{}), 4096)
	if err != nil || len(want) != 3 {
		t.Fatal(want, err)
	}
	for _, text := range []string{
		"1,2,3\r\n4,5,6\r\n7,8,9\r\n",
		"1,2,3\n4,5,6\n7,8,9",
		"1,2,3\r\n4,5,6\r\n7,8,9\r",
		"\n\n1,2,3\n\r\n4,5,6\n  \t\n7,8,9\n\n\n",
		"\xef\xbb\xbf1,2,3\n4,5,6\n7,8,9\n",
		" 1, 2,\t3\n4 ,5 ,6 \n\"7\",\" 8 \",9\n",
	} {
		if got, err := readRows(t, csvSource(t, text, Options{}), 4096); err != nil || !slices.EqualFunc(got, want, row.equal) {
			t.Errorf("%q: %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"1 1:2\r\n\r\n2 2:3\r\n", "\xef\xbb\xbf1 1:2\n2 2:3", "\n1\t1:2 \n#c\n 2 2:3#c"} {
		rows, err := readRows(t, libsvmSource(t, text, Options{}), 4096)
		if err != nil || len(rows) != 2 || rows[0].y[0] != 1 || rows[1].x[1] != 3 {
			t.Errorf("%q: %v, error %v", text, rows, err)
		}
	}
}

// streamInput is a file without an end in memory: head, then what fill writes.
type streamInput struct {
	memInput
	size int   // bytes in all; 'x' after the data
	err  error // at the end, instead of io.EOF
}

func (s *streamInput) Open() (io.ReadCloser, func() float64, error) {
	xs := io.LimitReader(repeat('x'), int64(s.size-len(s.data)))
	readers := []io.Reader{bytes.NewReader(s.data), xs}
	if s.err != nil {
		readers = append(readers, failing{s.err})
	}
	return io.NopCloser(io.MultiReader(readers...)), func() float64 { return -1 }, nil
}

type repeat byte

func (r repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r)
	}
	return len(b), nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestEndlessLinesAreErrorsAtTheirStart(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, c := range []struct{ text, want string }{
		{"1,2\n3,4\n5,", "f.csv:3: the line is longer than 64 MiB; is a double quote left open in it?"},
		{"1,2\n3,\"4\n5,6\n", "f.csv:2: the line is longer than 64 MiB; is a double quote left open in it?"},
	} {
		in := &streamInput{memInput{"f.csv", []byte(c.text)}, maxRecord + 4*blockSize, nil}
		src, err := newTable(context.Background(), in, Options{}, "csv")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = readRows(t, src, 4096); err == nil || err.Error() != c.want {
			t.Errorf("%q: error %v, want %s", c.text, err, c.want)
		}
	}
	in := &streamInput{memInput{"f", []byte("1 1:2\n1 1:")}, maxRecord + 4*blockSize, nil}
	src, err := newLIBSVM(in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = readRows(t, src, 4096); err == nil || err.Error() != "f:2: the line is longer than 64 MiB" {
		t.Errorf("error %v", err)
	}
}

// A decompressor tells of a file that is cut by io.ErrUnexpectedEOF, which must not pass for
// the end.
func TestCutFilesAreErrors(t *testing.T) {
	for _, broken := range []error{io.ErrUnexpectedEOF, errors.New("bad checksum")} {
		for _, n := range []int{10, 3_000_000} {
			text := strings.Repeat("1 1:2\n", n)
			src, err := newLIBSVM(&streamInput{memInput{"f", []byte(text)}, len(text), broken}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := src.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for err == nil {
				var b *matrix.Batch
				if b, err = r.Next(); err == nil {
					rows += b.X.Len()
				}
			}
			r.Close()
			if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "f: ") {
				t.Errorf("%v came out as %v", broken, err)
			}
			// The block that was being read is lost, those before are not.
			if rows > n || rows < n-blockSize/6 || strings.Count(text[:rows*6], "\n")+1 != lineIn(t, err) {
				t.Errorf("%d rows of %d before %v", rows, n, err)
			}
		}
	}
}

// lineIn is the number of the line in an error.
func lineIn(t *testing.T, err error) (line int) {
	if _, scan := fmt.Sscanf(err.Error(), "f: line %d or after:", &line); scan != nil {
		t.Errorf("%v names no line", err)
	}
	return line
}

// goroutines waits for the number of goroutines to fall to want.
func goroutines(t *testing.T, want int) {
	t.Helper()
	for range 60_000 {
		if runtime.NumGoroutine() <= want {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines are left, %d were there before", runtime.NumGoroutine(), want)
}

func TestCancelAndCloseStopAllGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	text := strings.Repeat(strings.Repeat(" ", 58)+"1,2,3\n", 6*blockSize/64) // few numbers in many bytes
	src := csvSource(t, text, Options{})
	open := func(ctx context.Context) Reader {
		r, err := src.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open(context.Background())
	r.Close()
	goroutines(t, before)
	if _, err := r.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a closed reader gives error %v", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	r = open(ctx)
	cancel()
	goroutines(t, before)
	var err error
	for range 10 * len(text) / blockSize * blockSize / 4096 {
		if _, err = r.Next(); err != nil {
			break
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel, Next gives %v", err)
	}
	r.Close()

	r = open(context.Background())
	for err = nil; err == nil; {
		_, err = r.Next()
	}
	goroutines(t, before)
	r.Close()
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	rows := func(n int) string { return strings.Repeat("1,22,3.25,text,4\n", n) }
	allocated := func(text string) uint64 {
		src := csvSource(t, text, Options{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		r.Close()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	short, long := allocated(rows(400_000)), allocated(rows(1_200_000))
	// 800,000 rows more are 200 batches more, each with its view.
	if long > short+short/2+1<<20 {
		t.Errorf("7 MB of text allocate %d bytes, 20 MB %d", short, long)
	}
}

func TestBatchesAreTheCallersToChange(t *testing.T) {
	for _, src := range []Source{
		csvSource(t, strings.Repeat("1,2,a,3\n4,5,b,6\n", 40), Options{BatchRows: 3, Label: "2", Weight: "3"}),
		libsvmSource(t, strings.Repeat("a 1:1 2:2\nb 1:1 2:2\n", 40), Options{BatchRows: 3}),
		libsvmSource(t, strings.Repeat("1 1:1 2:2\n2 1:1 2:2\n", 40), Options{BatchRows: 3}),
	} {
		want, err := readRows(t, src, 3)
		if err != nil {
			t.Fatal(err)
		}
		r, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for at := 0; ; {
			b, err := r.Next()
			if err != nil {
				break
			}
			for i := range b.X.Len() {
				if b.Names != nil && b.Names[i] != want[at].name || b.Names == nil && b.Y[i] != want[at].y[0] ||
					b.Weights != nil && b.Weights[i] != want[at].weight {
					t.Fatalf("row %d has changed", at)
				}
				at++
			}
			spoil(b)
		}
	}
}

// spoil writes to all that a batch has, and behind it.
func spoil(b *matrix.Batch) {
	clear(b.Y)
	clear(b.Names)
	_ = append(b.Y, 1, 2, 3)
	_ = append(b.Names, "x", "y", "z")
	_ = append(b.Weights, 7, 8, 9)
}
