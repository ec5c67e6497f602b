package exact

// spare is work memory that is not in use, for the calls to come: unlike a sync.Pool it never
// drops what it has, so that scoring a row alone does not allocate.
type spare chan []float64

func newSpare() spare { return make(chan []float64, 64) }

// get gives n numbers with anything in them.
func (s spare) get(n int) []float64 {
	select {
	case w := <-s:
		if cap(w) >= n {
			return w[:n]
		}
	default:
	}
	return make([]float64, n)
}

// put takes memory back.
func (s spare) put(w []float64) {
	select {
	case s <- w:
	default:
	}
}
