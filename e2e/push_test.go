package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// pushes are the profiles that a receiver has got, by their labels.
type pushes struct {
	mu  sync.Mutex
	all map[string][]byte
	// refuse, if not nil, may refuse a profile with the labels.
	refuse func(labels string) error
	header http.Header // of the latest request
}

func (p *pushes) take(labels map[string]string, raw []byte) error {
	var list []string
	for key, value := range labels {
		list = append(list, key+"="+value)
	}
	slices.Sort(list)
	key := strings.Join(list, " ")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		if err := p.refuse(key); err != nil {
			return err
		}
	}
	if p.all == nil {
		p.all = map[string][]byte{}
	}
	if p.all[key] != nil {
		return errors.New("twice: " + key)
	}
	p.all[key] = raw
	return nil
}

// Push implements the service of Pyroscope.
func (p *pushes) Push(_ context.Context, r *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	p.header = r.Header()
	for _, s := range r.Msg.Series {
		labels := map[string]string{}
		for _, l := range s.Labels {
			labels[l.Name] = l.Value
		}
		for _, raw := range s.Samples {
			if err := p.take(labels, raw.RawProfile); err != nil {
				return nil, err
			}
		}
	}
	return connect.NewResponse(new(pushv1.PushResponse)), nil
}

// newPyroscope serves the generated handler of Pyroscope.
func newPyroscope(t *testing.T) (*pushes, string) {
	t.Helper()
	p := new(pushes)
	mux := http.NewServeMux()
	path, handler := pushv1connect.NewPusherServiceHandler(p)
	mux.Handle("/base"+path, http.StripPrefix("/base", handler))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return p, "pyroscope+" + s.URL + "/base"
}

// parcaMessages are the messages of parca.profilestore.v1alpha1 that carry profiles; no module of Parca can be had.
const parcaMessages = `
name: "parca.proto" package: "parca.profilestore.v1alpha1" syntax: "proto3"
message_type { name: "WriteRawRequest"
  field { name: "tenant" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "series" number: 2 type: TYPE_MESSAGE type_name: ".parca.profilestore.v1alpha1.RawProfileSeries" label: LABEL_REPEATED }
  field { name: "normalized" number: 3 type: TYPE_BOOL label: LABEL_OPTIONAL } }
message_type { name: "RawProfileSeries"
  field { name: "labels" number: 1 type: TYPE_MESSAGE type_name: ".parca.profilestore.v1alpha1.LabelSet" label: LABEL_OPTIONAL }
  field { name: "samples" number: 2 type: TYPE_MESSAGE type_name: ".parca.profilestore.v1alpha1.RawSample" label: LABEL_REPEATED } }
message_type { name: "LabelSet"
  field { name: "labels" number: 1 type: TYPE_MESSAGE type_name: ".parca.profilestore.v1alpha1.Label" label: LABEL_REPEATED } }
message_type { name: "Label"
  field { name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL } }
message_type { name: "RawSample"
  field { name: "raw_profile" number: 1 type: TYPE_BYTES label: LABEL_OPTIONAL } }
`

// newParca serves WriteRaw over gRPC.
func newParca(t *testing.T) (*pushes, string) {
	t.Helper()
	var file descriptorpb.FileDescriptorProto
	must(t, prototext.Unmarshal([]byte(parcaMessages), &file))
	desc, err := protodesc.NewFile(&file, nil)
	must(t, err)
	p := new(pushes)
	serve := func(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		m := dynamicpb.NewMessage(desc.Messages().ByName("WriteRawRequest"))
		if err := dec(m); err != nil {
			return nil, err
		}
		if len(m.GetUnknown()) > 0 {
			return nil, status.Error(codes.InvalidArgument, "unknown fields")
		}
		for _, s := range list(m, "series") {
			if len(s.Message().GetUnknown()) > 0 {
				return nil, status.Error(codes.InvalidArgument, "unknown fields of a series")
			}
			labels := map[string]string{}
			for _, l := range list(s.Message().Get(fieldOf(s.Message(), "labels")).Message(), "labels") {
				labels[l.Message().Get(fieldOf(l.Message(), "name")).String()] = l.Message().Get(fieldOf(l.Message(), "value")).String()
			}
			for _, raw := range list(s.Message(), "samples") {
				if err := p.take(labels, raw.Message().Get(fieldOf(raw.Message(), "raw_profile")).Bytes()); err != nil {
					return nil, err
				}
			}
		}
		return dynamicpb.NewMessage(desc.Messages().ByName("LabelSet")), nil // any empty message
	}
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "parca.profilestore.v1alpha1.ProfileStoreService", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "WriteRaw", Handler: serve}},
	}, p)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() { _ = s.Serve(l) }() // until Stop
	t.Cleanup(s.Stop)
	return p, "parca+http://" + l.Addr().String()
}

func fieldOf(m protoreflect.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return m.Descriptor().Fields().ByName(name)
}

// list returns the elements of a repeated field.
func list(m protoreflect.Message, name protoreflect.Name) (all []protoreflect.Value) {
	values := m.Get(fieldOf(m, name)).List()
	for i := range values.Len() {
		all = append(all, values.Get(i))
	}
	return all
}

var _ proto.Message = (*dynamicpb.Message)(nil)

// The receivers get exactly the profiles that ntconv to pprof writes to files, with the labels by which they are found.
func TestPush(t *testing.T) {
	for i, tr := range ownTraces(t) {
		t.Run(tr.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			files := run(t, command, "to", "pprof", "--kind", "all", tr.path, "-o", dir+"/")
			for name, open := range map[string]func(*testing.T) (*pushes, string){"pyroscope": newPyroscope, "parca": newParca} {
				if os.Getenv("NTCONV_NIGHTLY") == "" && (i%2 == 0) == (name == "parca") {
					continue
				}
				got, url := open(t)
				r := run(t, command, "to", "pprof", "--kind", "all", tr.path, "--endpoint", url, "--service-name", "shop", "--push-label", "env=test")
				if r.code != files.code {
					t.Fatalf("%s: exit code %d, of files %d: %s", name, r.code, files.code, r.stderr)
				}
				checkPushed(t, name, got, dir)
			}
		})
	}
}

// checkPushed compares profiles with the files of a directory.
func checkPushed(t *testing.T, receiver string, got *pushes, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if !errors.Is(err, os.ErrNotExist) { // a trace without profiles
		must(t, err)
	}
	if len(got.all) != len(entries) {
		t.Errorf("%s: %d profiles, want %d", receiver, len(got.all), len(entries))
	}
	for _, e := range entries {
		kind := strings.ReplaceAll(strings.TrimSuffix(e.Name(), ".pb.gz"), "-", "_")
		switch kind {
		case "cpu":
			kind = "process_cpu"
		case "alloc":
			kind = "memory"
		case "contention":
			kind = "mutex"
		}
		labels := fmt.Sprintf("__name__=%s env=test service_name=shop", kind)
		if receiver == "pyroscope" {
			labels = "__delta__=false " + labels
		}
		raw := got.all[labels]
		if !bytes.Equal(raw, contentAt(t, filepath.Join(dir, e.Name()))) {
			t.Errorf("%s: profile %q differs from the file %s", receiver, labels, e.Name())
		}
		if _, err := profile.ParseData(raw); err != nil {
			t.Errorf("%s: profile %q: %v", receiver, labels, err)
		}
	}
}

// What a receiver refuses is reported with its message, the number of profiles sent before it and the next step.
func TestPushRefused(t *testing.T) {
	otel := find(t, "otel-cpu").path
	for _, c := range []struct {
		name   string
		refuse func(labels string) error // nil accepts
		code   int
		want   []string
		sent   int
	}{
		{"one refused", func(labels string) error {
			if strings.Contains(labels, "__name__=slices") {
				return connect.NewError(connect.CodeInvalidArgument, errors.New("outside of the ingestion window"))
			}
			return nil
		}, incomplete, []string{"slices profile rejected by the receiver: HTTP status 400 Bad Request: outside of the ingestion window"}, -1},
		{"first refused", func(string) error {
			return connect.NewError(connect.CodeInvalidArgument, errors.New("outside of the ingestion window"))
		}, unwritten, []string{"profile not sent", "outside of the ingestion window"}, 0},
		{"credentials", func(string) error { return connect.NewError(connect.CodeUnauthenticated, errors.New("no org id")) },
			unwritten, []string{"no org id", "check the credentials in --header"}, 0},
		{"too large", func(string) error {
			return connect.NewError(connect.CodeInvalidArgument, errors.New("http: request body too large"))
		},
			unwritten, []string{"request body too large", "--from-time"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, url := newPyroscope(t)
			got.refuse = c.refuse
			r := run(t, command, "to", "pprof", "--kind", "all", otel, "--endpoint", url, "--retry-for", "1s")
			if r.code != c.code {
				t.Errorf("exit code %d, want %d: %s", r.code, c.code, r.stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(string(r.stderr), want) {
					t.Errorf("no %q in %s", want, r.stderr)
				}
			}
			if c.sent >= 0 && len(got.all) != c.sent || c.sent < 0 && len(got.all) == 0 {
				t.Errorf("%d profiles accepted", len(got.all))
			}
		})
	}
}

// The service is that of the trace, headers come from the flag and the environment, but not from that of OTLP.
func TestPushAs(t *testing.T) {
	otel := find(t, "otel-cpu").path
	got, url := newPyroscope(t)
	t.Setenv("NTCONV_PUSH_HEADERS", "X-Scope-OrgID=tenant")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "secret=x")
	r := run(t, command, "to", "pprof", otel, "--endpoint", url, "--header", "a=b")
	if r.code != 0 || got.header.Get("X-Scope-OrgID") != "tenant" || got.header.Get("a") != "b" || got.header.Get("secret") != "" {
		t.Errorf("%+v, header %v", r, got.header)
	}
	if labels := fmt.Sprint(got.all); !strings.Contains(labels, "__delta__=false __name__=wall service_name=shopotel:") {
		t.Errorf("profiles %.200s", labels)
	}
	if !strings.Contains(string(r.stderr), "1 profile sent to "+strings.TrimPrefix(url, "pyroscope+")+"/push.v1.PusherService/Push as service shopotel: ") {
		t.Error(string(r.stderr))
	}
}
