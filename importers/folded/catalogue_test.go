package folded_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/folded"
	"github.com/ntconv/ntconv/ntconvtest"
)

// read returns the events of a text, without the definition that comes first, and its report.
func read(t testing.TB, text []byte, o folded.Options) ([]*ntconv.Event, *ntconv.Report) {
	t.Helper()
	o.Report = &ntconv.Report{}
	src, err := folded.New(bytes.NewReader(text), &o)
	if err != nil {
		t.Fatal(err)
	}
	var events []*ntconv.Event
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e.Clone())
	}
	if len(events) == 0 || events[0].Kind != ntconv.KindDefine {
		t.Fatal("the first event does not define the type")
	}
	return events[1:], o.Report
}

// describe returns an event as process/thread, frames from the root with their flags, and the value.
func describe(t testing.TB, e *ntconv.Event) string {
	t.Helper()
	var names []string
	if e.Stack != nil {
		for _, f := range e.Stack.Frames {
			name := f.Func.Name
			for _, flag := range []struct {
				bit  ntconv.FrameFlags
				text string
			}{{ntconv.FrameInlined, " INLINED"}, {ntconv.FrameKernel, " KERNEL"}, {ntconv.FrameManaged, " MANAGED"}} {
				if f.Flags&flag.bit != 0 {
					name += flag.text
				}
			}
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	var values []string
	for _, v := range e.Fields() {
		values = append(values, fmt.Sprint(v))
	}
	if len(values) != 2 || values[0] != values[1] {
		t.Fatalf("values %q", values)
	}
	return fmt.Sprintf("%s %d %q %d: %s = %s", e.Thread.Process.Name, e.Thread.Process.PID, e.Thread.Name, e.Thread.TID, strings.Join(names, " | "), values[0])
}

// TestProducers reads what other programs write.
func TestProducers(t *testing.T) {
	const one = `process 1 "" 1: `
	for _, c := range []struct {
		file string
		o    folded.Options
		want []string
	}{
		{"stackcollapse-perf", folded.Options{ProcessRoot: true}, []string{
			`java-?/8173 1 "" 1: start_thread | JavaMain | Lorg/mozilla/javascript/Context:.call MANAGED | Ljava/util/HashMap:.get MANAGED = 12`,
			`java-?/8173 1 "" 1: start_thread | [unknown] | __libc_read | entry_SYSCALL_64_fastpath KERNEL | sys_read KERNEL | vfs_read KERNEL = 3`,
			`swapper-0/0 2 "" 2: start_kernel KERNEL | rest_init KERNEL | cpu_startup_entry KERNEL | default_idle KERNEL | native_safe_halt KERNEL = 4871`,
			`mysqld 2121 "" 2121: clone | start_thread | std::vector<int, std::allocator<int> >::push_back(int const&) INLINED | operator new(unsigned long) = 7`,
		}},
		{"stackcollapse-dtrace", folded.Options{}, []string{
			one + "unix`thread_start | genunix`taskq_thread | zfs`zio_execute = 41",
			one + "unix`idle | unix`mach_cpu_idle = 10033",
			one + "libc.so.1`_start | mysqld`main | mysqld`do_command(THD*) = 9",
		}},
		{"stackcollapse-go", folded.Options{}, []string{
			one + "runtime.goexit | main.(*server).serve | net/http.(*conn).serve | encoding/json.(*decodeState).object = 73",
			one + "runtime.mstart | runtime.schedule | runtime.findrunnable | runtime.futex = 18",
		}},
		{"py-spy", folded.Options{}, []string{
			one + "<module> (shop.py:40) | main (shop.py:31) | scan (till.py:12) = 250",
			one + "<module> (shop.py:40) | main (shop.py:33) | <lambda> (till.py:88) | json.loads (json/__init__.py:346) = 17",
			one + `thread (0x7F2A4C000700): "worker 1" | run (threading.py:870) | wait (threading.py:302) = 1012`,
		}},
		{"async-profiler", folded.Options{ThreadRoot: true}, []string{
			`process 1 "[java tid=4711]" 1: java/lang/Thread.run | com/shop/Till.scan MANAGED | java/util/regex/Pattern$Loop.match INLINED | java/lang/String.charAt INLINED = 88`,
			`process 1 "[java tid=4711]" 1: com/shop/Cart.total | [not_walkable] = 2`,
			`process 1 "[GC Thread#0 tid=4712]" 2: start_thread | thread_native_entry | G1ParTask::work(unsigned int) = 40`,
		}},
		{"inferno", folded.Options{}, []string{
			one + "cargo | rustc | rustc_driver::main | rustc_interface::passes::analysis = 15",
			one + "cargo | rustc | rustc_driver::main | core::iter::traits::iterator::Iterator::fold::<{closure#0}> INLINED = 4",
		}},
		{"seconds", folded.Options{SampleType: "wall", Unit: "nanoseconds", Decimals: 9}, []string{
			one + "main | read | wait = 250000000", one + "main | read = 1500000000", one + "main | write = 2000000000", one + "main | idle = 3000000000",
		}},
		{"difffolded", folded.Options{Column: 1}, []string{one + "main | read | wait = 10", one + "main | read = 5", one + "main | write = 0"}},
		{"difffolded", folded.Options{Column: 2}, []string{one + "main | read | wait = 12", one + "main | read = 0", one + "main | write = 7"}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.file+".folded"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		events, report := read(t, data, c.o)
		for _, e := range events {
			got = append(got, describe(t, e))
		}
		if !slices.Equal(got, c.want) || len(report.Entries()) > 0 {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", c.file, strings.Join(got, "\n"), strings.Join(c.want, "\n"), report.Entries())
		}
	}
}

// TestTolerance reads variants of lines that producers and editors write, and checks the report.
func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // stacks and values, or the error
		code ntconv.Code
		n    uint64
	}{
		{"", "", 0, 0},
		{"\n\n  \n# comment 12\n#\n", "", 0, 0},
		{"\ufeffa;b 1\r\nc 2", "a | b = 1, c = 2", 0, 0},
		{"a;b\t 1 \t\n", "a | b = 1", 0, 0},
		{"#define;x 5\n", "#define | x = 5", 0, 0},
		{"a b;c d 0\n", "a b | c d = 0", 0, 0},
		{"a;12 3\n", "a | 12 = 3", 0, 0},
		{"a 1 2\nb 3\n", "a 1 = 2, b = 3", 0, 0},
		{"[no stack] 4\n", " = 4", 0, 0},
		{"f_[i];g_[i];_[k];h_[x] 4\n", "f_[i] | g INLINED | _[k] | h_[x] = 4", 0, 0},
		{" a ; b 1\n", "a | b = 1", 0, 0},
		{"a;;b;  1\n", "a | (no name) | b | (no name) = 1", ntconv.CodeRepaired, 2},
		{"a\xff\xfe;b 1\na\xff\xfe 2\n", "a\ufffd | b = 1, a\ufffd = 2", ntconv.CodeRepaired, 1},
		{"a 1.5\nb 0.4\nc 2.0\n", "a = 2, b = 0, c = 2", ntconv.CodeNotCarried, 2},
		{"a 1\nb\nc -1\nd 1e6\ne .5\n7\n 8\nf 1.2.3\ng 9223372036854775808\nh 9223372036854775807\n", "a = 1, h = 9223372036854775807", ntconv.CodeRowSkipped, 8},
		{"a 1 1\nb 2 2\n", "byte 0: line 1: not supported: lines have two values", 0, 0},
		{"hello\nworld\n", "line 2: unknown format", ntconv.CodeRowSkipped, 2},
	} {
		var got []string
		report := &ntconv.Report{}
		src, err := folded.New(strings.NewReader(c.text), &folded.Options{Report: report})
		for err == nil {
			var e *ntconv.Event
			if e, err = src.Next(); err == nil && e.Kind == ntconv.KindEvent {
				_, d, _ := strings.Cut(describe(t, e), ": ")
				got = append(got, d)
			}
		}
		text := strings.Join(got, ", ")
		if err.Error() != "EOF" {
			text = err.Error()
		}
		if text != c.want && (err.Error() == "EOF" || !strings.Contains(text, c.want)) || report.Count(c.code) != c.n {
			t.Errorf("%q: %s; want %s; %v", c.text, text, c.want, report.Entries())
		}
	}
}

// TestRoots reads processes and threads in the form of exporters/folded and in other forms.
func TestRoots(t *testing.T) {
	const text = "shop-42;till-7;a 1\nshop-42;till-8;a 2\nshop-42;thread-9;a 3\ncart-42;x;a 4\ncart;[no stack] 5\nshop-42 6\n"
	var got []string
	events, _ := read(t, []byte(text), folded.Options{ProcessRoot: true, ThreadRoot: true})
	for _, e := range events {
		d := describe(t, e)
		for _, l := range e.Labels.List() {
			d += fmt.Sprintf(" %s=%s%d%s", l.Key, l.Str, l.Num, l.Unit)
		}
		got = append(got, d)
	}
	want := []string{
		`shop 42 "till" 7: a = 1 process=shop0 thread=till0 pid=42id tid=7id`,
		`shop 42 "till" 8: a = 2 process=shop0 thread=till0 pid=42id tid=8id`,
		`shop 42 "" 9: a = 3 process=shop0 pid=42id tid=9id`,
		`cart 2 "x" 4: a = 4 process=cart0 thread=x0`,
		`cart 3 "[no stack]" 5:  = 5 process=cart0 thread=[no stack]0`,
		`shop 42 "" 42:  = 6 process=shop0 pid=42id`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if events[0].Thread.Process != events[1].Thread.Process || events[0].Thread == events[1].Thread {
		t.Error("threads of a process have another one, or are one")
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text   string
		limits folded.Limits
		want   string
	}{
		{"a 1\nbbbb 2\n", folded.Limits{Line: 4}, "byte 4: line 2: line too large: limit 4 bytes, got 7 bytes"},
		{strings.Repeat("x", 1<<20), folded.Limits{Line: 1000}, "line 1: line too large: limit 1000 bytes"},
		{"a;b;c 1\n", folded.Limits{Names: 2}, "byte 0: line 1: too many distinct frames: limit 2, got 3"},
		{"a;a;a 1\naa 2\n", folded.Limits{NameBytes: 2}, "byte 8: line 2: text of distinct frames too large: limit 2 bytes, got 3 bytes"},
	} {
		src, err := folded.New(strings.NewReader(c.text), &folded.Options{Limits: c.limits})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ntconv.Copy(&ntconvtest.Recorder{}, src)
		if !errors.Is(err, ntconv.ErrLimit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.limits, err)
		}
	}
	events, report := read(t, []byte("a;b_[i];c;d 1\n"), folded.Options{Limits: folded.Limits{Stack: 3}})
	if got := describe(t, events[0]); !strings.HasSuffix(got, ": b | c | d = 1") || report.Count(ntconv.CodeStackCut) != 1 {
		t.Errorf("%s, %v", got, report.Entries())
	}
}
