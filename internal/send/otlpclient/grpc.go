package otlpclient

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// newGRPC returns a gRPC client. It sets all options that the environment could set, so that only c has an effect.
func newGRPC(c *Config, t *target) (otlptrace.Client, error) {
	security := insecure.NewCredentials()
	if !t.plain {
		config, err := c.tls()
		if err != nil {
			return nil, err
		}
		security = credentials.NewTLS(config)
	}
	compressor := encoding.Identity
	if c.Gzip {
		compressor = gzip.Name
	}
	return otlptracegrpc.NewClient(
		otlptracegrpc.WithEndpoint("dns:///"+t.address),
		otlptracegrpc.WithHeaders(c.headers(t)),
		otlptracegrpc.WithTimeout(c.Timeout),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{}),
		otlptracegrpc.WithMaxRequestSize(maxRequest),
		otlptracegrpc.WithDialOption(
			grpc.WithTransportCredentials(security),
			grpc.WithDefaultCallOptions(
				grpc.UseCompressor(compressor), // the client's own option logs that "none" is unknown
				grpc.MaxCallRecvMsgSize(maxResponse),
			),
			grpc.WithUnaryInterceptor(intercept),
			grpc.WithStatsHandler(watcher{}),
			grpc.WithDisableServiceConfig(), // avoids a DNS query for it
			// gRPC must try to connect at least as often as a batch is sent again.
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: firstDelay / 2, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxDelay / 2},
				MinConnectTimeout: c.Timeout,
			}),
		),
	), nil
}

// intercept records the outcome of each gRPC request.
func intercept(
	ctx context.Context,
	method string,
	request, reply any,
	conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, conn, opts...)
	out := outcomeOf(ctx)
	out.change(func(f *outcomeFields) {
		f.begun = true
		if err != nil {
			size := 0
			if m, ok := request.(proto.Message); ok {
				size = proto.Size(m)
			}
			f.refusedBy(status.Convert(err), size)
			return
		}
		m, _ := reply.(*coltracepb.ExportTraceServiceResponse)
		f.answer(m, nil)
	})
	return err
}

// smallRequest is a size in bytes that no receiver rejects as too large, because the limits of gRPC servers are
// megabytes. For smaller requests, ResourceExhausted means a quota.
const smallRequest = 64 << 10

// refusedBy records the status of a request that was not accepted (OTLP specification, "OTLP/gRPC Response"). If the
// receiver has not ended the call, the status comes from this process. size is the size of the request in bytes.
func (f *outcomeFields) refusedBy(s *status.Status, size int) {
	f.err = fmt.Errorf("gRPC status %s: %s", s.Code(), shorten(s.Message()))
	// A response that gRPC cannot decode becomes an error status here, with the prefix of its own errors. A receiver that
	// uses gRPC for Go has the same texts, but its error has no header before it.
	if f.header && strings.HasPrefix(s.Message(), "grpc: ") {
		f.answer(nil, s.Err())
		return
	}
	if !f.ended {
		if s.Code() == codes.Internal && !f.sent {
			f.verdict = refused // by this process: the request cannot be encoded
		}
		return
	}
	info := retryInfo(s)
	if info != nil {
		f.wait = max(0, info.GetRetryDelay().AsDuration())
	}
	switch s.Code() {
	case codes.Unavailable, codes.Aborted, codes.OutOfRange, codes.DataLoss:
		f.verdict = again
	case codes.Canceled, codes.DeadlineExceeded:
		f.verdict = uncertain
	case codes.ResourceExhausted:
		switch {
		case info != nil:
			f.verdict = again
		case size > smallRequest:
			f.verdict = tooLarge
		default:
			f.verdict, f.advice = denied, "the receiver has no capacity for more spans, or its quota is exhausted"
		}
	case codes.Unauthenticated, codes.PermissionDenied:
		f.verdict, f.advice = denied, "check the credentials in --header or OTEL_EXPORTER_OTLP_HEADERS"
	case codes.Unimplemented, codes.NotFound:
		f.verdict, f.advice = denied, "check that the endpoint accepts OTLP traces over gRPC, or choose --protocol http/protobuf"
	default:
		f.verdict = refused
	}
}

// retryInfo returns the receiver's statement of when to send again, or nil if there is none.
func retryInfo(s *status.Status) *errdetails.RetryInfo {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info
		}
	}
	return nil
}

// A watcher records the progress of requests: whether bytes were sent, and whether the receiver began a response and
// ended the call.
type watcher struct{}

// TagRPC implements stats.Handler.
func (watcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (watcher) HandleRPC(ctx context.Context, s stats.RPCStats) {
	switch s.(type) {
	case *stats.OutPayload:
		outcomeOf(ctx).change(func(f *outcomeFields) { f.sent = true })
	case *stats.InHeader:
		outcomeOf(ctx).change(func(f *outcomeFields) { f.header = true })
	case *stats.InTrailer:
		outcomeOf(ctx).change(func(f *outcomeFields) { f.ended = true })
	}
}

// TagConn implements stats.Handler.
func (watcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (watcher) HandleConn(context.Context, stats.ConnStats) {}

var _ stats.Handler = watcher{}
