package serve

import (
	"context"
	"errors"
	"fmt"
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
		if !slices.Equal(s.batches, []int{1, 14}) || g.running != 0 || g.small.rows+g.large.rows+g.later+g.begun != 0 {
			t.Errorf("products of %v rows; %d run, %d wait", s.batches, g.running, g.small.rows)
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
		if !slices.Equal(s.batches, []int{1, 200, 256, 153, 256, 256, 232}) {
			t.Errorf("products of %v rows", s.batches)
		}
	})
}

// A large request is computed in parts, between which others have their turn; another one comes after it. One that cannot be done in time is
// given up as soon as that is known.
func TestPartsOfLargeRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		g := newGatherer(s.score, 1, 1000, nil)
		begin := time.Now()
		var mu sync.Mutex
		var ends []string
		send := func(name string, rows int, deadline time.Duration) {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				defer cancel()
				_, err := request(ctx, g, make([]float32, rows)...)
				over := (*overloaded)(nil)
				mu.Lock()
				defer mu.Unlock()
				ends = append(ends, fmt.Sprintf("%s %v %v", name, time.Since(begin), errors.As(err, &over)))
				if err != nil && over == nil {
					t.Error(name, err)
				}
			}()
			synctest.Wait()
		}
		send("large", 4*gatherRows, time.Minute)
		send("next", 3*gatherRows, time.Minute)
		send("no room", 3*gatherRows, time.Minute)
		send("small", 1, time.Minute)
		time.Sleep(1500 * time.Millisecond)
		send("small", 1, time.Minute)
		time.Sleep(time.Minute)
		send("hopeless", 100*gatherRows, 50*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"no room 0s true", "small 2s false", "small 4s false", "large 6s false", "next 9s false", "hopeless 1m2.5s true"}
		if !slices.Equal(ends, want) || g.running != 0 || g.small.rows+g.large.rows+g.later+g.begun != 0 {
			t.Errorf("ended %q, want %q; %d run, %+v and %+v wait", ends, want, g.running, g.small, g.large)
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
		large := make([]float32, 4*gatherRows)
		large[2*gatherRows] = -77 // the first of a part
		for _, values := range [][]float32{{-77}, large} {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				_, _ = request(t.Context(), g, values...)
			}()
			if got, err := request(t.Context(), g, 5); err != nil || got[0] != 50 || g.running != 0 || g.small.rows+g.large.rows+g.later+g.begun != 0 {
				t.Errorf("after a panic: %v, %v, %d run", got, err, g.running)
			}
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
		if canceled+late+done != 60 || canceled < 5 || late < 5 || done < 20 || g.running != 0 || g.small.rows+g.large.rows+g.later+g.begun != 0 {
			t.Errorf("%d canceled, %d late, %d done; %d run, %d rows wait", canceled, late, done, g.running, g.small.rows)
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

// At four times its capacity a server computes at least 90 % of it, and what it answers comes within the deadline; others are refused,
// all but a few of them at once. The time is that of synctest: a product takes 10 ms and a millisecond a row.
func TestFourTimesTheCapacity(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 50,000 requests")
	}
	for large, deadline := range map[int]time.Duration{1: 1500 * time.Millisecond, 600: 2 * time.Second} { // rows of each tenth request
		synctest.Test(t, func(t *testing.T) {
			score := func(dst *matrix.Dense, x matrix.Rows) error {
				time.Sleep(time.Duration(10+x.Len()) * time.Millisecond)
				return nil
			}
			const places = 2
			start, length := time.Now(), 4*deadline
			g := newGatherer(score, places, 16_384, nil)
			capacity := places * gatherRows / (0.010 + 0.001*gatherRows) // rows a second
			var mu sync.Mutex
			var rows int
			var waits []time.Duration
			var atOnce, later, vain int
			arrives := time.Duration(float64(time.Second) / (4 * capacity) * (0.9 + 0.1*float64(large)))
			for i := range int(length / arrives) {
				n := 1
				if i%10 == 9 {
					n = large
				}
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), deadline)
					defer cancel()
					begin := time.Now()
					_, err := request(ctx, g, make([]float32, n)...)
					mu.Lock()
					defer mu.Unlock()
					if took := time.Since(begin); err == nil {
						if waits = append(waits, took); time.Since(start) > deadline && time.Since(start) < length {
							rows += n
						}
					} else if over := (*overloaded)(nil); errors.As(err, &over) {
						if later++; took == 0 {
							atOnce, later = atOnce+1, later-1
						}
					} else {
						vain++
					}
				}()
				time.Sleep(arrives)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			slices.Sort(waits)
			p99 := waits[len(waits)*99/100]
			rate := float64(rows) / (length - deadline).Seconds()
			t.Logf("of %d rows: %.0f rows/s of %.0f, p99 %v, %d refused at once, %d later, %d in vain", large, rate, capacity, p99, atOnce, later, vain)
			if rate < 0.9*capacity || p99 > deadline || later > atOnce/50 {
				t.Error("that is too little, too late")
			}
		})
	}
}

// Under overload what a request has in its body is not looked at: parsing would take the time of those that are answered.
func TestOverloadIsToldBeforeParsing(t *testing.T) {
	s := handler(t, "two", Options{})
	on, err := s.models.find("people", "")
	if err != nil {
		t.Fatal(err)
	}
	g := on.gather
	g.running, g.took, g.had = g.places, 10, 1
	code, body, header := ask(t, s, "POST", "/predict", "", `{"size": }`, "X-Request-Timeout", "1s")
	if code != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, "longer than the deadline") {
		t.Errorf("%d %s, to be tried after %q", code, body, header.Get("Retry-After"))
	}
	g.running = 0
	if code, body, _ := ask(t, s, "POST", "/predict", "", `{"size": }`, "X-Request-Timeout", "1s"); code != 400 {
		t.Errorf("without others: %d %s", code, body)
	}
}
