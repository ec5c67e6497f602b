package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// tlsFiles are a certificate, its key, and the certificates that sign those of clients if they must have one.
type tlsFiles struct {
	paths []string
	log   *slog.Logger // nil: none

	mu      sync.Mutex
	now     *tls.Config
	changed []time.Time // the files when they were read
	looked  time.Time
}

// config returns the configuration for a connection. It looks at most once a second for files that have changed; what does not fit leaves
// the old ones.
func (t *tlsFiles) config(*tls.ClientHelloInfo) (*tls.Config, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now != nil && time.Since(t.looked) < time.Second {
		return t.now, nil
	}
	t.looked = time.Now()
	changed := make([]time.Time, len(t.paths))
	for i, path := range t.paths {
		if st, err := os.Stat(path); err == nil { // or reading it fails
			changed[i] = st.ModTime()
		}
	}
	if t.now != nil && slices.EqualFunc(changed, t.changed, time.Time.Equal) {
		return t.now, nil
	}
	t.changed = changed
	config, err := t.read()
	switch {
	case err == nil:
		t.now = config
	case t.now == nil:
		return nil, err
	case t.log != nil:
		t.log.Error("the files of TLS are not read again; the old ones stay", "error", err.Error())
	}
	return t.now, nil
}

func (t *tlsFiles) read() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(t.paths[0], t.paths[1])
	if err != nil {
		return nil, fmt.Errorf("%s and %s are no certificate with its key: %w", t.paths[0], t.paths[1], err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if len(t.paths) == 3 {
		pem, err := readBounded(t.paths[2], 16<<20)
		if err != nil {
			return nil, err
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM", t.paths[2])
		}
	}
	return config, nil
}
