package freelist

import (
	"runtime"
	"sync"
	"testing"
)

type work struct{ owner, uses int }

func TestListGivesBackWhatItTook(t *testing.T) {
	var l List[work]
	a, b := l.Get(), l.Get()
	if a == b || *a != (work{}) {
		t.Fatalf("two new ones are %p and %p, %v", a, b, *a)
	}
	a.uses, b.uses = 1, 2
	l.Put(a)
	l.Put(b)
	if got := l.Get(); got != b || got.uses != 2 {
		t.Errorf("got %v first, want the one that was put last", got)
	}
	if got := l.Get(); got != a || got.uses != 1 {
		t.Errorf("got %v next, want the other", got)
	}
	if got := l.Get(); got == a || got == b {
		t.Error("one that is in use was given twice")
	}
}

func TestSlicesAreLongEnough(t *testing.T) {
	var s Slices[float32]
	a := s.Get(10)
	if len(a) != 10 {
		t.Fatal(len(a))
	}
	a[0] = 7
	s.Put(a[:3]) // a beginning of it is all of it
	if b := s.Get(10); len(b) != 10 || &b[0] != &a[0] {
		t.Error("what was put is not given again")
	}
	s.Put(a)
	if b := s.Get(4); len(b) != 4 || &b[0] != &a[0] {
		t.Error("a part of what was put is not given again")
	}
	s.Put(a)
	if b := s.Get(11); len(b) != 11 || &b[0] == &a[0] {
		t.Error("what is too short was given")
	}
	s.Put(nil)
	if len(s.free) != 0 {
		t.Error("nothing at all is kept")
	}
	if b := s.Get(0); len(b) != 0 {
		t.Error(len(b))
	}
}

func TestSlicesAreMadeAsAsked(t *testing.T) {
	made := 0
	s := Slices[int]{Make: func(n int) []int { made++; return make([]int, n, 2*n) }}
	w := s.Get(5)
	s.Put(w)
	if w = s.Get(10); len(w) != 10 || made != 1 {
		t.Errorf("%d numbers, %d made; the first has room for 10", len(w), made)
	}
}

func TestNoMoreAreKeptThanMost(t *testing.T) {
	for _, c := range []struct{ most, want int }{{0, 64}, {1, 1}, {16, 16}} {
		l, s := List[work]{Most: c.most}, Slices[int]{Most: c.most}
		for range 100 {
			l.Put(new(work))
			s.Put(make([]int, 1))
		}
		if len(l.free) != c.want || len(s.free) != c.want {
			t.Errorf("Most %d: %d and %d are kept, want %d", c.most, len(l.free), len(s.free), c.want)
		}
	}
}

// What a list holds it no longer refers to once it was taken, so that a dropped one can be collected.
func TestWhatIsTakenIsLetGo(t *testing.T) {
	var l List[work]
	l.Put(new(work))
	l.Get()
	if l.free[:1][0] != nil {
		t.Error("the list still refers to what it gave away")
	}
}

// Unlike a sync.Pool, no list loses what it has, however often memory is collected.
func TestNothingIsAllocatedAgain(t *testing.T) {
	var l List[work]
	var s Slices[float64]
	l.Put(l.Get())
	s.Put(s.Get(100))
	if n := testing.AllocsPerRun(20, func() {
		w, v := l.Get(), s.Get(100)
		runtime.GC()
		runtime.GC()
		s.Put(v)
		l.Put(w)
	}); n != 0 {
		t.Errorf("%g allocations a call", n)
	}
}

func TestNobodySharesMemory(t *testing.T) {
	l, s := List[work]{Most: 3}, Slices[int]{Most: 3}
	var wait sync.WaitGroup
	for me := range 8 {
		wait.Go(func() {
			for i := range 2000 {
				w, v := l.Get(), s.Get(1+i%5)
				w.owner, v[0] = me, me
				runtime.Gosched()
				if w.owner != me || v[0] != me {
					t.Errorf("goroutine %d found the mark of %d and %d", me, w.owner, v[0])
					return
				}
				l.Put(w)
				s.Put(v)
			}
		})
	}
	wait.Wait()
}

func BenchmarkGetPut(b *testing.B) {
	var s Slices[float32]
	b.ReportAllocs()
	for b.Loop() {
		s.Put(s.Get(4096))
	}
}
