package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// endless writes rows for ever, and never more than a few bytes at a time.
type endless struct {
	rows  int
	text  []byte
	until int // rows after which it ends, 0: never
	size  int // largest piece
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.text) == 0 {
		if e.rows == e.until && e.until > 0 {
			return 0, io.EOF
		}
		e.text = fmt.Appendf(nil, "%d 1:%d 2:%d\n", e.rows%2, e.rows, e.rows%7+1)
		e.rows++
	}
	n := copy(p[:min(len(p), e.size)], e.text)
	e.text = e.text[n:]
	return n, nil
}

func (e *endless) Close() error { return nil }

func streamOf(t *testing.T, e *endless) (*File, *stream) {
	t.Helper()
	s := &stream{r: e}
	in, err := newPacked("pipe", s, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(context.Background(), in, Options{Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

func TestStreamWithoutEndIsSurveyedAndRead(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	f, s := streamOf(t, &endless{size: 1000})
	sum, err := Survey(context.Background(), f, SurveyOptions{Rows: 1000})
	if err != nil || sum.Rows != 1000 || sum.Columns[0].Max != 999 {
		t.Fatalf("%+v, %v", sum, err)
	}
	f.LastPass()
	r, err := f.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	next, most := 0, 0
	for next < 1_000_000 {
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b.First != next || b.X.CSR.Val[b.X.CSR.Ptr[0]] != float32(next) && next > 0 {
			t.Fatalf("row %d begins with %g", next, b.X.CSR.Val[b.X.CSR.Ptr[0]])
		}
		next += b.X.Len()
		s.mu.Lock()
		most = max(most, cap(s.buf))
		s.mu.Unlock()
		if r.Progress() >= 0 {
			t.Fatalf("a share %g of a stream without end", r.Progress())
		}
	}
	r.Close()
	if most > 16<<20 {
		t.Errorf("%d bytes are kept of a stream", most)
	}
	if r, err = f.Open(context.Background()); err == nil {
		_, err = r.Next()
		r.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "leave out survey_rows") {
		t.Errorf("a pass after the last: %v", err)
	}
}

func TestStreamIsReadAgainUntilTheLastPass(t *testing.T) {
	for _, size := range []int{1, 7, 100_000} {
		f, _ := streamOf(t, &endless{until: 5000, size: size})
		for pass := range 3 {
			if pass == 2 {
				f.LastPass()
			}
			r, err := f.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for {
				b, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				rows += b.X.Len()
			}
			r.Close()
			if rows != 5000 {
				t.Errorf("pass %d: %d rows", pass, rows)
			}
		}
	}
}

func TestStreamOfTextColumnsSaysWhatToDo(t *testing.T) {
	in, err := newPacked("pipe", &stream{r: io.NopCloser(strings.NewReader("a,b\nx,1\ny,2\n"))}, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(context.Background(), in, Options{Stream: true}); err == nil || !strings.Contains(err.Error(), "leave out survey_rows") {
		t.Error(err)
	}
}
