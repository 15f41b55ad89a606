package chrome

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
)

// An encoder writes the items of a trace. Its state belongs to the whole output, except: frames and stackless, which
// end clears for each part.
type encoder struct {
	o     *Options
	trace timeline.Trace
	out   *output
	now   int64 // time of the latest item
	// imported holds the members of an imported file. whole means that the trace consists of that file only; raw events
	// then keep their original times, and shift is the difference between times in the file and times of the timeline,
	// in nanoseconds.
	imported   *importedEvents
	whole      bool
	hasSamples bool // samples are written as V8 profiles
	shift      int64
	tracks     map[*timeline.Track]*trackState
	list       []*trackState // in the order of first use
	last       *trackState
	held       heldSlice
	samples    sampler
	arrows     map[uint64]flowForm // arrows that have begun in this part, by ID; their ends are later
	frames     nodeSet             // nodes that the current part refers to with the member sf
	// stackless means that a sample of this part has no stack and refers to the frame noStackName.
	stackless bool
	scratch   []timeline.Node

	invalid, notNumbers, lostFlows int64
	err                            error
}

// A trackState extends a timeline track with the slices that are open on it.
type trackState struct {
	*timeline.Track
	where []byte      // the members pid and tid, up to the value of ts
	open  []openSlice // the innermost last
}

// A sliceForm is the phase of the event that begins a slice.
type sliceForm byte

const (
	complete sliceForm = 'X'
	async    sliceForm = 'b'
)

// An openSlice is a slice that has begun and not ended. Slices of one track nest.
type openSlice struct {
	id             uint64
	name, category string
	end            int64
	tid            uint32 // set if form is async
	form           sliceForm
}

// A sampler writes samples in one of the forms of Samples. The encoder calls its methods in time order.
type sampler interface {
	// sample adds a sample. It must not keep the item.
	sample(*timeline.Item)
	// advance writes all ends before now. The encoder calls it before each item.
	advance(now int64)
	// cut closes everything that is open at the end of a part; resume opens it again in the next part.
	cut(now int64)
	resume(now int64)
	// finish writes everything that is pending, at the end of the last part.
	finish()
}

// newEncoder returns an encoder for items without imported events. The caller sets imported, whole, hasSamples and
// shift before write.
func newEncoder(o *Options, t timeline.Trace, out *output) *encoder {
	e := &encoder{o: o, trace: t, out: out, tracks: map[*timeline.Track]*trackState{}, arrows: map[uint64]flowForm{}, imported: &importedEvents{}}
	switch o.Samples {
	case V8:
		e.samples = newV8Sampler(e)
	case Slices:
		e.samples = newSliceSampler(e)
	default:
		e.samples = noSampler{}
	}
	return e
}

// noSampler omits samples. With StackFrames, sampleList reads the timeline again to write them.
type noSampler struct{}

func (noSampler) sample(*timeline.Item) {}
func (noSampler) advance(int64)         {}
func (noSampler) cut(int64)             {}
func (noSampler) resume(int64)          {}
func (noSampler) finish()               {}

// write writes all parts and closes them.
func (e *encoder) write() error {
	if err := e.begin(); err != nil {
		return err
	}
	if err := e.trace.Each(e.item); err != nil {
		return err
	}
	e.release()
	e.samples.finish()
	e.end()
	if e.err != nil {
		return e.err
	}
	return e.out.close()
}

// begin opens a part and writes everything that precedes its first item.
func (e *encoder) begin() error {
	if err := e.out.open(); err != nil {
		return err
	}
	if e.o.Array {
		e.out.buf = append(e.out.buf, '[')
	} else {
		e.header()
	}
	if !e.needsNames() {
		e.writeMissingNames()
	} else {
		e.writeNames()
	}
	e.out.head = e.out.bytes()
	return e.out.drain()
}

// needsNames reports whether the part must name its processes and threads. An imported file has the names among its own
// events. speedscope finds samples only if the first event has certain members, so they are written if the imported one
// lacks them.
func (e *encoder) needsNames() bool {
	return !e.whole || e.out.limit > 0 || e.hasSamples && !e.imported.complete
}

// header writes the beginning of the object form. All other members follow traceEvents: Perfetto read no events after a
// member metadata or stackFrames until 2022.
func (e *encoder) header() { e.out.buf = append(e.out.buf, `{"traceEvents":[`...) }

// metadata writes the member metadata.
func (e *encoder) metadata() {
	b := append(e.out.buf, `,"metadata":{"exporter":"ntconv`...)
	if e.o.Version != "" {
		b = append(e.inner(append(b, ' '), e.o.Version), '"')
	} else {
		b = append(b, '"')
	}
	if e.o.Name != "" {
		b = e.text(append(b, `,"source":`...), e.o.Name)
	}
	if start := e.trace.Start(); !start.IsZero() && !e.whole {
		// A string, because a float64 cannot hold a Unix time in nanoseconds.
		b = strconv.AppendInt(append(b, `,"ntconv.trace_start_unix_ns":"`...), start.UnixNano(), 10)
		b = append(b, '"')
	}
	if e.out.limit > 0 {
		b = strconv.AppendInt(append(b, `,"ntconv.part":`...), int64(e.out.parts), 10)
	}
	e.out.buf = append(b, '}')
}

// end completes a part and clears the state that belongs to it.
func (e *encoder) end() {
	e.dropArrows()
	e.out.buf = append(e.out.buf, '\n', ']')
	if e.o.Array {
		e.out.buf = append(e.out.buf, '\n')
		return
	}
	if e.o.Samples == StackFrames {
		e.sampleList()
	}
	if e.o.Samples == StackFrames || e.o.Stacks || !e.frames.empty() {
		e.stackFrames()
	}
	if e.whole {
		e.importedMembers()
	}
	if !e.whole || e.imported.member("metadata") == nil {
		e.metadata()
	}
	e.out.buf = append(e.out.buf, '}', '\n')
	e.frames = nodeSet{}
}

// item writes an item. Parts end only between items of different times, and not before a slice end, so that slices
// which end there do not continue into the next part.
func (e *encoder) item(it *timeline.Item) error {
	if e.out.full() && it.Kind != timeline.SliceEnd && it.Time > e.now {
		if err := e.cut(it.Time); err != nil {
			return err
		}
	}
	if e.held.active && !e.held.joins(it) {
		e.release()
	}
	e.samples.advance(it.Time)
	e.now = it.Time
	switch it.Kind {
	case timeline.SliceBegin:
		e.hold(it)
	case timeline.SliceEnd:
		e.sliceEnd(it)
	case timeline.Instant:
		e.instant(it)
	case timeline.Raw:
		e.raw(it)
	case timeline.Counter:
		e.counter(it)
	case timeline.Sample:
		e.samples.sample(it)
	case timeline.FlowBegin:
		e.flowBegin(it)
	case timeline.FlowEnd:
		e.flowEnd(it)
	}
	if e.err != nil {
		return e.err
	}
	return e.out.drain()
}

// trackOf returns the state of a track and creates it on first use.
func (e *encoder) trackOf(t *timeline.Track) *trackState {
	if e.last != nil && e.last.Track == t {
		return e.last
	}
	s := e.tracks[t]
	if s == nil {
		s = &trackState{Track: t, where: appendWhere(nil, t.Process.PID, tidOf(t))}
		e.tracks[t] = s
		e.list = append(e.list, s)
	}
	e.last = s
	return s
}

// appendWhere appends the members pid and tid, up to the value of ts.
func appendWhere(b []byte, pid, tid uint32) []byte {
	b = strconv.AppendUint(append(b, `,"pid":`...), uint64(pid), 10)
	b = strconv.AppendUint(append(b, `,"tid":`...), uint64(tid), 10)
	return append(b, `,"ts":`...)
}

func (e *encoder) text(b []byte, s string) []byte { return appendText(b, s, &e.invalid) }

// head appends the beginning of an event: phase, name and category.
func (e *encoder) head(phase byte, name, category string) []byte {
	b := append(e.out.next(), `{"ph":"`...)
	b = e.text(append(b, phase, '"', ',', '"', 'n', 'a', 'm', 'e', '"', ':'), name)
	return e.text(append(b, `,"cat":`...), category)
}

// instant writes an instant event. Its scope is the process (p) or a thread (t).
func (e *encoder) instant(it *timeline.Item) {
	b := e.head('i', it.Name, it.Category)
	scope := byte('t')
	switch {
	case it.Track.Kind == timeline.ProcessTrack:
		scope = 'p'
		b = append(b, e.trackOf(it.Track).where...)
	case it.Track.Kind == timeline.LaneTrack:
		b = append(b, e.trackOf(e.startTrack(it)).where...)
	default:
		b = append(b, e.trackOf(it.Track).where...)
	}
	b = append(e.time(b, it.Time), `,"s":"`...)
	b = appendColor(append(b, scope, '"'), it.Category)
	if e.o.Stacks {
		b = e.stack(b, it.Stack)
	}
	if len(it.Encoded) > 0 {
		b = append(append(b, `,"args":`...), it.Encoded...)
	}
	e.out.buf = append(b, '}')
}

// stack appends the member sf, which refers to an entry of stackFrames. It appends nothing for an item without a stack.
func (e *encoder) stack(b []byte, node timeline.Node) []byte {
	if node == timeline.NoStack {
		return b
	}
	e.scratch = e.frames.addStack(e.trace, node, e.scratch[:0])
	return append(strconv.AppendUint(append(b, `,"sf":"`...), uint64(node), 10), '"')
}

// startTrack returns the track whose tid an asynchronous slice uses: the thread on which it started, or else the track
// of the process. The events b and e of a slice must have the same tid.
func (e *encoder) startTrack(it *timeline.Item) *timeline.Track {
	if it.Thread != nil {
		return it.Thread
	}
	if p := it.Track.Process.Track; p != nil {
		return p
	}
	return it.Track
}

// counter writes a counter value. Viewers display the counter name together with the name of the arg.
func (e *encoder) counter(it *timeline.Item) {
	if it.Value != it.Value || it.Value-it.Value != 0 {
		e.notNumbers++
		return
	}
	b := append(e.out.next(), `{"ph":"C","name":`...)
	name := it.Name
	if name == "" {
		name = it.Track.Name
	}
	b = e.text(b, name)
	if unit := it.Track.Unit; unit != "" {
		b = append(b[:len(b)-1], ' ', '(')
		b = append(e.inner(b, unit), ')', '"')
	}
	b = e.text(append(b, `,"cat":`...), it.Category)
	// The tid is the PID, the main thread, because a counter belongs to the process.
	b = chromeevent.AppendMicros(appendWhere(b, it.Track.Process.PID, it.Track.Process.PID), it.Time)
	b = appendFloat(append(b, `,"args":{"value":`...), it.Value)
	e.out.buf = append(b, '}', '}')
}

// inner appends a JSON string without its quotes.
func (e *encoder) inner(b []byte, s string) []byte {
	at := len(b)
	b = e.text(b, s)
	copy(b[at:], b[at+1:])
	return b[:len(b)-2]
}

// cut completes the current part and begins the next one. It closes open slices and samples, innermost first, and opens
// them again in the next part.
func (e *encoder) cut(now int64) error {
	e.release()
	e.samples.advance(now)
	e.now = now
	e.samples.cut(now)
	for i := len(e.list) - 1; i >= 0; i-- {
		e.closeSlices(e.list[i], now)
	}
	e.end()
	if e.err != nil {
		return e.err
	}
	if err := e.out.close(); err != nil {
		return err
	}
	if err := e.begin(); err != nil {
		return err
	}
	for _, t := range e.list {
		e.continueSlices(t, now)
	}
	e.samples.resume(now)
	e.out.head = e.out.bytes()
	return nil
}
