package profile_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// A step is an event of a cycle: what happens once to give one sample.
type step struct {
	typ     *ntconv.Type
	thread  int // index in cycle.threads
	payload []byte
	bare    bool // the event has no stack
}

// A cycle is the events of one sample of a kind, 10 ticks apart, and the expected values and labels. labels are those
// of the payloads.
type cycle struct {
	kind   sample.Kind
	steps  []step
	values []int64
	labels string
	stack  int // index of the step whose stack the sample has
}

func runtimeType(id uint32, version uint8) *ntconv.Type {
	return &ntconv.Type{Provider: clr.Runtime, ID: id, Version: version}
}

// fields encodes values without padding: integers by their size, strings as UTF-16 with a zero at the end.
func fields(values ...any) (b []byte) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			for _, u := range append(utf16.Encode([]rune(s)), 0) {
				b = binary.LittleEndian.AppendUint16(b, u)
			}
			continue
		}
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return b
}

// sourceType is the type of an event of an event source, which has the name and fields in the trace's metadata.
func sourceType(provider, name string, id uint32, fields ...ntconv.Field) *ntconv.Type {
	return &ntconv.Type{Provider: provider, Name: name, ID: id, Fields: fields}
}

func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

const method = "\x10\x00\x00\x00\x00\x00\x00\x00" + "\x20\x00\x00\x00\x00\x00\x00\x00" // its ID and that of its module

// methodLoad returns the payload of MethodLoadVerbose.
func methodLoad(flags uint32) []byte {
	return append([]byte(method), fields(uint64(0x1000), uint32(16), uint32(6), flags, "A.B", "M", "void  (int32)", uint16(0))...)
}

// cycles returns one cycle of each kind of this file's meters.
func cycles() []cycle {
	i32, str := ntconv.TypeInt32, ntconv.TypeUTF16String
	task := func(name string, id uint32, more ...ntconv.Field) *ntconv.Type {
		return sourceType("System.Threading.Tasks.TplEventSource", name, id,
			append([]ntconv.Field{field("OriginatingTaskSchedulerID", i32), field("OriginatingTaskID", i32), field("TaskID", i32)}, more...)...)
	}
	const http = "System.Net.Http"
	return []cycle{
		{sample.Contention, []step{
			{runtimeType(81, 2), 0, fields(uint8(0), uint16(0), uint64(0xab), uint64(1), uint64(77)), false},
			{runtimeType(91, 1), 0, fields(uint8(0), uint16(0), 950.0), true},
		}, []int64{1, 950}, "dotnet.lock.id=0xab dotnet.lock.owner_thread_id=77", 0},
		{sample.Wait, []step{
			{runtimeType(301, 0), 0, fields(uint8(1), uint64(5), uint16(0)), false},
			{runtimeType(302, 0), 0, fields(uint16(0)), true},
		}, []int64{1, 1000}, "dotnet.wait.source=MonitorWait", 0},
		{sample.GC, []step{
			{runtimeType(9, 1), 0, fields(uint32(1), uint32(4), uint16(0)), false},
			{runtimeType(8, 1), 0, fields(uint16(0)), true},
			{runtimeType(35, 0), 0, fields(uint32(1), uint16(0)), false},
			{runtimeType(1, 2), 0, fields(uint32(5), uint32(2), uint32(17), uint32(0), uint16(0), uint64(0)), false},
			{runtimeType(2, 1), 0, fields(uint32(5), uint32(2), uint16(0)), true},
			{runtimeType(7, 1), 0, fields(uint16(0)), true},
			{runtimeType(3, 1), 0, fields(uint16(0)), true},
		}, []int64{1, 6000}, "dotnet.gc.heap.generation=gen2 dotnet.gc.reason=InducedAggressive dotnet.gc.type=NonConcurrentGC", 3},
		{sample.JIT, []step{
			{runtimeType(145, 1), 0, append([]byte(method), fields(uint32(6), uint32(9), "A.B", "M", "void  (int32)", uint16(0))...), false},
			{runtimeType(143, 1), 0, methodLoad(8 | 4<<7), true},
		}, []int64{1, 1000}, "code.function.name=A.B.M(int) tier=OptimizedTier1", 0},
		{sample.TypeLoad, []step{
			{runtimeType(73, 0), 0, fields(uint32(8), uint16(0)), false},
			{runtimeType(74, 0), 0, fields(uint32(8), uint16(0), uint16(4), uint64(1), "A.B"), true},
		}, []int64{1, 1000}, "type=A.B level=4", 0},
		{sample.ThreadPool, []step{
			{runtimeType(61, 0), 0, fields(uint64(6), uint16(0)), false},
			{runtimeType(62, 0), 1, fields(uint64(6), uint16(0)), true},
		}, []int64{1, 1000}, "queue=work", 0},
		{sample.Tasks, []step{
			{task("TaskScheduled", 7), 0, fields(int32(1), int32(0), int32(3)), false},
			{task("TaskStarted", 8), 1, fields(int32(1), int32(0), int32(3)), true},
			{task("TaskCompleted", 9, field("IsExceptional", ntconv.TypeBool32)), 1, fields(int32(1), int32(0), int32(3), uint32(1)), true},
		}, []int64{1, 1000, 1000}, "faulted=yes", 0},
		{sample.Requests, []step{
			{sourceType(http, "RequestStart", 1, field("scheme", str), field("host", str), field("port", i32)), 0,
				fields("http", "shop.example", int32(8080)), false},
			{sourceType(http, "RequestFailed", 3, field("exceptionMessage", str)), 1, fields("no"), true},
			{sourceType(http, "RequestStop", 2, field("statusCode", i32)), 1, fields(int32(-1)), true},
		}, []int64{1, 2000}, "side=client host=shop.example:8080 status=failed request=shop.example:8080", 0},
	}
}

// A player turns cycles into events.
type player struct {
	threads []*ntconv.Thread
	labels  *ntconv.Labels
	at      ntconv.Ticks
	e       ntconv.Event
}

func newPlayer() *player {
	process := &ntconv.Process{PID: 9, PointerSize: 8}
	p := &player{labels: ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelActivityID, ID: [16]byte{1, 2, 3}}})}
	for i := range 3 {
		p.threads = append(p.threads, &ntconv.Thread{Process: process, TID: uint64(i + 1)})
	}
	return p
}

var stepStack = stack(0x10, 0x20)

// event returns the event of a step. It is borrowed until the next call.
func (p *player) event(s *step) *ntconv.Event {
	p.at += 10
	t := p.threads[s.thread]
	p.e = ntconv.Event{Type: s.typ, Thread: t, Capture: t, Time: p.at, Payload: s.payload, Labels: p.labels, Offset: int64(p.at)}
	if !s.bare {
		p.e.Stack = stepStack
	}
	return &p.e
}

// samplesOf returns values and labels of a profile's samples.
func samplesOf(p *profile.Profile) (list []string) {
	for s := range p.Samples() {
		text := fmt.Sprint(s.Values)
		for _, l := range s.Labels {
			if l.Kind == ntconv.LabelString && l.Key != "activity_id" {
				text += " " + l.Key + "=" + l.Str
			}
		}
		if list = append(list, text); len(s.Frames) == 0 {
			list = append(list, "no stack")
		}
	}
	return list
}

func (c *cycle) sample() []string { return []string{fmt.Sprint(c.values) + " " + c.labels} }

func (c *cycle) builder(window func(ntconv.Ticks) bool, report *ntconv.Report) *profile.Builder {
	return profile.New(testInfo(), nil, &profile.Options{
		Kind: c.kind, KindOptions: sample.KindOptions{SubjectAs: sample.SubjectLabel}, Window: window, Report: report,
	})
}

// Each kind has the expected sample: with all events, and with every selection of a single event.
func TestCycles(t *testing.T) {
	for _, c := range cycles() {
		t.Run(c.kind.String(), func(t *testing.T) {
			for only := -1; only < len(c.steps); only++ {
				report := new(ntconv.Report)
				b, p := c.builder(nil, report), newPlayer()
				for i := range c.steps {
					e := p.event(&c.steps[i])
					b.Watch(e)
					if only < 0 || i == only {
						b.Add(e)
					}
				}
				want := c.sample()
				if c.kind == sample.GC && slices.Contains([]int{1, 5}, only) {
					want = nil // the end of a suspension and the begin of a restart state nothing of a collection
				}
				if got := samplesOf(b.Finish()); !slices.Equal(got, want) {
					t.Errorf("selected %d: %q, want %q", only, got, want)
				}
				if n := report.Count(ntconv.CodeUnpaired); n != 0 {
					t.Errorf("selected %d: %v", only, report.Entries())
				}
			}
		})
	}
}

// A Stream gives the sample the subject of the event with its stack, and omits it if that event is not selected.
func TestCyclesOfStream(t *testing.T) {
	for _, c := range cycles() {
		t.Run(c.kind.String(), func(t *testing.T) {
			for only := -1; only < len(c.steps); only++ {
				var subjects []int
				s := profile.NewStream(testInfo(), func(w *profile.Weighed[int]) {
					if subjects = append(subjects, w.Subject); !slices.Equal(w.Values, c.values[1:]) {
						t.Errorf("selected %d: values %v, want %v", only, w.Values, c.values[1:])
					}
				}, &profile.StreamOptions{Kinds: []sample.Kind{c.kind}})
				p := newPlayer()
				for i := range c.steps {
					e := p.event(&c.steps[i])
					s.Watch(e)
					if only < 0 || i == only {
						s.Add(e, i)
					}
				}
				s.Finish()
				var want []int
				if only < 0 || only == c.stack {
					want = []int{c.stack}
				}
				if !slices.Equal(subjects, want) {
					t.Errorf("selected %d: subjects %v, want %v", only, subjects, want)
				}
			}
		})
	}
}

// A sample that the recording, a loss, or the selected time cuts is reported and not counted.
func TestCutCycles(t *testing.T) {
	for _, c := range cycles() {
		for _, cut := range []string{"begin", "end", "window", "loss", "exit"} {
			t.Run(c.kind.String()+"/"+cut, func(t *testing.T) {
				report, p := new(ntconv.Report), newPlayer()
				var window func(ntconv.Ticks) bool
				if cut == "window" {
					window = func(at ntconv.Ticks) bool { return at <= 15 }
				}
				b := c.builder(window, report)
				cross := c.steps[0].thread != c.steps[len(c.steps)-1].thread
				for i := range c.steps {
					e := p.event(&c.steps[i])
					if cut == "begin" && i == 0 || cut == "end" && i == len(c.steps)-1 {
						continue
					}
					if i == len(c.steps)-1 {
						p.interrupt(b, cut)
					}
					b.Watch(e)
					if window == nil || window(e.Time) {
						b.Add(e)
					}
				}
				got, n := samplesOf(b.Finish()), report.Count(ntconv.CodeUnpaired)
				switch {
				case cross && (cut == "loss" || cut == "exit"): // an ID pairs the events
					if !slices.Equal(got, c.sample()) || n != 0 {
						t.Errorf("%q, %v", got, report.Entries())
					}
				case c.kind == sample.GC && cut != "window", c.kind == sample.JIT && cut != "end" && cut != "window":
					// Counted without a duration, because no sample has one.
					if len(got) == 0 || got[0][:6] != "[1 0] " {
						t.Errorf("%q, %v", got, report.Entries())
					}
				case cut == "begin" && c.kind == sample.Tasks: // it looks like a task that ran without being scheduled
					if len(got) != 2 || got[0] != "[1 0 1000] scheduled=no faulted=yes" {
						t.Errorf("%q, %v", got, report.Entries())
					}
				case len(got) != 0 || n == 0:
					t.Errorf("%q, %v", got, report.Entries())
				}
			})
		}
	}
}

// interrupt adds a loss of the first thread's events, or its exit.
func (p *player) interrupt(b *profile.Builder, cut string) {
	e := &ntconv.Event{Kind: ntconv.KindLost, Capture: p.threads[0], Lost: 1, Time: p.at}
	if cut == "exit" {
		e = &ntconv.Event{Kind: ntconv.KindMark, Time: p.at, Mark: &ntconv.Mark{
			Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: p.threads[0]}},
		}}
	}
	if cut == "loss" || cut == "exit" {
		b.Watch(e)
		b.Add(e)
	}
}

// The meters allocate nothing for events of stacks, threads and labels that they know.
func TestCyclesAllocate(t *testing.T) {
	for _, c := range append(cycles(), pointCycles()...) {
		b, p := c.builder(nil, nil), newPlayer()
		play := func() {
			for i := range c.steps {
				e := p.event(&c.steps[i])
				b.Watch(e)
				b.Add(e)
			}
		}
		play()
		if n := testing.AllocsPerRun(100, play); n != 0 {
			t.Errorf("%v: %v allocations per sample", c.kind, n)
		}
	}
}
