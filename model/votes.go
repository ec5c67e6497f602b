package model

import (
	"mercer/internal/engine/freelist"
	"mercer/internal/solve/exact"
	"mercer/matrix"
)

// Votes says whether a model's scores are votes of machines for two classes each.
func Votes(info *Info) bool {
	r := ReportOf[*exact.SVMReport](&info.Training)
	return r != nil && r.Multiclass == "ovo" && len(info.Classes) > 2
}

// machineOutputs is the number of outputs of the model's machine.
func (m *Model) machineOutputs() int {
	if k := len(m.info.Classes); Votes(&m.info) {
		return k * (k - 1) / 2
	}
	return m.info.Outputs
}

// votes is the predictor of one-against-one: the score of a class is the number of
// contests it wins, minus those it loses. If scores are equal the first wins, as with LIBSVM.
type votes struct {
	Machine
	classes   int
	decisions *freelist.List[matrix.Dense]
}

// NewVotes makes the predictor of a machine with an output for each pair of classes.
func NewVotes(p Machine, classes int) Predictor {
	return votes{p, classes, new(freelist.List[matrix.Dense])}
}

func (p votes) Scores(dst *matrix.Dense, z matrix.Rows) {
	decisions := p.decisions.Get()
	defer p.decisions.Put(decisions)
	decisions.Reshape(z.Len(), p.classes*(p.classes-1)/2)
	p.Machine.Scores(decisions, z)
	for i := range dst.Rows {
		row, scores := decisions.Row(i), dst.Row(i)
		clear(scores)
		t := 0
		for a := range p.classes {
			for b := a + 1; b < p.classes; b++ {
				won, lost := a, b
				if !(row[t] > 0) {
					won, lost = b, a
				}
				scores[won]++
				scores[lost]--
				t++
			}
		}
	}
}
