package serve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mercer/matrix"
)

// slow scores rows by ten times their first number, a second for each product.
type slow struct {
	mu      sync.Mutex
	batches []int
	fail    float32 // of a row
}

func (s *slow) score(dst *matrix.Dense, x matrix.Rows) error {
	time.Sleep(time.Second)
	s.mu.Lock()
	s.batches = append(s.batches, x.Len())
	s.mu.Unlock()
	for i := range x.Len() {
		v := x.Dense.Row(i)[0]
		if v == -77 {
			panic("a row of -77")
		}
		if s.fail != 0 && v == s.fail {
			return errors.New("the row cannot be scored")
		}
		dst.Row(i)[0] = 10 * v
	}
	return nil
}

// request runs rows of one number.
func request(ctx context.Context, g *gatherer, values ...float32) ([]float32, error) {
	x := &matrix.Dense{Rows: len(values), Cols: 1, Stride: 1, Data: values}
	scores := matrix.NewDense(len(values), 1)
	err := g.run(ctx, scores, x)
	return scores.Data, err
}

// Requests that come while others are computed are computed together, in their order, each with its own scores.
func TestRequestsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		g := newGatherer(s.score, 1, 1000, nil)
		for i := range 10 {
			go func() {
				values := []float32{float32(i), float32(-i)}[:1+i%2]
				got, err := request(t.Context(), g, values...)
				for j, v := range values {
					if err != nil || got[j] != 10*v {
						t.Errorf("request %d: %v, %v", i, got, err)
					}
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(s.batches, []int{1, 14}) || g.running != 0 || g.rows != 0 || len(g.queue) != 0 {
			t.Errorf("products of %v rows; %d run, %d wait", s.batches, g.running, g.rows)
		}
	})
}

// A large request waits for its turn, none is computed with more than gatherRows, and others have theirs between its parts.
func TestGatheredRowsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		g := newGatherer(s.score, 1, 10_000, nil)
		for _, n := range []int{1, 200, 100, 50, 1000, 3} {
			go func() {
				if _, err := request(t.Context(), g, make([]float32, n)...); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(s.batches, []int{1, 200, 150, 256, 3, 256, 256, 232}) {
			t.Errorf("products of %v rows", s.batches)
		}
	})
}

// A large request ends at its deadline, and does not let others wait until it is done; meanwhile its rows count as those that wait.
func TestPartsOfLargeRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		g := newGatherer(s.score, 1, 10_000, nil)
		begin := time.Now()
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
			defer cancel()
			if _, err := request(ctx, g, make([]float32, 100*gatherRows)...); !errors.Is(err, errDeadline) || time.Since(begin) > 10*time.Second {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
		}()
		synctest.Wait()
		if _, err := request(t.Context(), g, 1); err == nil {
			t.Error("a queue that is full by the rows of a large request takes more")
		}
		time.Sleep(500 * time.Millisecond)
		g.limit = 100_000
		if _, err := request(t.Context(), g, 1); err != nil || time.Since(begin) != 2*time.Second {
			t.Errorf("a small request is done after %v: %v", time.Since(begin), err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(s.batches) != 10 || g.running != 0 || g.rows != 0 || g.later != 0 || len(g.queue) != 0 {
			t.Errorf("%d products; %d run, %d and %d rows wait", len(s.batches), g.running, g.rows, g.later)
		}
	})
}

// One row that cannot be scored, and one that makes the learner panic, fail alone; others have their scores.
func TestFailuresStayAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{fail: 3}
		g := newGatherer(s.score, 1, 100, nil)
		for i := range 6 {
			go func() {
				got, err := request(t.Context(), g, float32(i))
				if failed := i == 3; (err != nil) != failed || !failed && got[0] != float32(10*i) {
					t.Errorf("request %d: %v, %v", i, got, err)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_, _ = request(t.Context(), g, -77)
		}()
		if got, err := request(t.Context(), g, 5); err != nil || got[0] != 50 || g.running != 0 {
			t.Errorf("after a panic: %v, %v, %d run", got, err, g.running)
		}
	})
}

// Whoever gives up leaves the queue, at any time; the others are computed.
func TestRequestsThatGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		g := newGatherer(s.score, 1, 1000, nil)
		var canceled, late, done int
		var mu sync.Mutex
		for i := range 60 {
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			switch i % 3 {
			case 0:
				ctx, cancel = context.WithCancel(ctx)
				time.AfterFunc(time.Duration(i)*50*time.Millisecond, cancel)
			case 1:
				ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*60*time.Millisecond)
			}
			go func() {
				defer cancel()
				got, err := request(ctx, g, float32(i))
				mu.Lock()
				defer mu.Unlock()
				switch over := (*overloaded)(nil); {
				case errors.Is(err, context.Canceled):
					canceled++
				case errors.Is(err, errDeadline), errors.As(err, &over):
					late++
				case err == nil && got[0] == float32(10*i):
					done++
				default:
					t.Errorf("request %d: %v, %v", i, got, err)
				}
			}()
			time.Sleep(30 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if canceled+late+done != 60 || canceled < 5 || late < 5 || done < 20 || g.running != 0 || g.rows != 0 || len(g.queue) != 0 {
			t.Errorf("%d canceled, %d late, %d done; %d run, %d rows wait", canceled, late, done, g.running, g.rows)
		}
	})
}

// Rows for which there is no room, or no time, are refused at once, with a time to come back.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		g := newGatherer(s.score, 1, 10, nil)
		if _, err := request(t.Context(), g, 1); err != nil { // tells how long a row takes
			t.Fatal(err)
		}
		for range 11 {
			go func() { _, _ = request(t.Context(), g, 1) }()
			synctest.Wait()
		}
		_, err := request(t.Context(), g, 1)
		if over := (*overloaded)(nil); !errors.As(err, &over) || over.after < time.Second || !strings.Contains(err.Error(), "10 rows wait to be computed, of 10") {
			t.Errorf("a full queue: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		before := time.Now()
		for range 3 {
			go func() { _, _ = request(t.Context(), g, 1) }()
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err = request(ctx, g, 1)
		if over := (*overloaded)(nil); !errors.As(err, &over) || time.Since(before) != 0 {
			t.Errorf("no time: %v after %v", err, time.Since(before))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
	})
}
