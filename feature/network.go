package feature

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
	"mercer/kernel"
	"mercer/matrix"
)

// network is the map [RBFNetwork] with a width for each centre:
//
//	z_j(x) = exp(-‖x-μ_j‖²/s_j²),  s_j² = δ_j²/(γ·geometric mean of all δ²),
//
// δ_j² the mean squared distance from μ_j to the two nearest other centres (Moody and Darken 1989), so that functions overlap alike where centres are
// dense and where they are sparse. With γ_j = 1/s_j² and the least of them γ₀, it is the kernel of γ₀ to the power γ_j/γ₀ ≥ 1.
type network struct {
	*compared
	widths *matrix.Dense // 1×m: γ_j/γ₀
	base   kernel.Kernel // rbf with γ₀
	powers []float64
	work   freelist.Slices[float64]
}

// widestRatio bounds γ_j/γ₀: a centre far from all others, or two that are nearly equal, should not set the widths of the rest.
const widestRatio = 64

// neighbouring is how many of the nearest centres a width goes by.
const neighbouring = 2

func checkNetwork(cfg Config) error {
	if cfg.Widths != "" && cfg.Widths != "common" && cfg.Widths != "own" {
		return fmt.Errorf("feature: %s: widths %q is not known; known are common, own", cfg.Map, cfg.Widths)
	}
	return checkLandmarks(cfg)
}

func fitNetwork(ctx context.Context, cfg Config, sample matrix.Rows) (Fitted, error) {
	h, err := chooseLandmarks(ctx, cfg, sample, "kmeans")
	if err != nil {
		return nil, err
	}
	if cfg.Widths != "own" {
		return newCompared(cfg, h)
	}
	return newNetwork(cfg, h, ownWidths(h))
}

// ownWidths are γ_j over the γ of the configuration, with a geometric mean of 1 but for the bounds.
func ownWidths(h *matrix.Dense) *matrix.Dense {
	m := h.Rows
	logs := make([]float64, m)
	vec.Parallel(m, 8, func(lo, hi int) {
		distances := make([]float64, 0, m)
		for i := lo; i < hi; i++ {
			distances = distances[:0]
			for j := range m {
				if e := distance2(h.Row(i), h.Row(j)); e > 0 {
					distances = append(distances, e)
				}
			}
			slices.Sort(distances)
			distances = distances[:min(len(distances), neighbouring)]
			sum := 0.0
			for _, e := range distances {
				sum += e
			}
			logs[i] = math.Log(sum / float64(len(distances))) // NaN where all centres are equal
		}
	})
	mean := 0.0
	for _, v := range logs {
		mean += v / float64(m)
	}
	out := matrix.NewDense(1, m)
	bound := math.Log(widestRatio) / 2
	for j, v := range logs {
		out.Data[j] = 1
		if v == v {
			out.Data[j] = float32(math.Exp(max(-bound, min(bound, mean-v))))
		}
	}
	return out
}

func distance2(x, y []float32) float64 {
	sum := 0.0
	for i, v := range x {
		e := float64(v) - float64(y[i])
		sum += float64(e * e)
	}
	return sum
}

// newNetwork makes the map of centres and their γ_j over γ.
func newNetwork(cfg Config, h, widths *matrix.Dense) (*network, error) {
	least := slices.Min(widths.Data)
	base := cfg
	base.Kernel.Gamma *= float64(least)
	c, err := newCompared(base, h)
	if err != nil {
		return nil, err
	}
	n := &network{compared: c, widths: widths, base: base.Kernel, powers: make([]float64, h.Rows)}
	for j, v := range widths.Data {
		n.powers[j] = float64(v) / float64(least)
	}
	return n, nil
}

// State has the centres and their widths.
func (f *network) State() map[string]*matrix.Dense {
	return map[string]*matrix.Dense{"rows": f.at, "widths": f.widths}
}

func restoreNetwork(cfg Config, dim int, state map[string]*matrix.Dense) (Fitted, error) {
	f, err := restoreCompared(cfg, dim, state)
	if err != nil || cfg.Widths != "own" {
		return f, err
	}
	w, h := state["widths"], state["rows"]
	if w == nil || w.Rows != 1 || w.Cols != h.Rows {
		return nil, fmt.Errorf("feature: %s: the state has no width for each of %d centres", cfg.Map, h.Rows)
	}
	for _, v := range w.Data {
		if !(v >= 1./(2*widestRatio) && v <= 2*widestRatio) {
			return nil, fmt.Errorf("feature: %s: the state's width %g is not one of a map", cfg.Map, v)
		}
	}
	return newNetwork(cfg, h, w)
}

// Bytes counts the centres, as they are stored and as they are packed, and the widths.
func (f *network) Bytes() int64 { return f.compared.Bytes() + 12*int64(f.at.Rows) }

// Chosen tells the number of centres and how much their widths differ.
func (f *network) Chosen() string {
	least, most := slices.Min(f.widths.Data), slices.Max(f.widths.Data)
	return fmt.Sprintf("%d landmarks, widths by a factor of up to %.3g", f.at.Rows, math.Sqrt(float64(most)/float64(least)))
}

func (f *network) Transform(dst *matrix.Dense, x matrix.Rows) {
	in, out := f.Dims()
	check(in, out, dst, x)
	eachRow(f, dst, x)
}

func (f *network) rows(dst *matrix.Dense, x matrix.Rows, i, end int) {
	m := f.at.Rows
	height := min(f.height, end-i)
	work := f.work.Get(height * (m + f.against.Work()))
	defer f.work.Put(work)
	k, rest := work[:height*m], work[height*m:]
	for ; i < end; i += height {
		n := min(height, end-i)
		f.against.Rows(x, i, i+n, k, rest)
		for r := range n {
			row, out := k[r*m:][:m], dst.Row(i+r)
			for j, v := range row {
				row[j] = max(v, math.SmallestNonzeroFloat64) // whose power is 0 in float32
			}
			vec.Log64(row, row)
			for j := range row {
				row[j] *= f.powers[j]
			}
			vec.Exp64(row, row)
			for j, v := range row {
				out[j] = float32(v)
			}
		}
	}
}
