package pass

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
)

// written is the result of an output.
type written struct{ json, detail string }

func (w written) MarshalJSON() ([]byte, error) { return []byte(w.json), nil }
func (w written) Empty() string                { return "" }
func (w written) Line(r formats.Read) string   { return "3 samples from " + r.Line() }
func (w written) Detail() (string, []ntconv.Code) {
	return w.detail, []ntconv.Code{ntconv.CodeUnresolved}
}
func (w written) Remark(string)   {}
func (w written) Notes() []string { return nil }

// lossy returns a report of two entries. The detail of written covers the second.
func lossy() *ntconv.Report {
	r := new(ntconv.Report)
	r.Note(ntconv.CodeEventsLost, 1000, 17, "of <thread> 5")
	r.Add(ntconv.CodeUnresolved, 2, -1)
	return r
}

// The line omits an entry of the report only if the detail covers it.
func TestLine(t *testing.T) {
	report := lossy()
	for _, tt := range []struct {
		result formats.Result
		want   string
	}{
		{nil, "out: 5 of 1,786 events in trace.nettrace and 1 more (nettrace 4); events-lost: 1,000 "},
		{written{}, "out: 3 samples from 5 of 1,786 events in trace.nettrace and 1 more (nettrace 4); events-lost: 1,000 "},
		{written{detail: "half of them red"}, "out: 3 samples from 5 of 1,786 events in trace.nettrace and 1 more (nettrace 4); events-lost: 1,000 "},
	} {
		s := Summary{
			Input: "trace.nettrace", Inputs: []string{"trace.nettrace", "b"}, Format: "nettrace 4", Output: "out", Events: 1786, Selected: 5,
			Result: tt.result, Report: Entries(report), Notes: []string{"first", "second"},
		}
		detail := ""
		if tt.result != nil {
			detail, _ = tt.result.Detail()
		}
		got := s.Line()
		if !strings.HasPrefix(got, tt.want) || strings.Contains(got, "unresolved") != (detail == "") || !strings.HasSuffix(got, detail+"; first; second") {
			t.Errorf("%s", got)
		}
	}
}

// The JSON is one line, and the members of the result are members of the summary, between those of the input and of the
// report.
func TestJSON(t *testing.T) {
	report := lossy()
	for _, tt := range []struct {
		result formats.Result
		report *ntconv.Report
		want   []string
	}{
		{nil, nil, []string{"input", "events", "selected", "report", "exit", "error"}},
		{written{json: `{}`}, nil, []string{"input", "events", "selected", "report", "exit", "error"}},
		{written{json: `{"kind":"wall","items":3}`}, report, []string{"input", "events", "selected", "kind", "items", "report", "exit", "error"}},
	} {
		s := Summary{Input: "a<b", Events: 7, Result: tt.result, Exit: 3, Error: "no", Report: Entries(tt.report)}
		var b bytes.Buffer
		if err := s.WriteJSON(&b); err != nil || strings.Count(b.String(), "\n") != 1 || !strings.Contains(b.String(), `"a<b"`) {
			t.Errorf("%v: %s", err, b.String())
		}
		if got := members(t, b.Bytes()); strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("%q, want %q", got, tt.want)
		}
		var back struct {
			Input  string
			Events int64
			Report []Entry
		}
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Input != "a<b" || back.Events != 7 || back.Report == nil || len(back.Report) != len(s.Report) {
			t.Errorf("%v: %+v", err, back)
		}
		for i, e := range back.Report {
			if w := s.Report[i]; e.Code != w.Code || e.Count != w.Count || e.Text == "" || e.Severity == "" || (e.Offset == nil) != (e.Code == "unresolved") {
				t.Errorf("%+v, want %+v", e, w)
			}
		}
	}
}

// A report that was never set is an empty list, not null.
func TestJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := new(Summary).WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"report":[]`) {
		t.Errorf("%v: %s", err, b.String())
	}
	if err := new(Summary).WriteJSON(full{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// members returns the keys of an object in order.
func members(t *testing.T, object []byte) (keys []string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}
