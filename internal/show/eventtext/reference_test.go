package eventtext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// A reference line is the output of Microsoft's TraceEvent library for an event.
type line map[string]any

// key returns the key by which compare pairs the events of two dumps.
func (l line) key() string {
	return fmt.Sprint(l["ticks"], " ", orZero(l["tid"]), " ", l["provider"], " ", l["id"], " ", orZero(l["version"]), " ", orZero(l["size"]))
}

func orZero(v any) any {
	if v == nil {
		return "0"
	}
	return v
}

func readLines(t *testing.T, r io.Reader) map[string][]line {
	t.Helper()
	m := make(map[string][]line)
	d := json.NewDecoder(r)
	d.UseNumber()
	for {
		var l line
		switch err := d.Decode(&l); err {
		case nil:
			if l["provider"] == "Microsoft-Windows-DotNETRuntime" && fmt.Sprint(l["id"]) == "65524" {
				l["id"] = json.Number("39") // TraceEvent assigns its own ID to one kind of GCDynamicEvent
			}
			if name, ok := l["name"]; ok { // TraceEvent's
				l["event"] = name
				delete(l, "name")
			}
			m[l.key()] = append(m[l.key()], l)
		case io.EOF:
			return m
		default:
			t.Fatal(err)
		}
	}
}

// dump returns all events of a trace as JSON lines. If the trace is truncated, it returns the events before that.
func dump(t *testing.T, trace []byte) []byte {
	t.Helper()
	src, err := reader.New(bytes.NewReader(trace), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := New(src.Info().Clock, Options{CRC: true, Hex: true, Stacks: true})
	var out []byte
	for e := range ntconv.Events(src) {
		if e != nil && e.Kind == ntconv.KindEvent {
			start := len(out)
			out = p.AppendJSON(out, e)
			checkLine(t, out[start:])
		}
	}
	return out
}

func TestAgainstReference(t *testing.T) {
	dumps, err := filepath.Glob("../../../testdata/*.events.jsonl.zst")
	if err != nil || len(dumps) == 0 {
		t.Fatal("no reference dumps: ", err)
	}
	for _, path := range dumps {
		name := strings.TrimSuffix(filepath.Base(path), ".events.jsonl.zst")
		t.Run(name, func(t *testing.T) {
			compare(t, name, corpus.Trace(t, name).Data, corpus.Read(t, path))
		})
	}
}

// compare checks that every event of the reference has a counterpart with the same head and the same value in each
// common field.
func compare(t *testing.T, name string, trace, reference []byte) {
	want, got := readLines(t, bytes.NewReader(reference)), readLines(t, bytes.NewReader(dump(t, trace)))
	if len(want) == 0 && len(reference) > 0 {
		t.Fatal("reference without events")
	}
	bad := 0
	for key, events := range want {
		ours := got[key]
		if len(ours) < len(events) {
			t.Errorf("%s: %d of %d events", key, len(ours), len(events))
			continue
		}
		sortByContent(events)
		sortByContent(ours)
		for i, e := range events {
			if err := same(name, e, ours[i]); err != nil {
				if bad++; bad <= 5 {
					t.Errorf("%s: %v", key, err)
				}
			}
		}
	}
	if bad > 5 {
		t.Errorf("and %d more", bad-5)
	}
}

// sortByContent sorts events with equal keys, so that both dumps have them in the same order.
func sortByContent(list []line) {
	slices.SortFunc(list, func(a, b line) int {
		if c := strings.Compare(fmt.Sprint(a["crc32"]), fmt.Sprint(b["crc32"])); c != 0 {
			return c
		}
		return strings.Compare(fmt.Sprint(a["activity_id"]), fmt.Sprint(b["activity_id"]))
	})
}

func same(name string, want, got line) error {
	for _, k := range []string{"pid", "level", "keywords", "activity_id", "related_activity_id", "trace_id", "span_id", "crc32"} {
		if k == "related_activity_id" && (strings.Contains(name, "netperf") || strings.Contains(name, "core2.1")) {
			continue // the header has no version; TraceEvent reads other bytes
		}
		if k == "crc32" && want[k] == nil {
			continue // no payload
		}
		if fmt.Sprint(want[k]) != fmt.Sprint(got[k]) {
			return fmt.Errorf("%s: %v, the reference has %v", k, got[k], want[k])
		}
	}
	if want, ok := want["payload"].(map[string]any); ok && !clr.IsRuntime(fmt.Sprint(got["provider"])) {
		return samePayload(want, got)
	}
	return nil
}

// samePayload compares the fields of self-describing events. The tests of package schema compare the events of the
// runtime.
func samePayload(want map[string]any, got line) error {
	switch fmt.Sprint(got["provider"], "/", got["event"]) {
	case "Shop-SelfDescribing/Arrays", "Shop-Free/Type decimal":
		return nil // TraceEvent reads 4 bytes per element of bool[] and cannot show a decimal
	}
	ours, _ := got["payload"].(map[string]any)
	if inner, ok := want[""].(map[string]any); ok && len(want) == 1 && len(ours) != 1 {
		want, _ = inner["Payload"].(map[string]any) // counters: TraceEvent nests the only field under an empty name
	}
	for k, v := range want {
		w, ok := ours[k]
		if ok && !sameValue(v, w) {
			return fmt.Errorf("%s/%s: field %s: %v, the reference has %v", got["provider"], got["event"], k, w, v)
		}
	}
	return nil
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		return sameNumber(a.String(), fmt.Sprint(b))
	case string:
		if s, ok := b.(string); ok {
			return strings.EqualFold(a, s)
		}
		return sameNumber(a, fmt.Sprint(b))
	case bool:
		return fmt.Sprint(a) == fmt.Sprint(b) || a == (fmt.Sprint(b) != "0")
	case []any:
		list, ok := b.([]any)
		return ok && slices.EqualFunc(a, list, sameValue)
	case map[string]any:
		m, ok := b.(map[string]any)
		for k := range a {
			ok = ok && sameValue(a[k], m[k])
		}
		return ok && len(a) == len(m)
	}
	return a == b
}

// sameNumber compares integers by their bits, because TraceEvent shows some unsigned fields as signed, and all other
// numbers by value.
func sameNumber(a, b string) bool {
	if b == "true" || b == "false" {
		return (b == "true") == (a != "0")
	}
	if x, ok := bits(a); ok {
		y, ok := bits(b)
		return ok && (x == y || int64(x) == int64(int32(y)) || int64(y) == int64(int32(x)))
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && (x == y || max(x, y)-min(x, y) <= 1e-6*max(x, y, -x, -y)) || a == b
}

func bits(s string) (uint64, bool) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), true
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return n, err == nil
}

func TestAgainstReferenceOfAllTraces(t *testing.T) {
	dumps, err := filepath.Glob(filepath.Join(corpus.Shared(t, "oracle", "events"), "*.jsonl.zst"))
	if err != nil || len(dumps) == 0 {
		t.Fatal("no reference dumps: ", err)
	}
	for _, path := range dumps {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl.zst")
		traces, err := filepath.Glob(filepath.Join(corpus.Shared(t, "data"), "*", name+".net*.zst"))
		if err != nil || len(traces) != 1 {
			t.Fatal(name, traces, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > 30<<10 || strings.Contains(name, "prerelease") {
			continue // large traces take minutes; ntconv rejects the trace of a preview and TraceEvent misreads it
		}
		t.Run(name, func(t *testing.T) { compare(t, name, corpus.Read(t, traces[0]), corpus.Read(t, path)) })
	}
}
