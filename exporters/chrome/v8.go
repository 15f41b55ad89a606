package chrome

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// maxChunk is the maximum number of samples per chunk.
const maxChunk = 1000

// A v8Sampler writes samples as V8's profiler does in a trace: one Profile event per thread, then ProfileChunk events.
// Each profile sends a node of the stack tree once. In this format a sample lasts until the next sample of its profile,
// so a sample with an earlier end is followed by a sample of the node (idle).
type v8Sampler struct {
	e        *encoder
	profiles map[profileKey]*v8Profile
	list     []*v8Profile
	last     *v8Profile
	marked   map[*timeline.Track]bool // threads whose samples this part has marked
	due      []*v8Profile             // profiles that still have unwritten samples in finish
}

// A profileKey identifies a V8 profile.
type profileKey struct {
	track *timeline.Track
	kind  sample.Kind
}

// A v8Profile is the profile of one thread and one sample kind. sample and push set the fields, chunk clears nodes,
// samples and deltas, cut clears open, special and sent, because each part starts its profiles again.
type v8Profile struct {
	profileKey
	name    string // of its samples, see sampleName
	id      int
	open    bool            // the Profile event of this part has been written
	sent    nodeSet         // nodes that were sent in this part, or are in nodes
	nodes   []timeline.Node // to send with the next chunk, callers first
	special bool            // nodes without a frame have been sent in this part
	samples []uint64        // node IDs as V8 numbers them
	deltas  []int64         // microseconds since the previous sample
	micros  int64           // of the latest sample
	at      int64           // nanoseconds: time of the latest sample that is not idle
	until   int64           // nanoseconds: end of that sample
	timed   bool            // until is known
	node    uint64          // node ID of that sample
}

func newV8Sampler(e *encoder) *v8Sampler {
	return &v8Sampler{e: e, profiles: map[profileKey]*v8Profile{}, marked: map[*timeline.Track]bool{}}
}

// noStackName is the name of the frame of samples without a stack.
const noStackName = "(no stack)"

// rootNode is the ID of the root. Nodes with a frame follow it.
const rootNode = 1

func v8Node(n timeline.Node) uint64 { return uint64(n) + rootNode }

// idleNode is the ID of the node (idle), stacklessNode the ID of the node for samples without a stack.
func (s *v8Sampler) idleNode() uint64      { return uint64(s.e.trace.Nodes()) + rootNode + 1 }
func (s *v8Sampler) stacklessNode() uint64 { return uint64(s.e.trace.Nodes()) + rootNode + 2 }

// profileOf returns the profile for a sample, and creates it on first use.
func (s *v8Sampler) profileOf(it *timeline.Item) *v8Profile {
	key := profileKey{it.Track, it.Weight.Kind}
	if it.Thread != nil {
		key.track = it.Thread
	}
	if s.last != nil && s.last.profileKey == key {
		return s.last
	}
	p := s.profiles[key]
	if p == nil {
		p = &v8Profile{profileKey: key, name: sampleName(it), id: len(s.list) + 1}
		s.profiles[key] = p
		s.list = append(s.list, p)
	}
	s.last = p
	return p
}

// sample ends the previous sample of the profile if necessary, and appends this one. A chunk is written one sample
// early, so that an idle sample still fits.
func (s *v8Sampler) sample(it *timeline.Item) {
	p := s.profileOf(it)
	s.end(p, it.Time)
	node := s.stacklessNode()
	if it.Stack != timeline.NoStack {
		node = v8Node(it.Stack)
		p.nodes = p.sent.addStack(s.e.trace, it.Stack, p.nodes)
	}
	s.push(p, node, it.Time)
	p.at, p.until, p.timed, p.node = it.Time, it.Weight.Until, it.Weight.Until > it.Time, node
	if len(p.samples) >= maxChunk-1 { // an idle sample may follow
		s.chunk(p, it.Time)
	}
}

// end adds an idle sample if the latest sample of the profile ended well before now: by more than a tenth of its
// duration, because sampling intervals vary.
func (s *v8Sampler) end(p *v8Profile, now int64) {
	if p.timed && now-p.until > max((p.until-p.at)/10, 1000) {
		s.push(p, s.idleNode(), p.until)
	}
	p.timed = false
}

// push appends a sample. It rounds times down to microseconds before it subtracts them, so that the deltas do not
// drift.
func (s *v8Sampler) push(p *v8Profile, node uint64, at int64) {
	micros := floorMicros(at + s.e.shift)
	if !p.open {
		p.open, p.micros = true, micros
		s.profile(p, at)
	}
	p.samples = append(p.samples, node)
	p.deltas = append(p.deltas, micros-p.micros)
	p.micros = micros
}

// floorMicros rounds down to microseconds, also for negative times.
func floorMicros(ns int64) int64 {
	if ns < 0 {
		return -((-ns + 999) / 1000)
	}
	return ns / 1000
}

// profileCategory is the category of the events of V8's profiler.
const profileCategory = `"cat":"disabled-by-default-v8.cpu_profiler"`

// eventHead appends a profile event up to the members of data.
func (s *v8Sampler) eventHead(p *v8Profile, name string, at int64) []byte {
	b := append(append(s.e.out.next(), `{"ph":"P","name":"`...), name...)
	b = strconv.AppendInt(append(b, `",`+profileCategory+`,"id":"0x`...), int64(p.id), 16)
	b = append(append(b, '"'), s.e.trackOf(p.track).where...)
	return append(s.e.time(b, at), `,"args":{"data":{`...)
}

// mark writes a slice of zero duration to the thread of a profile unless the thread has slices: DevTools shows samples
// only of threads with a slice. A part may contain none of the thread's slices.
func (s *v8Sampler) mark(p *v8Profile, at int64) {
	if s.marked[p.track] || p.track.HasSlices && s.e.out.limit == 0 {
		return
	}
	s.marked[p.track] = true
	b := append(s.e.head('X', chromeevent.SampleMark, chromeevent.SampleMark), s.e.trackOf(p.track).where...)
	s.e.out.buf = append(s.e.time(b, at), `,"dur":0}`...)
}

// profile writes the Profile event. Samples of V8 are wall time; a member that viewers ignore states another time, so
// that importers/chrome restores it.
func (s *v8Sampler) profile(p *v8Profile, at int64) {
	s.mark(p, at)
	b := append(s.eventHead(p, "Profile", at), `"startTime":`...)
	b = strconv.AppendInt(b, floorMicros(at+s.e.shift), 10)
	if p.name == sample.CPU.String() || p.name == sample.OffCPU.String() {
		b = append(append(append(b, `,"ntconv.samples":"`...), p.name...), '"')
	}
	s.e.out.buf = append(b, '}', '}', '}')
}

// chunk writes the buffered samples and the new nodes as a ProfileChunk event.
func (s *v8Sampler) chunk(p *v8Profile, at int64) {
	b := append(s.eventHead(p, "ProfileChunk", at), `"cpuProfile":{`...)
	if len(p.nodes) > 0 || !p.special {
		b = append(s.nodes(append(b, `"nodes":[`...), p), ']', ',')
	}
	b = append(b, `"samples":[`...)
	for i, n := range p.samples {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, n, 10)
	}
	b = append(b, `]},"timeDeltas":[`...)
	for i, d := range p.deltas {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, d, 10)
	}
	s.e.out.buf = append(b, ']', '}', '}', '}')
	p.nodes, p.samples, p.deltas = p.nodes[:0], p.samples[:0], p.deltas[:0]
}

// nodes appends the nodes that have not been sent yet.
func (s *v8Sampler) nodes(b []byte, p *v8Profile) []byte {
	start := len(b)
	if !p.special {
		p.special = true
		b = appendSpecial(b, rootNode, "(root)")
		b = append(appendSpecial(append(b, ','), s.idleNode(), "(idle)"), ',')
		b = appendSpecial(b, s.stacklessNode(), noStackName)
	}
	for _, n := range p.nodes {
		if len(b) > start {
			b = append(b, ',')
		}
		parent, frame := s.e.trace.Node(n)
		b = strconv.AppendUint(append(b, `{"id":`...), v8Node(n), 10)
		b = strconv.AppendUint(append(b, `,"parent":`...), v8Node(parent), 10)
		f := s.e.trace.Frame(frame)
		b = append(s.e.callFrame(append(b, `,"callFrame":`...), &f), '}')
	}
	return b
}

// appendSpecial appends a node without a frame.
func appendSpecial(b []byte, id uint64, name string) []byte {
	b = strconv.AppendUint(append(b, `{"id":`...), id, 10)
	if id != rootNode {
		b = strconv.AppendUint(append(b, `,"parent":`...), rootNode, 10)
	}
	b = append(append(b, `,"callFrame":{"functionName":"`...), name...)
	return append(b, `","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}`...)
}

// callFrame appends a frame. V8 numbers lines and columns from 0; -1 means unknown.
func (e *encoder) callFrame(b []byte, f *ntconv.Frame) []byte {
	b = e.text(append(b, `{"functionName":`...), functionName(f))
	url := moduleOf(f)
	if f.Func != nil && f.Func.File != "" {
		url = f.Func.File
	}
	b = e.text(append(b, `,"scriptId":"0","url":`...), url)
	b = strconv.AppendInt(append(b, `,"lineNumber":`...), int64(f.Line)-1, 10)
	b = strconv.AppendInt(append(b, `,"columnNumber":`...), int64(f.Column)-1, 10)
	return append(b, '}')
}

// functionName returns the name of a frame's function.
func functionName(f *ntconv.Frame) string {
	if f.Func == nil || f.Func.Name == "" {
		return "(unknown)"
	}
	return f.Func.Name
}

// moduleOf returns the file of the frame's mapping, "" if unknown.
func moduleOf(f *ntconv.Frame) string {
	if f.Mapping == nil {
		return ""
	}
	return f.Mapping.File
}

func (s *v8Sampler) advance(int64) {}

// cut ends all profiles of a part. Samples that continue keep timed, for resume.
func (s *v8Sampler) cut(now int64) {
	for _, p := range s.list {
		if !p.open {
			continue
		}
		if p.timed {
			s.push(p, s.idleNode(), min(p.until, now))
		}
		if len(p.samples) > 0 {
			s.chunk(p, now)
		}
		p.open, p.special = false, false
		p.sent, p.nodes = nodeSet{}, p.nodes[:0]
	}
	clear(s.marked)
}

// resume adds the samples that continue past the cut to the profiles of the next part.
func (s *v8Sampler) resume(now int64) {
	for _, p := range s.list {
		if !p.timed || p.until <= now {
			p.timed = false
			continue
		}
		if p.node != s.stacklessNode() {
			p.nodes = p.sent.addStack(s.e.trace, timeline.Node(p.node-rootNode), p.nodes)
		}
		s.push(p, p.node, now)
		p.at = now
	}
}

// finish ends all profiles, in the order of their last samples.
func (s *v8Sampler) finish() {
	for _, p := range s.list {
		if p.open && p.timed {
			s.push(p, s.idleNode(), p.until)
		}
		if len(p.samples) > 0 {
			s.due = append(s.due, p)
		}
	}
	slices.SortStableFunc(s.due, func(a, b *v8Profile) int { return cmp.Compare(a.micros, b.micros) })
	for _, p := range s.due {
		s.e.now = max(s.e.now, p.micros*1000-s.e.shift)
		s.chunk(p, s.e.now)
	}
}
