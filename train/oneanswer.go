package train

import "mercer/internal/solve/learn"

// oneAnswer notes that a model of classes predicts the same class for all held-out rows, though they are of several: where one is rare,
// that is right most of the time and of no use. A threshold or weights of classes find the others.
func (f *job) oneAnswer(s *solution) {
	if f.classes != nil && s.threshold == nil && (s.unseen.oneClass(f.outputs) || oneOfPath(s.report)) {
		f.why["one class"] = "all held-out rows"
	}
}

// oneClass says so of their k scores each.
func (u *unseen) oneClass(k int) bool {
	n, wrong := len(u.scores)/k, false
	for i := range n {
		row, y := u.scores[i*k:][:k], u.y[i*k:][:k]
		p := learn.Predicted(row)
		if p != learn.Predicted(u.scores[:k]) {
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
