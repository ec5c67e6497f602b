package serve

import (
	"github.com/prometheus/client_golang/prometheus"

	"mercer/dataset"
	"mercer/matrix"
	"mercer/model"
)

// mostDrifting bounds the columns of a model that are counted by name; those behind them are counted together, as "".
const mostDrifting = 200

// drift counts what requests have and the training had not: numbers out of the range of a column, and unknown categories.
type drift struct {
	columns []driftColumn
	rows    prometheus.Counter // with any of it
}

// driftColumn is a column at the dimensions [at, end).
type driftColumn struct {
	at, end  int
	one      bool // of categories
	min, max float32
	strange  prometheus.Counter
}

// driftCounters are those of all versions.
type driftCounters struct{ values, rows *prometheus.CounterVec }

func newDriftCounters(r *prometheus.Registry) *driftCounters {
	d := &driftCounters{
		values: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mercer_unseen_values_total",
			Help: "Numbers out of the range of the training, and categories that it did not have, by column."}, []string{"model", "version", "column"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mercer_unseen_rows_total",
			Help: "Rows with such a value."}, []string{"model", "version"}),
	}
	r.MustRegister(d.values, d.rows)
	return d
}

// of are the counters of a version, nil if the model knows nothing of its training's columns.
func (d *driftCounters) of(name, version string, m *model.Model) *drift {
	out, at := &drift{}, 0
	for i := range m.Info().Schema.Columns {
		c := &m.Info().Schema.Columns[i]
		first := at
		if at += c.Width(); c.Seen == nil || c.Means != nil || c.Coding != nil && c.Coding.Kind == dataset.CodedDate {
			continue
		}
		label := c.Name
		if len(out.columns) >= mostDrifting {
			label = ""
		}
		col := driftColumn{at: first, end: at, one: c.Categories != nil, min: float32(c.Seen.Min), max: float32(c.Seen.Max),
			strange: d.values.WithLabelValues(name, version, label)}
		if c.Indicator {
			col.end--
		}
		out.columns = append(out.columns, col)
	}
	if out.columns == nil {
		return nil
	}
	out.rows = d.rows.WithLabelValues(name, version)
	return out
}

// count counts the rows of a request.
func (d *drift) count(x *matrix.Dense) {
	if d == nil {
		return
	}
	for i := range x.Rows {
		row, strange := x.Row(i), false
		for k := range d.columns {
			c := &d.columns[k]
			known := false
			if c.one {
				for _, v := range row[c.at:c.end] {
					known = known || v != 0
				}
			} else {
				known = row[c.at] >= c.min && row[c.at] <= c.max
			}
			if !known {
				c.strange.Inc()
				strange = true
			}
		}
		if strange {
			d.rows.Inc()
		}
	}
}
