package render

import (
	"io"

	"mercer/feature"
	"mercer/internal/engine/units"
	"mercer/internal/solve/reduce"
	"mercer/kernel"
)

// Features is what transform wrote.
type Features struct {
	Output   string
	Rows     int
	Dim      int // of a row of the data
	Features int
	Format   string
	Complex  bool  // complex64, not float32
	NonZeros int64 // values that are not 0

	Model           string // file that they are of, "" if they were fitted to the data
	Scale, BagScale string // of rows; of the members of bags, "" for rows
	Why             map[string]string

	Feature   *feature.Config // nil: there is no map
	Chosen    string          // what the map decided on, "" if nothing
	Reduction *reduce.Report  // nil: there is none
}

// JSON is what transform --json prints.
func (f *Features) JSON() any {
	v := map[string]any{"output": f.Output, "n": f.Rows, "d": f.Dim, "features": f.Features, "format": f.Format, "nonzeros": f.NonZeros,
		"scale": f.Scale, "why": f.Why}
	if f.Complex {
		v["complex"] = true
	}
	if f.Model != "" {
		v["model"] = f.Model
	}
	if f.BagScale != "" {
		v["bag_scale"] = f.BagScale
	}
	if f.Feature != nil {
		v["feature"] = f.Feature
	}
	if f.Reduction != nil {
		v["reduction"] = f.Reduction
	}
	return v
}

// Text writes what the features are and where.
func (f *Features) Text(w io.Writer) {
	line := linesTo(w)
	if f.Model != "" {
		line("model", "%s", f.Model)
	}
	if f.BagScale != "" {
		line("members", "scaled by %s%s", f.BagScale, because(f.Why["bag.scale"]))
	}
	line("scaling", "%s%s", f.Scale, because(f.Why["scale"]))
	if f.Feature != nil {
		mapLines(line, f.Feature, f.Chosen, f.Why)
	}
	if f.Reduction != nil {
		reductionLines(line, f.Reduction)
	}
	share := float64(f.NonZeros) / float64(max(f.Rows, 1)) / float64(max(f.Features, 1))
	numbers := "float32"
	if f.Complex {
		numbers = "complex64"
	}
	line("saved", "%s: %s rows × %s features, %s (%s), %.3g %% non-zero", f.Output, units.Count(f.Rows), units.Count(f.Features),
		numbers, f.Format, 100*share)
}

// Gram is the matrix that kernel wrote.
type Gram struct {
	Output    string
	Rows, Of  int // of the matrix: rows and columns
	Dim       int
	Bytes     int64 // of the numbers
	Scale     string
	Kernel    kernel.Kernel
	Why       map[string]string
	Distances bool // squared distances in the kernel's feature space, not its values
}

// JSON is what kernel --json prints.
func (g *Gram) JSON() any {
	values := "kernel"
	if g.Distances {
		values = "distance"
	}
	return map[string]any{"output": g.Output, "values": values, "n": g.Rows, "m": g.Of, "d": g.Dim, "bytes": g.Bytes,
		"scale": g.Scale, "kernel": g.Kernel, "why": g.Why}
}

// Text writes what the matrix is and where.
func (g *Gram) Text(w io.Writer) {
	of := ""
	if g.Distances {
		of = ", squared distances"
	}
	line := linesTo(w)
	line("scale", "%s%s", g.Scale, because(g.Why["scale"]))
	line("kernel", "%s%s", kernelText(g.Kernel), because(g.Why["gamma"]))
	line("saved", "%s, %s × %s, float64%s, %s", g.Output, units.Count(g.Rows), units.Count(g.Of), of, units.Bytes(g.Bytes))
}
