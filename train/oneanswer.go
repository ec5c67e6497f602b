package train

import "mercer/internal/solve/learn"

// oneAnswer notes that a model of classes predicts the same class for all held-out rows, though they are of several: where one is rare,
// that is right most of the time and of no use. A threshold or weights of classes find the others.
func (f *fit) oneAnswer() error {
	if f.classes != nil && f.info.Threshold == nil && (f.oneOfUnseen() || oneOfPath(f.info.Training.Report)) {
		f.info.Training.Why["one class"] = "all held-out rows"
	}
	return nil
}

// oneOfUnseen says so of the scores of rows that the learner had not seen.
func (f *fit) oneOfUnseen() bool {
	k, wrong := f.info.Outputs, false
	n := len(f.solved.unseen.scores) / k
	for i := range n {
		row, y := f.solved.unseen.scores[i*k:][:k], f.solved.unseen.y[i*k:][:k]
		p := learn.Predicted(row)
		if p != learn.Predicted(f.solved.unseen.scores[:k]) {
			return false
		}
		wrong = wrong || k == 1 && (y[0] > 0) != (p == 1) || k > 1 && y[p] <= 0
	}
	return n > 0 && wrong
}

// oneOfPath says so of the rows on which C was chosen.
func oneOfPath(report any) bool {
	switch r := report.(type) {
	case *learn.SVMReport:
		for _, p := range r.Path {
			if p.Chosen {
				return p.OneClass
			}
		}
	case *learn.PrimalReport:
		return oneOfTrials(r.Path)
	case *learn.L1Report:
		return oneOfTrials(r.Path)
	}
	return false
}

func oneOfTrials(path []learn.Trial) bool {
	for _, t := range path {
		if t.Chosen {
			return t.OneClass
		}
	}
	return false
}
