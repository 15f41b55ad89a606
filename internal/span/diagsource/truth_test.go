package diagsource_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// truth is what a program has recorded about its own spans.
type truth struct {
	Spans  []truthSpan
	Served []struct{ Traceparent, ServerSpan, WorkSpan string }
	// Requests have one root span each.
	Requests []struct {
		RootSpan string
		Status   int
		Error    string
	}
}

type truthSpan struct {
	Source, SourceVersion, Name, DisplayName, Kind string
	ID, ParentID, TraceID, SpanID, ParentSpanID    string
	Flags, TraceState, Status, StatusDescription   string
	AllData, Stopped                               bool
	StartUTCTicks, DurationTicks                   int64
	Tags                                           map[string]any
}

func readTruth(t *testing.T, path string) (out truth) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// recorded states which properties of a span a specification records.
type recordedFields struct {
	ids, kind, times, status, tags, version bool
	inFile                                  bool // the span is in the trace
	stop                                    bool // its Stop event is in the trace
	seconds                                 bool // the start is recorded in whole seconds
}

var everything = recordedFields{ids: true, kind: true, times: true, status: true, tags: true, version: true, inFile: true, stop: true}

// ownRecordings lists our recordings of one program with different specifications.
var ownRecordings = []struct {
	name     string
	recorded func(s *truthSpan) recordedFields
}{
	{"spans-both", func(s *truthSpan) recordedFields {
		f := everything
		f.stop = s.Stopped
		return f
	}},
	{"spans-implicit", func(s *truthSpan) recordedFields {
		f := everything
		f.stop, f.seconds, f.version = s.Stopped, true, false
		return f
	}},
	{"spans-stop", func(s *truthSpan) recordedFields {
		f := everything
		f.inFile = s.Stopped
		f.ids = !strings.HasPrefix(s.ID, "|") // the specification requests neither Id nor ParentId
		return f
	}},
	{"spans-propagate", func(s *truthSpan) recordedFields {
		f := everything
		f.inFile, f.tags, f.status = s.Stopped, s.AllData, s.AllData
		f.ids = !strings.HasPrefix(s.ID, "|")
		return f
	}},
	{"spans-multi", func(s *truthSpan) recordedFields {
		f := everything
		switch {
		case s.Source == "Shop.Stock":
			f = recordedFields{ids: true, inFile: s.Stopped, stop: true}
		case s.Source == "":
			f = recordedFields{ids: true, tags: true, inFile: true, stop: true}
		case s.Name == "pay": // Start only
			f = recordedFields{ids: true, inFile: true}
		}
		return f
	}},
}

// TestTruth compares our spans with the programs' own records.
func TestTruth(t *testing.T) {
	for _, r := range ownRecordings {
		t.Run(r.name, func(t *testing.T) {
			trace, account := corpus.Path(r.name+".nettrace.zst"), corpus.Path(r.name+".truth.json")
			if _, err := os.Stat(trace); err != nil {
				trace, account = corpus.Shared(t, "data", "own", r.name+".nettrace.zst"), corpus.Shared(t, "data", "own", r.name+".truth.json")
			}
			got := decode(t, corpus.Read(t, trace), diagsource.Options{})
			if got.counts != (diagsource.Counts{}) {
				t.Errorf("counts are %+v", got.counts)
			}
			want := 0
			spans := readTruth(t, account).Spans
			for i := range spans {
				s := &spans[i]
				f := r.recorded(s)
				if !f.inFile {
					continue
				}
				want++
				if us := got.find(s); us == nil {
					t.Errorf("span %q is missing", s.Name)
				} else {
					checkIdentity(t, got, us, s, f)
					checkContent(t, us, s, f)
				}
			}
			if want == 0 || len(got.spans) != want {
				t.Errorf("%d spans, want %d", len(got.spans), want)
			}
		})
	}
}

// find returns the span of a record: the span with its ID, or with its name if the ID is not a W3C ID.
func (d *decoded) find(s *truthSpan) *span.Span {
	for _, us := range d.spans {
		if us.Context.ID.String() == s.SpanID || strings.Trim(s.SpanID, "0") == "" && us.Name == s.Name {
			return us
		}
	}
	return nil
}

func checkIdentity(t *testing.T, d *decoded, us *span.Span, s *truthSpan, f recordedFields) {
	t.Helper()
	isW3C := strings.Trim(s.TraceID, "0") != ""
	if us.MadeID == isW3C || us.TraceID.IsZero() || us.Context.ID.IsZero() {
		t.Errorf("span %q: MadeID is %t, IDs are %v %v", s.Name, us.MadeID, us.TraceID, us.Context.ID)
	}
	parent := strings.Trim(us.ParentID.String(), "0")
	switch {
	case isW3C:
		if us.TraceID.String() != s.TraceID || us.Context.ID.String() != s.SpanID || parent != strings.Trim(s.ParentSpanID, "0") {
			t.Errorf("span %q: IDs are %v %v, parent %v; want %s %s, parent %s", s.Name, us.TraceID, us.Context.ID, us.ParentID, s.TraceID, s.SpanID, s.ParentSpanID)
		}
	case s.ParentID != "" && f.ids:
		outer := d.find(&truthSpan{Name: "hierarchical id"})
		if us.ParentID != outer.Context.ID || us.TraceID != outer.TraceID || us.Context.ID == outer.Context.ID {
			t.Errorf("span %q: IDs are %v %v, parent %v; its parent is %v %v", s.Name, us.TraceID, us.Context.ID, us.ParentID, outer.TraceID, outer.Context.ID)
		}
	case !us.ParentID.IsZero():
		t.Errorf("span %q has the parent %v, want none", s.Name, us.ParentID)
	}
	if us.Unfinished == f.stop || us.Evidence != span.FromActivity || us.Process == nil || us.Process.PID == 0 || f.stop == (us.EndThread == nil) {
		t.Errorf("span %q: unfinished %t, evidence %d, process %v, threads %v to %v", s.Name, us.Unfinished, us.Evidence, us.Process, us.Thread, us.EndThread)
	}
}

func checkContent(t *testing.T, us *span.Span, s *truthSpan, f recordedFields) {
	t.Helper()
	name := s.DisplayName
	if !f.stop || s.Source == "" {
		name = s.Name
	}
	if us.Name != name || us.Scope.Name != s.Source || f.version && us.Scope.Version != s.SourceVersion {
		t.Errorf("span %q of %q, version %q; want %q of %q, version %q", us.Name, us.Scope.Name, us.Scope.Version, name, s.Source, s.SourceVersion)
	}
	if kinds := [...]string{"", "Internal", "Server", "Client", "Producer", "Consumer"}; f.kind && kinds[us.Kind] != s.Kind || !f.kind && us.Kind != 0 {
		t.Errorf("span %q has the kind %d, want %s", s.Name, us.Kind, s.Kind)
	}
	if f.kind && (us.Flags&span.FlagSampled != 0) != (s.Flags == "Recorded") || f.kind && us.TraceState != s.TraceState {
		t.Errorf("span %q has flags %x and trace state %q, want %s and %q", s.Name, us.Flags, us.TraceState, s.Flags, s.TraceState)
	}
	if f.times {
		checkTimes(t, us, s, f)
	}
	description := s.StatusDescription
	if statuses := [...]string{"Unset", "Ok", "Error"}; f.status && (statuses[us.Status] != s.Status || us.StatusMessage != description) {
		t.Errorf("span %q has the status %d %q, want %s %q", s.Name, us.Status, us.StatusMessage, s.Status, description)
	}
	if f.tags && f.stop {
		checkTags(t, us, s)
	}
}

func checkTimes(t *testing.T, us *span.Span, s *truthSpan, f recordedFields) {
	t.Helper()
	const epoch = 621_355_968_000_000_000
	start := (s.StartUTCTicks - epoch) * 100
	if !f.stop {
		if us.End != 0 {
			t.Errorf("span %q ends at %d and was never stopped", s.Name, us.End)
		}
	} else if us.End-us.Start != uint64(s.DurationTicks*100) {
		t.Errorf("span %q takes %d ns, want %d", s.Name, us.End-us.Start, s.DurationTicks*100)
	}
	if late := int64(us.Start) - start; late != 0 && (!f.seconds || late < -30e6 || late > 30e6) {
		t.Errorf("span %q starts %d ns late", s.Name, late)
	}
}

// checkTags compares tags, except for a key with a separator, which the text of tags does not escape.
func checkTags(t *testing.T, us *span.Span, s *truthSpan) {
	t.Helper()
	got := make(map[string]string)
	for _, x := range us.Attributes {
		got[x.Key] = x.Value.Str()
	}
	for key, v := range s.Tags {
		if strings.Contains(key, ",") {
			delete(got, "key")
			delete(got, "with] comma")
			continue
		}
		text, ok := got[key]
		delete(got, key)
		switch v := v.(type) {
		case nil:
			ok = !ok
		case bool:
			ok = ok && text == map[bool]string{true: "True", false: "False"}[v]
		case json.Number:
			ok = ok && text == v.String()
		case string:
			ok = ok && text == v
		case []any:
			ok = ok && strings.HasPrefix(text, "System.")
		}
		if !ok {
			t.Errorf("span %q has the tag %s = %q, want %v", s.Name, key, clip(text), v)
		}
	}
	if len(got) > 0 {
		t.Errorf("span %q has more tags: %v", s.Name, got)
	}
}

// TestHTTP compares the spans of HTTP requests with the requests that the program sent and received.
func TestHTTP(t *testing.T) {
	got := decode(t, corpus.SharedTrace(t, "own/spans-http").Data, diagsource.Options{Convention: true})
	account := readTruth(t, corpus.Shared(t, "data", "own", "spans-http.truth.json"))
	if len(account.Served) == 0 {
		t.Fatal("the program served nothing")
	}
	find := func(id string, kind span.Kind) *span.Span {
		for _, s := range got.spans {
			if id == "00-"+s.TraceID.String()+"-"+s.Context.ID.String()+"-01" {
				if s.Kind != kind || s.Flags&span.FlagSampled == 0 {
					t.Errorf("span %s has kind %d and flags %x, want kind %d", id, s.Kind, s.Flags, kind)
				}
				return s
			}
		}
		t.Fatalf("there is no span %s", id)
		return nil
	}
	for i, served := range account.Served {
		client := find(served.Traceparent, span.KindClient)
		server := find(served.ServerSpan, span.KindServer)
		work := find(served.WorkSpan, span.KindInternal)
		root := find(account.Requests[i].RootSpan, span.KindInternal)
		if server.ParentID != client.Context.ID || work.ParentID != server.Context.ID || client.ParentID != root.Context.ID {
			t.Errorf("request %d: parents are wrong", i)
		}
		code := attribute(client, "http.response.status_code")
		if code.Kind() != span.ValueInt || code.Int() != int64(account.Requests[i].Status) {
			t.Errorf("request %d has the status %v, want %d", i, code, account.Requests[i].Status)
		}
	}
}

// TestListener decodes requests that a DiagnosticListener reported without IDs and times.
func TestListener(t *testing.T) {
	data := corpus.SharedTrace(t, "own/spans-diagsource").Data
	got := decode(t, data, diagsource.Options{})
	account := readTruth(t, corpus.Shared(t, "data", "own", "spans-diagsource.truth.json"))
	if len(account.Served) == 0 || len(got.spans) != len(account.Served) || got.counts != (diagsource.Counts{}) {
		t.Fatalf("%d spans and counts %+v, want %d spans", len(got.spans), got.counts, len(account.Served))
	}
	seen := make(map[span.ID]bool)
	for i, s := range got.spans {
		if s.Name != "Microsoft.AspNetCore.Hosting.HttpRequestIn" || s.Kind != span.KindServer || s.Scope.Name != "Microsoft.AspNetCore" || !s.MadeID || seen[s.Context.ID] {
			t.Errorf("span %q of %q, kind %d, made %t, ID %v", s.Name, s.Scope.Name, s.Kind, s.MadeID, s.Context.ID)
		}
		seen[s.Context.ID] = true
		if s.End <= s.Start || s.Thread == nil || s.Context != got.started[i].Context {
			t.Errorf("span from %d to %d on %v; it started as %v and ended as %v", s.Start, s.End, s.Thread, got.started[i].Context, s.Context)
		}
	}
	again := decode(t, data, diagsource.Options{})
	for i, s := range again.spans {
		if s.Context != got.spans[i].Context {
			t.Errorf("span %d has the IDs %v in one run and %v in another", i, got.spans[i].Context, s.Context)
		}
	}
}

func attribute(s *span.Span, key string) span.Value {
	for _, x := range s.Attributes {
		if x.Key == key {
			return x.Value
		}
	}
	return span.Value{}
}
