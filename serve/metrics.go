package serve

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// allMeters are the metrics of a server, in a registry of its own.
type allMeters struct {
	registry *prometheus.Registry
	handler  http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	rowCount *prometheus.CounterVec
	batches  *prometheus.HistogramVec
	waits    *prometheus.HistogramVec
	computes *prometheus.HistogramVec
	shadows  *shadowCounters
	drifts   *driftCounters
}

// meters are those of a version of a model.
type meters struct {
	rowCount prometheus.Counter
	batches  prometheus.Observer
	waits    prometheus.Observer
	computes prometheus.Observer
	drift    *drift
	shadow   func() *shadowMeters // made when the version first computes as a shadow
}

// durations are the bounds of histograms of seconds.
var durations = []float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

func newMeters() *allMeters {
	m := &allMeters{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mercer_requests_total",
			Help: "Requests answered, by operation and HTTP status."}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "mercer_request_duration_seconds",
			Help: "Time from the first byte of a request to the last of its answer.", Buckets: durations}, []string{"operation"}),
		rowCount: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mercer_rows_total",
			Help: "Rows predicted."}, []string{"model", "version"}),
		batches: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "mercer_batch_rows",
			Help: "Rows that were computed together.", Buckets: prometheus.ExponentialBuckets(1, 4, 9)}, []string{"model", "version"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "mercer_queue_duration_seconds",
			Help: "Time that the rows of a request, or a part of a large one, waited to be computed.", Buckets: durations}, []string{"model", "version"}),
		computes: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "mercer_compute_duration_seconds",
			Help: "Time of computing a batch.", Buckets: durations}, []string{"model", "version"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.rowCount, m.batches, m.waits, m.computes, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.drifts = newDriftCounters(m.registry)
	m.shadows = newShadowCounters(m.registry)
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	return m
}

// watch adds what is read from the models when somebody asks.
func (m *allMeters) watch(models *Models) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	sum := func(of func(*served) float64) func() float64 {
		return func() (total float64) {
			for _, versions := range models.now.Load().byName {
				for _, v := range versions {
					total += of(v)
				}
			}
			return total
		}
	}
	gauge("mercer_queue_rows", "Rows that wait to be computed.", sum(func(v *served) float64 { n, _ := v.gather.waits(); return float64(n) }))
	gauge("mercer_queue_seconds", "Time that rows which come now are expected to wait.", sum(func(v *served) float64 { _, s := v.gather.waits(); return s }))
	gauge("mercer_models", "Versions of models that are served.", sum(func(*served) float64 { return 1 }))
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "mercer_model_loads_total",
		Help: "Model files that were loaded."}, func() float64 { return float64(models.loads.Load()) }))
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "mercer_model_load_failures_total",
		Help: "Model files that could not be loaded."}, func() float64 { return float64(models.failures.Load()) }))
}

func (m *allMeters) of(v *served) *meters {
	return &meters{rowCount: m.rowCount.WithLabelValues(v.name, v.version), batches: m.batches.WithLabelValues(v.name, v.version),
		waits: m.waits.WithLabelValues(v.name, v.version), computes: m.computes.WithLabelValues(v.name, v.version),
		drift:  m.drifts.of(v.name, v.version, v.model),
		shadow: sync.OnceValue(func() *shadowMeters { return m.shadows.of(v.name, v.version) })}
}

func (m *allMeters) request(operation string, status int, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
}

// waited counts rows that were in the queue.
func (m *meters) waited(d time.Duration) {
	if m != nil {
		m.waits.Observe(d.Seconds())
	}
}

// computed counts a batch.
func (m *meters) computed(rows int, seconds float64) {
	if m != nil {
		m.batches.Observe(float64(rows))
		m.computes.Observe(seconds)
	}
}

func (m *meters) rows(n int) { m.rowCount.Add(float64(n)) }

func (c *call) metrics() error {
	c.meters.handler.ServeHTTP(c.w, c.r)
	return nil
}
