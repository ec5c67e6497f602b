package cli

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mercer/feature"
	"mercer/internal/present"
	"mercer/internal/random"
	"mercer/internal/units"
	"mercer/kernel"
	"mercer/matrix"
)

// mapBench is what bench --map measures.
type mapBench struct {
	cfg          feature.Config
	d, rows, nnz int
}

func (m *mapBench) flags(cmd *cobra.Command) {
	names, _ := feature.Names()
	k := &m.cfg.Kernel
	f := cmd.Flags()
	f.StringVar(&m.cfg.Map, "map", "", "measure this map instead of the kernels: "+strings.Join(names, ", "))
	f.StringVar(&k.Name, "kernel", "rbf", "with --map: kernel: "+strings.Join(kernel.Names(), ", "))
	f.Float64Var(&k.Gamma, "gamma", 0.01, "with --map: γ of the kernel")
	f.IntVar(&k.Degree, "degree", 0, "with --map: degree of the poly kernel (default 3), or order of arccos, 0 or 1 (default 1)")
	f.Float64Var(&k.Coef0, "coef0", 1, "with --map: constant c of the poly kernel")
	f.Float64Var(&k.Nu, "nu", 1.5, "with --map: ν of the matern kernel")
	mapOptions(f, &m.cfg.Options)
	f.IntVar(&m.d, "d", 784, "with --map: dimensions of the rows")
	f.IntVar(&m.cfg.Features, "features", 4096, "with --map: features, unless the map decides")
	f.IntVar(&m.rows, "rows", 10000, "with --map: rows")
	f.IntVar(&m.nnz, "nnz", 0, "with --map: elements of a sparse row; 0: dense rows")
}

// mapReport is what bench --map --json prints.
type mapReport struct {
	Map      string  `json:"map"`
	Kernel   string  `json:"kernel"`
	PerRow   float64 `json:"us_per_row"`
	OneRow   float64 `json:"us_one_row"`
	D        int     `json:"d"`
	Features int     `json:"features"`
	Rows     int     `json:"rows"`
	Threads  int     `json:"threads"`
}

func (m *mapBench) run(cmd *cobra.Command, asJSON bool) error {
	if m.rows < 1 || m.nnz < 0 || m.nnz > m.d {
		return usagef("--rows %d --nnz %d: rows must be 1 or more, and nnz from 0 to --d", m.rows, m.nnz)
	}
	if m.d < 1 {
		return usagef("--d %d: give 1 or more", m.d)
	}
	if !cmd.Flags().Changed("degree") {
		m.cfg.Kernel.Degree = map[string]int{"poly": 3, "arccos": 1}[m.cfg.Kernel.Name]
	}
	if !cmd.Flags().Changed("features") && m.cfg.Decides() {
		m.cfg.Features = 0
	}
	x := m.generate()
	if lowest := feature.Domain(m.cfg).Lowest(); !math.IsInf(float64(lowest), -1) {
		positive(x)
	}
	f, err := feature.Fit(m.cfg, x.Slice(0, min(m.rows, 1000)))
	if err != nil {
		return usageError{err}
	}
	_, features := f.Dims()
	z := matrix.NewDense(m.rows, features)
	const rounds = 5
	var whole, single []float64
	for range rounds {
		start := time.Now()
		f.Transform(z, x)
		whole = append(whole, time.Since(start).Seconds()/float64(m.rows))
		if err := cmd.Context().Err(); err != nil {
			return err
		}
	}
	threads := runtime.GOMAXPROCS(1)
	for i := range min(m.rows, 1000) {
		start := time.Now()
		f.Transform(z.Slice(i, i+1), x.Slice(i, i+1))
		single = append(single, time.Since(start).Seconds())
	}
	runtime.GOMAXPROCS(threads)
	r := mapReport{Map: m.cfg.Map, Kernel: m.cfg.Kernel.String(), PerRow: 1e6 * median(whole), OneRow: 1e6 * median(single),
		D: m.d, Features: features, Rows: m.rows, Threads: threads}
	if asJSON {
		return present.JSON(cmd.OutOrStdout(), r)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s (%s), %d dimensions to %d features: %.3g µs a row of %s on %d threads, %.3g µs a row alone\n",
		r.Map, r.Kernel, r.D, r.Features, r.PerRow, units.Count(r.Rows), r.Threads, r.OneRow)
	return err
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

// generate makes rows of normal numbers, dense or with nnz elements in even steps.
func (m *mapBench) generate() matrix.Rows {
	if m.nnz == 0 {
		x := matrix.NewDense(m.rows, m.d)
		random.New(1, "bench").FillNormal(x.Data)
		return matrix.Rows{Dense: x}
	}
	r := random.New(1, "bench")
	x := &matrix.CSR{Rows: m.rows, Cols: m.d, Ptr: []int{0}}
	step := m.d / m.nnz
	for i := range m.rows {
		for t := range m.nnz {
			x.Idx = append(x.Idx, int32(t*step+i%step))
			x.Val = append(x.Val, float32(r.Normal()))
		}
		x.Ptr = append(x.Ptr, len(x.Val))
	}
	return matrix.Rows{CSR: x}
}
