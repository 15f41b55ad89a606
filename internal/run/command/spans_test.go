package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/writer"
)

// spanTrace writes a trace with samples every millisecond on two threads, and with operations of an event source on the
// first one: "Cart" from 10 to 29 ms, in it "Pay" from 15 to 19 ms, and "Idle" from 40 to 41 ms.
func spanTrace(t *testing.T) string {
	t.Helper()
	sample := &ntconv.Type{Provider: "Microsoft-DotNETCore-SampleProfiler", ID: 0}
	types := map[string]*ntconv.Type{}
	for i, name := range []string{"CartStart", "CartStop", "PayStart", "PayStop", "IdleStart", "IdleStop"} {
		types[name] = &ntconv.Type{Provider: "Shop", ID: uint32(i + 1), Name: name, Opcode: uint8(i%2 + 1), HasOpcode: true}
	}
	p := &ntconv.Process{PID: 7, PointerSize: 8}
	threads := []*ntconv.Thread{{TID: 70, Process: p}, {TID: 71, Process: p}}
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9, Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, PointerSize: 8}
	var events []*ntconv.Event
	var seq [2]uint32
	write := func(th int, at time.Duration, typ *ntconv.Type) {
		seq[th]++
		e := &ntconv.Event{Time: ntconv.Ticks(at), Type: typ, Thread: threads[th], Capture: threads[th], CPU: ntconv.CPUUnknown, Seq: seq[th], Offset: -1, Flags: ntconv.FlagSorted}
		if typ == sample {
			e.Payload, e.Stack = binary.LittleEndian.AppendUint32(nil, 2), &ntconv.Stack{PCs: []uint64{0x1000, 0x2000}}
		}
		events = append(events, e)
	}
	for ms := range 50 {
		at := time.Duration(ms) * time.Millisecond
		write(0, at, sample)
		write(1, at, sample)
		if name := map[int]string{9: "CartStart", 14: "PayStart", 19: "PayStop", 29: "CartStop", 40: "IdleStart", 41: "IdleStop"}[ms]; name != "" {
			write(0, at+time.Millisecond/2, types[name])
		}
	}
	return writeTrace(t, "spans.nettrace", info, events...)
}

// writeTrace writes events as a trace to a file in a new directory and returns its path.
func writeTrace(t testing.TB, name string, info *ntconv.Info, events ...*ntconv.Event) string {
	t.Helper()
	var b bytes.Buffer
	w, err := writer.New(&b, info, nil)
	must(t, err)
	for _, e := range events {
		must(t, w.Write(e))
	}
	must(t, w.Close())
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// convert makes a profile of a trace and returns it with what the command printed.
func convertProfile(t *testing.T, args ...string) (*profile.Profile, []byte, string) {
	t.Helper()
	dir := t.TempDir()
	r := invoke(t, dir, nil, append([]string{"to", "pprof", "-o", "out.pb.gz"}, args...)...)
	if r.code != 0 {
		t.Fatalf("%v: %d %s", args, r.code, r.stderr)
	}
	b := contentAt(t, filepath.Join(dir, "out.pb.gz"))
	p, err := profile.ParseData(b)
	must(t, err)
	return p, b, r.stderr
}

// totals returns the totals of a column of a profile by the value of a label, "" for samples without it.
func totals(p *profile.Profile, column int, key string) map[string]int64 {
	m := map[string]int64{}
	for _, s := range p.Sample {
		m[strings.Join(s.Label[key], "+")] += s.Value[column]
	}
	return m
}

func total(p *profile.Profile, column int) (n int64) {
	for _, s := range p.Sample {
		n += s.Value[column]
	}
	return n
}

// Samples have the labels of the innermost span of their thread, and nothing else changes: without these labels the
// profile is that of --span-link off, byte for byte.
func TestSpanLabels(t *testing.T) {
	path := spanTrace(t)
	p, linked, stderr := convertProfile(t, "--span-name", path)
	if got, want := totals(p, 0, "span_name"), map[string]int64{"": 79, "Cart": 15, "Pay": 5, "Idle": 1}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := "21 of 100 samples linked to spans (21 by thread)"; !strings.Contains(stderr, want) {
		t.Errorf("%s, want %s", stderr, want)
	}
	ids := map[string]string{}
	for _, s := range p.Sample {
		if len(s.Label["span_name"]) == 0 {
			continue
		}
		if len(s.Label["span_id"]) != 1 || len(s.Label["span_id"][0]) != 16 || len(s.Label["trace_id"]) != 1 || len(s.Label["trace_id"][0]) != 32 ||
			!slices.Equal(s.Label["span_link"], []string{"thread"}) || s.NumLabel["tid"][0] != 70 {
			t.Errorf("%v %v", s.Label, s.NumLabel)
		}
		ids[s.Label["span_name"][0]] = s.Label["trace_id"][0]
	}
	if ids["Pay"] != ids["Cart"] || ids["Idle"] == ids["Cart"] {
		t.Errorf("trace IDs %v", ids)
	}
	_, off, stderr := convertProfile(t, "--span-link", "off", path)
	if strings.Contains(stderr, "span") && !strings.Contains(stderr, "spans.nettrace") {
		t.Error(stderr)
	}
	if _, dropped, _ := convertProfile(t, "--drop-label", "trace_id,span_id,span_link,span_name", "--span-name", path); !bytes.Equal(off, dropped) {
		t.Error("without the labels of spans, the profile differs from that of --span-link off")
	}
	for _, args := range [][]string{{"--order", "file"}, {"--order", "time"}, {"--span-link", "thread"}, {"--span-link", "thread,label"}} {
		if _, b, _ := convertProfile(t, append(args, "--span-name", path)...); !bytes.Equal(b, linked) {
			t.Errorf("%v gives another profile", args)
		}
	}
	for _, evidence := range []string{"label", "activity"} {
		p, _, stderr := convertProfile(t, "--span-link", evidence, path)
		if len(totals(p, 0, "span_id")) > 1 || !strings.Contains(stderr, "0 of 100 samples linked to spans") {
			t.Errorf("%s: %s", evidence, stderr)
		}
	}
}

// --during selects the events of active spans, with the weights of the whole trace.
func TestDuring(t *testing.T) {
	path := spanTrace(t)
	all, _, _ := convertProfile(t, "--span-name", path)
	times := totals(all, 1, "span_name")
	for expr, want := range map[string]int64{
		`span.name == "Pay"`:                                  times["Pay"],
		`span.name == "Cart"`:                                 times["Pay"] + times["Cart"],
		`span.name =~ "a" && span.duration < 6ms`:             times["Pay"],
		`span.scope == "Shop" && span.start > 30ms`:           times["Idle"],
		`!(span.name == "Pay") && !has(span.attributes.none)`: times["Pay"] + times["Cart"] + times["Idle"],
	} {
		p, _, stderr := convertProfile(t, "--during", expr, path)
		if got := total(p, 1); got != want || want == 0 {
			t.Errorf("%s: %d ns, want %d: %s", expr, got, want, stderr)
		}
	}
}

// The time of the methods Busy.Scan and Busy.Pay is the time of the spans scan and pay in which the program called
// them. The totals agree with those that the program measured; single spans may differ, because the sampler pauses for
// up to 40 ms.
func TestSpanTruth(t *testing.T) {
	path := corpus.Shared(t, "data", "otel", "otel-cpu.nettrace.zst")
	var truth struct {
		Busy []struct{ ScanStartQpc, EndQpc int64 }
	}
	decode(t, contentAt(t, corpus.Shared(t, "data", "otel", "otel-cpu.truth.json")), &truth)
	measured := int64(0)
	for _, b := range truth.Busy {
		measured += b.EndQpc - b.ScanStartQpc
	}
	p, _, _ := convertProfile(t, "--span-name", path)
	off, _, _ := convertProfile(t, "--span-link", "off", path)
	if got, want := total(p, 1), total(off, 1); got != want {
		t.Errorf("%d ns with labels of spans, %d without", got, want)
	}
	under := map[string]int64{}
	for _, s := range p.Sample {
		for _, method := range []string{"Shop.Busy.Scan(", "Shop.Busy.Pay("} {
			if inMethod(s, "Shop.Busy.Basket(") && inMethod(s, method) {
				under[method+strings.Join(s.Label["span_name"], "+")] += s.Value[1]
			}
		}
	}
	scan, pay := under["Shop.Busy.Scan(scan"], under["Shop.Busy.Pay(pay"]
	if len(under) != 2 {
		t.Errorf("methods and spans differ: %v", under)
	}
	if diff := float64(scan+pay)/float64(measured) - 1; diff < -0.05 || diff > 0.05 {
		t.Errorf("%d ns in Scan and %d ns in Pay under their spans, the program measured %d ns", scan, pay, measured)
	}
}

func inMethod(s *profile.Sample, prefix string) bool {
	return slices.ContainsFunc(s.Location, func(l *profile.Location) bool {
		return slices.ContainsFunc(l.Line, func(n profile.Line) bool { return strings.HasPrefix(n.Function.Name, prefix) })
	})
}

// The labels of samples are the IDs under which ntconv to otlp sends the spans, synthesized ones too, so that profile
// and spans can be joined.
func TestSpanLabelsAreThoseOfOTLP(t *testing.T) {
	path, dir := spanTrace(t), t.TempDir()
	succeed(t, dir, "to", "otlp", "-o", "spans.jsonl", path)
	sent := map[string]bool{}
	for _, s := range readSpans(t, contentAt(t, filepath.Join(dir, "spans.jsonl"))) {
		sent[s.TraceID+" "+s.SpanID+" "+s.Name] = true
	}
	p, _, _ := convertProfile(t, "--span-name", path)
	labels := map[string]bool{}
	for _, s := range p.Sample {
		if len(s.Label["span_id"]) > 0 {
			labels[s.Label["trace_id"][0]+" "+s.Label["span_id"][0]+" "+s.Label["span_name"][0]] = true
		}
	}
	if len(sent) != 3 || !maps.Equal(sent, labels) {
		t.Errorf("sent %v, labels %v", sent, labels)
	}
}
