package render

import (
	"mercer/feature"
	"mercer/internal/search/approx"
	"mercer/kernel"
)

// ApproxJSON is what approx --json prints. Means are over the seeds; what is not defined on
// the rows is null.
type ApproxJSON struct {
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
	Vectors   []VectorLine      `json:"projection_vectors,omitempty"`
	Converted *convertedJSON    `json:"converted,omitempty"`
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
	Centred      bool     `json:"centred"` // against the centred kernel: the map keeps distances, not inner products
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

func newApproxLine(name string, centred bool, e approx.Exact, p *approx.Point) approxLine {
	l := approxLine{Map: name, Features: p.Features, Outputs: p.Outputs, MeanAbs: p.MeanAbs.Mean, MeanAbsSD: p.MeanAbs.SD,
		MaxAbs:  p.MaxAbs.Mean,
		MeanRel: meanOf(p.MeanRel), MeanRelSD: sdOf(p.MeanRel), MaxRel: meanOf(p.MaxRel), RelShare: p.Within.Mean,
		MeanSigned: p.MeanSigned.Mean, MeanSignedSD: p.MeanSigned.SD, RMS: p.RMS, RMSBias: p.Bias, RMSSpread: p.Spread,
		RelFrobenius: meanOf(p.RelFrobenius), Distortion: meanOf(p.Distortion), DistortionSD: sdOf(p.Distortion),
		Delta1: meanOf(p.Delta1), Delta2: meanOf(p.Delta2), Dimension: meanOf(p.Dimension),
		PerRow: p.PerRow, OneRow: p.OneRow, Bytes: p.Bytes, Centred: centred}
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

// JSON is what approx --json prints.
func (a *Approx) JSON() ApproxJSON {
	r, rec := a.Result, a.Recommendation
	out := ApproxJSON{Data: a.Data, N: a.Total, Rows: r.Rows, D: a.Dim, Pairs: r.Pairs, Seeds: r.Seeds, Kernel: a.Kernel, Scale: a.Scale,
		Why: a.Why, Vectors: a.Vectors, Converted: a.Converted.json()}
	for _, c := range r.Curves {
		for i := range c.Points {
			out.Results = append(out.Results, newApproxLine(c.Map, c.Centred, c.Exact, &c.Points[i]))
		}
		for i, rate := range []*approx.Rate{c.Rate, c.RateRel} {
			if rate != nil {
				out.Rates = append(out.Rates, rateLine{c.Map, errorName(i == 1), rate.Exponent, rate.SE, rate.Constant})
			}
		}
	}
	for _, s := range a.skipped() {
		out.Skipped = append(out.Skipped, skippedLine{s.Map, s.Reason})
	}
	if rec != nil {
		l := &recommendLine{Asked: rec.Goal.Error, Error: errorName(rec.Goal.Relative), Map: rec.Map, Features: rec.Features,
			Measured: newApproxLine(rec.Map, feature.Centred(rec.Config), rec.Exact, rec.Point), Config: rec.Config, Hopeless: rec.Hopeless}
		for _, o := range rec.Offers {
			l.Offers = append(l.Offers, offerLine{o.Map, o.Features, o.Outputs, o.Error, o.Point != nil, o.PerRow, o.Bytes, o.Added})
		}
		out.Recommend = l
	}
	return out
}
