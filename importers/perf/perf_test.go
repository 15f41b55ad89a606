package perf_test

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// read returns the events of a text, and its report.
func read(t testing.TB, text []byte, o perf.Options) (events []ntconv.Event, report *ntconv.Report, info ntconv.Info) {
	t.Helper()
	o.Report = new(ntconv.Report)
	src, err := perf.New(bytes.NewReader(text), &o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if c := *e; e.Kind == ntconv.KindEvent {
			c.Payload = bytes.Clone(e.Payload)
			events = append(events, c)
		}
	}
	return events, o.Report, *src.Info()
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	return corpus.Read(t, filepath.Join("testdata", name))
}

// A total is what perf report states about a symbol.
type total struct{ period, samples int64 }

// leaves returns the totals of each event of perf by thread, thread name, file and symbol of the leaf.
func leaves(t testing.TB, events []ntconv.Event) map[string]total {
	t.Helper()
	totals := map[string]total{}
	for i := range events {
		e := &events[i]
		key := []string{"", fmt.Sprint(e.Thread.TID), e.Thread.Name, "[unknown]", "[unknown]"}
		if e.Stack != nil {
			leaf := e.Stack.Frames[0]
			key[4] = leaf.Func.Name
			if leaf.Mapping != nil {
				key[3] = path.Base(leaf.Mapping.File)
			}
		}
		for n := range 10 {
			name, ok := e.Type.Attrs.Get(fmt.Sprint("pprof.sample_type.", n))
			if !ok {
				break
			}
			if v, _ := e.Field(name); v.Int() != 0 {
				key[0] = name
				k := strings.Join(key, ";")
				totals[k] = total{totals[k].period + v.Int(), totals[k].samples + 1}
			}
		}
	}
	return totals
}

// TestReport compares the leaves of each event with those of perf report, by thread, file and symbol.
func TestReport(t *testing.T) {
	events, report, _ := read(t, file(t, "go.perf.zst"), perf.Options{})
	got := leaves(t, events)
	event, rows := "", 0
	for line := range strings.Lines(string(file(t, "go.report"))) {
		if _, name, ok := strings.Cut(line, "of event '"); ok {
			event, _, _ = strings.Cut(name, "'")
		}
		cells := strings.Split(line, ";")
		if strings.HasPrefix(line, "#") || len(cells) != 6 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		id, _, _ := strings.Cut(cells[2], ":") // the title is Pid, but it is the ID of the thread
		symbol := cells[5][len("[.] "):]
		key := strings.Join([]string{event, id, cells[3], cells[4], symbol}, ";")
		if want := cells[0] + " " + cells[1]; fmt.Sprint(got[key].period, got[key].samples) != want {
			t.Errorf("%s: %v, perf report says %s", key, got[key], want)
		}
		delete(got, key)
		rows++
	}
	if rows < 15 || len(got) > 0 || report.Count(ntconv.CodeRowSkipped) > 0 {
		t.Errorf("%d rows, also %v, report %v", rows, got, report.Entries())
	}
}

// TestForms reads the same recording in other forms: with nanoseconds, without files and periods, and without times.
func TestForms(t *testing.T) {
	all, _, _ := read(t, file(t, "go.perf.zst"), perf.Options{})
	for name, timed := range map[string]bool{"go-ns.perf.zst": true, "go-nodso.perf.zst": true, "go-notime.perf.zst": false} {
		events, report, info := read(t, file(t, name), perf.Options{})
		if len(events) != len(all) || info.Aggregate == timed || report.Count(ntconv.CodeRowSkipped) > 0 {
			t.Errorf("%s: %d events, want %d; aggregate %t; %v", name, len(events), len(all), info.Aggregate, report.Entries())
			continue
		}
		for i := range events {
			a, b := &all[i], &events[i]
			if timed && max(a.Time-b.Time, b.Time-a.Time) > 1000 || a.Thread.TID != b.Thread.TID || a.CPU != b.CPU && b.CPU != 0 ||
				stackOf(a) != stackOf(b) {
				t.Fatalf("%s: event %d: %d %v %s, want %d %v %s", name, i, b.Time, b.Thread, stackOf(b), a.Time, a.Thread, stackOf(a))
			}
		}
	}
}

func stackOf(e *ntconv.Event) string {
	var names []string
	if e.Stack != nil {
		for _, f := range e.Stack.Frames {
			if f.Flags&ntconv.FrameUnresolved != 0 {
				f.Func = &ntconv.Function{Name: "?"}
			}
			names = append(names, f.Func.Name)
		}
	}
	return strings.Join(names, " < ")
}

// TestOdd reads lines of all forms that are hard to divide.
func TestOdd(t *testing.T) {
	for name, want := range map[string]string{
		"odd.perf": `
0 bash 1617/1617 cpu 3: 0 250000 0 0; native_safe_halt k [kernel.kallsyms] < void std::sort<int*>(int*, int*) /usr/lib/libshop.so.1 < Internal.IO.File.ReadAllBytes(string) m System.Private.CoreLib < inner i < main shop.c:12 /home/user/shop < shop+0x4005f0 u /home/user/shop < 0x0 u
100000001 rs:action 13 qu 10/11 cpu 0: 1 0 1 0;
150000000 swapper 0/0 cpu 1: 77 0 77 0; xen_hypercall_sched_op k [kernel.kallsyms]
200000000 kworker/1:3-ev 22/22 cpu 1: 0 0 0 1;
250000000 :-1 0/0 cpu 0: 3 0 3 0;
300000000 exe 7/7 cpu 0: 5 0 5 0; native_safe_halt k [kernel.kallsyms]
`,
		"nostack.perf": "",
	} {
		events, report, _ := read(t, file(t, name), perf.Options{})
		var got strings.Builder
		for i := range events {
			got.WriteString("\n" + describe(&events[i]))
		}
		if got.WriteString("\n"); want != "" && got.String() != want {
			t.Errorf("%s\n%swant%s", name, got.String(), want)
		}
		if n := report.Count(ntconv.CodeRowSkipped); want != "" && n != 1 || want == "" && (n != 0 || len(events) != 30) {
			t.Errorf("%s: %d events, %d lines skipped", name, len(events), n)
		}
	}
}

func describe(e *ntconv.Event) string {
	s := fmt.Sprintf("%d %s %d/%d cpu %d:", e.Time-1_000_000_000, e.Thread.Name, e.Thread.Process.PID, e.Thread.TID, e.CPU)
	for _, v := range e.Fields() {
		s += " " + v.String()
	}
	s += ";"
	if e.Stack == nil {
		return s
	}
	for i, f := range e.Stack.Frames {
		if s += " "; i > 0 {
			s += "< "
		}
		s += f.Func.Name
		for flag, letter := range map[ntconv.FrameFlags]string{ntconv.FrameKernel: " k", ntconv.FrameInlined: " i", ntconv.FrameUnresolved: " u", ntconv.FrameManaged: " m"} {
			if f.Flags&flag != 0 {
				s += letter
			}
		}
		if f.Line > 0 {
			s += fmt.Sprintf(" %s:%d", f.Func.File, f.Line)
		}
		if f.Mapping != nil {
			s += " " + f.Mapping.File
		}
	}
	return s
}

// TestErrors checks the errors of texts without events and beyond limits.
func TestErrors(t *testing.T) {
	odd := file(t, "odd.perf")
	for _, c := range []struct {
		text   string
		limits perf.Limits
		is     error
		says   string
	}{
		{"hello\nworld\n", perf.Limits{}, ntconv.ErrFormat, "line 2: "},
		{string(odd), perf.Limits{Line: 50}, ntconv.ErrLimit, perf.LimitLine},
		{string(odd), perf.Limits{Threads: 2}, ntconv.ErrLimit, perf.LimitThreads},
		{string(odd), perf.Limits{Tables: 2000}, ntconv.ErrLimit, perf.LimitTables},
	} {
		_, err := perf.New(strings.NewReader(c.text), &perf.Options{Limits: c.limits})
		if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%+v: %v, want %v with %q", c.limits, err, c.is, c.says)
		}
	}
	if events, report, _ := read(t, odd, perf.Options{Limits: perf.Limits{Stack: 2}}); len(events[0].Stack.Frames) != 2 || report.Count(ntconv.CodeStackCut) != 1 {
		t.Errorf("%d frames, %v", len(events[0].Stack.Frames), report.Entries())
	}
	if src, err := perf.New(strings.NewReader(""), nil); err != nil || src.Close() != nil {
		t.Error(err)
	}
}

// FuzzNew reads any text: there are at most as many samples as lines and as many context switches, in time order, with the threads and stacks that the
// limits allow.
func FuzzNew(f *testing.F) {
	for _, name := range []string{"odd.perf", "nostack.perf"} {
		f.Add(file(f, name))
	}
	f.Add(file(f, "go.perf.zst")[:4000])
	f.Add(file(f, "go-notime.perf.zst")[:2000])
	f.Add([]byte(switchText("raw", "1 10 11 S", "2 11 10 R")))
	f.Add([]byte(switchText("plugin", "1 10 11 S", "2 11 10 R")))
	f.Fuzz(func(t *testing.T, text []byte) {
		src, err := perf.New(bytes.NewReader(text), &perf.Options{Limits: perf.Limits{Stack: 20}})
		if err != nil {
			if !errors.Is(err, ntconv.ErrFormat) && !errors.Is(err, ntconv.ErrLimit) && !errors.Is(err, ntconv.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		defer src.Close()
		n, last := 0, ntconv.Ticks(0)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != ntconv.KindEvent {
				continue
			}
			if n++; e.Time < last || e.Stack != nil && len(e.Stack.Frames) > 20 || e.Thread == nil {
				t.Fatalf("event %d at %d after %d, stack %v", n, e.Time, last, e.Stack)
			}
			last = e.Time
		}
		if most := 2 * (bytes.Count(text, []byte("\n")) + 1); n > most {
			t.Fatalf("%d events of %d lines", n, most)
		}
	})
}
