package train

import (
	"errors"
	"fmt"
	"slices"

	"mercer/dataset"
	"mercer/feature"
	"mercer/internal/engine/option"
	"mercer/internal/engine/units"
	"mercer/internal/solve/learn"
	"mercer/internal/solve/pipeline"
	"mercer/matrix"
)

// gathered are the training rows of a learner that reads them many times.
type gathered struct {
	x       matrix.Rows    // empty if they are not in memory
	z       learn.Features // the same, wherever they are
	class   []int          // of each row; nil if there are no classes
	y       []float64      // n×Outputs: numbers, or ±1 for labels; nil for classes
	weights []float64      // nil: all 1

	file *learn.FeatureFile // nil: z is in no file
}

// close releases what is not memory.
func (g *gathered) close() {
	if g.file != nil {
		g.file.Close()
	}
}

// The places where the features of gathered rows may be kept.
const (
	inMemory   = "in memory"
	inFile     = "in a temporary file"
	recomputed = "recomputed on every pass"
	chooseMax  = 8192 // rows that learn.ChooseC copies
)

// gatherFeatures maps all rows and keeps their features, in memory if --memory allows it, otherwise in a
// temporary file. If that cannot be written, the scaled rows are mapped again on
// every access. The model is the same.
func (f *job) gatherFeatures() (*gathered, error) {
	f.report.Features = inMemory
	if f.fitsMemory() {
		return f.gather()
	}
	f.report.Features = inFile
	all, unwritten, err := f.gatherFile(false)
	if unwritten == nil || err != nil {
		return all, err
	}
	f.report.Features = recomputed
	rows, _ := f.inputMemory()
	if need, _ := f.solverMemory(); need+rows+f.pipelineMemory() > float64(f.opt.Memory) {
		return nil, option.Errorf("%s: %w; give more %s, or set TMPDIR to a directory with %s of room", f.src.Name(), unwritten,
			option.Ref("memory"), units.Bytes(4*float64(f.sum.Rows)*float64(f.learnDim())))
	}
	return f.gatherInputs()
}

// labels adds the targets of a batch to the gathered ones.
func (g *gathered) labels(f *problem, b *matrix.Batch) error {
	switch {
	case f.labels != nil:
		n := len(g.y)
		g.y = append(g.y, make([]float64, b.X.Len()*f.outputs)...)
		if err := f.targets(b, g.y[n:]); err != nil {
			return err
		}
	case f.task == "outliers" || f.cfg.clusters():
	case f.classes == nil:
		n := len(g.y)
		g.y = append(g.y, b.Y...)
		f.centre(g.y[n:])
	default:
		for i := range b.X.Len() {
			c, err := f.class(b, i)
			if err != nil {
				return err
			}
			g.class = append(g.class, c)
		}
	}
	if b.Weights != nil || f.classWeights != nil {
		for i := range b.X.Len() {
			g.weights = append(g.weights, f.weight(b, i))
		}
	}
	return nil
}

// lastPass says that training this model does not read the data again.
func (f *job) lastPass() {
	if p, ok := f.src.(*pipeline.Pooled); ok && !f.cfg.calibrates() && f.cfg.Threshold == "" {
		p.Forget()
	}
}

// kept are rows in memory that grow batch by batch.
type kept struct{ matrix.Batch }

// add copies rows to the end; room is how many dense ones there will be.
func (k *kept) add(rows matrix.Rows, room int) {
	if d := rows.Dim(); rows.CSR == nil && k.X.Dense == nil {
		k.X.Dense = &matrix.Dense{Cols: d, Stride: d, Data: make([]float32, 0, room*d)}
	}
	k.Append(&matrix.Batch{X: rows}, rows.Dim())
}

// gather maps all rows into memory.
func (f *job) gather() (*gathered, error) {
	all := &gathered{}
	z := &kept{}
	err := f.each("map", func(b *matrix.Batch, rows matrix.Rows) error {
		z.add(rows, f.sum.Rows)
		return all.labels(&f.problem, b)
	})
	if err != nil {
		return nil, err
	}
	f.lastPass()
	all.x = z.X
	all.z = learn.InMemory(all.x)
	return all, nil
}

// gatherFile writes the features to a file, as dense rows if that is asked for. unwritten says why that was not possible.
func (f *job) gatherFile(dense bool) (all *gathered, unwritten, err error) {
	all = &gathered{}
	var work matrix.Dense
	err = f.each("map", func(b *matrix.Batch, rows matrix.Rows) error {
		if dense && rows.CSR != nil {
			rows.CSR.Cols = f.learnDim()
			rows.CSR.Densify(&work)
			rows = matrix.Rows{Dense: &work}
		}
		if all.file == nil {
			if all.file, unwritten = learn.CreateFeatureFile("", f.learnDim(), rows.CSR != nil); unwritten != nil {
				return unwritten
			}
		}
		if unwritten = all.file.Append(rows); unwritten != nil {
			return unwritten
		}
		return all.labels(&f.problem, b)
	})
	if err == nil {
		all.z, unwritten = all.file.Features()
		f.lastPass()
	}
	if err != nil || unwritten != nil {
		all.close()
		if unwritten != nil {
			err = nil
		}
		return nil, unwritten, err
	}
	return all, nil, nil
}

// gatherInputs keeps the rows themselves, which are mapped on every access.
func (f *job) gatherInputs() (*gathered, error) {
	all, x, n := &gathered{}, &kept{}, 0
	err := f.each("read", func(b *matrix.Batch, _ matrix.Rows) error {
		x.add(b.X, 0)
		n += b.X.Len()
		return all.labels(&f.problem, b)
	})
	if err != nil {
		return nil, err
	}
	f.lastPass()
	pass := f.pipe.Pass()
	var part kept
	rows := x.X
	if rows.CSR != nil {
		rows.CSR.Cols = f.schema.Dim
	}
	var out kept
	all.z = learn.Recomputed(n, f.learnDim(), func(which []int) (matrix.Rows, error) {
		part.clear()
		out.clear()
		for _, i := range which {
			part.add(rows.Slice(i, i+1), len(which))
		}
		in := part.X
		if in.CSR != nil {
			in.CSR.Cols = f.schema.Dim
		}
		// Blocks may be longer than the chunks that are mapped.
		for i := 0; i < in.Len(); i += pipeline.Chunk {
			z, err := pass.Map(in.Slice(i, min(i+pipeline.Chunk, in.Len())))
			var bad *dataset.RowError
			if errors.As(err, &bad) {
				return matrix.Rows{}, fmt.Errorf("%s: row %d: %s", f.src.Name(), which[i+bad.Row]+1, bad.Err)
			}
			if in.Len() <= pipeline.Chunk {
				return z, nil
			}
			out.add(z, in.Len())
		}
		return out.X, nil
	})
	return all, nil
}

// clear empties rows and keeps their memory.
func (k *kept) clear() {
	if d := k.X.Dense; d != nil {
		d.Rows, d.Data = 0, d.Data[:0]
	}
	if s := k.X.CSR; s != nil {
		s.Rows, s.Ptr, s.Idx, s.Val = 0, s.Ptr[:1], s.Idx[:0], s.Val[:0]
	}
}

// fitsMemory says whether the features fit in memory along with everything else.
func (f *job) fitsMemory() bool {
	rows, _ := f.rowsMemory()
	rest, _ := f.solverMemory()
	if f.hasRoomForNewton() {
		rest += f.newtonMemory()
	}
	return f.opt.Memory <= 0 || rows+rest+f.pipelineMemory() <= float64(f.opt.Memory)
}

// newtonMemory is the number of bytes taken by the Newton steps that may follow the passes of a dual solver
// (learn.SVM.MaxIter), 0 if there are none.
func (f *job) newtonMemory() float64 {
	if f.learner == nil || f.learner.newton == nil || !f.learner.newton(&f.cfg) || As[SVM](f.cfg.Learner).MaxIter != 0 {
		return 0
	}
	return learn.NewtonMemory(f.sum.Rows, f.learnDim())
}

// hasRoomForNewton says whether these steps fit in memory while the features are in a file. If not, they are left
// out: stopping where the passes end is better than asking for more memory for steps that are seldom taken.
func (f *job) hasRoomForNewton() bool {
	need := f.newtonMemory()
	if need == 0 || f.opt.Memory <= 0 {
		return true
	}
	rest, _ := f.solverMemory()
	return need+rest+f.pipelineMemory() <= float64(f.opt.Memory)
}

// passes bounds the passes of a dual solver. Call told with the outcome.
func (f *job) passes() (maxIter int, told func(converged bool)) {
	if f.hasRoomForNewton() {
		return As[SVM](f.cfg.Learner).MaxIter, func(bool) {}
	}
	return learn.DualPasses, func(converged bool) {
		if !converged {
			f.report.Features += fmt.Sprintf(", no room for Newton's steps (%s)", units.Bytes(f.newtonMemory()))
		}
	}
}

// solverMemory is the number of bytes that a dual solver holds besides the features.
func (f *job) solverMemory() (bytes float64, formula string) {
	n, d, k := float64(f.sum.Rows), float64(f.learnDim()), float64(f.outputs)
	bytes, formula = (9*k+28)*n+8*d*k, "(9·K + 28)·n + 8·D·K bytes beside features in a file"
	if f.learner != nil && f.learner.primal != nil && f.learner.primal(&f.cfg) {
		bytes, formula = (4*k+16)*n+192*d*k, "(4·K + 16)·n + 192·D·K bytes beside features in a file"
	}
	if f.classes == nil {
		bytes += 8 * k * n // targets
	}
	if As[SVM](f.cfg.Learner).C == 0 && f.task != "outliers" {
		rows, _ := f.rowsMemory()
		bytes += rows * min(1, chooseMax/max(n, 1))
	}
	return bytes, formula
}

// iteratedMemory is the number of bytes that a dual solver holds, including the features if --memory
// allows it.
func (f *job) iteratedMemory() (bytes float64, formula string) {
	bytes, formula = f.solverMemory()
	if f.fitsMemory() {
		rows, of := f.rowsMemory()
		return bytes + rows, of + " of features and (9·K + 28)·n + 8·D·K"
	}
	return bytes, formula
}

// inputMemory is the number of bytes of the rows themselves.
func (f *job) inputMemory() (bytes float64, formula string) {
	n, d := float64(f.sum.Rows), float64(f.schema.Dim)
	if f.sum.Sparse {
		return 8 * n * d * f.sum.Density(), "8 bytes a value"
	}
	return 4 * n * d, "4·n·d bytes"
}

// rowsMemory is the number of bytes of features held by a learner that gathers rows: 4·n·D, or 8 per
// value of sparse features.
func (f *job) rowsMemory() (bytes float64, formula string) {
	n, d := float64(f.sum.Rows), float64(f.learnDim())
	formula = "4·n·D bytes"
	if f.cfg.reduces() {
		return 4 * n * d, formula
	}
	if f.pipe.Feature() == nil && f.sum.Sparse && f.pipe.KeepsSparse() {
		return 8 * n * d * f.sum.Density(), formula
	}
	if m, ok := f.pipe.Map().(feature.Sparse); ok {
		x := f.pipe.Pass().Scale(f.sum.Sample.Slice(0, min(pipeline.Chunk, f.sum.Sample.Len())))
		if m.Sparsely(x) {
			var z matrix.CSR
			m.TransformSparse(&z, x)
			return 8 * n * float64(z.NNZ()) / float64(x.Len()), formula
		}
	}
	return 4 * n * d, formula
}

// weight is the weight of row i of a batch: its own times that of its class.
func (a *answers) weight(b *matrix.Batch, i int) float64 {
	w := 1.0
	if b.Weights != nil {
		w = b.Weights[i]
	}
	if a.classWeights != nil {
		if c := a.classes.Of(b, i); c >= 0 {
			w *= a.classWeights[c]
		}
	}
	return w
}

// weighed says that a row of a batch has a weight above 0.
func weighed(b *matrix.Batch) bool {
	return b.X.Len() > 0 && (b.Weights == nil || slices.ContainsFunc(b.Weights, func(w float64) bool { return w > 0 }))
}

var errWeightless = errors.New("the weight of every row is 0, so there is nothing to learn from")

var errOneClass = errors.New("rows of one class alone have a weight above 0, and to tell classes apart at least two are needed")

// targets writes the targets of the rows of a batch.
func (f *problem) targets(b *matrix.Batch, dst []float64) error {
	k := f.outputs
	if f.labels != nil {
		for i := range b.X.Len() {
			if err := f.labels.Targets(b, i, dst[i*k:(i+1)*k]); err != nil {
				return fmt.Errorf("%s: %w", dataset.RowPlace(f.src, b.First+i), err)
			}
		}
		return nil
	}
	if f.classes == nil {
		copy(dst, b.Y)
		f.centre(dst)
		return nil
	}
	for i := range b.X.Len() {
		c, err := f.class(b, i)
		if err != nil {
			return err
		}
		learn.Target(dst[i*k:(i+1)*k], c)
	}
	return nil
}

// class is the class of row i of a batch.
func (f *problem) class(b *matrix.Batch, i int) (int, error) {
	c := f.classes.Of(b, i)
	if c < 0 {
		return 0, fmt.Errorf("%s has a new label: the data changed while they were read", dataset.RowPlace(f.src, b.First+i))
	}
	return c, nil
}
