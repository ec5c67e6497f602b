package serve

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// access says whose requests are answered.
type access struct {
	tokens    [][]byte // nil: anybody's
	strangers http.CrossOriginProtection
	wrong     error // of the options
}

func (a *access) adopt(opt *Options) {
	for _, t := range opt.Tokens {
		a.tokens = append(a.tokens, []byte(t))
	}
	for _, o := range opt.Origins {
		if err := a.strangers.AddTrustedOrigin(o); err != nil && o != "*" {
			a.wrong = fmt.Errorf("the origin %q: expected one such as https://example.com: %w", o, err)
		}
	}
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

// allowed says whether an Authorization has a token, in a time that tells nothing about those there are. Browsers, which ask for a
// password, send it as that.
func (a *access) allowed(authorization string) bool {
	if a.tokens == nil {
		return true
	}
	got, ok := strings.CutPrefix(authorization, "Bearer ")
	if !ok {
		_, got, ok = (&http.Request{Header: http.Header{"Authorization": {authorization}}}).BasicAuth()
	}
	found := 0
	for _, t := range a.tokens {
		found |= subtle.ConstantTimeCompare([]byte(got), t)
	}
	return ok && found == 1
}

// stranger answers what the page of another origin lets a browser send. Without this, one that a user of this machine looks at could load
// and unload models, though it could not see the answer.
func (c *call) stranger() error {
	return &httpError{http.StatusForbidden, fmt.Errorf("pages of %s may not send requests; allow its origin when you start the server", shortened([]byte(c.r.Header.Get("Origin"))))}
}
