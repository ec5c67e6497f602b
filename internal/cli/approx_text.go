package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"mercer/approx"
	"mercer/feature"
	"mercer/kernel"
)

// approxReport is what approx --json prints. Means are over the seeds; what is not defined on
// the rows is null.
type approxReport struct {
	Data      string            `json:"data"`
	N         int               `json:"n"`    // rows of the data
	Rows      int               `json:"rows"` // judged
	D         int               `json:"d"`
	Pairs     int               `json:"pairs"`
	Seeds     int               `json:"seeds"`
	Kernel    kernel.Kernel     `json:"kernel"`
	Scale     string            `json:"scale"`
	Why       map[string]string `json:"why"`
	Results   []approxLine      `json:"results"`
	Rates     []rateLine        `json:"rates"`
	Skipped   []skippedLine     `json:"skipped,omitempty"`
	Vectors   []vectorLine      `json:"projection_vectors,omitempty"`
	Recommend *recommendLine    `json:"recommendation,omitempty"`
}

type approxLine struct {
	Map          string   `json:"map"`
	Features     int      `json:"features"`
	Outputs      int      `json:"outputs"` // fewer than features where the sample has no more
	MeanAbs      float64  `json:"mean_abs"`
	MeanAbsSD    float64  `json:"mean_abs_sd"`
	MaxAbs       float64  `json:"max_abs"`
	MeanRel      *float64 `json:"mean_rel"`
	MeanRelSD    *float64 `json:"mean_rel_sd"`
	MaxRel       *float64 `json:"max_rel"`
	RelShare     float64  `json:"rel_share"` // of the pairs that mean_rel is over
	MeanSigned   float64  `json:"mean_signed"`
	MeanSignedSD float64  `json:"mean_signed_sd"`
	RMS          float64  `json:"rms"`
	RMSBias      float64  `json:"rms_bias"`
	RMSSpread    float64  `json:"rms_spread"`
	RelFrobenius *float64 `json:"rel_frobenius"`
	Distortion   *float64 `json:"distortion"`
	DistortionSD *float64 `json:"distortion_sd"`
	Delta1       *float64 `json:"delta1"`
	Delta2       *float64 `json:"delta2"`
	Lambda       *float64 `json:"lambda"`
	Dimension    *float64 `json:"effective_dimension"`
	KDimension   *float64 `json:"kernel_effective_dimension"`
	KStableRank  *float64 `json:"kernel_stable_rank"`
	PerRow       float64  `json:"us_per_row"`
	OneRow       float64  `json:"us_one_row"`
	Bytes        int64    `json:"bytes"`
}

type rateLine struct {
	Map        string   `json:"map"`
	Error      string   `json:"error"` // mean_abs or mean_rel
	Exponent   float64  `json:"exponent"`
	ExponentSE *float64 `json:"exponent_se"`
	Constant   float64  `json:"constant"`
}

type skippedLine struct {
	Map    string `json:"map"`
	Reason string `json:"reason"`
}

type recommendLine struct {
	Asked    float64        `json:"asked"`
	Error    string         `json:"error"`
	Map      string         `json:"map"`
	Features int            `json:"features"`
	Measured approxLine     `json:"measured"`
	Config   feature.Config `json:"config"`
	Offers   []offerLine    `json:"offers"` // cheapest first
	Hopeless []string       `json:"hopeless,omitempty"`
}

type offerLine struct {
	Map       string  `json:"map"`
	Features  int     `json:"features"`
	Outputs   int     `json:"outputs"`    // fewer than features where the rows give no more
	MeanError float64 `json:"mean_error"` // by the fitted rate, or as measured
	Measured  bool    `json:"measured"`
	PerRow    float64 `json:"us_per_row"`
	Bytes     int64   `json:"bytes"`

	// Added is a D that was measured for the rate alone: one D that is asked for has none.
	Added int `json:"added_features,omitempty"`
}

func meanOf(s *approx.Stat) *float64 {
	if s == nil {
		return nil
	}
	return &s.Mean
}

func sdOf(s *approx.Stat) *float64 {
	if s == nil {
		return nil
	}
	return &s.SD
}

func newApproxLine(name string, e approx.Exact, p *approx.Point) approxLine {
	l := approxLine{Map: name, Features: p.Features, Outputs: p.Outputs, MeanAbs: p.MeanAbs.Mean, MeanAbsSD: p.MeanAbs.SD, MaxAbs: p.MaxAbs.Mean,
		MeanRel: meanOf(p.MeanRel), MeanRelSD: sdOf(p.MeanRel), MaxRel: meanOf(p.MaxRel), RelShare: p.Within.Mean,
		MeanSigned: p.MeanSigned.Mean, MeanSignedSD: p.MeanSigned.SD, RMS: p.RMS, RMSBias: p.Bias, RMSSpread: p.Spread,
		RelFrobenius: meanOf(p.RelFrobenius), Distortion: meanOf(p.Distortion), DistortionSD: sdOf(p.Distortion),
		Delta1: meanOf(p.Delta1), Delta2: meanOf(p.Delta2), Dimension: meanOf(p.Dimension),
		PerRow: p.PerRow, OneRow: p.OneRow, Bytes: p.Bytes}
	if e.Lambda > 0 {
		l.Lambda, l.KDimension, l.KStableRank = &e.Lambda, &e.Dimension, &e.StableRank
	}
	return l
}

func errorName(relative bool) string {
	if relative {
		return "mean_rel"
	}
	return "mean_abs"
}

// report is the result as JSON.
func (a *approximation) report(r *approx.Result, rec *approx.Recommendation) approxReport {
	out := approxReport{Data: a.name, N: a.total, Rows: r.Rows, D: a.dim, Pairs: r.Pairs, Seeds: r.Seeds, Kernel: a.kernel, Scale: a.cfg.Scale, Why: a.why, Vectors: a.drawn}
	for _, c := range r.Curves {
		for i := range c.Points {
			out.Results = append(out.Results, newApproxLine(c.Map, c.Exact, &c.Points[i]))
		}
		for i, rate := range []*approx.Rate{c.Rate, c.RateRel} {
			if rate != nil {
				out.Rates = append(out.Rates, rateLine{c.Map, errorName(i == 1), rate.Exponent, rate.SE, rate.Constant})
			}
		}
	}
	for _, s := range append(a.left, r.Skipped...) {
		out.Skipped = append(out.Skipped, skippedLine{s.Map, s.Reason})
	}
	if rec != nil {
		l := &recommendLine{Asked: rec.Goal.Error, Error: errorName(rec.Goal.Relative), Map: rec.Map, Features: rec.Features,
			Measured: newApproxLine(rec.Map, rec.Exact, rec.Point), Config: rec.Config, Hopeless: rec.Hopeless}
		for _, o := range rec.Offers {
			l.Offers = append(l.Offers, offerLine{o.Map, o.Features, o.Outputs, o.Error, o.Point != nil, o.PerRow, o.Bytes, o.Added})
		}
		out.Recommend = l
	}
	return out
}

// print prints the result for a person.
func (a *approximation) print(w io.Writer, r *approx.Result, rec *approx.Recommendation, rows approx.Rows) {
	say := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	say("data", "%s: %s rows × %s dimensions, of which all %s pairs of %s rows are judged", a.name, comma(a.total), comma(a.dim), comma(r.Pairs), comma(r.Rows))
	fitted := false
	for _, c := range r.Curves {
		fitted = fitted || feature.NeedsSample(c.Config)
	}
	if fitted {
		of := "other rows"
		if a.fitOn != "" {
			of = "rows of " + a.fitOn
		}
		say("fitted", "to %s %s, of maps that look at data", comma(rows.Fit.Len()), of)
	}
	scale := a.cfg.Scale
	if why := a.why["scale"]; why != "" {
		scale += " (" + why + ")"
	}
	say("scale", "%s", scale)
	say("kernel", "%s", a.kernel)
	for _, text := range gramTexts(r) {
		say("", "%s", text)
	}
	fmt.Fprintf(w, "\n%s", a.table(r))
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
	for i, s := range append(a.left, r.Skipped...) {
		if i == 0 && !any {
			fmt.Fprintln(w)
		}
		say("left out", "%s", clean(s.Reason))
	}
	printVectors(w, a.drawn)
	if rec != nil {
		a.printRecommendation(w, rec)
	}
}

// gramTexts describe the exact Gram matrices that maps are measured against.
func gramTexts(r *approx.Result) []string {
	var list []string
	said := map[approx.Exact]bool{}
	for _, c := range r.Curves {
		if e := c.Exact; e.Lambda > 0 && !said[e] {
			of := "its Gram matrix has"
			if len(c.Config.Steps) > 0 {
				of = "that of " + c.Map + " has"
			}
			list = append(list, fmt.Sprintf("%s the effective dimension %.4g at λ = %.3g, and stable rank %.3g", of, e.Dimension, e.Lambda, e.StableRank))
			said[e] = true
		}
	}
	return list
}

// clean is a reason without the names of packages.
func clean(reason string) string {
	return strings.NewReplacer("feature: ", "", "approx: ", "", "kernel: ", "").Replace(reason)
}

// table is a line for each map and D, maps by their error at the largest.
func (a *approximation) table(r *approx.Result) string {
	lines := [][]string{{"map", "D", "mean abs", "max abs", "rel", "max rel", "within", "bias", "Frob.", "dist.", "Δ1", "Δ2", "dim", "µs", "one", "bytes"}}
	for _, c := range r.Curves {
		for i, p := range c.Points {
			name := c.Map
			if i > 0 {
				name = ""
			}
			lines = append(lines, []string{name, featuresText(p.Features, p.Outputs), withSD(p.MeanAbs), short(p.MaxAbs.Mean), percentOf(p.MeanRel), percentOf(p.MaxRel), percentOf(&p.Within),
				fmt.Sprintf("%+.1g", p.MeanSigned.Mean), statText(p.RelFrobenius), statText(p.Distortion), statText(p.Delta1), statText(p.Delta2), statText(p.Dimension),
				short(p.PerRow), short(p.OneRow), strings.ReplaceAll(bytesText(p.Bytes), " ", "")})
		}
	}
	width := make([]int, len(lines[0]))
	for _, l := range lines {
		for j, cell := range l {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("  " + pad(l[0], width[0]))
		for j := 1; j < len(l); j++ {
			b.WriteString("  " + strings.Repeat(" ", width[j]-utf8.RuneCountInString(l[j])) + l[j])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// featuresText is how many features a map has, with what was asked for if that is more.
func featuresText(asked, has int) string {
	if has < asked {
		return comma(has) + " of " + comma(asked)
	}
	return comma(has)
}

// fewer says of maps that have fewer features than they were asked for how many they have.
func fewer(r *approx.Result) []string {
	var list []string
	for _, c := range r.Curves {
		var asked []string
		last := c.Points[len(c.Points)-1]
		for _, d := range append([]int{last.Features}, c.Repeated...) {
			if d > last.Outputs {
				asked = append(asked, comma(d))
			}
		}
		if len(asked) > 0 {
			list = append(list, fmt.Sprintf("of %s are %s where %s were asked for: the rows that it is fitted to are too few, or alike", c.Map, comma(last.Outputs), strings.Join(asked, " and ")))
		}
	}
	return list
}

// short writes a number with three digits.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 999.5:
		return comma(int(v + 0.5))
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
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

func (a *approximation) printRecommendation(w io.Writer, rec *approx.Recommendation) {
	say := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s%s\n", what, fmt.Sprintf(format, args...))
	}
	kind, measured := "absolute", rec.Point.MeanAbs
	asked, got := short(rec.Goal.Error), short(measured.Mean)
	if rec.Goal.Relative {
		kind, measured = "relative", *rec.Point.MeanRel
		asked, got = percentOf(&approx.Stat{Mean: rec.Goal.Error}), percentOf(&measured)
	}
	fmt.Fprintln(w)
	say("for", "a mean %s error of %s", kind, asked)
	say("take", "%s, measured: error %s, %s µs a row, %s", flagsOf(rec), got, short(rec.PerRow), bytesText(rec.Bytes))
	for i, o := range rec.Offers[1:] {
		what := ""
		if i == 0 {
			what = "others"
		}
		how := "would need, by its rate,"
		if o.Point != nil {
			how = "needs"
		}
		say(what, "%s %s D = %s: %s µs a row, %s", o.Map, how, featuresText(o.Features, o.Outputs), short(o.PerRow), bytesText(o.Bytes))
	}
	if len(rec.Hopeless) > 0 {
		say("", "not in reach of %s", strings.Join(rec.Hopeless, ", "))
	}
	var added []string
	for _, o := range rec.Offers {
		if o.Added > 0 {
			added = append(added, fmt.Sprintf("%s at D = %s", o.Map, comma(o.Added)))
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
		return fmt.Sprintf("--map %s --terms %d (D = %s)", rec.Map, cfg.Terms, comma(rec.Features))
	case cfg.Features == 0:
		return fmt.Sprintf("--map %s (D = %s)", rec.Map, comma(rec.Features))
	}
	text := fmt.Sprintf("--map %s --features %d", rec.Map, rec.Features)
	if rec.Outputs < rec.Features {
		text += fmt.Sprintf(" (on these rows D = %s)", comma(rec.Outputs))
	}
	return text
}
