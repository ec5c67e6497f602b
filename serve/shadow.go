package serve

import (
	"fmt"
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// shadowMeters compare a version that computes requests of another as its shadow.
type shadowMeters struct {
	rows, different, distance, failed, dropped prometheus.Counter
}

// shadowCounters are those of all versions.
type shadowCounters struct {
	rows, different, distance, failed, dropped *prometheus.CounterVec
}

func newShadowCounters(r *prometheus.Registry) *shadowCounters {
	of := func(name, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mercer_shadow_" + name, Help: help}, []string{"model", "version"})
		r.MustRegister(c)
		return c
	}
	return &shadowCounters{
		rows:      of("rows_total", "Rows that a shadow computed."),
		different: of("different_rows_total", "Rows of which a shadow predicted another class or other labels."),
		distance:  of("absolute_difference_total", "Sum of the absolute differences of the numbers that a shadow predicted."),
		failed:    of("failures_total", "Requests on which a shadow failed that were answered."),
		dropped:   of("dropped_rows_total", "Rows that a shadow left out because it was behind."),
	}
}

func (c *shadowCounters) of(model, version string) *shadowMeters {
	l := prometheus.Labels{"model": model, "version": version}
	return &shadowMeters{c.rows.With(l), c.different.With(l), c.distance.With(l), c.failed.With(l), c.dropped.With(l)}
}

// compare answers a request again by another version.
func (m *shadowMeters) compare(c *call, answer func(*call) error, labels []string, numbers []float64, s *Server) {
	defer func() {
		if r := recover(); r != nil {
			m.failed.Inc()
			s.opt.Log.Error("panic", "shadow", c.on.name, "reason", fmt.Sprint(r))
		}
	}()
	defer c.done()
	if err := answer(c); err != nil || c.in == nil {
		m.failed.Inc()
		return
	}
	got, values := c.in.outcome()
	m.rows.Add(float64(c.rows))
	for i := range min(len(got), len(labels)) {
		if got[i] != labels[i] {
			m.different.Inc()
		}
	}
	for i := range min(len(values), len(numbers)) {
		if d := math.Abs(values[i] - numbers[i]); !math.IsInf(d, 0) && d == d {
			m.distance.Add(d)
		}
	}
}
