package serve

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"testing"
)

// While it answers requests there is a processor more for goroutines than computes, and afterwards as many as before.
func TestServeSparesAThread(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	s := handler(t, "two", Options{})
	go func() { ended <- s.Serve(ctx, Listening{Listener: l}) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/v2/health/live")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if now := runtime.GOMAXPROCS(0); now != before+1 {
		t.Errorf("GOMAXPROCS is %d while requests are answered, %d before", now, before)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if now := runtime.GOMAXPROCS(0); now != before {
		t.Errorf("GOMAXPROCS is %d afterwards, %d before", now, before)
	}
}
