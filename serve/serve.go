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
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// Options bound what a server does. The zero value is right for most.
type Options struct {
	// Body bounds the bytes of a request, and Rows its rows; 0 means 32 MiB and 100,000.
	Body int64
	Rows int

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
	tokens  [][]byte
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
	opt.Timeout = cmp.Or(opt.Timeout, 10*time.Second)
	opt.places = runtime.GOMAXPROCS(0)
	opt.meters = newMeters()
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{models: models, opt: opt, mux: http.NewServeMux(), meters: opt.meters}
	s.routes, s.shadowing = newRoutes(&opt), make(chan struct{}, 2*opt.places)
	s.aside = newTurns(max(1, opt.places/2), 64)
	s.bodies.New = func() any { return new(bytes.Buffer) }
	for _, t := range opt.Tokens {
		s.tokens = append(s.tokens, []byte(t))
	}
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
			r.handle = func(*call) error {
				return &httpError{http.StatusForbidden, errors.New("clients may not load and unload models; start the server with model control")}
			}
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
		s.grpc.ServeHTTP(w, r)
		return
	}
	if len(s.opt.Origins) > 0 && s.crossOrigin(w, r) {
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.unknown(w, r)
		return
	}
	if s.opt.Profile && strings.HasPrefix(r.URL.Path, "/debug/pprof/") && !s.allowed(r) {
		fail(w, http.StatusUnauthorized, errToken)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// unknown answers a request that no route takes: with the methods of the path, if it has others.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	var others []string
	for _, m := range []string{"GET", "POST"} {
		other := r.Clone(r.Context())
		other.Method = m
		if _, pattern := s.mux.Handler(other); pattern != "" && m != r.Method {
			others = append(others, m)
		}
	}
	if others != nil {
		w.Header().Set("Allow", strings.Join(others, ", "))
		fail(w, http.StatusMethodNotAllowed, fmt.Errorf("%s takes %s", shortened([]byte(r.URL.Path)), strings.Join(others, " or ")))
		return
	}
	fail(w, http.StatusNotFound, fmt.Errorf("there is nothing at %s; /openapi.json lists what there is", shortened([]byte(r.URL.Path))))
}

// crossOrigin allows pages of other origins to send requests; true if that is all there was to answer.
func (s *Server) crossOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	w.Header().Add("Vary", "Origin")
	for _, o := range s.opt.Origins {
		if o != "*" && o != origin {
			continue
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Inference-Header-Content-Length, X-Request-Id, X-Request-Timeout")
		h.Set("Access-Control-Allow-Methods", "GET, POST")
		h.Set("Access-Control-Expose-Headers", "Inference-Header-Content-Length, X-Request-Id, Retry-After")
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return true
	}
	return false
}

var errToken = errors.New("the request needs a valid token: Authorization: Bearer TOKEN")

// allowed says whether a request has a token, in a time that tells nothing about those there are.
func (s *Server) allowed(r *http.Request) bool {
	if s.tokens == nil {
		return true
	}
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	found := 0
	for _, t := range s.tokens {
		found |= subtle.ConstantTimeCompare([]byte(got), t)
	}
	return ok && found == 1
}

// serve answers a request by a route: token, deadline, body, answer, log and metrics.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to *route) {
	start := time.Now()
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 128 || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
		id = newID()
	}
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	c := &call{Server: s, w: status, r: r}
	err := s.answer(c, to)
	if c.in != nil {
		c.on.inputs.Put(c.in)
	}
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
	if s.opt.Log.Enabled(r.Context(), slog.LevelInfo) {
		s.logged(c, to, id, code, took, err)
	}
}

func (s *Server) logged(c *call, to *route, id string, code int, took time.Duration, err error) {
	attributes := []slog.Attr{slog.String("id", id), slog.String("method", c.r.Method), slog.String("path", c.r.URL.Path),
		slog.Int("status", code), slog.Duration("took", took), slog.String("from", c.r.RemoteAddr)}
	if c.on != nil {
		attributes = append(attributes, slog.String("model", c.on.name), slog.String("version", c.on.version), slog.Int("rows", c.rows))
	}
	level := slog.LevelInfo
	if to.open {
		level = slog.LevelDebug
	}
	if err != nil {
		attributes = append(attributes, slog.String("error", err.Error()))
		level = slog.LevelWarn
	}
	s.opt.Log.LogAttrs(c.r.Context(), level, "request", attributes...)
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
	if !to.open && !s.allowed(c.r) {
		c.w.Header().Set("WWW-Authenticate", "Bearer")
		return &httpError{http.StatusUnauthorized, errToken}
	}
	timeout, err := timeoutOf(c.r, s.opt.Timeout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	defer cancel()
	c.ctx = ctx
	if c.r.Method == http.MethodPost {
		buffer := s.bodies.Get().(*bytes.Buffer)
		defer func() {
			const most = 16 << 20 // a large one is not kept
			if buffer.Cap() <= most {
				buffer.Reset()
				s.bodies.Put(buffer)
			}
		}()
		limited := http.MaxBytesReader(c.w, c.r.Body, s.opt.Body)
		if n := c.r.ContentLength; n > s.opt.Body {
			return &httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has %d bytes; at most %d are taken", n, s.opt.Body)}
		}
		buffer.Grow(int(max(0, min(c.r.ContentLength, 1<<20))) + bytes.MinRead) // more only as it comes
		if _, err := buffer.ReadFrom(limited); err != nil {
			var large *http.MaxBytesError
			if errors.As(err, &large) {
				return &httpError{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", s.opt.Body)}
			}
			return badf("the body could not be read: %w", err)
		}
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
	c.in = on.inputs.Get()
	if c.in.m == nil {
		*c.in = *newInput(on.model, c.opt.Rows)
	}
	c.in.begin(c.body)
	return nil
}

// score computes the scores of the rows that were read.
func (c *call) score() error {
	in := c.in
	c.rows = in.x.Rows
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

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
