// Package freelist keeps working memory that is not in use for the calls to come.
//
// A sync.Pool may drop what it has at any collection, and then allocates. These lists never drop
// anything, so a call that found its memory once does not allocate again: a single row is mapped and
// scored without garbage. In return they are bounded, and hold as much as was in use at one time.
//
// What was put back last is taken first, since it is the most likely to be in a cache. All methods may be
// called by any number of goroutines. The zero values are ready for use.
package freelist

import "sync"

// most is how many values a list keeps unless it says otherwise: more goroutines than that
// rarely work at a time.
const most = 64

// List has working memory of one type.
type List[T any] struct {
	// Most is how many are kept; 0 means 64.
	Most int

	stack[*T]
}

// Get gives memory that was put back, as it was left, or a new zero value where there is none.
func (l *List[T]) Get() *T {
	if w, ok := l.pop(); ok {
		return w
	}
	return new(T)
}

// Put takes memory back, which the caller must no longer use.
func (l *List[T]) Put(w *T) { l.push(w, l.Most) }

// Slices has working memory of numbers.
type Slices[T any] struct {
	// Most is how many slices are kept; 0 means 64.
	Most int

	// Make makes a slice of n numbers, where memory has to lie in some way; nil is Go's make.
	Make func(n int) []T

	stack[[]T]
}

// Get gives n numbers with anything in them.
func (s *Slices[T]) Get(n int) []T {
	// One that is too short makes room for a longer one: the list comes to hold the longest.
	if w, ok := s.pop(); ok && cap(w) >= n {
		return w[:n]
	}
	if s.Make != nil {
		return s.Make(n)
	}
	return make([]T, n)
}

// Put takes memory back, which the caller must no longer use. Of a part of what Get gave, only what
// lies behind its beginning comes back.
func (s *Slices[T]) Put(w []T) {
	if cap(w) > 0 {
		s.push(w, s.Most)
	}
}

// stack is values that are not in use.
type stack[V any] struct {
	mu   sync.Mutex
	free []V
}

func (s *stack[V]) pop() (v V, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return v, false
	}
	v = s.free[n-1]
	var none V
	s.free[n-1] = none
	s.free = s.free[:n-1]
	return v, true
}

func (s *stack[V]) push(v V, bound int) {
	if bound == 0 {
		bound = most
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < bound {
		s.free = append(s.free, v)
	}
}
