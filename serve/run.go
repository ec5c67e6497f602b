package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"mercer/internal/engine/vec"
)

// Listening says how Serve listens.
type Listening struct {
	// Listener takes the connections; Serve closes it.
	Listener net.Listener

	// TLS, if not nil, encrypts them.
	TLS *tls.Config

	// Watch is how often the files of models are looked at; 0 means only on SIGHUP.
	Watch time.Duration

	// Drain is the time between readiness saying no and the end of listening, so that whoever sends requests has heard it; it
	// is cut short as soon as nothing is in flight if nobody has ever asked for readiness. Finish is the time that requests
	// have to end after it, 0 meaning 30 s.
	Drain, Finish time.Duration
}

// Serve answers requests until ctx is done. Then readiness fails, after a while nothing is listened to any more, and all
// requests that were taken are answered. Meanwhile GOMAXPROCS is one more, so that requests do not wait for what computes.
func (s *Server) Serve(ctx context.Context, l Listening) error {
	defer vec.Spare(1)()
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	defer signal.Stop(hangUp)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go s.models.watch(watching, l.Watch, hangUp, s.opt.Log)
	server := &http.Server{
		Handler: s, TLSConfig: l.TLS, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: s.opt.Timeout + 20*time.Second,
		WriteTimeout: s.opt.Timeout + 30*time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true) // gRPC without TLS
	failed := make(chan error, 1)
	go func() {
		if l.TLS != nil {
			failed <- server.ServeTLS(l.Listener, "", "")
		} else {
			failed <- server.Serve(l.Listener)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.Drain()
	s.drained(l.Drain)
	finish := l.Finish
	if finish == 0 {
		finish = 30 * time.Second
	}
	over, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	if err := server.Shutdown(over); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

// drained returns after the time, or as soon as nothing is in flight if nobody has asked for readiness and so may wait to hear it.
func (s *Server) drained(most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for s.probed.Load() || s.inFlight.Load() > 0 {
		select {
		case <-end.C:
			return
		case <-look.C:
		}
	}
}
