package dataset

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"mercer/matrix"
)

// scripted is a source whose passes do what a script says, and which counts what is done to them.
type scripted struct {
	opening, reading, closing error
	batches                   int
	opened, read, closed      int
}

func (s *scripted) Name() string    { return "scripted" }
func (s *scripted) Schema() *Schema { return &Schema{Format: "rows", Dim: 1} }
func (s *scripted) Open(context.Context) (Reader, error) {
	if s.opening != nil {
		return nil, s.opening
	}
	s.opened++
	return &scriptedReader{scripted: s}, nil
}

type scriptedReader struct {
	*scripted
	at int
}

func (r *scriptedReader) Next() (*matrix.Batch, error) {
	if r.at == r.batches {
		if r.reading != nil {
			return nil, r.reading
		}
		return nil, io.EOF
	}
	r.at++
	r.read++
	return &matrix.Batch{X: matrix.Rows{Dense: matrix.NewDense(1, 1)}, First: r.at - 1}, nil
}

func (r *scriptedReader) Progress() float64 { return float64(r.at) / float64(r.batches) }
func (r *scriptedReader) Close() error      { r.closed++; return r.closing }

func TestEachGoesOverAllBatches(t *testing.T) {
	s := &scripted{batches: 4}
	var first []int
	var shares []float64
	for b, err := range Each(context.Background(), s) {
		if err != nil {
			t.Fatal(err)
		}
		first, shares = append(first, b.First), append(shares, b.Pass.Progress())
	}
	if !slices.Equal(first, []int{0, 1, 2, 3}) || !slices.Equal(shares, []float64{0.25, 0.5, 0.75, 1}) {
		t.Errorf("batches %v at %v", first, shares)
	}
	if s.opened != 1 || s.closed != 1 {
		t.Errorf("opened %d times, closed %d times", s.opened, s.closed)
	}
}

func TestEachEndsWithTheFirstError(t *testing.T) {
	opening, reading, closing := errors.New("opening"), errors.New("reading"), errors.New("closing")
	for _, c := range []struct {
		s             scripted
		want          error
		steps, closed int
	}{
		{scripted{opening: opening, closing: closing}, opening, 1, 0},
		{scripted{batches: 2, reading: reading}, reading, 3, 1},
		{scripted{batches: 2, reading: reading, closing: closing}, reading, 3, 1},
		{scripted{batches: 2, closing: closing}, closing, 3, 1},
		{scripted{batches: 2}, nil, 2, 1},
	} {
		var last error
		steps := 0
		for b, err := range Each(context.Background(), &c.s) {
			if last != nil {
				t.Errorf("a step comes after the error %v", last)
			}
			if (b.Batch == nil) != (err != nil) {
				t.Errorf("a batch %v with the error %v", b.Batch, err)
			}
			steps, last = steps+1, err
		}
		if !errors.Is(last, c.want) || steps != c.steps || c.s.closed != c.closed {
			t.Errorf("%d steps to %v, closed %d times; want %d to %v, %d times", steps, last, c.s.closed, c.steps, c.want, c.closed)
		}
	}
}

func TestEachIsClosedHoweverTheLoopEnds(t *testing.T) {
	s := &scripted{batches: 9, closing: errors.New("closing")}
	for range Each(context.Background(), s) {
		break
	}
	if s.read != 1 || s.closed != 1 {
		t.Errorf("after break %d batches are read, and closed %d times", s.read, s.closed)
	}
	func() {
		defer func() {
			if recover() != "stop" {
				t.Error("the panic is lost")
			}
		}()
		for range Each(context.Background(), s) {
			panic("stop")
		}
	}()
	if s.read != 2 || s.closed != 2 {
		t.Errorf("after a panic %d batches are read, and closed %d times", s.read, s.closed)
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	s := &scripted{batches: 9}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps := 0
	var last error
	for _, err := range Each(ctx, s) {
		steps, last = steps+1, err
		cancel()
	}
	if steps != 2 || !errors.Is(last, context.Canceled) || s.closed != 1 {
		t.Errorf("%d steps to %v, closed %d times", steps, last, s.closed)
	}
}

func TestEachBags(t *testing.T) {
	x := matrix.NewDense(5, 1)
	src, err := FromBags(matrix.Rows{Dense: x}, []int{0, 2, 3, 5}, []float64{1, 2, 3}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	bags, rows := 0, 0
	for b, err := range EachBags(context.Background(), src) {
		if err != nil {
			t.Fatal(err)
		}
		bags, rows = bags+b.Len(), rows+b.X.Len()
		if b.Pass.Progress() <= 0 {
			t.Errorf("progress %g", b.Pass.Progress())
		}
	}
	if bags != 3 || rows != 5 {
		t.Errorf("%d bags of %d rows", bags, rows)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range EachBags(ctx, src) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// One value of two words is handed out a batch.
func TestEachAllocatesNothingABatch(t *testing.T) {
	few, many := &steady{n: 2}, &steady{n: 200}
	pass := func(s Source) func() {
		return func() {
			for _, err := range Each(context.Background(), s) {
				if err != nil {
					t.Error(err)
				}
			}
		}
	}
	if a, b := testing.AllocsPerRun(10, pass(few)), testing.AllocsPerRun(10, pass(many)); a != b {
		t.Errorf("%g allocations for 2 batches, %g for 200", a, b)
	}
}

// steady hands out the same batch n times.
type steady struct {
	scripted
	n, at int
	batch matrix.Batch
}

func (s *steady) Open(context.Context) (Reader, error) { s.at = 0; return s, nil }
func (s *steady) Next() (*matrix.Batch, error) {
	if s.at == s.n {
		return nil, io.EOF
	}
	s.at++
	return &s.batch, nil
}
func (s *steady) Progress() float64 { return 0 }
func (s *steady) Close() error      { return nil }
