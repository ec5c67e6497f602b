package feature

// spare is work memory that is not in use. Unlike a sync.Pool it never drops what it has, so
// that a row alone does not allocate.
type spare[T any] chan []T

func newSpare[T any]() spare[T] { return make(chan []T, 64) }

// get gives n numbers, or more, with anything in them.
func (s spare[T]) get(n int) []T {
	select {
	case w := <-s:
		if len(w) >= n {
			return w
		}
	default:
	}
	return make([]T, n)
}

// put takes memory back.
func (s spare[T]) put(w []T) {
	select {
	case s <- w:
	default:
	}
}
