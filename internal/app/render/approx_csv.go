package render

import (
	"encoding/csv"
	"io"
	"strconv"
)

// CSV writes the numbers of Text, a line for each map and number of features. Columns are called as in JSON, and what is not
// defined on the rows is an empty cell.
func (a *Approx) CSV(w io.Writer) error {
	rows := [][]string{{"map", "features", "outputs", "mean_abs", "mean_abs_sd", "max_abs", "mean_rel", "mean_rel_sd", "max_rel", "rel_share",
		"mean_signed", "mean_signed_sd", "rms", "rms_bias", "rms_spread", "rel_frobenius", "distortion", "distortion_sd", "delta1", "delta2",
		"effective_dimension", "us_per_row", "us_one_row", "bytes", "centred"}}
	for _, l := range a.JSON().Results {
		row := []string{l.Map, strconv.Itoa(l.Features), strconv.Itoa(l.Outputs)}
		for _, v := range []*float64{&l.MeanAbs, &l.MeanAbsSD, &l.MaxAbs, l.MeanRel, l.MeanRelSD, l.MaxRel, &l.RelShare, &l.MeanSigned,
			&l.MeanSignedSD,
			&l.RMS, &l.RMSBias, &l.RMSSpread, l.RelFrobenius, l.Distortion, l.DistortionSD, l.Delta1, l.Delta2, l.Dimension, &l.PerRow, &l.OneRow} {
			row = append(row, exactNumber(v))
		}
		rows = append(rows, append(row, strconv.FormatInt(l.Bytes, 10), strconv.FormatBool(l.Centred)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// exactNumber writes a number for programs, with all its digits; "" if there is none.
func exactNumber(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
