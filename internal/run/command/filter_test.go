package command

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// An item is an event of a trace, without what is the trace's own.
type item struct {
	name  string // provider/id
	pid   uint64
	rest  string
	names bool // gives names to addresses
	kept  bool // a replica, kept only for symbols
}

// items reads a trace in time order, and returns how many events are lost according to the reader.
func items(t *testing.T, data []byte) (list []item, lost int) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(data), nil)
	must(t, err)
	for e, err := range ntconv.Events(src) {
		must(t, err)
		switch e.Kind {
		case ntconv.KindLost:
			lost += int(e.Lost)
		case ntconv.KindEvent:
			i := item{name: fmt.Sprintf("%s/%d", e.Type.Provider, e.Type.ID), pid: e.Thread.Process.PID}
			i.names = strings.HasPrefix(i.name, "Microsoft-Windows-DotNETRuntimeRundown/") || strings.HasPrefix(i.name, "Universal.System/") ||
				slices.Contains(namers, i.name)
			var stack []uint64
			if e.Stack != nil {
				stack = e.Stack.PCs
			}
			labels := append([]ntconv.Label{}, e.Labels.List()...)
			if i.kept = recording.IsReplica(e); i.kept {
				labels = labels[:len(labels)-1]
			}
			i.rest = fmt.Sprintf("%d %d %s v%d cpu%d %x %x %v", e.Time, e.Thread.TID, e.Type.Name, e.Version(), e.CPU, e.Payload, stack, labels)
			list = append(list, i)
		}
	}
	return list, lost
}

// namers are the events of the runtime that symbolize addresses: methods, modules, code maps, the start of the runtime,
// the process.
var namers = func() []string {
	list := []string{"Microsoft-DotNETCore-EventPipe/1"}
	for _, id := range []int{85, 141, 142, 143, 144, 151, 152, 153, 187, 190} {
		list = append(list, fmt.Sprintf("Microsoft-Windows-DotNETRuntime/%d", id))
	}
	return list
}()

// filter keeps the selected events and those that symbolize them, renumbered so that no event counts as lost.
func TestFilter(t *testing.T) {
	for _, c := range []struct {
		trace string
		flags []string
		keep  func(item) bool
	}{
		{"cpu-env", []string{"--provider", "Microsoft-DotNETCore-SampleProfiler"}, func(i item) bool { return i.name == "Microsoft-DotNETCore-SampleProfiler/0" }},
		{"cpu-default", []string{"--where", `$id == 0 && Type == "Managed"`}, func(i item) bool {
			return i.name == "Microsoft-DotNETCore-SampleProfiler/0" && strings.Contains(i.rest, " 02000000 ")
		}},
		{"exceptions", []string{"--event", "ExceptionThrown"}, func(i item) bool { return i.name == "Microsoft-Windows-DotNETRuntime/80" }},
		{"threads-reused", []string{"--where", "$size > 40"}, nil},
		{"alloc-verbose", []string{"--event", "GCAllocationTick"}, func(i item) bool { return i.name == "Microsoft-Windows-DotNETRuntime/10" }},
		{"three-processes-v6", []string{"--where", "$pid == 1599"}, func(i item) bool { return i.pid == 1599 }},
		{"three-processes-v6", []string{"--event", "cpu", "--pid", "1598", "--pid", "1600"}, func(i item) bool {
			return strings.HasPrefix(i.name, "Universal.Events/") && i.pid != 1599
		}},
		{"waits-v6", []string{"--event", "cpu", "--from-time", "-1s"}, nil},
	} {
		t.Run(c.trace+" "+strings.Join(c.flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			r := invoke(t, dir, nil, append([]string{"filter", trace(t, c.trace), "cut.nettrace"}, c.flags...)...)
			if r.code != exitOK {
				t.Fatalf("code %d: %s", r.code, r.stderr)
			}
			data := contentAt(t, filepath.Join(dir, "cut.nettrace"))
			got, lost := items(t, data)
			all, _ := items(t, unpacked(t, c.trace))
			if lost != 0 {
				t.Errorf("%d events look lost", lost)
			}
			if c.keep != nil {
				pids := make(map[uint64]bool)
				for _, i := range all {
					if c.keep(i) {
						pids[i.pid] = true
					}
				}
				want := slices.DeleteFunc(slices.Clone(all), func(i item) bool { return !c.keep(i) && !(i.names && pids[i.pid]) })
				for k := range want {
					want[k].kept = !c.keep(want[k])
				}
				// Recorders describe code that processes share in events of one of them. Events ntconv/3 and ntconv/4
				// state weights.
				own := slices.DeleteFunc(slices.Clone(got), func(i item) bool {
					return !pids[i.pid] && (i.name == "Universal.System/4" || i.name == "Universal.System/5") || isWeight(i)
				})
				if !slices.Equal(own, want) {
					t.Errorf("%d events, want %d of %d", len(own), len(want), len(all))
				}
			}
			if len(got) == 0 || len(got) == len(all) {
				t.Errorf("%d of %d events, which shows nothing", len(got), len(all))
			}
			t.Run("reference", func(t *testing.T) { referenceFindsNoLosses(t, filepath.Join(dir, "cut.nettrace"), len(got)) })
		})
	}
}

// referenceFindsNoLosses checks the losses that TraceEvent reports.
func referenceFindsNoLosses(t *testing.T, path string, events int) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs another program")
	}
	tool := corpus.Shared(t, "oracle", "traceevent")
	out, err := exec.Command(tool, "summary", path).Output()
	if err != nil {
		if probe := exec.Command(tool, "summary", corpus.Shared(t, "data", "vectors", "ParseMinimalTraceV6.nettrace")); probe.Run() != nil {
			t.Skipf("the reference reader cannot be run: %v", err)
		}
		t.Fatalf("the reference reader refuses what was written: %v\n%s", err, out)
	}
	var summary struct{ Events, EventsLost int }
	decode(t, out, &summary)
	if summary.EventsLost != 0 || summary.Events != events {
		t.Errorf("the reference reader finds %d events, %d lost; want %d", summary.Events, summary.EventsLost, events)
	}
}

// Two traces without losses are merged without losses, although the first flushes its thread table repeatedly.
func TestMergedTracesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	a, b := corpus.Shared(t, "data", "nettrace", "roslyn-compile-v6.nettrace.zst"), corpus.Shared(t, "data", "nettrace", "onecollect-shop-cpu-v6.nettrace.zst")
	succeed(t, dir, "to", "nettrace", a, b, "-o", "both.nettrace")
	if r := invoke(t, dir, nil, "info", "--json", "both.nettrace"); r.code != exitOK || !strings.Contains(r.stdout, `"report": []`) {
		t.Errorf("code %d: %s", r.code, r.stdout[max(0, len(r.stdout)-1000):])
	}
	referenceFindsNoLosses(t, filepath.Join(dir, "both.nettrace"), 82_166+3_229)
}

// One process cut out of a trace gives the same samples as one process selected from it, names of shared mappings
// included. The processes of a selection are known only after the whole input was read.
func TestFilterKeepsNames(t *testing.T) {
	for _, pid := range []string{"1598", "1599", "1600"} {
		dir := t.TempDir()
		succeed(t, dir, "filter", "--pid", pid, trace(t, "three-processes-v6"), "cut.nettrace")
		a := invoke(t, dir, nil, "to", "pprof", "-q", "-o", "a.pb.gz", "--pid", pid, trace(t, "three-processes-v6"))
		b := invoke(t, dir, nil, "to", "pprof", "-q", "-o", "b.pb.gz", "cut.nettrace")
		if a.code != exitOK || b.code != exitOK {
			t.Fatalf("%s: codes %d and %d: %s%s", pid, a.code, b.code, a.stderr, b.stderr)
		}
		want, got := profileAt(t, filepath.Join(dir, "a.pb.gz")), profileAt(t, filepath.Join(dir, "b.pb.gz"))
		if len(want.Comments) != len(got.Comments)+1 || got.DurationNanos > want.DurationNanos {
			t.Errorf("process %s: comments %q and %q, durations %d and %d", pid, want.Comments, got.Comments, want.DurationNanos, got.DurationNanos)
		}
		for _, p := range []*profile.Profile{want, got} {
			p.Comments, p.TimeNanos, p.DurationNanos = nil, 0, 0
		}
		if want.String() != got.String() {
			t.Errorf("process %s: another profile", pid)
		}
	}
}

// isWeight reports whether an event states weights of samples.
func isWeight(i item) bool { return i.name == "ntconv/3" || i.name == "ntconv/4" }
