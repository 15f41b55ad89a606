package otlp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// recorded opens a recording.
func recorded(tb testing.TB, name string) ntconv.Source {
	tb.Helper()
	src, err := reader.NewBytes(corpus.SharedTrace(tb, "own/"+name).Data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

// A logReceiver is an Uploader that stores requests of logs, and answers by signal.
type logReceiver struct {
	mu      sync.Mutex
	logs    []*logspb.ResourceLogs
	spans   int
	answers [NumSignals]error
}

func (r *logReceiver) Upload(_ context.Context, signal Signal, request []byte, items int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.answers[signal]; err != nil {
		return err
	}
	if signal == Traces {
		r.spans += items
		return nil
	}
	var data logspb.LogsData
	if err := proto.Unmarshal(request, &data); err != nil {
		return err
	}
	r.logs = append(r.logs, data.ResourceLogs...)
	return nil
}

// records returns the bodies of the records that were received, by their severity.
func (r *logReceiver) records() (all []string) {
	for _, rl := range r.logs {
		for _, sl := range rl.ScopeLogs {
			for _, l := range sl.LogRecords {
				all = append(all, l.SeverityText+" "+sl.Scope.Name+" "+l.Body.GetStringValue())
			}
		}
	}
	return all
}

// TestLogs sends log records and writes them to files: the receiver's library reads what the events state.
func TestLogs(t *testing.T) {
	src, r := recorded(t, "logging"), new(logReceiver)
	sink := New(t.Context(), r, src.Info(), nil, &Options{BatchItems: 5})
	writeAll(t, sink, src)
	got := r.records()
	if len(got) != 12 || got[0] != "Information Shop.Till Sold 0 of apples, red at 1.50" || r.spans != 0 {
		t.Errorf("%d spans, records %q", r.spans, got)
	}
	if sum := sink.Summary(); sum.Signals[Logs].Sent != 12 || sum.Signals[Logs].Batches != 3 || sum.Items != 12 || sum.Unnamed != 0 {
		t.Errorf("%+v", sum)
	}
	service := false
	for _, a := range r.logs[0].Resource.Attributes {
		service = service || a.Key == "service.name" && a.Value.GetStringValue() == "shopweb"
	}
	if !service {
		t.Errorf("resource %v", r.logs[0].Resource)
	}
	binary, text := new(bytes.Buffer), new(bytes.Buffer)
	for out, form := range map[*bytes.Buffer]Form{binary: Protobuf, text: JSONLines} {
		src := recorded(t, "logging")
		writeAll(t, NewFile(out, form, src.Info(), nil, &Options{Signals: SignalSet(Logs)}), src)
	}
	var whole, fromJSON logspb.LogsData
	if err := proto.Unmarshal(binary.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	canonical, _ := proto.MarshalOptions{Deterministic: true}.Marshal(&whole)
	if !bytes.Equal(canonical, binary.Bytes()) {
		t.Error("the encoding is not canonical")
	}
	// protojson reads enumerations as numbers, and no record of this trace has an ID.
	if err := protojson.Unmarshal(text.Bytes(), &fromJSON); err != nil || !proto.Equal(&whole, &fromJSON) {
		t.Errorf("%v, JSON %s", err, text)
	}
}

// TestUnsupportedSignal checks that a receiver without logs gets the spans, and that the records count as rejected; if
// nothing else is sent, it is an error.
func TestUnsupportedSignal(t *testing.T) {
	unsupported := errors.Join(errors.New("404"), ErrUnsupportedSignal, ErrNotReceived)
	report := new(ntconv.Report)
	r := &logReceiver{answers: [NumSignals]error{Logs: unsupported}}
	src := recorded(t, "logging")
	sink := New(t.Context(), r, src.Info(), nil, &Options{BatchItems: 5, Report: report})
	send(sink, 7)
	writeAll(t, sink, src)
	if sum := sink.Summary(); sum.Signals[Logs].Rejected != 12 || sum.Signals[Traces].Sent != 7 || r.spans != 7 || report.Count(ntconv.CodeRejected) != 12 ||
		!strings.Contains(sum.Signals[Logs].Message, "404") {
		t.Errorf("%+v, %v", sum, report.Entries())
	}
	for _, signals := range []Signals{SignalSet(Logs), AllSignals} {
		src = recorded(t, "logging")
		sink = New(t.Context(), r, src.Info(), nil, &Options{Signals: signals, BatchItems: 5})
		_, _ = ntconv.Copy(sink, src)
		var failed *UploadError
		if err := sink.Close(); !errors.As(err, &failed) || failed.Signal != Logs || failed.Unsent != failed.Items || failed.Unsent < 5 || !errors.Is(err, ErrUnsupportedSignal) {
			t.Errorf("%v", err)
		}
	}
	r = &logReceiver{answers: [NumSignals]error{Traces: unsupported}}
	sink = New(t.Context(), r, src.Info(), nil, nil)
	send(sink, 7)
	if err := sink.Close(); !errors.Is(err, ErrUnsupportedSignal) {
		t.Errorf("a receiver without traces: %v", err)
	}
}

// BenchmarkLogs measures the conversion of log records to a file.
func BenchmarkLogs(b *testing.B) { benchmarkSignal(b, Logs, "logging-formatted", "FormattedMessage") }

// benchmarkSignal measures the conversion of the events of one name in a recording to items of a signal in a file.
func benchmarkSignal(b *testing.B, signal Signal, recording, event string) {
	src := recorded(b, recording)
	var all []*ntconv.Event
	for e, err := range ntconv.Events(src) {
		if err != nil {
			b.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent && e.Type.Name == event {
			all = append(all, e.Clone())
		}
	}
	sink := NewFile(io.Discard, Protobuf, src.Info(), nil, &Options{Signals: SignalSet(signal), NameWait: -1})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := sink.Write(all[i%len(all)]); err != nil {
			b.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		b.Fatal(err)
	}
}

// TestImportedRecords checks that imported log records of any kind are restored, including resources.
func TestImportedRecords(t *testing.T) {
	process := &ntconv.Process{PID: 1}
	thread := &ntconv.Thread{TID: 1, Process: process}
	rapid.Check(t, func(t *rapid.T) {
		want := spangen.Records().Draw(t, "records")
		var events []*ntconv.Event
		encoder := stored.NewEncoder(logs.Stored)
		for i, l := range want {
			encoder.Encode(l, &ntconv.Event{Thread: thread, Capture: thread, Time: ntconv.Ticks(i)})
			for e := encoder.Next(); e != nil; e = encoder.Next() {
				events = append(events, e.Clone())
			}
		}
		src, r := ntconvtest.Poison(ntconvtest.NewSource(nil, events...)), new(logReceiver)
		sink := New(t.Context(), r, src.Info(), nil, &Options{BatchItems: 1, Concurrency: 1, ServiceName: "other"})
		if _, err := ntconv.Copy(sink, src); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		if err := spangen.EqualRecords(want, spangen.RecordsFromProto(&logspb.LogsData{ResourceLogs: r.logs})); err != nil || r.spans > 0 {
			t.Fatal(err, r.spans)
		}
	})
}
