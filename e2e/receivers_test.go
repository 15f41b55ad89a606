package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ntconv/ntconv/exporters/otlp"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // requests may be compressed, and then responses are
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// A lockedBuffer is a buffer that can be read while it is being written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A receiver accepts or rejects spans as a test specifies, over HTTP or gRPC.
type receiver struct {
	coltracepb.UnimplementedTraceServiceServer
	url string
	// refuse, if not nil, may answer a request instead of accepting it. n is the number of the request, counting from
	// 0. It returns false if the request is to be accepted.
	refuse func(n, size, spans int, w http.ResponseWriter) bool
	// remote is the same for gRPC.
	remote func(n, spans int) (*coltracepb.ExportTraceServiceResponse, error)

	mu       sync.Mutex
	requests int
	taken    map[string]int // number of copies per span ID
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{taken: map[string]int{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	r.url = s.URL + "/v1/traces"
	return r
}

func newRemoteReceiver(t *testing.T, opts ...grpc.ServerOption) *receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &receiver{taken: map[string]int{}, url: "http://" + l.Addr().String()}
	s := grpc.NewServer(opts...)
	coltracepb.RegisterTraceServiceServer(s, r)
	go func() { _ = s.Serve(l) }() // until Stop
	t.Cleanup(s.Stop)
	return r
}

func countSpans(m *coltracepb.ExportTraceServiceRequest) (n int) {
	for _, r := range m.ResourceSpans {
		for _, s := range r.ScopeSpans {
			n += len(s.Spans)
		}
	}
	return n
}

// next returns the number of the current request.
func (r *receiver) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	return r.requests - 1
}

func (r *receiver) take(m *coltracepb.ExportTraceServiceRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range m.ResourceSpans {
		for _, s := range rs.ScopeSpans {
			for _, sp := range s.Spans {
				r.taken[string(sp.SpanId)+string(sp.TraceId)+sp.Name]++
			}
		}
	}
}

// spans returns the number of accepted spans, including repeated ones.
func (r *receiver) spans() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.taken {
		n += k
	}
	return n
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	n := r.next()
	body, err := io.ReadAll(q.Body)
	var m coltracepb.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &m) != nil {
		http.Error(w, "not protobuf", http.StatusBadRequest)
		return
	}
	if r.refuse == nil || !r.refuse(n, len(body), countSpans(&m), w) {
		r.take(&m)
		w.WriteHeader(http.StatusOK)
	}
}

// Export implements the gRPC service.
func (r *receiver) Export(_ context.Context, m *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	n := r.next()
	if r.remote != nil {
		if answer, err := r.remote(n, countSpans(m)); answer != nil || err != nil {
			if err == nil {
				r.take(m)
			}
			return answer, err
		}
	}
	r.take(m)
	return &coltracepb.ExportTraceServiceResponse{}, nil
}

// An outcome is the expected result of a run. The trace has 600 spans in 6 batches.
type outcome struct {
	code     int
	text     []string // parts of the message
	spans    int      // accepted spans; -1 for any number
	distinct int
	report   string // members of the JSON summary
	within   time.Duration
	args     []string
}

const outcomeSpans, outcomeBatch = 600, 100

// checkOutcome sends the spans of a trace twice: to check the message, and to check the JSON summary.
func checkOutcome(t *testing.T, path string, make func(t *testing.T) *receiver, want *outcome) {
	t.Helper()
	for _, report := range []string{"text", "json"} {
		r := make(t)
		args := append([]string{"to", "otlp", path, "--endpoint", r.url, "--batch", fmt.Sprint(outcomeBatch), "--report", report}, want.args...)
		begin := time.Now()
		got := run(t, command, args...)
		took := time.Since(begin)
		if got.code != want.code || took > want.within+20*time.Second || took < want.within {
			t.Errorf("exit code %d after %s, want %d after %s: %s", got.code, took, want.code, want.within, got.stderr)
		}
		if n := r.spans(); want.spans >= 0 && n != want.spans || len(r.taken) != want.distinct {
			t.Errorf("%d spans taken, %d different, want %d and %d", n, len(r.taken), want.spans, want.distinct)
		}
		if report == "text" {
			for _, part := range want.text {
				if !strings.Contains(string(got.stderr), part) {
					t.Errorf("no %q in %s", part, got.stderr)
				}
			}
			continue
		}
		var sum, members map[string]any
		decode(t, got.stderr, &sum)
		decode(t, []byte(want.report), &members)
		for key, value := range members {
			if sum[key] != value {
				t.Errorf("%s is %v, want %v: %s", key, sum[key], value, got.stderr)
			}
		}
	}
}

// answer sends a status and headers, which are alternating keys and values.
func answer(w http.ResponseWriter, status int, header ...string) bool {
	for i := 0; i < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	return true
}

// For any answer of a gRPC receiver, no span is lost or repeated without a report, and the command ends.
func TestGRPCReceivers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.nettrace")
	must(t, os.WriteFile(path, generated(t, outcomeSpans), 0o600))
	for name, c := range map[string]struct {
		remote func(n, spans int) (*coltracepb.ExportTraceServiceResponse, error)
		opts   []grpc.ServerOption
		want   outcome
	}{
		"accepts": {want: outcome{spans: 600, distinct: 600, text: []string{"600 spans sent to http://127.0.0.1:"}, report: `{"items": 600, "batches": 6, "exit": 0}`}},
		"rejects some": {remote: func(n, _ int) (*coltracepb.ExportTraceServiceResponse, error) {
			if n != 5 {
				return nil, nil
			}
			return &coltracepb.ExportTraceServiceResponse{PartialSuccess: &coltracepb.ExportTracePartialSuccess{RejectedSpans: 7, ErrorMessage: "too old"}}, nil
		}, want: outcome{code: 3, spans: 600, distinct: 600, text: []string{"7 rejected by the receiver: too old"}, report: `{"items": 593, "rejected": 7, "exit": 3}`}},
		"takes small requests": {opts: []grpc.ServerOption{grpc.MaxRecvMsgSize(70 << 10)}, want: outcome{
			spans: 600, distinct: 600, args: []string{"--batch", "600"}, text: []string{"600 spans sent", "too large"}, report: `{"items": 600, "rejected": null, "exit": 0}`,
		}},
		"refuses a batch": {remote: func(n, _ int) (*coltracepb.ExportTraceServiceResponse, error) {
			if n == 3 {
				return nil, status.Error(codes.InvalidArgument, "bad span")
			}
			return nil, nil
		}, want: outcome{code: 3, spans: 500, distinct: 500, text: []string{"100 rejected by the receiver: gRPC status InvalidArgument: bad span"}, report: `{"items": 500, "rejected": 100, "exit": 3}`}},
		"is busy": {remote: func(n, _ int) (*coltracepb.ExportTraceServiceResponse, error) {
			if n%2 == 0 {
				return nil, status.Error(codes.Unavailable, "busy")
			}
			return nil, nil
		}, want: outcome{spans: 600, distinct: 600, report: `{"items": 600, "retries": 6, "exit": 0}`}},
		"asks to wait, and compresses": {remote: func(n, _ int) (*coltracepb.ExportTraceServiceResponse, error) {
			if n != 1 {
				return nil, nil
			}
			busy, err := status.New(codes.ResourceExhausted, "100 % busy").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(2 * time.Second)})
			if err != nil {
				return nil, err
			}
			return nil, busy.Err()
		}, want: outcome{
			spans: 600, distinct: 600, within: 2 * time.Second, args: []string{"--compression", "gzip"}, report: `{"items": 600, "retries": 1, "exit": 0}`,
		}},
		"has no quota": {remote: func(int, int) (*coltracepb.ExportTraceServiceResponse, error) {
			return nil, status.Error(codes.ResourceExhausted, "quota")
		}, want: outcome{code: 6, text: []string{"quota"}, report: `{"exit": 6}`}},
		"never answers": {remote: func(int, int) (*coltracepb.ExportTraceServiceResponse, error) {
			time.Sleep(3 * time.Second)
			return nil, status.Error(codes.Unavailable, "")
		}, want: outcome{code: 6, within: time.Second, args: []string{"--retry-for", "0s", "--timeout", "1s"}, text: []string{"no response within 1s"}, report: `{"unconfirmed": 100, "exit": 6}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkOutcome(t, path, func(t *testing.T) *receiver {
				r := newRemoteReceiver(t, c.opts...)
				r.remote = c.remote
				return r
			}, &c.want)
		})
	}
}

// An interrupt ends an upload that waits. The message states the number of sent spans.
func TestInterruptedUpload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.nettrace")
	must(t, os.WriteFile(path, generated(t, outcomeSpans), 0o600))
	r := newReceiver(t)
	waiting := make(chan struct{})
	r.refuse = func(n, _, _ int, w http.ResponseWriter) bool {
		if n < 3 {
			return false
		}
		if n == 3 {
			close(waiting)
		}
		return answer(w, http.StatusServiceUnavailable, "Retry-After", "1")
	}
	var stderr lockedBuffer
	cmd := exec.Command(command, "to", "otlp", path, "--endpoint", r.url, "--batch", "100", "--retry-for", "1h")
	cmd.Stderr = &stderr
	must(t, cmd.Start())
	<-waiting
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill()
		t.Skip("interrupts cannot be sent on this system: ", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("the command does not end")
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(stderr.String(), "300 items were sent to "+r.url) {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

// An invalid endpoint causes an error with the next step, without a long wait.
func TestNoReceiver(t *testing.T) {
	path := find(t, "spans-stop").path
	for _, protocol := range []string{"grpc", "http/protobuf", "http/json"} {
		r := run(t, command, "to", "otlp", path, "--endpoint", "http://"+freePort(t), "--protocol", protocol, "--retry-for", "300ms")
		if r.code != 6 || !strings.Contains(string(r.stderr), "0 spans delivered, 41 not delivered") || !strings.Contains(string(r.stderr), "check that a receiver listens") {
			t.Errorf("%s: exit code %d: %s", protocol, r.code, r.stderr)
		}
	}
	both := run(t, command, "to", "otlp", path, "--endpoint", "http://127.0.0.1:1", "-o", "x.binpb")
	if both.code != 1 || !strings.Contains(string(both.stderr), "--endpoint writes no file") {
		t.Errorf("exit code %d: %s", both.code, both.stderr)
	}
}

// ParseResponse agrees with the generated code of the service, also for responses with a damaged byte. It accepts
// strings that are not UTF-8.
func TestResponses(t *testing.T) {
	for _, p := range []*coltracepb.ExportTracePartialSuccess{
		nil, {}, {RejectedSpans: 3}, {ErrorMessage: "slow down"}, {RejectedSpans: 1 << 40, ErrorMessage: "all of it"}, {RejectedSpans: -1},
	} {
		body, err := proto.Marshal(&coltracepb.ExportTraceServiceResponse{PartialSuccess: p})
		must(t, err)
		checkResponse(t, body)
		for i := range body {
			checkResponse(t, body[:i])
			for bit := range 8 {
				damaged := bytes.Clone(body)
				damaged[i] ^= 1 << bit
				checkResponse(t, damaged)
			}
		}
	}
}

func checkResponse(t *testing.T, body []byte) {
	t.Helper()
	var want coltracepb.ExportTraceServiceResponse
	invalid := proto.Unmarshal(body, &want) != nil
	unknown := len(want.ProtoReflect().GetUnknown()) > 0 || len(want.PartialSuccess.ProtoReflect().GetUnknown()) > 0 // may be groups
	var got otlp.PartialSuccessError
	var partial *otlp.PartialSuccessError
	switch err := otlp.ParseResponse(body); {
	case errors.As(err, &partial):
		got = *partial
	case err != nil && !invalid && !unknown:
		t.Errorf("%x: %v", body, err)
	}
	if p := want.GetPartialSuccess(); !invalid && !unknown && got != (otlp.PartialSuccessError{Rejected: p.GetRejectedSpans(), Message: p.GetErrorMessage()}) {
		t.Errorf("%x: %+v, want %v", body, got, p)
	}
	if invalid && otlp.ParseResponse(body) == nil {
		t.Errorf("%x: invalid, but a success", body)
	}
}
