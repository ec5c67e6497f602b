package serve

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Every request has a line with its id, whatever it came by: over HTTP, over gRPC, and where nothing is.
func TestAccessLog(t *testing.T) {
	var b bytes.Buffer
	s := handler(t, "two", Options{Log: slog.New(slog.NewJSONHandler(&b, nil))})
	line := func() map[string]any {
		t.Helper()
		var v map[string]any
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		b.Reset()
		return v
	}
	check := func(what string, want map[string]any) {
		t.Helper()
		got := line()
		for key, v := range want {
			if got[key] != v {
				t.Errorf("%s: %s is %v, want %v: %v", what, key, got[key], v, got)
			}
		}
	}
	parent := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ask(t, s, "POST", "/predict", "", `[{},{}]`, "X-Request-Id", "7", "Traceparent", parent)
	check("HTTP", map[string]any{"id": "7", "path": "/predict", "status": 200.0, "rows": 2.0, "model": "people", "version": "1", "trace": parent[3:35], "level": "INFO"})
	ask(t, s, "POST", "/predict", "", `{`, "Traceparent", "what")
	check("a wrong request", map[string]any{"path": "/predict", "status": 400.0, "level": "WARN", "trace": nil})
	ask(t, s, "GET", "/wp-admin", "", "", "X-Request-Id", "8")
	check("nothing", map[string]any{"id": "8", "path": "/wp-admin", "status": 404.0, "level": "WARN"})
	client := dialled(t, s)
	var header metadata.MD
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", "9", "traceparent", parent)
	q := appendBytes(appendString(nil, 1, "people"), 5, appendTensor(nil, "size", "FP64", []int64{1}))
	if err := client.Invoke(ctx, "/inference.GRPCInferenceService/ModelInfer", &message{appendBytes(q, 7, little([]float64{1}))}, &message{}, grpc.Header(&header)); err != nil {
		t.Fatal(err)
	}
	if got := header.Get("x-request-id"); len(got) != 1 || got[0] != "9" {
		t.Errorf("the id in the answer is %v", got)
	}
	check("gRPC", map[string]any{"id": "9", "method": "gRPC", "path": "ModelInfer", "status": 200.0, "rows": 1.0, "model": "people", "trace": parent[3:35]})
	_, _ = invoke(t.Context(), client, "ModelInfer", nil)
	if got := line(); got["status"] != 400.0 || got["id"] == "" || !strings.HasPrefix(got["from"].(string), "127.0.0.1:") {
		t.Errorf("a wrong call: %v", got)
	}
	_, text, _ := ask(t, s, "GET", "/metrics", "", "")
	for _, want := range []string{`mercer_requests_total{operation="unknown",status="404"} 1`, `mercer_requests_total{operation="grpc_modelinfer",status="400"} 1`,
		`mercer_queue_duration_seconds_count{model="people",version="1"} 2`, `mercer_compute_duration_seconds_count{model="people",version="1"} 2`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics have no %s", want)
		}
	}
}
