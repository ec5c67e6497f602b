package serve

import (
	"context"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"mercer/internal/engine/testenv"
)

// dialled serves on a port of this machine, and returns a gRPC client of the same port that HTTP has.
func dialled(t *testing.T, s *Server) *grpc.ClientConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, Listening{Listener: l, Finish: 5 * time.Second}) }()
	client, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(plainCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return client
}

func invoke(ctx context.Context, client *grpc.ClientConn, method string, in []byte) ([]byte, error) {
	var out message
	err := client.Invoke(ctx, "/inference.GRPCInferenceService/"+method, &message{in}, &out)
	return out.data, err
}

// packed appends a repeated field of fixed numbers.
func packed(n protowire.Number, values ...any) []byte { return appendBytes(nil, n, little(values...)) }

// peopleTensors are the records as input tensors with contents, and their raw contents.
func peopleTensors() (typed, bare [][]byte, raw [][]byte) {
	var towns, rawTowns []byte
	for _, r := range records {
		name := r["town"].(string)
		towns = appendBytes(towns, 8, []byte(name))
		rawTowns = append(append(rawTowns, little(uint32(len(name)))...), name...)
	}
	sizes, ages := []float64{1.25, 5, 4, 0.5}, []float32{33, float32(math.NaN()), 61, 25}
	for _, c := range []struct {
		name, datatype string
		contents, raw  []byte
	}{{"size", "FP64", packed(7, sizes), little(sizes)}, {"town", "BYTES", towns, rawTowns}, {"age", "FP32", packed(6, ages), little(ages)}} {
		t := appendTensor(nil, c.name, c.datatype, []int64{4, 1})
		bare = append(bare, t)
		typed = append(typed, appendBytes(slices.Clone(t), 5, c.contents))
		raw = append(raw, c.raw)
	}
	return typed, bare, raw
}

// Raw and typed tensors over gRPC, on the port of HTTP, give the predictions of the model, in the form that was asked with.
func TestGRPC(t *testing.T) {
	for kind, m := range peopleOnce() {
		client := dialled(t, handler(t, kind, Options{}))
		labels, proba, _ := wanted(t, m)
		typed, bare, raw := peopleTensors()
		for _, isRaw := range []bool{false, true} {
			q := appendString(appendString(nil, 1, "people"), 3, "é 1")
			if isRaw {
				for i := range bare {
					q = appendBytes(q, 5, bare[i])
				}
				for i := range raw {
					q = appendBytes(q, 7, raw[i])
				}
			} else {
				for i := range typed {
					q = appendBytes(q, 5, typed[i])
				}
			}
			out, err := invoke(t.Context(), client, "ModelInfer", q)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			var outputs []tensor
			var rest [][]byte
			err = fields(out, func(n protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
				switch n {
				case 3:
					if string(data) != "é 1" {
						t.Errorf("id %q", data)
					}
				case 5:
					o, err := readInferTensor(data)
					outputs = append(outputs, o)
					return err
				case 6:
					rest = append(rest, data)
				}
				return nil
			})
			if err != nil || isRaw != (rest != nil) || len(outputs) == 0 {
				t.Fatalf("%s: %v, %d outputs, %d raw", kind, err, len(outputs), len(rest))
			}
			for i := range rest {
				if err := outputs[i].decode(rest[i]); err != nil {
					t.Fatal(err)
				}
			}
			for r := range records {
				got := outputs[0].value(r)
				if !same(got, labels[r]) {
					t.Errorf("%s, raw %v: row %d is %v, want %v", kind, isRaw, r, got, labels[r])
				}
				for k, p := range proba[r] {
					if outputs[1].number(r*len(proba[r])+k) != p {
						t.Errorf("%s: probabilities %v, want %v", kind, outputs[1].numbers, proba)
					}
				}
			}
		}
	}
}

func TestGRPCErrors(t *testing.T) {
	s := handler(t, "two", Options{Tokens: []string{"secret"}, Rows: 3, Body: 4000})
	client := dialled(t, s)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer secret")
	typed, bare, _ := peopleTensors()
	name := appendString(nil, 1, "people")
	infer := func(parts ...[]byte) []byte {
		q := slices.Clone(name)
		for _, p := range parts {
			q = append(q, p...)
		}
		return q
	}
	late, cancel := context.WithTimeout(ctx, time.Nanosecond)
	defer cancel()
	for _, c := range []struct {
		ctx    context.Context
		method string
		in     []byte
		code   codes.Code
		want   string
	}{
		{ctx, "ServerLive", nil, codes.OK, ""},
		{t.Context(), "ServerReady", nil, codes.OK, ""},
		{ctx, "ServerMetadata", nil, codes.OK, ""},
		{ctx, "ModelMetadata", name, codes.OK, ""},
		{ctx, "ModelReady", name, codes.OK, ""},
		{t.Context(), "ModelMetadata", name, codes.Unauthenticated, "valid token"},
		{ctx, "ModelMetadata", appendString(nil, 1, "other"), codes.NotFound, `no model "other"`},
		{ctx, "ModelInfer", name, codes.InvalidArgument, "expected inputs"},
		{ctx, "ModelInfer", infer(appendBytes(nil, 5, bare[0])), codes.InvalidArgument, "has 0 elements, its shape [4 1] says 4"},
		{ctx, "ModelInfer", infer(appendBytes(nil, 5, bare[0]), appendBytes(nil, 7, []byte{1, 2})), codes.InvalidArgument, "2 bytes"},
		{ctx, "ModelInfer", infer(appendBytes(nil, 5, typed[0]), appendBytes(nil, 7, []byte{1, 2})), codes.InvalidArgument, "one way only"},
		{ctx, "ModelInfer", infer(appendBytes(nil, 5, typed[0])), codes.InvalidArgument, "4 rows; at most 3"},
		{ctx, "ModelInfer", []byte{0xff, 0xff}, codes.InvalidArgument, "no protobuf"},
		{ctx, "ModelInfer", make([]byte, 5000), codes.ResourceExhausted, "larger than max"},
		{ctx, "ModelInfer", infer(appendBytes(nil, 5, appendBytes(appendTensor(nil, "town", "BYTES", []int64{1}), 5, packed(7, 1.5)))), codes.InvalidArgument, "another type"},
		{ctx, "ModelInfer", infer(appendBytes(nil, 5, appendBytes(appendTensor(nil, "size", "FP64", []int64{1}), 5, appendBytes(nil, 8, []byte("x"))))), codes.InvalidArgument, "another type"},
		{ctx, "Nothing", nil, codes.Unimplemented, ""},
		{late, "ModelReady", name, codes.DeadlineExceeded, ""},
	} {
		_, err := invoke(c.ctx, client, c.method, c.in)
		if got := status.Convert(err); got.Code() != c.code || !strings.Contains(got.Message(), c.want) {
			t.Errorf("%s %q: %v, want %v %s", c.method, c.in, err, c.code, c.want)
		}
	}
}

// No message is a fault of the server.
func FuzzGRPC(f *testing.F) {
	typed, bare, raw := peopleTensors()
	var a, b []byte
	for i := range typed {
		a, b = appendBytes(a, 5, typed[i]), appendBytes(b, 5, bare[i])
	}
	for i := range raw {
		b = appendBytes(b, 7, raw[i])
	}
	f.Add(a)
	f.Add(appendBytes(b, 6, appendString(nil, 1, "scores")))
	s := handler(f, "three", Options{Rows: 50})
	f.Fuzz(func(t *testing.T, in []byte) {
		defer testenv.Bounded(t, len(in))()
		for name, answer := range map[string]func(*call, []byte) ([]byte, error){"ModelInfer": (*call).grpcInfer, "ModelMetadata": (*call).grpcModel, "ModelReady": (*call).grpcModelReady} {
			if _, err := s.grpcCall(t.Context(), name, false, in, answer); status.Code(err) == codes.Internal {
				t.Fatal(name, err)
			}
		}
	})
}
