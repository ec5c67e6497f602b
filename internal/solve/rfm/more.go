package rfm

import (
	"cmp"

	"mercer/internal/engine/freelist"
	"mercer/internal/engine/vec"
)

// The time of a machine grows like the square of its landmarks, and often a part of them says all. So machines begin with
// few, and held-out rows compare them with machines on half of these, which cost next to nothing more: where twice the
// landmarks lessen the error by next to nothing, so do three or four times as many.

// Landmarks of the machines of a leaf and of those for all rows before held-out rows ask for more. moreGain is what
// doubling them must make of the squared error; machines on twice as many take four times as long. Where it makes less than muchGain of it,
// doubling them again is sure to be asked for.
const (
	fewLeaf  = 750
	fewWhole = 1024
	moreGain = 0.97
	muchGain = 0.95
)

// more trains the machines of the leaves again on more landmarks, if held-out rows of all leaves together ask for them.
func (f *fitting) more() error {
	few, half := 0.0, 0.0
	for _, l := range f.leaves {
		if l.half != nil {
			few += f.squares(l.held, l.scores)
			half += f.squares(l.held, l.half)
		}
	}
	if few > moreGain*half || half == 0 {
		return nil
	}
	at := int(f.branches())
	for lo := 0; lo < len(f.leaves); lo += at {
		some := f.leaves[lo:min(lo+at, len(f.leaves))]
		errs := make([]error, len(some))
		vec.Parallel(len(some), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if l := &some[i]; l.half != nil {
					*l, errs[i] = f.train(l.rows, l.members, f.opt.Centres, false, l)
				}
			}
		})
		if err := cmp.Or(errs...); err != nil {
			return err
		}
	}
	return nil
}

// trainWhole trains machines for all rows on some of them, with as many landmarks as held-out rows ask for beside the leaves:
// twice as many while these lessen the error, or four times as many.
func (f *fitting) trainWhole(rows []int, members []member) (trained, error) {
	joined := func(one trained, scores []float64) float64 {
		held, ofTree, ofAll := f.heldBy(one, scores, (*trained).bySquares)
		return f.squares(held, mix(ofTree, ofAll, f.share(held, ofTree, ofAll)))
	}
	f.rooms = freelist.List[room]{} // those of leaves
	var before *trained
	for centres := f.fewWhole; ; {
		centres = min(centres, f.wholeCentres)
		one, err := f.train(rows, members, centres, centres < f.wholeCentres, before)
		if err != nil || one.half == nil {
			return one, err
		}
		few, half := joined(one, one.scores), joined(one, one.half)
		if few > moreGain*half {
			return one, nil
		}
		f.tellProgress(joining, float64(centres)/float64(2*f.wholeCentres))
		before = &one
		if centres *= 2; few < muchGain*half {
			centres *= 2
		}
	}
}

// squares is the squared error of scores of rows.
func (f *fitting) squares(rows []int, scores []float64) (sum float64) {
	for r, i := range rows {
		w := 1.0
		if f.weights != nil {
			w = f.weights[i]
		}
		for t, v := range scores[r*f.outputs:][:f.outputs] {
			d := v - f.y[i*f.outputs+t]
			sum += float64(w * d * d)
		}
	}
	return sum
}
