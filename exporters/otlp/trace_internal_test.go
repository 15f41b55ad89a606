package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

func open(t testing.TB, f corpus.File) ntconv.Source {
	t.Helper()
	src, err := reader.New(bytes.NewReader(f.Data), nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// writeAll copies the events of a trace, which may be truncated.
func writeAll(t *testing.T, sink *Sink, src ntconv.Source) {
	t.Helper()
	var truncated *ntconv.SourceError
	if _, err := ntconv.Copy(sink, ntconvtest.Poison(src)); err != nil && !errors.As(err, &truncated) {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// tracked returns the spans of a trace.
func tracked(t testing.TB, f corpus.File) (all []*span.Span) {
	src := open(t, f)
	tr := tracker.New(src.Info(), func(s *span.Span) { all = append(all, spangen.Clone(s)) }, &tracker.Options{Convention: true})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		tr.Add(e)
	}
	tr.Finish()
	return all
}

// convert writes a trace to a file.
func convert(t *testing.T, src ntconv.Source, namer ntconv.Namer, o *Options) *tracepb.TracesData {
	t.Helper()
	var out bytes.Buffer
	sink := NewFile(&out, Protobuf, src.Info(), namer, o)
	writeAll(t, sink, src)
	return decodeProto(t, out.Bytes())
}

// TestTraces checks that a trace's spans are sent as the tracker builds them, to files and to receivers, and that
// nothing borrowed is kept.
func TestTraces(t *testing.T) {
	spans := 0
	for _, f := range corpus.Traces(t) {
		want := tracked(t, f)
		spans += len(want)
		for _, s := range want {
			s.Resource = new(span.Resource)
		}
		data := convert(t, open(t, f), nil, &Options{BatchItems: 7})
		compare(t, f.Name, want, spangen.FromProto(data))

		src := open(t, f)
		r := &receiver{t: t}
		sink := New(t.Context(), r, src.Info(), nil, &Options{BatchItems: 7})
		writeAll(t, sink, src)
		sent := new(tracepb.TracesData)
		for _, data := range r.raw {
			sent.ResourceSpans = append(sent.ResourceSpans, data.ResourceSpans...)
		}
		if !proto.Equal(sent, data) {
			t.Errorf("%s: the receiver got something else than the file", f.Name)
		}
	}
	if spans < 50 {
		t.Errorf("only %d spans in all traces", spans)
	}
}

// compare compares spans by their IDs, without their resources.
func compare(t *testing.T, name string, want, got []*span.Span) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d spans, want %d", name, len(got), len(want))
	}
	byID := map[string]*span.Span{}
	for _, s := range got {
		byID[fmt.Sprint(s.Context, s.Start)] = s
	}
	for _, s := range want {
		other := byID[fmt.Sprint(s.Context, s.Start)]
		if other == nil {
			t.Errorf("%s: span %v is missing", name, s.Context)
			continue
		}
		other.Resource = s.Resource
		other.Evidence, other.Activity, other.MadeID, other.Unfinished, other.NotRecorded = s.Evidence, s.Activity, s.MadeID, s.Unfinished, s.NotRecorded
		if err := spangen.Equal(s, other); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// describe returns the attributes of all distinct resources.
func describe(data *tracepb.TracesData) string {
	var all []string
	for _, r := range data.ResourceSpans {
		line := ""
		for _, kv := range r.Resource.Attributes {
			if v := kv.Value.GetStringValue(); v != "" {
				line += fmt.Sprintf("%s=%s; ", kv.Key, v)
			} else {
				line += fmt.Sprintf("%s=%d; ", kv.Key, kv.Value.GetIntValue())
			}
		}
		if len(all) == 0 || all[len(all)-1] != line {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}

// TestResource checks the resource of a process: what the trace has reported before the first batch was sent.
func TestResource(t *testing.T) {
	const (
		pid     = "process.pid=16113; "
		command = "process.command_line=/opt/rec/shop/shop /opt/rec/shop/shop.dll spans 4 1; "
		machine = "telemetry.sdk.language=dotnet; os.type=linux; host.arch=amd64; "
	)
	f := corpus.Trace(t, "spans-stop")
	names := symbol.New(nil)
	if err := names.Scan(open(t, f)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		namer ntconv.Namer
		o     Options
		want  string
	}{
		{"one batch", nil, Options{}, "service.name=shop; " + pid + command + machine},
		{"many batches", nil, Options{BatchItems: 5}, "service.name=shop; " + pid + command + machine},
		{"no waiting", nil, Options{BatchItems: 5, NameWait: -1}, "service.name=unknown_service:dotnet; " + pid},
		{"many batches and names", names, Options{BatchItems: 5, NameWait: -1}, "service.name=shop; " + pid + "process.executable.name=shop; " + command},
		{"service", nil, Options{ServiceName: "till", BatchItems: 5}, "service.name=till; " + pid},
		{"service attribute", nil, Options{Resource: ntconv.Attrs{{Key: "service.name", Value: "a"}}, BatchItems: 5}, "service.name=a; " + pid},
		{"attributes", nil, Options{Resource: ntconv.Attrs{{Key: "deployment.environment.name", Value: "test"}, {Key: "process.pid", Value: "7"}, {Key: "service.name", Value: "a"}}},
			"service.name=a; process.pid=7; " + command + machine + "deployment.environment.name=test; "},
	} {
		src, out := open(t, f), new(bytes.Buffer)
		sink := NewFile(out, Protobuf, src.Info(), c.namer, &c.o)
		writeAll(t, sink, src)
		if got := describe(decodeProto(t, out.Bytes())); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		sum, unnamed := sink.Summary(), int64(0)
		if strings.Contains(c.want, recording.UnknownService) {
			unnamed = sum.Items
		}
		if sum.Unnamed != unnamed {
			t.Errorf("%s: %d spans without a name, want %d", c.name, sum.Unnamed, unnamed)
		}
	}
}

// TestWatch checks that an earlier reading, and events that a selection omits, describe the process.
func TestWatch(t *testing.T) {
	f := corpus.Trace(t, "spans-stop")
	want := describe(convert(t, open(t, f), nil, nil))
	r := &receiver{t: t}
	src := open(t, f)
	sink := New(t.Context(), r, src.Info(), nil, &Options{BatchItems: 5})
	for e := range ntconv.Events(open(t, f)) {
		sink.Watch(e)
	}
	for e := range ntconv.Events(src) {
		sink.Watch(e)
		if e.Type != nil && e.Type.Name == "ActivityStop" {
			if err := sink.Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if len(r.raw) < 8 {
		t.Fatalf("%d batches", len(r.raw))
	}
	for _, data := range r.raw {
		if got := describe(data); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestProcessesOfAMachine checks that each process has its resource.
func TestProcessesOfAMachine(t *testing.T) {
	r := &receiver{t: t}
	s := newTestSink(context.Background(), r, nil)
	for i := range 6 {
		s.add(numbered(i, &ntconv.Process{PID: uint64(i%3 + 1), Host: "box", Name: fmt.Sprint("app", i%3+1)}))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := "service.name=app1; process.pid=1; process.executable.name=app1; host.name=box; \nservice.name=app2; process.pid=2; process.executable.name=app2; host.name=box; \n" +
		"service.name=app3; process.pid=3; process.executable.name=app3; host.name=box; "
	if got := describe(r.raw[0]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestImported checks that imported spans of any kind are restored, including resources.
func TestImported(t *testing.T) {
	process := &ntconv.Process{PID: 1}
	thread := &ntconv.Thread{TID: 1, Process: process}
	rapid.Check(t, func(t *rapid.T) {
		want := spanLists().Draw(t, "spans")
		var events []*ntconv.Event
		encoder := stored.NewEncoder(stored.Spans)
		for i, s := range want {
			encoder.Encode(s, &ntconv.Event{Thread: thread, Capture: thread, Time: ntconv.Ticks(i)})
			for e := encoder.Next(); e != nil; e = encoder.Next() {
				events = append(events, e.Clone())
			}
		}
		var out bytes.Buffer
		src := ntconvtest.Poison(ntconvtest.NewSource(nil, events...))
		sink := NewFile(&out, Delimited, src.Info(), nil, &Options{BatchItems: 2, ThreadAttributes: true, ServiceName: "other"})
		if _, err := ntconv.Copy(sink, src); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		var got []*span.Span
		for _, message := range split(t, out.Bytes()) {
			batch := spangen.FromProto(decodeProto(t, message))
			for _, s := range want[len(got):min(len(got)+2, len(want))] { // a batch is sorted by resource and scope
				if !slices.ContainsFunc(batch, func(b *span.Span) bool { return spangen.Equal(s, b) == nil }) {
					t.Fatalf("lost %+v", s)
				}
			}
			got = append(got, batch...)
		}
		if len(got) != len(want) {
			t.Fatalf("%d spans, want %d", len(got), len(want))
		}
	})
}

// Options.ImportedResource replaces and adds attributes of imported resources, also of an absent one, and does not
// affect other resources.
func TestImportedResource(t *testing.T) {
	old := []span.Attribute{{Key: "service.name", Value: span.String("old")}, {Key: "kept", Value: span.Int(1)}}
	resources := []*span.Resource{{Attributes: old, SchemaURL: "schema"}, {Absent: true}}
	var out bytes.Buffer
	sink := NewFile(&out, JSONLines, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, nil, &Options{ImportedResource: ntconv.Attrs{
		{Key: "service.name", Value: "new"}, {Key: "a", Value: "b"},
	}})
	for i, r := range resources {
		s := numbered(i, nil)
		s.Resource = r
		sink.add(s)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"new"}},{"key":"kept","value":{"intValue":"1"}},{"key":"a","value":{"stringValue":"b"}}]}`,
		`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"new"}},{"key":"a","value":{"stringValue":"b"}}]}`,
	} {
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("%d times %s in %s", n, want, &out)
		}
	}
	if old[0].Value.Str() != "old" {
		t.Error("the resource of the source was changed")
	}
}
