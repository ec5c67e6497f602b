package learn

import (
	"cmp"
	"math"
	"slices"
)

// idleShare is the objective, relative to the losses of constant scores, above which a fit has made
// no use of the rows: C is too small for the length of their features. Held-out rows cannot show whether a
// larger C would help before a fit does something.
const idleShare = 0.9

// constantLoss is the sum of the losses of rows of classes for C = 1 and the best scores that are
// the same for all rows, or for scores of 0 without an intercept. loss is that of SVM or of Primal,
// or crammer-singer, of which it is an upper bound if there are more than two classes.
func constantLoss(loss string, class []int, classes int, weights, classWeights []float64, noIntercept bool) float64 {
	cost, err := costs(len(class), weights, 1)
	if err != nil {
		return 0 // the fit reports the error
	}
	if loss == "multinomial" || loss == crammerSingerLoss {
		if classWeights != nil {
			weighClasses(cost, class, classWeights, -1)
		}
		mass, total := make([]float64, classes), 0.0
		for i, c := range cost {
			mass[class[i]] += c
			total += c
		}
		switch {
		case loss == crammerSingerLoss && noIntercept:
			return total
		case loss == crammerSingerLoss: // all equal, or the most frequent class ahead by 1
			return min(total, 2*(total-slices.Max(mass)))
		case noIntercept:
			return total * math.Log(float64(classes))
		}
		sum := 0.0
		for _, m := range mass {
			if m > 0 {
				sum -= m * math.Log(m/total)
			}
		}
		return sum
	}
	sum, k := 0.0, TargetColumns(classes)
	for t := range k {
		total, mean := meanSide(costsOf(t, k, cost, class, classWeights), class, t, k)
		if noIntercept {
			mean = 0
		}
		switch loss {
		case "hinge":
			sum += total * (1 - math.Abs(mean))
		case "logistic":
			for _, p := range []float64{(1 + mean) / 2, (1 - mean) / 2} {
				if p > 0 {
					sum -= total * p * math.Log(p)
				}
			}
		default:
			sum += total * (1 - mean*mean)
		}
	}
	return sum
}

// crammerSingerLoss is the name of that machine's loss for constantLoss.
const crammerSingerLoss = "crammer-singer"

// meanSide is the sum of the costs of output t of k, and the mean of its ±1.
func meanSide(cost []float64, class []int, t, k int) (total, mean float64) {
	for i, c := range cost {
		total += c
		mean += c * side(class[i], t, k)
	}
	if total > 0 {
		mean /= total
	}
	return total, mean
}

// constantTargets is the sum of the losses of numbers to predict for C = 1 and scores that are the same
// for all rows: the mean of each output (squared) or its median, or 0 without an intercept.
func constantTargets(y []float64, outputs int, weights []float64, squared bool, epsilon float64, noIntercept bool) float64 {
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	sum, order := 0.0, make([]int, len(y)/outputs)
	for t := range outputs {
		total, mean := 0.0, 0.0
		for i := range order {
			order[i] = i
			total += weight(i)
			mean += weight(i) * y[i*outputs+t]
		}
		at := 0.0
		switch {
		case noIntercept || total == 0:
		case squared:
			at = mean / total
		default:
			slices.SortFunc(order, func(a, b int) int { return cmp.Compare(y[a*outputs+t], y[b*outputs+t]) })
			half := total / 2
			for _, i := range order {
				if at, half = y[i*outputs+t], half-weight(i); half <= 0 {
					break
				}
			}
		}
		for i := range order {
			e := max(0, math.Abs(y[i*outputs+t]-at)-epsilon)
			if squared {
				e *= e
			}
			sum += weight(i) * e
		}
	}
	return sum
}

// addUp is the sum of numbers.
func addUp(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}
