package chrome

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/timeline"
)

// maxChunk is the number of samples of a chunk.
const maxChunk = 1000

// A v8Sampler writes samples as the profiler of V8 does in a trace: an event Profile per thread, then events
// ProfileChunk. A node of the tree of stacks is sent once per profile. A sample lasts until the next one of its
// profile, so a sample of the node (idle) follows one that ends well before the next.
type v8Sampler struct {
	e        *encoder
	profiles map[profileKey]*v8Profile
	list     []*v8Profile
	last     *v8Profile
	due      []*v8Profile
}

type profileKey struct {
	track *timeline.Track
	kind  profile.Kind
}

// A v8Profile is the profile of a thread and a kind of samples.
type v8Profile struct {
	profileKey
	id      int
	open    bool // the event Profile of the part has been written
	sent    nodeSet
	nodes   []timeline.Node // to send with the next chunk, callers first
	special bool            // nodes without a frame have been sent
	samples []uint64        // numbers of nodes as V8 counts them
	deltas  []int64         // microseconds since the sample before
	micros  int64           // of the latest sample
	at      int64           // nanoseconds: time of the latest sample that is not idle
	until   int64           // nanoseconds: when it ends to count
	timed   bool            // until is known
	node    uint64          // of it
}

func newV8Sampler(e *encoder) *v8Sampler {
	return &v8Sampler{e: e, profiles: map[profileKey]*v8Profile{}}
}

// noStackName is the name of the frame of samples without a stack.
const noStackName = "(no stack)"

// Numbers of nodes in a profile. Those with a frame follow rootNode.
const rootNode = 1

func v8Node(n timeline.Node) uint64 { return uint64(n) + rootNode }

// idleNode is that of samples that end others, stacklessNode that of samples without a stack.
func (s *v8Sampler) idleNode() uint64      { return uint64(s.e.trace.Nodes()) + rootNode + 1 }
func (s *v8Sampler) stacklessNode() uint64 { return uint64(s.e.trace.Nodes()) + rootNode + 2 }

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
		p = &v8Profile{profileKey: key, id: len(s.list) + 1}
		s.profiles[key] = p
		s.list = append(s.list, p)
	}
	s.last = p
	return p
}

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

// end ends the latest sample of a profile if it ends well before now: a tenth of its time, as intervals of samplers
// vary.
func (s *v8Sampler) end(p *v8Profile, now int64) {
	if p.timed && now-p.until > max((p.until-p.at)/10, 1000) {
		s.push(p, s.idleNode(), p.until)
	}
	p.timed = false
}

// push appends a sample. Times are rounded down to microseconds before they are subtracted, so that the deltas do not
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

// floorMicros rounds down, also before 0.
func floorMicros(ns int64) int64 {
	if ns < 0 {
		return -((-ns + 999) / 1000)
	}
	return ns / 1000
}

// profileCategory is the category of the events of V8's profiler.
const profileCategory = `"cat":"disabled-by-default-v8.cpu_profiler"`

// eventHead appends the beginning of an event of a profile up to the value of data.
func (s *v8Sampler) eventHead(p *v8Profile, name string, at int64) []byte {
	b := append(append(s.e.out.next(), `{"ph":"P","name":"`...), name...)
	b = strconv.AppendInt(append(b, `",`+profileCategory+`,"id":"0x`...), int64(p.id), 16)
	b = append(append(b, '"'), s.e.trackOf(p.track).where...)
	return append(s.e.time(b, at), `,"args":{"data":{`...)
}

// profile writes the event that begins a profile.
func (s *v8Sampler) profile(p *v8Profile, at int64) {
	b := append(s.eventHead(p, "Profile", at), `"startTime":`...)
	b = strconv.AppendInt(b, floorMicros(at+s.e.shift), 10)
	s.e.out.buf = append(b, '}', '}', '}')
}

// chunk writes the samples that wait.
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

// nodes appends the nodes that were not sent yet.
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

// callFrame appends a frame. V8 counts lines and columns from 0; -1 means unknown.
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

// moduleOf returns the file that the code of a frame is in, "" if unknown.
func moduleOf(f *ntconv.Frame) string {
	if f.Mapping == nil {
		return ""
	}
	return f.Mapping.File
}

func (s *v8Sampler) advance(int64) {}

// cut ends all profiles of a part.
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
}

// resume begins the samples again that last beyond the cut.
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

// finish ends all profiles with the trace, in the order of their last samples.
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
