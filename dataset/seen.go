package dataset

import (
	"cmp"
	"errors"
	"slices"

	"mercer/matrix"
)

// Seen is what the rows of a training had in a column: the range and mean of numbers and of the days of dates, the most frequent category,
// and how often what was there, which tells whether other rows come from where these came from (lab.Drift).
type Seen struct {
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
	Usual string  `json:"usual,omitempty"`

	// Missing is the number of rows without a value, in columns of numbers with Indicator.
	Missing int `json:"missing,omitempty"`

	// Cuts divide a column of numbers: of Sample rows with a value, drawn at random, Below[i] have at most Cuts[i].
	Sample int       `json:"sample,omitempty"`
	Cuts   []float32 `json:"cuts,omitempty"`
	Below  []int     `json:"below,omitempty"`

	// Counts is the number of rows of each category.
	Counts []int `json:"counts,omitempty"`
}

// A column has at most mostCuts cuts. Of more than mostCutColumns columns none has any, and a column of more than mostCounted
// categories no counts, so that they stay a small part of a model.
const mostCuts, mostCutColumns, mostCounted = 24, 400, 2000

// SeenColumns are columns with what a summary of all rows has seen in them. Those of words, levels, hashes and mean targets are
// left as they are.
func SeenColumns(columns []Column, sum *Summary) []Column {
	all, at := slices.Clone(columns), 0
	numbers, places := []*Column(nil), []int(nil)
	for i := range all {
		c := &all[i]
		first := at
		if at += c.Width(); at > len(sum.Columns) {
			break
		}
		switch number := c.Coding == nil || c.Coding.Kind == CodedNumber || c.Coding.Kind == CodedDate; {
		case c.Means != nil || !number:
		case c.Categories == nil:
			s := &sum.Columns[first]
			c.Seen = &Seen{Min: s.Min, Max: s.Max, Mean: s.Mean}
			if c.Indicator {
				c.Seen.Missing = int(sum.Columns[at-1].NonZero)
			}
			if c.Coding == nil || c.Coding.Kind == CodedNumber {
				numbers, places = append(numbers, c), append(places, first)
			}
		case len(c.Categories) > 0:
			usual := 0
			counts := make([]int, len(c.Categories))
			for k := range c.Categories {
				if sum.Columns[first+k].Mean > sum.Columns[first+usual].Mean {
					usual = k
				}
				counts[k] = int(sum.Columns[first+k].NonZero)
			}
			c.Seen = &Seen{Max: 1, Usual: c.Categories[usual]}
			if len(counts) <= mostCounted {
				c.Seen.Counts = counts
			}
		}
	}
	if len(numbers) <= mostCutColumns {
		for i, c := range numbers {
			c.Seen.cut(sampleValues(sum.Sample, places[i], c.Indicator))
		}
	}
	return all
}

// sampleValues are the values of a dimension in rows that have one, in order; with indicator, those where the next dimension is 0.
func sampleValues(x matrix.Rows, at int, indicator bool) []float32 {
	var values []float32
	element := func(i, j int) float32 {
		if x.Dense != nil {
			return x.Dense.Row(i)[j]
		}
		idx, val := x.CSR.Row(i)
		if k, found := slices.BinarySearchFunc(idx, int32(j), cmp.Compare[int32]); found {
			return val[k]
		}
		return 0
	}
	for i := range x.Len() {
		if !indicator || element(i, at+1) == 0 {
			values = append(values, element(i, at))
		}
	}
	slices.Sort(values)
	return values
}

// cut finds the cuts, near the quantiles of a sample in order. Equal values are never divided.
func (s *Seen) cut(values []float32) {
	n := len(values)
	s.Sample = n
	for k := 1; k <= mostCuts; k++ {
		at := k*n/(mostCuts+1) - 1
		if at < 0 || len(s.Cuts) > 0 && values[at] <= s.Cuts[len(s.Cuts)-1] || values[at] == values[n-1] {
			continue
		}
		below, _ := slices.BinarySearchFunc(values, values[at], func(v, cut float32) int {
			if v <= cut {
				return -1
			}
			return 1
		})
		s.Cuts, s.Below = append(s.Cuts, values[at]), append(s.Below, below)
	}
}

// check finds what is wrong with a description that was read from a file.
func (s *Seen) check(c *Column) error {
	rises := len(s.Cuts) == len(s.Below) && s.Sample >= 0 && s.Missing >= 0
	for i, cut := range s.Cuts {
		rises = rises && cut-cut == 0 && s.Below[i] > 0 && s.Below[i] < s.Sample && (i == 0 || cut > s.Cuts[i-1] && s.Below[i] > s.Below[i-1])
	}
	for _, n := range s.Counts {
		rises = rises && n >= 0
	}
	if !rises || s.Counts != nil && len(s.Counts) != len(c.Categories) || !(s.Min <= s.Max) {
		return errSeen
	}
	return nil
}

var errSeen = errors.New("what its training has seen makes no sense")
