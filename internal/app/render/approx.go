package render

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mercer/feature"
	"mercer/internal/engine/units"
	"mercer/internal/search/approx"
	"mercer/kernel"
)

// Approx is how well maps approximate a kernel on data.
type Approx struct {
	Data       string // what the rows are called
	Total, Dim int    // rows of the data, and their dimensions
	Kernel     kernel.Kernel
	Scale      string
	Why        map[string]string // why the scaling was chosen
	FitOn      string            // the other data that maps are fitted to, "" where these are rows of the same
	FitRows    int               // that maps are fitted to
	Left       []approx.Skipped  // maps that were not measured
	Vectors    []VectorLine      // of projection vectors, where they were asked for
	Converted  *Converted        // estimates of another kernel, where they were asked for

	Result         *approx.Result
	Recommendation *approx.Recommendation // nil: none was asked for
}

// skipped are all maps without numbers.
func (a *Approx) skipped() []approx.Skipped { return slices.Concat(a.Left, a.Result.Skipped) }

// Text writes the errors of maps as a table, how fast they fall, and the map that is recommended.
func (a *Approx) Text(w io.Writer) {
	r, say := a.Result, linesTo(w)
	say("data", "%s: %s rows × %s dimensions, of which all %s pairs of %s rows are judged", a.Data, units.Count(a.Total),
		units.Count(a.Dim), units.Count(r.Pairs), units.Count(r.Rows))
	fitted := false
	for _, c := range r.Curves {
		fitted = fitted || feature.NeedsSample(c.Config)
	}
	if fitted {
		of := "other rows"
		if a.FitOn != "" {
			of = "rows of " + a.FitOn
		}
		say("fitted", "to %s %s, of maps that look at data", units.Count(a.FitRows), of)
	}
	scale := a.Scale
	if why := a.Why["scale"]; why != "" {
		scale += " (" + why + ")"
	}
	say("scale", "%s", scale)
	say("kernel", "%s", a.Kernel)
	for _, text := range gramTexts(r) {
		say("", "%s", text)
	}
	if text := centredText(r); text != "" {
		say("centred", "%s", text)
	}
	fmt.Fprintf(w, "\n%s", approxText(r))
	any := false
	for _, c := range r.Curves {
		if c.Rate == nil || len(c.Points) < 2 {
			continue
		}
		name := ""
		if !any {
			name = "error"
			fmt.Fprintln(w)
		}
		any = true
		se := ""
		if c.Rate.SE != nil {
			se = fmt.Sprintf(" ± %.2f", *c.Rate.SE)
		}
		say(name, "of %s falls like D^(%.2f%s)", c.Map, c.Rate.Exponent, se)
	}
	for _, text := range fewer(r) {
		if !any {
			fmt.Fprintln(w)
		}
		any = true
		say("features", "%s", text)
	}
	for i, s := range a.skipped() {
		if i == 0 && !any {
			fmt.Fprintln(w)
		}
		say("left out", "%s", clean(s.Reason))
	}
	vectorsText(w, a.Vectors)
	a.Converted.text(w)
	if rec := a.Recommendation; rec != nil {
		recommendationText(w, rec)
	}
}

// gramTexts describe the exact Gram matrices that maps are measured against.
func gramTexts(r *approx.Result) []string {
	var list []string
	said := map[approx.Exact]bool{}
	for _, c := range r.Curves {
		if e := c.Exact; e.Lambda > 0 && !said[e] {
			of := "its Gram matrix"
			if len(c.Config.Steps) > 0 {
				of = "the Gram matrix of " + c.Map
			}
			if c.Centred {
				of += ", centred,"
			}
			list = append(list, fmt.Sprintf("%s has effective dimension %.4g at λ = %.3g and stable rank %.3g", of, e.Dimension, e.Lambda,
				e.StableRank))
			said[e] = true
		}
	}
	return list
}

// centredText says which maps are measured against the centred kernel, "" if none is.
func centredText(r *approx.Result) string {
	var names []string
	for _, c := range r.Curves {
		if c.Centred {
			names = append(names, c.Map)
		}
	}
	if names == nil {
		return ""
	}
	verb := "keeps"
	if len(names) > 1 {
		verb = "keep"
	}
	return fmt.Sprintf("%s %s distances, not inner products: z(x)·z(y) and k(x, y) are compared after both are centred on the rows",
		wordList(names), verb)
}

// wordList is "a, b and c".
func wordList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// clean is a reason without the names of packages.
func clean(reason string) string {
	return strings.NewReplacer("feature: ", "", "approx: ", "", "kernel: ", "").Replace(reason)
}

// approxText is a line for each map and D, maps by their error at the largest.
func approxText(r *approx.Result) string {
	lines := [][]string{{"map", "D", "mean abs", "max abs", "rel", "max rel", "within", "bias", "Frob.", "dist.", "Δ1", "Δ2", "dim", "µs",
		"one", "bytes"}}
	for _, c := range r.Curves {
		for i, p := range c.Points {
			name := c.Map
			if i > 0 {
				name = ""
			}
			lines = append(lines, []string{name, featuresText(p.Features, p.Outputs), withSD(p.MeanAbs), short(p.MaxAbs.Mean),
				percentOf(p.MeanRel), percentOf(p.MaxRel), percentOf(&p.Within),
				fmt.Sprintf("%+.1g", p.MeanSigned.Mean), statText(p.RelFrobenius), statText(p.Distortion), statText(p.Delta1), statText(p.Delta2),
				statText(p.Dimension),
				short(p.PerRow), short(p.OneRow), strings.ReplaceAll(units.Bytes(p.Bytes), " ", "")})
		}
	}
	var b strings.Builder
	Columns(&b, 1, lines)
	return b.String()
}

// featuresText is how many features a map has, with what was asked for if that is more.
func featuresText(asked, has int) string {
	if has < asked {
		return units.Count(has) + " of " + units.Count(asked)
	}
	return units.Count(has)
}

// fewer says of maps that have fewer features than they were asked for how many they have.
func fewer(r *approx.Result) []string {
	var list []string
	for _, c := range r.Curves {
		var asked []string
		last := c.Points[len(c.Points)-1]
		for _, d := range append([]int{last.Features}, c.Repeated...) {
			if d > last.Outputs {
				asked = append(asked, units.Count(d))
			}
		}
		if len(asked) > 0 {
			list = append(list, fmt.Sprintf("of %s are %s where %s were asked for: the rows that it is fitted to are too few, or alike", c.Map,
				units.Count(last.Outputs), strings.Join(asked, " and ")))
		}
	}
	return list
}

func withSD(s approx.Stat) string {
	if s.SD == 0 {
		return short(s.Mean)
	}
	return fmt.Sprintf("%s ± %.1g", short(s.Mean), s.SD)
}

func statText(s *approx.Stat) string {
	if s == nil {
		return "–"
	}
	return short(s.Mean)
}

func percentOf(s *approx.Stat) string {
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%.3g %%", 100*s.Mean)
}

// recommendationText writes which map is the cheapest for an error, and what others would need.
func recommendationText(w io.Writer, rec *approx.Recommendation) {
	say := linesTo(w)
	kind, measured := "absolute", rec.Point.MeanAbs
	asked, got := short(rec.Goal.Error), short(measured.Mean)
	if rec.Goal.Relative {
		kind, measured = "relative", *rec.Point.MeanRel
		asked, got = percentOf(&approx.Stat{Mean: rec.Goal.Error}), percentOf(&measured)
	}
	fmt.Fprintln(w)
	say("for", "a mean %s error of %s", kind, asked)
	say("take", "%s, measured: error %s, %s µs a row, %s", flagsOf(rec), got, short(rec.PerRow), units.Bytes(rec.Bytes))
	for i, o := range rec.Offers[1:] {
		what := ""
		if i == 0 {
			what = "others"
		}
		how := "would need, by its rate,"
		if o.Point != nil {
			how = "needs"
		}
		say(what, "%s %s D = %s: %s µs a row, %s", o.Map, how, featuresText(o.Features, o.Outputs), short(o.PerRow), units.Bytes(o.Bytes))
	}
	if len(rec.Hopeless) > 0 {
		say("", "not in reach of %s", strings.Join(rec.Hopeless, ", "))
	}
	var added []string
	for _, o := range rec.Offers {
		if o.Added > 0 {
			added = append(added, fmt.Sprintf("%s at D = %s", o.Map, units.Count(o.Added)))
		}
	}
	if len(added) > 0 {
		say("rates", "by a second D, measured for them alone: %s", strings.Join(added, ", "))
	}
	say("why", "the least time a row in batches; where times are within a fifth of one another, the fewest bytes")
}

// flagsOf are the flags by which train makes the map.
func flagsOf(rec *approx.Recommendation) string {
	switch cfg := rec.Config; {
	case cfg.Steps != nil:
		text, err := json.Marshal(cfg)
		if err != nil {
			return rec.Map
		}
		return fmt.Sprintf("--map '%s'", text)
	case approx.Sizes(cfg) == "" && cfg.Terms > 0 && cfg.Features == 0:
		return fmt.Sprintf("--map %s --terms %d (D = %s)", rec.Map, cfg.Terms, units.Count(rec.Features))
	case cfg.Features == 0:
		return fmt.Sprintf("--map %s (D = %s)", rec.Map, units.Count(rec.Features))
	}
	text := fmt.Sprintf("--map %s --features %d", rec.Map, rec.Features)
	if rec.Outputs < rec.Features {
		text += fmt.Sprintf(" (on these rows D = %s)", units.Count(rec.Outputs))
	}
	return text
}
