package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"mercer/internal/solve/learn"
)

// sqlOutput is a column of the view.
type sqlOutput struct {
	name   string
	column int
}

// results are the columns of the view: prediction, probabilities if there are any, and scores.
func (q *sqlModel) results(scores []int) []sqlOutput {
	if len(q.Classes) == 0 && len(q.Labels) == 0 {
		if len(scores) == 1 {
			return []sqlOutput{{"prediction", scores[0]}}
		}
		return []sqlOutput{{"prediction", q.array(scores)}}
	}
	var p []int
	if q.Probabilities != "none" {
		p = q.probability(scores)
	}
	decided := q.Probabilities == "platt" || q.Probabilities == "isotonic"
	var out []sqlOutput
	if len(q.Labels) > 0 {
		terms, uses := make([]string, len(scores)), scores
		for k, s := range scores {
			name, _ := json.Marshal(q.Labels[k])
			has := q.x(s) + " > 0"
			if decided {
				has = fmt.Sprintf("%s > 0.5e0 OR %s = 0.5e0 AND %s", q.x(p[k]), q.x(p[k]), has)
				uses = append(uses[:len(uses):len(uses)], p[k])
			}
			terms[k] = "CASE WHEN " + has + " THEN " + literal(","+string(name)) + " ELSE '' END"
		}
		list := q.put("CASE WHEN "+q.x(scores[0])+" IS NOT NULL THEN '[' || ltrim("+joined(" || ", terms)+", ',') || ']' END", uses...)
		out = append(out, sqlOutput{"prediction", list})
	} else if q.Threshold != nil {
		least := digits(*q.Threshold)
		text := fmt.Sprintf("CASE WHEN %[1]s >= %[2]s THEN %[3]s WHEN %[1]s < %[2]s THEN %[4]s END", q.x(scores[0]), least, literal(q.Classes[1]), literal(q.Classes[0]))
		out = append(out, sqlOutput{"prediction", q.put(text, scores[0])})
	} else {
		by := scores
		if len(scores) == 1 {
			by = []int{q.putf("(-%s)", scores[0]), scores[0]}
		}
		if decided { // of equal probabilities the one with the larger score
			most := q.largest(p)
			next := make([]int, len(by))
			for k := range by {
				next[k] = q.putf("CASE WHEN %s = %s THEN %s ELSE -1e300 END", p[k], most, by[k])
			}
			by = next
		}
		most := q.largest(by)
		text := "CASE"
		for k, c := range by {
			text += " WHEN " + q.x(c) + " = " + q.x(most) + " THEN " + literal(q.Classes[k])
		}
		out = append(out, sqlOutput{"prediction", q.put(text+" END", append([]int{most}, by...)...)})
	}
	if p != nil {
		out = append(out, sqlOutput{"probabilities", q.array(p)})
	}
	return append(out, sqlOutput{"scores", q.array(scores)})
}

// largest adds a column of the largest of columns.
func (q *sqlModel) largest(of []int) int {
	terms := make([]string, len(of))
	for i, c := range of {
		terms[i] = q.x(c)
	}
	return q.put(q.dialect.largest(q.larger, terms), of...)
}

// array adds a column of numbers, NULL where there are none.
func (q *sqlModel) array(of []int) int {
	terms := make([]string, len(of))
	for i, c := range of {
		terms[i] = q.x(c)
	}
	text := q.list(terms)
	if q.name == "sqlite" && len(of) > q.args {
		for i := range terms[:len(terms)-1] {
			terms[i] += " || ','"
		}
		text = "'[' || " + joined(" || ", terms) + " || ']'"
	}
	return q.put("CASE WHEN "+q.x(of[0])+" IS NOT NULL THEN "+text+" END", of...)
}

// probability are columns of the probabilities of classes or labels.
func (q *sqlModel) probability(s []int) []int {
	labels := len(q.Labels) > 0
	kind := q.Probabilities
	each := func(format string) []int {
		out := make([]int, len(s))
		for k, c := range s {
			out[k] = q.putf(format, c)
		}
		return out
	}
	if kind == "logit" {
		s = each(q.min(q.max("(1 + %[1]s)*0.5", digits(learn.LeastLogit)), digits(1-learn.LeastLogit)))
		if len(s) > 1 && !labels {
			s = each("ln(%s)")
		} else {
			s = each("ln(%[1]s/(1 - %[1]s))")
		}
	}
	if kind == "temperature" || kind == "logit" {
		s = each("(%s*" + digits(1/q.Temperature) + ")")
		if kind = "sigmoid"; len(s) > 1 && !labels {
			kind = "softmax"
		}
	}
	var p []int
	switch kind {
	case "softmax":
		most := q.largest(s)
		for _, c := range s {
			z := q.putf("(%s - %s)", most, c)
			p = append(p, q.putf("CASE WHEN %[1]s < 300 THEN exp(-(%[1]s)) WHEN %[1]s >= 300 THEN 0e0 END", z))
		}
	case "platt":
		a, b := q.tensors["calibration.a"].F64, q.tensors["calibration.b"].F64
		for k, c := range s {
			p = append(p, q.putf(q.sigmoid("-(%s*"+digits(a[k])+" + "+digits(b[k])+")"), c))
		}
	case "isotonic":
		for k, c := range s {
			p = append(p, q.line(c, q.tensors[knotsName(k)].F64, q.tensors[riseName(k)].F64))
		}
	default:
		p = each(q.sigmoid("%s"))
	}
	switch {
	case labels:
		return p
	case len(s) == 1:
		return []int{q.putf("(1 - %s)", p[0]), p[0]}
	}
	terms := make([]string, len(p))
	for k, c := range p {
		terms[k] = q.x(c)
	}
	sum := q.put(joined(" + ", terms), p...)
	for k, c := range p {
		p[k] = q.putf("CASE WHEN %[2]s > 0 THEN %[1]s/%[2]s WHEN %[2]s <= 0 THEN "+digits(1/float64(len(p)))+" END", c, sum)
	}
	return p
}

// view is the statement that makes the view.
func (q *sqlModel) view(name, table string, outputs []sqlOutput) (string, error) {
	taken := map[string]bool{}
	for _, c := range q.Columns {
		taken[strings.ToLower(c.Name)] = true
	}
	columns, list := make([]int, len(outputs)), make([]string, len(outputs))
	for i := range outputs {
		o := &outputs[i]
		for taken[o.name] {
			o.name = "output_" + o.name
		}
		columns[i] = o.column
		list[i] = "o." + q.columns[o.column].name + " AS " + o.name
	}
	head := "CREATE VIEW " + quoted(name) + " AS SELECT t.*, "
	if q.lateral {
		text, err := q.query(columns)
		text = q.with(fmt.Sprintf("SELECT unnest(o.t_), %s FROM (%s) o", strings.Join(list, ", "), text))
		return "CREATE VIEW " + quoted(name) + " AS " + text, err
	}
	if q.name != "sqlite" {
		text, err := q.query(columns)
		return fmt.Sprintf("%s%s FROM %s t CROSS JOIN LATERAL (%s) o", head, strings.Join(list, ", "), quoted(table), text), err
	}
	for i, o := range outputs { // it has no LATERAL
		text, err := q.query(columns[i : i+1])
		if err != nil {
			return "", err
		}
		list[i] = fmt.Sprintf("(%s) AS %s", q.with(fmt.Sprintf("SELECT %s FROM %s o", strings.Split(list[i], " AS ")[0], q.nested(text))), o.name)
	}
	return head + strings.Join(list, ", ") + " FROM " + quoted(table) + " t", nil
}
