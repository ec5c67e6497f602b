// Package serve answers requests with the predictions of models: by the Open Inference Protocol (REST with its binary
// extension, and gRPC), by the protocols of KServe v1 and MLflow, and by a plain one for people, with health, metrics,
// and a page.
//
// Nothing in a request is trusted: bodies, rows, depth and waiting are bounded, and no part of one is ever a path of a file.
package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"mercer/internal/engine/vec"
)

// Options bound what a server does. The zero value is right for most.
type Options struct {
	// Body bounds the bytes of a request, and Rows its rows; 0 means 32 MiB and 100,000.
	Body int64
	Rows int

	// Memory bounds the bytes that all requests hold at a time, about: bodies, rows and answers; 0 means 1 GiB. A request beyond it is
	// refused with status 503, one that would take more alone with 413.
	Memory int64

	// Queue bounds the rows that wait to be computed; 0 means 16,384. More are refused with status 503.
	Queue int

	// Timeout is the time a request may take if it does not say less itself; 0 means 10 s.
	Timeout time.Duration

	// Tokens are those of which a request must have one, as "Authorization: Bearer TOKEN"; nil lets anybody in. Health and
	// readiness need none.
	Tokens []string

	// Origins are the web pages that may send requests from a browser ("*": all); nil means only the server's own.
	Origins []string

	// Control allows clients to load and unload models.
	Control bool

	// Profile shows the profiles of net/http/pprof under /debug/pprof/.
	Profile bool

	// Backgrounds are files of rows with which contributions compare (?explain=1), by the name of the model, "" for all others;
	// without one they are a few rows that are made from the means and deviations of the training.
	Backgrounds map[string]string

	// Routes say which models answer for a name, which may be that of a model or another: an alias has one target, a canary
	// release several with shares. Shadows are models that compute requests for a name too, whose answers are
	// compared and thrown away (mercer_shadow_… in the metrics).
	Routes  map[string][]Target
	Shadows map[string]Target

	// Log gets a line for each request, nil none.
	Log *slog.Logger

	meters *allMeters
	places int // for products at a time
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	models  *Models
	opt     Options
	mux     *http.ServeMux
	meters  *allMeters
	closing atomic.Bool
	bodies  sync.Pool
	memory  memory

	access  access
	openAPI []byte
	grpc    *grpc.Server
	aside   *turns

	routes    map[string]*routing
	shadowing chan struct{} // has room for the shadows that compute at a time
	inFlight  atomic.Int64
	probed    atomic.Bool // somebody has asked for readiness
}

// Handler makes a server of models, for a program's own http.Server.
func Handler(models *Models, opt Options) *Server {
	opt.Body = cmp.Or(opt.Body, 32<<20)
	opt.Rows = cmp.Or(opt.Rows, 100_000)
	opt.Queue = cmp.Or(opt.Queue, 16_384)
	opt.Memory = cmp.Or(opt.Memory, 1<<30)
	opt.Timeout = cmp.Or(opt.Timeout, 10*time.Second)
	opt.places = vec.Threads()
	opt.meters = newMeters()
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{models: models, opt: opt, mux: http.NewServeMux(), meters: opt.meters}
	s.routes, s.shadowing = newRoutes(&opt), make(chan struct{}, 2*opt.places)
	s.aside = newTurns(max(1, opt.places/2), 64)
	s.memory.most = opt.Memory
	s.bodies.New = func() any { return new(bytes.Buffer) }
	s.access.adopt(&opt)
	models.adopt(opt)
	s.meters.watch(models)
	s.handle()
	s.grpc = s.newGRPC()
	return s
}

// Drain makes readiness fail, so that nothing new is sent here. Requests are answered all the same.
func (s *Server) Drain() { s.closing.Store(true) }

// route is a path with what answers it. The documentation in OpenAPI comes from the same table.
type route struct {
	method, path string
	name         string // of the protocol's operation, for metrics
	open         bool   // needs no token
	control      bool   // only with Options.Control
	handle       func(*call) error
	doc          *operation
}

func (s *Server) handle() {
	for _, r := range s.table() {
		if r.control && !s.opt.Control {
			r.handle = func(*call) error { return errControl }
		}
		s.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, r) })
	}
	if s.opt.Profile {
		s.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		s.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		s.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		s.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	}
	s.openAPI = s.describe()
}

// httpError is an error with a status.
type httpError struct {
	status int
	error
}

func (e *httpError) Unwrap() error { return e.error }

func badf(format string, args ...any) error {
	return &httpError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// call is one request.
type call struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	ctx  context.Context
	body []byte
	in   *input
	on   *served
	rows int

	lease  lease
	asked  string // the name that the request has for the model
	shadow bool   // on is to compute it, whatever the request says
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	if r.ProtoMajor == 1 && s.closing.Load() {
		w.Header().Set("Connection", "close") // so that the client sends nothing more here while it is closed
	}
	if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		l := lease{of: &s.memory}
		defer l.release()
		r.Body = &leased{ReadCloser: r.Body, lease: &l, most: math.MaxInt64} // gRPC bounds messages itself
		s.grpc.ServeHTTP(w, r)
		return
	}
	if len(s.opt.Origins) > 0 && s.crossOrigin(w, r) {
		return
	}
	if err := s.access.strangers.Check(r); err != nil && !slices.Contains(s.opt.Origins, "*") {
		s.serve(w, r, &route{name: "stranger", open: true, handle: (*call).stranger})
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.serve(w, r, &route{name: "unknown", open: true, handle: (*call).unknown})
		return
	}
	if s.opt.Profile && strings.HasPrefix(r.URL.Path, "/debug/pprof/") && !s.access.allowed(r.Header.Get("Authorization")) {
		fail(w, http.StatusUnauthorized, errToken)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// unknown answers a request that no route takes: with the methods of the path, if it has others.
func (c *call) unknown() error {
	var others []string
	for _, m := range []string{"GET", "POST"} {
		other := c.r.Clone(c.ctx)
		other.Method = m
		if _, pattern := c.mux.Handler(other); pattern != "" && m != c.r.Method {
			others = append(others, m)
		}
	}
	if others != nil {
		c.w.Header().Set("Allow", strings.Join(others, ", "))
		return &httpError{http.StatusMethodNotAllowed, fmt.Errorf("%s takes %s", shortened([]byte(c.r.URL.Path)), strings.Join(others, " or "))}
	}
	return &notFound{fmt.Sprintf("there is nothing at %s; /openapi.json lists what there is", shortened([]byte(c.r.URL.Path)))}
}

// serve answers a request by a route: token, deadline, body, answer, log and metrics.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to *route) {
	start := time.Now()
	id := requestID(r.Header.Get("X-Request-Id"))
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	c := &call{Server: s, w: status, r: r, lease: lease{of: &s.memory}}
	err := s.answer(c, to)
	c.done()
	code := status.status
	if err != nil {
		code = statusOf(err)
		if again := (*overloaded)(nil); errors.As(err, &again) {
			w.Header().Set("Retry-After", strconv.Itoa(int(again.after/time.Second)))
		}
		if !status.wrote {
			fail(status, code, err)
		}
	}
	took := time.Since(start)
	s.meters.request(to.name, code, took)
	if c.on != nil && err == nil {
		c.on.meters.rows(c.rows)
	}
	s.logged(c, to.open, code, took, err, slog.String("id", id), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.String("from", r.RemoteAddr), trace(r.Header.Get("Traceparent")))
}

// logged writes a line about a request.
func (s *Server) logged(c *call, open bool, code int, took time.Duration, err error, what ...slog.Attr) {
	level := slog.LevelInfo
	if open {
		level = slog.LevelDebug
	}
	if err != nil {
		level = slog.LevelWarn
	}
	if !s.opt.Log.Enabled(context.Background(), level) {
		return
	}
	what = append(what, slog.Int("status", code), slog.Duration("took", took))
	if c.on != nil {
		what = append(what, slog.String("model", c.on.name), slog.String("version", c.on.version), slog.Int("rows", c.rows))
	}
	if err != nil {
		what = append(what, slog.String("error", err.Error()))
	}
	s.opt.Log.LogAttrs(context.Background(), level, "request", what...)
}

// trace is the trace of a W3C traceparent header, so that a line of the log is found with it.
func trace(parent string) slog.Attr {
	if part := strings.Split(parent, "-"); len(part) >= 4 && len(part[1]) == 32 {
		return slog.String("trace", part[1])
	}
	return slog.Attr{} // which is left out
}

// answer reads the request and answers it. A panic is a fault of the server, and ends this request alone.
func (s *Server) answer(c *call, to *route) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.in = nil // nobody knows what is in it
			s.opt.Log.Error("panic", "path", c.r.URL.Path, "reason", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = &httpError{http.StatusInternalServerError, errors.New("the server failed on this request")}
		}
	}()
	if !to.open && !s.access.allowed(c.r.Header.Get("Authorization")) {
		scheme := "Bearer"
		if strings.Contains(c.r.Header.Get("Accept"), "text/html") {
			scheme = `Basic realm="Mercer: a token as the password"`
		}
		c.w.Header().Set("WWW-Authenticate", scheme)
		return &httpError{http.StatusUnauthorized, errToken}
	}
	timeout, err := timeoutOf(c.r, s.opt.Timeout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	defer cancel()
	c.ctx = ctx
	if c.r.Method == http.MethodPost && to.method != "" {
		buffer, err := c.readBody()
		if err != nil {
			return err
		}
		defer func() {
			if buffer.Cap() <= mostKept {
				buffer.Reset()
				s.bodies.Put(buffer)
			}
		}()
		c.body = buffer.Bytes()
	}
	if err := to.handle(c); err != nil {
		return err
	}
	s.shadows(c, to.handle)
	return nil
}

// timeoutOf is the time that a request may take: that of its header X-Request-Timeout or grpc-timeout, if that is less.
func timeoutOf(r *http.Request, most time.Duration) (time.Duration, error) {
	asked := time.Duration(0)
	if text := r.Header.Get("X-Request-Timeout"); text != "" {
		d, err := time.ParseDuration(text)
		if seconds, bad := strconv.ParseFloat(text, 64); bad == nil && seconds < 1e6 {
			d, err = time.Duration(seconds*float64(time.Second)), nil
		}
		if err != nil || d <= 0 {
			return 0, badf("X-Request-Timeout: %q is no time; expected seconds, or a number with a unit such as 200ms", shortened([]byte(text)))
		}
		asked = d
	} else if text := r.Header.Get("Grpc-Timeout"); text != "" {
		unit := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}[text[len(text)-1]]
		n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
		if unit == 0 || err != nil || len(text) > 9 || n == 0 {
			return 0, badf("grpc-timeout: %q is no time; expected digits and one of H, M, S, m, u, n", shortened([]byte(text)))
		}
		if n < uint64(most/unit)+1 {
			asked = time.Duration(n) * unit
		}
	}
	if asked > 0 && asked < most {
		return asked, nil
	}
	return most, nil
}

// model finds the model of a request, and memory for its rows.
func (c *call) model(name, version string) error {
	c.asked = name
	if version != "" {
		c.asked = name + "/" + version // has no shadow
	}
	on := c.on
	if !c.shadow {
		var err error
		if on, err = c.find(c.r, name, version); err != nil {
			return err
		}
	}
	if len(c.routes) > 0 && c.w != nil {
		c.w.Header().Set("X-Model", on.name+"/"+on.version)
	}
	c.on = on
	if !c.shadow { // so that what is refused under overload takes no time to be parsed
		if err := on.gather.refuse(c.ctx); err != nil {
			return err
		}
	}
	if c.in, _ = on.inputs.Get().(*input); c.in == nil || c.lease.take(c.in.size()) != nil {
		c.in = newInput(on.model, c.opt.Rows)
	}
	c.in.begin(c.body, &c.lease)
	return nil
}

// done gives back the memory of a request that is answered.
func (c *call) done() {
	if c.in != nil {
		if c.in.lease = nil; c.in.size() <= mostKept {
			c.on.inputs.Put(c.in)
		}
	}
	c.lease.release()
}

// score computes the scores of the rows that were read.
func (c *call) score() error {
	in := c.in
	c.rows = in.x.Rows
	if err := c.lease.take(max(0, 4*int64(in.x.Rows)*int64(in.m.Outputs())-4*int64(cap(in.scores.Data)))); err != nil {
		return err
	}
	in.scores.Reshape(in.x.Rows, in.m.Outputs())
	if in.x.Rows == 0 {
		return nil
	}
	if !c.shadow {
		c.on.meters.drift.count(&in.x)
	}
	if err := c.on.gather.run(c.ctx, &in.scores, &in.x); err != nil {
		return err
	}
	for i := range in.scores.Rows {
		for _, v := range in.scores.Row(i) {
			if v-v != 0 {
				return badf("row %d (from 1): its values are too large to score in float32", i+1)
			}
		}
	}
	return nil
}

// json writes an answer.
func (c *call) json(body []byte) error { return c.written("application/json", body) }

// written writes an answer of another type.
func (c *call) written(kind string, body []byte) error {
	c.w.Header().Set("Content-Type", kind)
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if _, err := c.w.Write(body); err != nil {
		return fmt.Errorf("the client is gone: %w", err)
	}
	return nil
}

// statusOf is the HTTP status of an error.
func statusOf(err error) int {
	var given *httpError
	var none *notFound
	var full *overloaded
	switch {
	case errors.As(err, &given):
		return given.status
	case errors.As(err, &none):
		return http.StatusNotFound
	case errors.As(err, &full):
		return http.StatusServiceUnavailable
	case errors.Is(err, errDeadline):
		return http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		return 499 // the client is gone, and nobody reads it
	}
	return http.StatusBadRequest // what is left is about the rows
}

// fail writes an error.
func fail(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, string(appendText([]byte(`{"error":`), err.Error()))+"}\n")
}

// statusWriter remembers what was written.
type statusWriter struct {
	http.ResponseWriter
	status int
	wrote  bool
}

func (w *statusWriter) WriteHeader(status int) {
	w.status, w.wrote = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// requestID is the id that a request has, or a new one.
func requestID(given string) string {
	if given != "" && len(given) <= 128 && !strings.ContainsFunc(given, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return given
	}
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
