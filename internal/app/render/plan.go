package render

import (
	"io"
	"strings"

	"mercer/internal/engine/units"
	"mercer/train"
)

// PlanText writes what train --plan says a training would do, a line for each step.
func PlanText(w io.Writer, name string, p *train.Plan) {
	Line(w, "data", "%s", name)
	for _, s := range p.Steps {
		what := s.What
		if len(s.Candidates) > 0 {
			if what != "" {
				what += ": "
			}
			what += "by held-out rows, of " + strings.Join(s.Candidates, " | ")
		}
		if s.Why != "" {
			what += " (" + s.Why + ")"
		}
		Line(w, s.Name, "%s", what)
	}
	Line(w, "outputs", "%s of %s", units.Plural(p.Outputs, "output"), units.Plural(p.Features, "dimension"))
	Line(w, "memory", "%s (%s)", units.Bytes(p.Bytes), p.Formula)
}
