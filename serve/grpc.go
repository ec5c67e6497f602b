package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // packed messages
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// The Open Inference Protocol over gRPC: inference.GRPCInferenceService. serve/inference.proto describes it for clients. Messages
// are read and written field by field (wire.go), which bounds them and copies no tensor twice.

// message is a protobuf message as its bytes.
type message struct{ data []byte }

// plainCodec hands messages on as they are.
type plainCodec struct{}

func (plainCodec) Name() string { return "proto" }

func (plainCodec) Marshal(v any) ([]byte, error) {
	m, ok := v.(*message)
	if !ok {
		return nil, fmt.Errorf("serve: a message of type %T", v)
	}
	return m.data, nil
}

func (plainCodec) Unmarshal(data []byte, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("serve: a message of type %T", v)
	}
	m.data = append(m.data[:0], data...)
	return nil
}

// newGRPC makes the gRPC side of a server.
func (s *Server) newGRPC() *grpc.Server {
	g := grpc.NewServer(grpc.ForceServerCodec(plainCodec{}), grpc.MaxRecvMsgSize(int(min(s.opt.Body, math.MaxInt32))),
		grpc.MaxSendMsgSize(math.MaxInt32), grpc.MaxConcurrentStreams(1024))
	s.Register(g)
	return g
}

// Register adds the Open Inference Protocol to a gRPC server of a program's own, which must have been made with
// grpc.ForceServerCodec(serve.Codec()).
func (s *Server) Register(g grpc.ServiceRegistrar) {
	desc := &grpc.ServiceDesc{ServiceName: "inference.GRPCInferenceService", HandlerType: (*any)(nil), Metadata: "inference.proto"}
	for _, m := range []struct {
		name string
		open bool
		call func(*call, []byte) ([]byte, error)
	}{
		{"ServerLive", true, (*call).grpcLive}, {"ServerReady", true, (*call).grpcReady}, {"ModelReady", false, (*call).grpcModelReady},
		{"ServerMetadata", false, (*call).grpcServer}, {"ModelMetadata", false, (*call).grpcModel}, {"ModelInfer", false, (*call).grpcInfer},
		{"RepositoryIndex", false, (*call).grpcIndex}, {"RepositoryModelLoad", false, (*call).grpcLoad}, {"RepositoryModelUnload", false, (*call).grpcUnload},
	} {
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: m.name,
			Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var in message
				if err := decode(&in); err != nil {
					return nil, err
				}
				return s.grpcCall(ctx, m.name, m.open, in.data, m.call)
			}})
	}
	g.RegisterService(desc, nil)
}

// grpcCall answers a call: token, deadline, answer, log and metrics.
func (s *Server) grpcCall(ctx context.Context, name string, open bool, in []byte, answer func(*call, []byte) ([]byte, error)) (out *message, err error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	c := &call{Server: s, ctx: ctx, lease: lease{of: &s.memory}}
	given, _ := metadata.FromIncomingContext(ctx)
	one := func(key string) string { return strings.Join(given.Get(key), ",") }
	id := requestID(one("x-request-id"))
	_ = grpc.SetHeader(ctx, metadata.Pairs("x-request-id", id)) // fails only where no client waits
	defer func() {
		if r := recover(); r != nil {
			c.in = nil
			s.opt.Log.Error("panic", "method", name, "reason", fmt.Sprint(r))
			err = &httpError{http.StatusInternalServerError, errors.New("the server failed on this request")}
		}
		c.done()
		code := http.StatusOK
		if err != nil {
			code = statusOf(err)
		} else if c.on != nil {
			c.on.meters.rows(c.rows)
		}
		took, from := time.Since(start), ""
		if p, ok := peer.FromContext(ctx); ok {
			from = p.Addr.String()
		}
		s.meters.request("grpc_"+strings.ToLower(name), code, took)
		s.logged(c, open, code, took, err, slog.String("id", id), slog.String("method", "gRPC"), slog.String("path", name), slog.String("from", from),
			trace(one("traceparent")))
		if err != nil {
			err = status.Error(grpcCode(code), err.Error())
		}
	}()
	if !open && s.access.tokens != nil {
		if !s.access.allowed(one("authorization")) {
			return nil, &httpError{http.StatusUnauthorized, errToken}
		}
	}
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	data, err := answer(c, in)
	if err != nil {
		return nil, err
	}
	s.shadows(c, func(again *call) error { _, err := answer(again, in); return err })
	return &message{data}, nil
}

func grpcCode(httpStatus int) codes.Code {
	switch httpStatus {
	case http.StatusNotFound:
		return codes.NotFound
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusServiceUnavailable:
		return codes.Unavailable
	case http.StatusGatewayTimeout:
		return codes.DeadlineExceeded
	case http.StatusRequestEntityTooLarge:
		return codes.ResourceExhausted
	case http.StatusInternalServerError:
		return codes.Internal
	case 499:
		return codes.Canceled
	}
	return codes.InvalidArgument
}

func (c *call) grpcLive([]byte) ([]byte, error) { return appendBool(nil, 1, true), nil }

func (c *call) grpcReady([]byte) ([]byte, error) {
	return appendBool(nil, 1, c.readyNow() == nil), nil
}

func (c *call) grpcModelReady(in []byte) ([]byte, error) {
	name, version, err := readNames(in)
	if err != nil {
		return nil, err
	}
	_, err = c.find(nil, name, version)
	return appendBool(nil, 1, err == nil && c.readyNow() == nil), nil
}

func (c *call) grpcServer([]byte) ([]byte, error) {
	out := appendString(appendString(nil, 1, "mercer"), 2, version())
	return appendString(out, 3, "binary_tensor_data"), nil
}

func (c *call) grpcModel(in []byte) ([]byte, error) {
	name, version, err := readNames(in)
	if err != nil {
		return nil, err
	}
	if err := c.model(name, version); err != nil {
		return nil, err
	}
	out := appendString(nil, 1, c.on.name)
	for _, v := range c.models.now.Load().byName[c.on.name] {
		out = appendString(out, 2, v.version)
	}
	out = appendString(out, 3, "mercer")
	for _, t := range c.in.inputs() {
		out = appendBytes(out, 4, appendTensor(nil, t.name, t.datatype, append([]int64{-1}, t.shape...)))
	}
	for _, p := range c.in.available() {
		out = appendBytes(out, 5, appendTensor(nil, p.name, p.datatype, p.shape(-1)))
	}
	return out, nil
}

// grpcInfer answers an inference. Outputs are raw if an input is, and typed otherwise.
func (c *call) grpcInfer(in []byte) ([]byte, error) {
	if err := c.lease.take(elementBytes * int64(len(in))); err != nil {
		return nil, err
	}
	q, err := readInferRequest(in)
	if err != nil {
		return nil, err
	}
	if err := c.model(q.model, q.version); err != nil {
		return nil, err
	}
	if err := c.in.tensors(q.inputs); err != nil {
		return nil, err
	}
	wanted, err := c.in.outputs(&q.infer)
	if err != nil {
		return nil, err
	}
	if err := c.produce(wanted); err != nil {
		return nil, err
	}
	out := appendString(appendString(nil, 1, c.on.name), 2, c.on.version)
	if q.id != "" {
		out = appendString(out, 3, q.id)
	}
	for _, p := range wanted {
		t := appendTensor(nil, p.name, p.datatype, p.shape(int64(c.in.x.Rows)))
		if !q.raw {
			t = appendBytes(t, 5, c.in.contents(p))
		}
		out = appendBytes(out, 5, t)
	}
	if q.raw {
		for _, p := range wanted {
			out = appendBytes(out, 6, c.in.binary(nil, p))
		}
	}
	return out, nil
}
