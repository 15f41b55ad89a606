package chrome_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/perfettocheck"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/track"
)

// Arrows whose ends have different times are written: between threads (1), from and to asynchronous slices (2, 3), also
// if the slice of the begin has ended when the arrow ends. The summary counts arrows of the file: 4 ends outside slices.
const laterArrows = `[{"ph":"X","cat":"a","name":"launch","pid":1,"tid":1,"ts":0,"dur":10},
{"ph":"s","cat":"f","name":"f","id":1,"pid":1,"tid":1,"ts":5},
{"ph":"s","cat":"f","name":"f","id":4,"pid":1,"tid":1,"ts":5},
{"ph":"b","cat":"a","name":"request","id":"0x5","pid":1,"tid":1,"ts":11,"args":{}},
{"ph":"n","cat":"a","name":"request","id":"0x5","pid":1,"tid":1,"ts":12,"bind_id":"0x2","flow_out":true},
{"ph":"e","cat":"a","name":"request","id":"0x5","pid":1,"tid":1,"ts":15},
{"ph":"X","cat":"a","name":"kernel","pid":1,"tid":2,"ts":20,"dur":10},
{"ph":"f","bp":"e","cat":"f","name":"f","id":1,"pid":1,"tid":2,"ts":22},
{"ph":"X","cat":"a","name":"answer","pid":1,"tid":2,"ts":24,"dur":3,"bind_id":"0x2","flow_in":true},
{"ph":"f","cat":"f","name":"f","id":4,"pid":1,"tid":3,"ts":40},
{"ph":"X","cat":"a","name":"last","pid":1,"tid":1,"ts":50,"dur":1}]`

func TestLaterArrows(t *testing.T) {
	s, events := converted(t, laterArrows, chrome.Options{NoArgs: true})
	ends, begins := 0, 0
	for _, e := range events {
		if e.isEnd() {
			ends++
		}
		if e.isBegin() {
			begins++
		}
	}
	if s.Flows != 2 || s.LostFlows != 1 || ends != 2 || begins < 2 {
		t.Errorf("%d arrows and %d omitted, the file has %d begins and %d ends", s.Flows, s.LostFlows, begins, ends)
	}
}

// The summary counts the arrows that the file holds, with options that convert imported events.
func TestArrowsAreCounted(t *testing.T) {
	written := int64(0)
	for _, path := range [][]string{
		{"pf", "connected_flow_data.json"}, {"pf", "flow_events_json_v2.json"}, {"cat", "flow_simple.json"}, {"cat", "webview.json.gz"},
		{"hta", "critical_path_cuda_event_sync_event_sync_trace.json.gz"}, {"hta", "critical_path_simple_add_benchmark_result_493459_1694039959_trace.json.gz"},
	} {
		data := corpus.Read(t, corpus.Shared(t, append([]string{"data", "foreign"}, path...)...))
		if strings.HasSuffix(path[1], ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err == nil {
				data, err = io.ReadAll(z)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []chrome.Options{{NoArgs: true}, {Options: track.Options{MinDuration: 10_000}}, {Options: track.Options{Tracks: track.All &^ track.Events}}} {
			s, events := converted(t, string(data), o)
			ends := int64(0)
			for _, e := range events {
				if e.isEnd() {
					ends++
				}
			}
			if s.Flows != ends {
				t.Errorf("%s: %d arrows, %d omitted, the file has %d", path, s.Flows, s.LostFlows, ends)
			}
			written += ends
		}
	}
	if written < 1000 {
		t.Errorf("only %d arrows in all files", written)
	}
}

// An arrowEvent has the members of events that belong to arrows.
type arrowEvent struct {
	Ph      string
	FlowIn  bool `json:"flow_in"`
	FlowOut bool `json:"flow_out"`
}

func (e *arrowEvent) isEnd() bool   { return e.Ph == "f" || e.FlowIn }
func (e *arrowEvent) isBegin() bool { return e.Ph == "s" || e.FlowOut }

// converted converts a file of the format with options that select parts of it.
func converted(t *testing.T, text string, o chrome.Options) (chrome.Summary, []arrowEvent) {
	t.Helper()
	src := imported(t, text)
	var out bytes.Buffer
	o.TempDir = t.TempDir()
	sink := chrome.New(&out, src.Info(), nil, &o)
	timelines.Write(t, src, sink)
	var file struct{ TraceEvents []arrowEvent }
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	for _, f := range perfettocheck.Check(bytes.NewReader(out.Bytes())).Findings {
		if f.Rule == perfettocheck.RuleFlow {
			t.Log(f)
		}
	}
	return sink.Summary(), file.TraceEvents
}
