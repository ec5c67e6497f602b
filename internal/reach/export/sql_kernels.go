package export

import (
	"fmt"
	"math"
	"slices"

	"mercer/kernel"
)

// pairing is a sum over the dimensions of functions of x_j and of y_j of a row of a table, and the columns that it takes.
type pairing struct {
	q      *sqlModel
	of     *landmark64
	at     []int32
	s      *segment
	column func(cell func(row int) float64) string
	leaf   func(expr string) string
}

// computed adds a column of the wide row for a dimension, once for each format.
func (p *pairing) computed(format string, c int) string {
	key := fmt.Sprint(format, c)
	if _, known := p.q.square[key]; !known {
		p.q.square[key] = p.q.putf(format, c)
	}
	return p.x(p.q.square[key])
}

func (p *pairing) x(c int) string {
	p.s.uses = append(p.s.uses, c)
	return p.q.x(c)
}

// row is a number of each row.
func (p *pairing) row(of func(y []float64) float64) string {
	return "w." + p.column(func(row int) float64 { return of(p.of.w[p.at[row]]) })
}

// y is a number of dimension j of each row.
func (p *pairing) y(j int, of func(y float64) float64) string {
	return p.row(func(y []float64) float64 { return of(y[j]) })
}

// sum is a sum of a term for each dimension.
func (p *pairing) sum(term func(c, j int) string) string {
	terms := make([]string, len(p.of.cols))
	for j, c := range p.of.cols {
		terms[j] = term(c, j)
	}
	return joined(" + ", terms)
}

func same(y float64) float64 { return y }

func (p *pairing) dot() string {
	return p.sum(func(c, j int) string { return p.x(c) + "*" + p.y(j, same) })
}

// length is the column of the squared length of x.
func (p *pairing) length() string {
	key := fmt.Sprint("length", p.of.cols)
	if _, known := p.q.square[key]; !known {
		terms := make([]string, len(p.of.cols))
		for i, c := range p.of.cols {
			terms[i] = p.q.x(c) + "*" + p.q.x(c)
		}
		p.q.square[key] = p.q.put(joined(" + ", terms), p.of.cols...)
	}
	return p.x(p.q.square[key])
}

func squared(y []float64) (sum float64) {
	for _, v := range y {
		sum += v * v
	}
	return sum
}

// compare is k(x, y) of x and the rows of a table, an expression of columns of s.
func (q *sqlModel) compare(of *landmark64, at []int32, s *segment, column func(cell func(row int) float64) string,
	leaf func(expr string) string) (string, error) {
	p := &pairing{q, of, at, s, column, leaf}
	k := of.kernel
	gamma := digits(k.Gamma)
	switch k.Name {
	case "linear":
		return leaf(p.dot()), nil
	case "exp":
		return "exp(" + q.min(q.max(gamma+"*"+leaf(p.dot()), digits(-300)), digits(300)) + ")", nil
	case "poly":
		base := leaf("(" + p.dot() + "*" + gamma + " + " + digits(k.Coef0) + ")")
		power := base
		for range k.Degree - 1 {
			power += "*" + base
		}
		return power, nil
	case "rbf", "matern":
		return p.distant(k)
	case "arccos":
		return p.arccos(k.Degree), nil
	case "laplacian":
		return falling(gamma + "*" + leaf(p.sum(func(c, j int) string { return "abs(" + p.x(c) + " - " + p.y(j, same) + ")" }))), nil
	case "cauchy":
		return falling(leaf(p.sum(func(c, j int) string {
			d := "(" + p.x(c) + " - w." + column(func(row int) float64 { return of.w[at[row]][j] }) + ")"
			return "ln(1 + " + digits(k.Gamma*k.Gamma) + "*" + d + "*" + d + ")"
		}))), nil
	case "hellinger":
		half := 0.5
		if a, ok := k.Additive(); ok {
			half = a.Homogeneity / 2
		}
		return leaf(p.sum(func(c, j int) string {
			return p.computed("CASE WHEN %[1]s >= 0 THEN power(%[1]s, "+digits(half)+") END", c) + "*" +
				p.y(j, func(y float64) float64 { return math.Pow(y, half) })
		})), nil
	case "exp-chi2":
		return falling(gamma + "*" + leaf(p.sum(func(c, j int) string {
			x, y := p.natural(c), p.y(j, same)
			return "coalesce((" + x + " - " + y + ")*(" + x + " - " + y + ")/nullif(" + x + " + " + y + ", 0), 0)"
		}))), nil
	case "skewed-chi2":
		add := digits(k.Coef0)
		return falling(leaf(p.sum(func(c, j int) string {
			x, y := p.computed("CASE WHEN %[1]s + "+add+" > 0 THEN %[1]s + "+add+" END", c), p.y(j, func(y float64) float64 { return y + k.Coef0 })
			logs := p.computed("CASE WHEN %[1]s + "+add+" > 0 THEN 0.5*ln(%[1]s + "+add+") END", c)
			return "(ln((" + x + " + " + y + ")*0.5) - " + logs + " - " + p.y(j, func(y float64) float64 { return math.Log(y+k.Coef0) / 2 }) + ")"
		}))), nil
	case "skewed-intersection":
		add := digits(k.Coef0)
		return falling("0.5*" + leaf(p.sum(func(c, j int) string {
			return "abs(" + p.computed("CASE WHEN %[1]s + "+add+" > 0 THEN ln(%[1]s + "+add+") END", c) + " - " +
				p.y(j, func(y float64) float64 { return math.Log(y + k.Coef0) }) + ")"
		}))), nil
	case "chi2", "intersection", "jensen-shannon":
		return leaf(p.additive(k)), nil
	}
	return "", fmt.Errorf("the kernel %s has no form in SQL", k.Name)
}

// natural is a dimension that is not negative; NULL if it is.
func (p *pairing) natural(c int) string {
	name := p.computed("CASE WHEN %[1]s >= 0 THEN %[1]s END", c)
	if c := p.s.uses[len(p.s.uses)-1]; !slices.Contains(p.q.guards, c) {
		p.q.guards = append(p.q.guards, c)
	}
	return name
}

// distant are the kernels of the distance.
func (p *pairing) distant(k kernel.Kernel) (string, error) {
	square := p.leaf(p.q.max("("+p.length()+" + "+p.row(squared)+" - 2*"+p.dot()+")", digits(0)))
	if k.Name == "rbf" {
		return falling(digits(k.Gamma) + "*" + square), nil
	}
	n := int(k.Nu)
	if k.Nu != float64(n)+0.5 || n > 8 {
		return "", fmt.Errorf("the kernel matern with nu %g cannot be exported: it is no elementary function; nu = 0.5, 1.5, … 8.5 can", k.Nu)
	}
	z := "sqrt(" + square + "*" + digits(4*k.Nu*k.Gamma) + ")"
	c := polynomial(n)
	sum := digits(c[n])
	for i := n - 1; i >= 0; i-- {
		sum = "(" + sum + "*" + z + " + " + digits(c[i]) + ")"
	}
	return sum + "*" + falling(z), nil
}

// arccos is the kernel of the angle between rows.
func (p *pairing) arccos(degree int) string {
	product := p.leaf(p.dot())
	length := p.leaf("sqrt(" + p.length() + "*" + p.row(squared) + ")")
	cos := p.q.max(p.q.min("CASE WHEN "+length+" > 0 THEN "+product+"/"+length+" ELSE 0 END", digits(1)), digits(-1))
	rest := "(1 - acos(" + cos + ")*" + digits(1/math.Pi) + ")"
	if degree == 0 {
		return rest
	}
	return length + "*(sqrt(" + p.q.max("1 - ("+cos+")*("+cos+")", digits(0)) + ")*" + digits(1/math.Pi) + " + " + rest + "*" + cos + ")"
}

// additive are the kernels of histograms that are sums over the dimensions.
func (p *pairing) additive(k kernel.Kernel) string {
	h := 1.0
	if a, ok := k.Additive(); ok {
		h = a.Homogeneity
	}
	entropy := func(v float64) float64 {
		if v <= 0 {
			return 0
		}
		return v * math.Log(v)
	}
	return p.sum(func(c, j int) string {
		x, y := p.natural(c), p.y(j, same)
		var term string
		switch k.Name {
		case "intersection":
			term = p.q.min(x, y)
		case "chi2":
			term = "coalesce(2*" + x + "*" + y + "/nullif(" + x + " + " + y + ", 0), 0)"
		default:
			of := p.computed("CASE WHEN %[1]s > 0 THEN %[1]s*ln(%[1]s) WHEN %[1]s = 0 THEN 0 END", c)
			both := "(" + x + " + " + y + ")"
			term = "(CASE WHEN " + both + " > 0 THEN " + both + "*ln(" + both + ") ELSE 0 END - " + of + " - " + p.y(j, entropy) + ")*" +
				digits(1/(2*math.Ln2))
		}
		if h != 1 {
			power := func(v float64) float64 {
				if v <= 0 {
					return 0
				}
				return math.Pow(v, (h-1)/2)
			}
			term = term + "*" + p.computed("CASE WHEN %[1]s > 0 THEN power(%[1]s, "+digits((h-1)/2)+") WHEN %[1]s = 0 THEN 0 END", c) + "*" +
				p.y(j, power)
		}
		return term
	})
}
