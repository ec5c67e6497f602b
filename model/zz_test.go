package model
import ("testing";"time";"fmt")
func FuzzZZ(f *testing.F) {
	s := time.Now()
	data := fileOf(f, small(f))
	fmt.Println("small", time.Since(s), len(data))
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := time.Now()
		_, err := read(data)
		if d := time.Since(s); d > 100*time.Millisecond { t.Errorf("%v %v", d, err) }
	})
}
