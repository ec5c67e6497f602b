package exact

import (
	"fmt"

	"mercer/matrix"
)

// Classifier decides between classes by the scores of a machine, which has either an output
// for every two classes, which vote, or one for every class. It is safe for concurrent use.
type Classifier struct {
	machine  *Machine
	classes  int
	contests []contest
}

// NewClassifier makes the classifier of a machine's scores. multiclass is ovo: outputs for
// classes (0, 1), (0, 2), …, (1, 2), …, each above 0 for the first of the two; or ovr: an output
// for every class, the largest of which wins. Two classes always have one output, above
// 0 for class 0.
func NewClassifier(m *Machine, classes int, multiclass string) (*Classifier, error) {
	if classes < 2 || multiclass != "ovo" && multiclass != "ovr" {
		return nil, fmt.Errorf("exact: a classifier of %d classes by %q; it takes two classes or more and ovo or ovr", classes, multiclass)
	}
	c := &Classifier{machine: m, classes: classes, contests: contests(classes, multiclass)}
	if got, want := len(m.Intercepts()), len(c.contests); got != want {
		return nil, fmt.Errorf("exact: a machine of %d outputs for %d classes by %s, which take %d", got, classes, multiclass, want)
	}
	return c, nil
}

// contest is the decision of one machine: whether a row belongs to a class rather than to another
// or, if that is negative, to any other.
type contest struct{ class, against int }

// contests lists the machines of a number of classes.
func contests(classes int, multiclass string) []contest {
	var list []contest
	if classes > 2 && multiclass == "ovr" {
		for c := range classes {
			list = append(list, contest{c, -1})
		}
		return list
	}
	for a := range classes {
		for b := a + 1; b < classes; b++ {
			list = append(list, contest{a, b})
		}
	}
	return list
}

// sign is the sign of a class's rows in the contest.
func (c contest) sign(class int) float64 {
	if class == c.class {
		return 1
	}
	return -1
}

func (c contest) String() string {
	if c.against < 0 {
		return fmt.Sprintf("class %d against the others", c.class+1)
	}
	return fmt.Sprintf("class %d against class %d", c.class+1, c.against+1)
}

// Machine gives the scores.
func (c *Classifier) Machine() *Machine { return c.machine }

// Classes is the number of classes.
func (c *Classifier) Classes() int { return c.classes }

// Predict writes the classes of the rows x into dst, which must be Len long.
func (c *Classifier) Predict(dst []int, x matrix.Rows) error {
	if len(dst) != x.Len() {
		panic(fmt.Sprintf("exact: Predict of %d rows into %d", x.Len(), len(dst)))
	}
	const block = 1024 // bounds the scores that are held
	scores := matrix.NewDense(min(block, len(dst)), len(c.contests))
	votes := make([]int, c.classes)
	for lo := 0; lo < len(dst); lo += block {
		hi := min(lo+block, len(dst))
		part := scores.Slice(0, hi-lo)
		if err := c.machine.Scores(part, x.Slice(lo, hi)); err != nil {
			return err
		}
		for i := range hi - lo {
			dst[lo+i] = c.Decide(part.Row(i), votes)
		}
	}
	return nil
}

// Decide returns the class for a row of scores: the one with the most votes or the
// largest score, the first of equals. votes is work memory of as many numbers as classes.
func (c *Classifier) Decide(scores []float32, votes []int) int {
	best := 0
	if c.contests[0].against < 0 {
		for t, s := range scores {
			if s > scores[best] {
				best = t
			}
		}
		return best
	}
	clear(votes)
	for t, s := range scores {
		if s > 0 {
			votes[c.contests[t].class]++
		} else {
			votes[c.contests[t].against]++
		}
	}
	for t, v := range votes {
		if v > votes[best] {
			best = t
		}
	}
	return best
}
