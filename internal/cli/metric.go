package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"mercer/metric"
	"mercer/train"
)

// metricFlags are the flags of a learned metric.
func metricFlags(cmd *cobra.Command, c *train.Config) {
	f := cmd.Flags()
	f.StringVar(&c.Metric.Form, "metric", "", "distances that are learned from the gradients of a first model: none, "+
		strings.Join(metric.Forms, ", ")+" (default none); of rfm, which always learns them, the only form to take, diagonal or full")
	f.IntVar(&c.Metric.Rounds, "metric-rounds", 0, "most rounds in which the metric is learned (default 5)")
	f.IntVar(&c.Metric.Rank, "metric-rank", 0, "most axes of a low-rank metric (default: a quarter of the dimensions, 16 at most)")
	f.IntVar(&c.Metric.Rows, "metric-rows", 0, "rows that the metric is learned from, drawn at random (default 10,000)")
	f.IntVar(&c.Metric.Landmarks, "metric-landmarks", 0, "landmarks of the models that the metric is learned from (default 1,000)")
}
