package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A listedEvent is a line of print --json.
type listedEvent struct {
	line       string
	Ticks      int64
	PID, TID   uint64
	Provider   string
	Name       string `json:"event"`
	ActivityID string `json:"activity_id"`
	Payload    map[string]any
}

// listEvents returns the events that a selection keeps, as print lists them. It may keep none.
func listEvents(t *testing.T, in string, flags ...string) (list []listedEvent) {
	t.Helper()
	r := invoke(t, "", nil, append([]string{"print", "--json", "-q", in}, flags...)...)
	if r.code != exitOK && r.code != exitEmpty {
		t.Fatalf("%s %v: code %d: %s", in, flags, r.code, r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		e := listedEvent{line: line}
		decode(t, []byte(line), &e)
		list = append(list, e)
	}
	return list
}

// A span of time of a process, or of one of its threads if tid is not nil, with the event that begins it.
type listedInterval struct {
	begin    *listedEvent
	pid      uint64
	tid      *uint64
	from, to int64
}

// pairUp pairs begins and ends by a key, the latest begin first. An end that no begin precedes is ignored.
func pairUp(events []listedEvent, key func(*listedEvent) (k string, begins, ends bool), ofThread bool) (list []listedInterval) {
	open := map[string][]*listedEvent{}
	for i := range events {
		e := &events[i]
		k, begins, ends := key(e)
		if stack := open[k]; ends && len(stack) > 0 {
			b := stack[len(stack)-1]
			open[k] = stack[:len(stack)-1]
			v := listedInterval{begin: b, pid: b.PID, from: b.Ticks, to: e.Ticks}
			if ofThread {
				v.tid = &b.TID
			}
			list = append(list, v)
		}
		if begins {
			open[k] = append(open[k], e)
		}
	}
	return list
}

// runtimePair returns the key of a pair of the runtime by process and the given parts.
func runtimePair(begin string, ends []string, parts func(*listedEvent) string) func(*listedEvent) (string, bool, bool) {
	return func(e *listedEvent) (string, bool, bool) {
		if e.Provider != "Microsoft-Windows-DotNETRuntime" {
			return "", false, false
		}
		return fmt.Sprint(e.PID, " ", parts(e)), e.Name == begin, slices.Contains(ends, e.Name)
	}
}

func byField(name string) func(*listedEvent) string {
	return func(e *listedEvent) string { return fmt.Sprint(e.Payload[name]) }
}

func byThread(e *listedEvent) string { return fmt.Sprint(e.TID) }

// inIntervals returns the lines of the events in the intervals for which a condition holds.
func inIntervals(events []listedEvent, list []listedInterval, holds func(*listedInterval) bool) (lines []string) {
	for i := range events {
		e := &events[i]
		if slices.ContainsFunc(list, func(v listedInterval) bool {
			return e.PID == v.pid && (v.tid == nil || *v.tid == e.TID) && v.from <= e.Ticks && e.Ticks <= v.to && (holds == nil || holds(&v))
		}) {
			lines = append(lines, e.line)
		}
	}
	return lines
}

// duringTraces are traces with intervals of the runtime.
func duringTraces(t *testing.T) (paths []string) {
	for _, name := range []string{"alloc-verbose", "waits", "exceptions", "jit", "otel-cpu"} {
		paths = append(paths, trace(t, name))
	}
	for _, path := range [][]string{
		{"data", "own", "startup-typeload.nettrace.zst"}, {"data", "own", "alloc-gccollect.nettrace.zst"}, {"data", "own", "async-tpl.nettrace.zst"},
		{"data", "nettrace", "filtrace-contention-net10.nettrace.zst"}, {"data", "nettrace", "filtrace-exceptions-net10.nettrace.zst"},
		{"data", "nettrace", "countercow-console-net8.nettrace.zst"}, {"data", "nettrace", "filtrace-alloc-net10.nettrace.zst"},
	} {
		if p, err := corpus.Find(path...); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// expectedDuring computes the events that expressions select from the list of all events.
func expectedDuring(events []listedEvent) map[string][]string {
	collections := pairUp(events, runtimePair("GCStart", []string{"GCEnd"}, byField("Count")), false)
	var pauses []listedInterval
	for _, v := range pairUp(events, runtimePair("GCSuspendEEBegin", []string{"GCRestartEEEnd"}, func(*listedEvent) string { return "" }), false) {
		if r := v.begin.Payload["Reason"]; r == 1.0 || r == 6.0 {
			pauses = append(pauses, v)
		}
	}
	// A pause belongs to the latest collection that has begun, unless it ended before the pause.
	paused := map[*listedEvent]int64{}
	collectionOf := func(pause *listedInterval) *listedEvent {
		var latest *listedEvent
		for _, c := range collections {
			if c.pid == pause.pid && c.from <= pause.to && c.to >= pause.from && (latest == nil || c.from > latest.Ticks) {
				latest = c.begin
			}
		}
		return latest
	}
	for _, v := range pauses {
		paused[collectionOf(&v)] += v.to - v.from
	}
	locks := pairUp(events, runtimePair("ContentionStart", []string{"ContentionStop"}, byThread), true)
	waits := pairUp(events, runtimePair("WaitHandleWaitStart", []string{"WaitHandleWaitStop"}, byThread), true)
	thrown := pairUp(events, runtimePair("ExceptionThrown", []string{"ExceptionThrownStop"}, byThread), true)
	compiled := pairUp(events, runtimePair("MethodJittingStarted", []string{"MethodLoadVerbose", "MethodLoad"}, byField("MethodID")), true)
	types := pairUp(events, runtimePair("TypeLoadStart", []string{"TypeLoadStop"}, byField("TypeLoadStartID")), true)
	starts := pairUp(events, runtimePair("ThreadCreating", []string{"ThreadRunning"}, byField("ID")), false)
	return map[string][]string{
		`gc`:                         inIntervals(events, collections, nil),
		`gc.generation == 2`:         inIntervals(events, collections, func(v *listedInterval) bool { return v.begin.Payload["Depth"] == 2.0 }),
		`gc.reason == "Induced"`:     inIntervals(events, collections, func(v *listedInterval) bool { return v.begin.Payload["Reason"] == 1.0 }),
		`pause`:                      inIntervals(events, pauses, nil),
		`pause.generation == 1`:      inIntervals(events, pauses, func(v *listedInterval) bool { c := collectionOf(v); return c != nil && c.Payload["Depth"] == 1.0 }),
		`gc.pause > 250us`:           inIntervals(events, collections, func(v *listedInterval) bool { return paused[v.begin] > 250_000 }),
		`pause.duration > 300us`:     inIntervals(events, pauses, func(v *listedInterval) bool { return v.to-v.from > 300_000 }),
		`contention`:                 inIntervals(events, locks, nil),
		`contention.duration > 20ms`: inIntervals(events, locks, func(v *listedInterval) bool { return v.to-v.from > 20_000_000 }),
		`wait`:                       inIntervals(events, waits, nil),
		`exception`:                  inIntervals(events, thrown, nil),
		`exception.type =~ "Invalid"`: inIntervals(events, thrown, func(v *listedInterval) bool {
			return strings.Contains(fmt.Sprint(v.begin.Payload["ExceptionType"]), "Invalid")
		}),
		`jit`:                           inIntervals(events, compiled, nil),
		`typeload`:                      inIntervals(events, types, nil),
		`pair.name == "ThreadCreation"`: inIntervals(events, starts, nil),
		`pair.name == "GC" && pair.fields.Depth == 0`: inIntervals(events, collections, func(v *listedInterval) bool { return v.begin.Payload["Depth"] == 0.0 }),
	}
}

// The events that --during selects are exactly those between the begin and the end of an interval, as an independent
// computation finds them in the list of all events.
func TestDuringIntervals(t *testing.T) {
	seen := map[string]int{}
	for _, in := range duringTraces(t) {
		events := listEvents(t, in)
		for expression, want := range expectedDuring(events) {
			if (len(want) == 0 || !corpus.Nightly()) && seen[expression] > 0 { // one trace of each is enough
				continue
			}
			seen[expression] += len(want)
			var got []string
			for _, e := range listEvents(t, in, "--during", expression) {
				got = append(got, e.line)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s: %d events, want %d\n%s", in, expression, len(got), len(want), firstDifference(got, want))
			}
		}
	}
	for expression, n := range seen {
		if n == 0 && !testing.Short() && expression != "typeload" {
			t.Errorf("%s: no trace has such an interval", expression)
		}
	}
}

// firstDifference describes the first line in which two lists differ.
func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "missing " + want[i]
		case i >= len(want):
			return "unexpected " + got[i]
		case got[i] != want[i]:
			return "got " + got[i] + "want " + want[i]
		}
	}
	return ""
}

// A request is a span: both expressions select the same events. All events with the activity ID of a selected request
// between its events are among them.
func TestDuringRequests(t *testing.T) {
	in := corpus.Shared(t, "data", "own", "net-http.nettrace.zst")
	events := listEvents(t, in)
	const kestrel = "Microsoft-AspNetCore-Server-Kestrel"
	for request, same := range map[string]string{
		`request`:                            `span.name == "Request"`,
		`request.path == "/orders/2"`:        `span.name == "Request" && span.attributes.path == "/orders/2"`,
		`request.side == "client"`:           `span.name == "Request" && span.scope == "System.Net.Http"`,
		`request.status == 200`:              `span.name == "Request" && span.attributes.statusCode == 200`,
		`request.method == "get"`:            `span.name == "Request" && span.attributes.method == "GET"`,
		`request.duration > 10ms`:            `span.name == "Request" && span.duration > 10ms`,
		`pair.name == "Request"`:             `span.name == "Request"`,
		`pair.provider == "` + kestrel + `"`: `span.scope == "` + kestrel + `"`,
		`pair.fields.port == 5199`:           `span.attributes.port == 5199`,
	} {
		var got, want []string
		for _, e := range listEvents(t, in, "--during", request) {
			got = append(got, e.line)
		}
		for _, e := range listEvents(t, in, "--during", same) {
			want = append(want, e.line)
		}
		if !slices.Equal(got, want) || len(got) == 0 || len(got) == len(events) {
			t.Errorf("%s: %d events, %s %d", request, len(got), same, len(want))
		}
	}
	selected := map[string]bool{}
	for _, e := range listEvents(t, in, "--during", `request.path == "/orders/2"`) {
		selected[e.line] = true
	}
	inside := 0
	for _, v := range pairUp(events, func(e *listedEvent) (string, bool, bool) {
		if e.Provider != kestrel || e.Payload["path"] != "/orders/2" {
			return "", false, false
		}
		return e.ActivityID, e.Name == "RequestStart", e.Name == "RequestStop"
	}, false) {
		for _, e := range events {
			if e.ActivityID == v.begin.ActivityID && v.from <= e.Ticks && e.Ticks <= v.to {
				inside++
				if !selected[e.line] {
					t.Errorf("not selected: %s", e.line)
				}
			}
		}
	}
	if inside < 2 {
		t.Errorf("%d events in requests, which shows nothing", inside)
	}
}

// The help names every property of every kind.
func TestDuringHelp(t *testing.T) {
	help := invoke(t, "", nil, "help", "where").stdout
	fails := func(expression string) string {
		t.Helper()
		r := invoke(t, "", nil, "print", "--during", expression, "absent.nettrace")
		_, list, ok := strings.Cut(r.stderr, "available: ")
		if !ok {
			t.Fatalf("%s: %s", expression, r.stderr)
		}
		line, _, _ := strings.Cut(list, "\n")
		return line
	}
	for _, kind := range strings.Split(fails("xxxxxxxxxxxx"), ", ") {
		if !strings.Contains(help, "\n  "+kind+" ") {
			t.Errorf("no kind %s in the help", kind)
		}
		for _, property := range strings.Split(fails(kind+".xxxxxxxxxxxx == 1"), ", ") {
			common := strings.Replace(property, kind+".", "KIND.", 1)
			if !strings.Contains(help, property) && !strings.Contains(help, common) {
				t.Errorf("no property %s in the help", property)
			}
		}
	}
}
