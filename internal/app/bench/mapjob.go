package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"mercer/feature"
	"mercer/internal/engine/random"
	"mercer/matrix"
)

// MapJob says which map to measure, on generated rows. Its output is written to memory.
type MapJob struct {
	Config feature.Config
	D      int // dimensions of the rows
	Rows   int
	NNZ    int // elements of a sparse row; 0: dense rows
}

// MapReport is what a MapJob found: microseconds a row of all rows together on as many threads
// as there are, and of a row alone on one.
type MapReport struct {
	Map      string  `json:"map"`
	Kernel   string  `json:"kernel"`
	PerRow   float64 `json:"us_per_row"`
	OneRow   float64 `json:"us_one_row"`
	D        int     `json:"d"`
	Features int     `json:"features"`
	Rows     int     `json:"rows"`
	Threads  int     `json:"threads"`
}

// Run measures. An error other than the context's says what is wrong with the job.
func (j MapJob) Run(ctx context.Context) (MapReport, error) {
	if j.D < 1 {
		return MapReport{}, fmt.Errorf("d %d: give 1 or more", j.D)
	}
	if int64(j.Rows) > (4<<30)/int64(max(j.D, j.Config.Features)) {
		return MapReport{}, fmt.Errorf("%d rows of %d dimensions to %d features take more than 16 GiB; give fewer", j.Rows, j.D, j.Config.Features)
	}
	if j.Rows < 1 || j.NNZ < 0 || j.NNZ > j.D {
		return MapReport{}, fmt.Errorf("rows %d, nnz %d: rows must be 1 or more, and nnz from 0 to d, which is %d", j.Rows, j.NNZ, j.D)
	}
	x := j.generate()
	if lowest := feature.Domain(j.Config).Lowest(); !math.IsInf(float64(lowest), -1) {
		positive(x)
	}
	f, err := feature.Fit(ctx, feature.Choose(j.Config, j.D), x.Slice(0, min(j.Rows, 1000)))
	if err != nil {
		return MapReport{}, err
	}
	_, features := f.Dims()
	z := matrix.NewDense(j.Rows, features)
	const rounds = 5
	var whole, single []float64
	for range rounds {
		start := time.Now()
		f.Transform(z, x)
		whole = append(whole, time.Since(start).Seconds()/float64(j.Rows))
		if err := ctx.Err(); err != nil {
			return MapReport{}, err
		}
	}
	threads := runtime.GOMAXPROCS(1)
	for i := range min(j.Rows, 1000) {
		start := time.Now()
		f.Transform(z.Slice(i, i+1), x.Slice(i, i+1))
		single = append(single, time.Since(start).Seconds())
	}
	runtime.GOMAXPROCS(threads)
	return MapReport{Map: j.Config.Map, Kernel: j.Config.Kernel.String(), PerRow: 1e6 * median(whole), OneRow: 1e6 * median(single),
		D: j.D, Features: features, Rows: j.Rows, Threads: threads}, nil
}

// positive replaces numbers by their absolute values, for kernels of histograms.
func positive(x matrix.Rows) {
	var values []float32
	if x.CSR != nil {
		values = x.CSR.Val
	} else {
		values = x.Dense.Data
	}
	for i, v := range values {
		values[i] = float32(math.Abs(float64(v)))
	}
}

// generate makes rows of normal numbers, dense or with NNZ elements in even steps.
func (j MapJob) generate() matrix.Rows {
	if j.NNZ == 0 {
		x := matrix.NewDense(j.Rows, j.D)
		random.New(1, "bench").FillNormal(x.Data)
		return matrix.Rows{Dense: x}
	}
	r := random.New(1, "bench")
	x := &matrix.CSR{Rows: j.Rows, Cols: j.D, Ptr: []int{0}}
	step := j.D / j.NNZ
	for i := range j.Rows {
		for t := range j.NNZ {
			x.Idx = append(x.Idx, int32(t*step+i%step))
			x.Val = append(x.Val, float32(r.Normal()))
		}
		x.Ptr = append(x.Ptr, len(x.Val))
	}
	return matrix.Rows{CSR: x}
}
