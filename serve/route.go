package serve

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Target is where requests for a name go: a model, "" being the only one, with a version, "" being the default, and its share of
// the requests. Shares need not add up to 1.
type Target struct {
	Model, Version string
	Share          float64
}

// ParseTargets reads "MODEL[/VERSION][:SHARE],…"; a share that is not given is 1.
func ParseTargets(text string) (all []Target, err error) {
	for part := range strings.SplitSeq(text, ",") {
		t := Target{Share: 1}
		part, share, given := strings.Cut(part, ":")
		if given {
			if t.Share, err = strconv.ParseFloat(share, 64); err != nil || !(t.Share >= 0) || math.IsInf(t.Share, 0) {
				return nil, fmt.Errorf("%q is no share; expected a number that is not negative", share)
			}
		}
		if t.Model, t.Version, _ = strings.Cut(part, "/"); t.Model == "" {
			return nil, fmt.Errorf("%q names no model; expected MODEL, MODEL/VERSION, or either with :SHARE", part)
		}
		all = append(all, t)
	}
	if !slices.ContainsFunc(all, func(t Target) bool { return t.Share > 0 }) {
		return nil, fmt.Errorf("%q: no share is more than 0", text)
	}
	return all, nil
}

// route are the targets of a name, and how many requests have come without a key.
type routing struct {
	targets []Target
	shadow  *Target
	count   atomic.Uint64
}

func newRoutes(opt *Options) map[string]*routing {
	all := map[string]*routing{}
	of := func(name string) *routing {
		if all[name] == nil {
			all[name] = &routing{}
		}
		return all[name]
	}
	for name, targets := range opt.Routes {
		of(name).targets = targets
	}
	for name, target := range opt.Shadows {
		of(name).shadow = &target
	}
	return all
}

// Check fails if a route or a shadow leads to a model that is not served, or an origin is none.
func (s *Server) Check() error {
	if s.access.wrong != nil {
		return s.access.wrong
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range s.routes {
			if !yield(name) {
				return
			}
		}
	}) {
		r := s.routes[name]
		targets := r.targets
		if r.shadow != nil {
			targets = append(slices.Clone(targets), *r.shadow)
		}
		for _, t := range targets {
			if _, err := s.models.find(t.Model, t.Version); err != nil {
				return fmt.Errorf("the requests for %q: %w", name, err)
			}
		}
		if _, err := s.models.find(name, ""); err != nil && r.targets == nil {
			return fmt.Errorf("the shadow of %q: %w", name, err)
		}
	}
	return nil
}

// find is Models.find after the routes: a name that has targets goes to one of them by its share. Requests with one
// X-Route-Key always go to the same. A target that is not served leaves its share to the others.
func (s *Server) find(r *http.Request, name, version string) (*served, error) {
	if len(s.routes) == 0 {
		return s.models.find(name, version)
	}
	if t := s.models.now.Load(); name == "" && len(t.names) == 1 {
		name = t.names[0]
	}
	to := s.routes[name]
	if to == nil || to.targets == nil {
		return s.models.find(name, version)
	}
	if version != "" { // of the model that the name stands for
		on, err := s.models.find(name, version)
		if err != nil && len(to.targets) == 1 {
			return s.models.find(to.targets[0].Model, version)
		}
		return on, err
	}
	var there []*served
	var ends []float64
	sum, failed := 0.0, error(nil)
	for _, t := range to.targets {
		on, err := s.models.find(t.Model, t.Version)
		if err != nil {
			failed = err
			continue
		}
		sum += t.Share
		there, ends = append(there, on), append(ends, sum)
	}
	if sum == 0 {
		if failed == nil {
			failed = &notFound{fmt.Sprintf("the targets of %q have no share of the requests", name)}
		}
		return nil, failed
	}
	at := to.place(r) * sum
	for i, end := range ends {
		if at < end {
			return there[i], nil
		}
	}
	return there[len(there)-1], nil
}

// place is where in [0, 1) a request falls: by the hash of its key, or so that shares are those of any run of requests.
func (r *routing) place(req *http.Request) float64 {
	if req != nil {
		if key := req.Header.Get("X-Route-Key"); key != "" {
			h := fnv.New64a()
			_, _ = h.Write([]byte(key))
			v := h.Sum64() // FNV leaves its high bits alike for short keys
			v ^= v >> 33
			v *= 0xff51afd7ed558ccd
			v ^= v >> 33
			return float64(v>>11) / (1 << 53)
		}
	}
	const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ divided by the golden ratio
	return float64(r.count.Add(1)*golden>>11) / (1 << 53)
}

// shadows lets the shadow of a request's name compute it too, after it was answered. What comes out is compared and thrown
// away. answer is what answered it.
func (s *Server) shadows(c *call, answer func(*call) error) {
	if len(s.routes) == 0 || c.rows == 0 || c.shadow {
		return
	}
	name := c.asked
	if t := s.models.now.Load(); name == "" && len(t.names) == 1 {
		name = t.names[0]
	}
	to := s.routes[name]
	if to == nil || to.shadow == nil {
		return
	}
	on, err := s.models.find(to.shadow.Model, to.shadow.Version)
	if err != nil || on == c.on {
		return
	}
	select {
	case s.shadowing <- struct{}{}:
	default:
		on.meters.shadow().dropped.Add(float64(c.rows))
		return
	}
	labels, numbers := c.in.outcome()
	again := &call{Server: s, w: httptest.NewRecorder(), body: bytes.Clone(c.body), shadow: true, on: on, lease: lease{of: &s.memory}}
	if c.r != nil {
		again.r = c.r.Clone(context.Background())
	}
	go func() {
		defer func() { <-s.shadowing }()
		ctx, cancel := context.WithTimeout(context.Background(), s.opt.Timeout)
		defer cancel()
		again.ctx = ctx
		on.meters.shadow().compare(again, answer, labels, numbers, s)
	}()
}

// outcome is what was predicted for each row: texts of classes or labels, or numbers.
func (in *input) outcome() (labels []string, numbers []float64) {
	isNumber := in.m.Classes() == nil && in.m.Labels() == nil
	for i := range in.scores.Rows {
		if !isNumber {
			labels = append(labels, string(in.label(nil, i)))
			continue
		}
		for t, v := range in.scores.Row(i) {
			numbers = append(numbers, in.m.Value(t, v))
		}
	}
	return labels, numbers
}
