// Times reads feature.Configs as a JSON array and prints the microseconds of processor time that a row takes in each, on one thread: the
// median over batches of 200 rows of normal numbers. Maps that need a sample are fitted to 1,000 others.
//
//	go run ./internal/search/approx/testdata/times DIM < configs.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

func main() {
	runtime.GOMAXPROCS(1)
	dim, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var configs []feature.Config
	if err := json.NewDecoder(os.Stdin).Decode(&configs); err != nil {
		log.Fatal(err)
	}
	stream := random.New(1, "times")
	rows := func(n int) matrix.Rows {
		x := matrix.NewDense(n, dim)
		for i := range x.Data {
			x.Data[i] = float32(stream.Normal())
		}
		return matrix.Rows{Dense: x}
	}
	judge, sample := rows(200), rows(1000)
	var all []float64
	for _, cfg := range configs {
		m, err := feature.Fit(context.Background(), cfg, sample)
		if err != nil {
			log.Fatalf("%s: %v", cfg.Map, err)
		}
		_, out := m.Dims()
		z := matrix.NewDense(200, out)
		var times []float64
		for range 15 {
			before := spent()
			m.Transform(z, judge)
			times = append(times, (spent()-before)/200)
		}
		slices.Sort(times)
		all = append(all, times[len(times)/2])
	}
	text, _ := json.Marshal(all)
	fmt.Println(string(text))
}

// spent is the processor time of this process in microseconds.
func spent() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		log.Fatal(err)
	}
	return 1e6*float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)
}
