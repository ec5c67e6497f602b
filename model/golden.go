package model

import (
	"fmt"
	"math"

	"mercer/matrix"
)

// GoldenRows is the number of golden rows of a model.
const GoldenRows = 4

const goldenRows = GoldenRows

// GoldenBags are the bounds of the golden bags, in a model of bags.
var GoldenBags = []int{0, 1, 2, 4, 6}

// golden are input rows with the scores that the model gave them when it was trained.
type golden struct {
	x, scores *matrix.Dense
	proba     []float64     // of the rows, nil in a model without probabilities
	members   *matrix.Dense // of the bags that the rows were, nil in a model of rows
}

// verify recomputes the golden pairs. A machine may round differently in the last bits; a
// larger difference means that this program would predict differently from the one that
// trained the model.
func (g *golden) verify(m *Model) error {
	if g.members != nil {
		rows := matrix.NewDense(g.x.Rows, g.x.Cols)
		if err := m.bag.Pool(rows, matrix.Rows{Dense: g.members}, GoldenBags); err != nil {
			return err
		}
		of := func(v float32) float64 { return float64(v) }
		if m.info.Bag.Pooling.Norm == "root-l2" {
			// A root magnifies a number that is 0 except for rounding.
			of = func(v float32) float64 { return float64(v) * math.Abs(float64(v)) }
		}
		if got, want, ok := alike(rows, g.x, of); !ok {
			return fmt.Errorf("the model pools a bag to %g where that was %g when it was trained", got, want)
		}
	}
	scores := matrix.NewDense(g.x.Rows, m.info.Outputs)
	if err := m.Learned(scores, matrix.Rows{Dense: g.x}); err != nil {
		return err
	}
	for _, v := range g.scores.Data {
		if v-v != 0 {
			return fmt.Errorf("a golden score is %g", v)
		}
	}
	if got, want, ok := alike(scores, g.scores, func(v float32) float64 { return float64(v) }); !ok {
		return fmt.Errorf("the model predicts %g where it predicted %g when it was trained", got, want)
	}
	return g.verifyProba(m)
}

// alike says whether a function of all numbers agrees with the wanted values to 10⁻⁴ of the largest; if not, it
// returns a pair that does not.
func alike(got, want *matrix.Dense, of func(float32) float64) (g, w float32, ok bool) {
	size := 0.0
	for _, v := range want.Data {
		size = max(size, math.Abs(of(v)))
	}
	for i, v := range got.Data {
		if d := math.Abs(of(v) - of(want.Data[i])); !(d <= 1e-4*size+1e-30) {
			return v, want.Data[i], false
		}
	}
	return 0, 0, true
}

// takeProba records the probabilities of the golden rows.
func (g *golden) takeProba(m *Model) {
	g.proba = nil
	if !m.HasProbabilities() {
		return
	}
	g.proba = make([]float64, goldenRows*m.probable())
	g.eachProba(m, g.proba)
}

func (g *golden) eachProba(m *Model, dst []float64) {
	n := m.probable()
	for i := range goldenRows {
		if err := m.Probabilities(dst[i*n:(i+1)*n], g.scores.Row(i)); err != nil {
			panic("model: " + err.Error()) // callers know that there are probabilities
		}
	}
}

// verifyProba recomputes the golden probabilities from the golden scores.
func (g *golden) verifyProba(m *Model) error {
	if g.proba == nil {
		return nil
	}
	p := make([]float64, len(g.proba))
	g.eachProba(m, p)
	for i, v := range p {
		if !(math.Abs(v-g.proba[i]) <= 1e-6) {
			return fmt.Errorf("the model gives a probability of %g where it gave %g when it was trained", v, g.proba[i])
		}
	}
	return nil
}
