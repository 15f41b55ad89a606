package perfetto

import (
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// A sampleEncoder holds the state of the sample sequences.
type sampleEncoder struct {
	kinds   [numKinds]kindSequence
	threads map[*timeline.Track]*threadSequence
	defined int // entries in the defined sets of all threads, together
	run     run
	// streamed is the profile kind of the StreamingProfilePackets. sample sets it to the kind of the first sample; Auto
	// means none yet.
	streamed sample.Kind
}

// numKinds is the number of profile kinds, including Auto, which no sample has.
const numKinds = int(sample.Count)

// A kindSequence is the sequence of StackSamples of one profile kind.
type kindSequence struct {
	last    int64         // Item.Time of the latest sample
	types   []sample.Type // types of the defaults that are in force
	primary int           // index in types
	defined defined
}

// A threadSequence is the sequence of StreamingProfilePackets of one thread.
type threadSequence struct {
	last    uint64 // time of the latest sample, in microseconds since 1970-01-01 UTC
	started bool   // the ThreadDescriptor has been written
	defined defined
}

// A run holds consecutive samples of one thread, without samples of other threads between them. It becomes one packet:
// older versions of trace_processor expect samples in time order and treat those of a packet as a block.
type run struct {
	track    *timeline.Track // nil means no run
	samples  int
	interned []byte // fields of InternedData
	body     []byte // fields of StreamingProfilePacket
}

const (
	// maxRun is the maximum number of samples per run.
	maxRun = 1000
	// maxDefined limits the entries that the sequences of all threads remember together. Each thread defines its own
	// stacks, so many threads with equal stacks need more memory than the stacks themselves.
	maxDefined = 4 << 20
)

func (s *sampleEncoder) init() { s.threads = make(map[*timeline.Track]*threadSequence) }

// sample writes a sample. A StreamingProfilePacket cannot state what a sample counts, so only samples that a profiler took
// use this form, and of these only the first kind: a second kind is another view of the same time.
func (e *encoder) sample(it *timeline.Item) {
	s := &e.samples
	if e.options.Samples == StreamingSamples && it.Weight.Kind <= sample.Imported {
		if s.streamed == sample.Auto {
			s.streamed = it.Weight.Kind
		}
		if s.streamed == it.Weight.Kind {
			e.counts.streamed++
			e.stream(it)
			return
		}
	}
	e.counts.stackSamples++
	e.stackSample(it)
}

// stream adds a sample to the run of its thread, and starts a new run or sequence if necessary.
func (e *encoder) stream(it *timeline.Item) {
	s := &e.samples
	r := &s.run
	if r.track != nil && (r.track != it.Track || r.samples == maxRun) {
		e.endRun()
	}
	at := (e.start + uint64(it.Time)) / 1000
	t := s.threads[it.Track]
	if t == nil {
		t = &threadSequence{defined: defined{}}
		s.threads[it.Track] = t
	}
	if !t.started {
		t.started, t.last = true, at
		e.startThread(it.Track, at)
	}
	before := len(t.defined)
	r.track = it.Track
	r.interned = e.stacks.define(r.interned, t.defined, it.Stack)
	r.body = appendUint(r.body, streamingCallstack, stackNumber(it.Stack))
	r.body = appendUint(r.body, streamingDelta, at-t.last)
	r.samples++
	t.last = at
	s.defined += len(t.defined) - before
	if s.defined > maxDefined {
		e.endRun()
		e.restartThreads()
	}
}

// restartThreads makes the sequences of all threads start again, with nothing defined. The current run must have ended.
func (e *encoder) restartThreads() {
	for _, t := range e.samples.threads {
		t.started, t.defined = false, defined{}
	}
	e.samples.defined = 0
}

// startThread writes the first packet of a thread's sequence. The times of its samples are relative to the given time,
// which is on the monotonic clock of the snapshot.
func (e *encoder) startThread(t *timeline.Track, microseconds uint64) {
	b, packet := openMessage(e.buf, tracePacket)
	b = appendUint(b, packetSequence, sequenceThreads+uint64(t.ID))
	b = appendUint(b, packetSequenceFlags, flagStateCleared)
	b, m := openMessage(b, packetThreadDescriptor)
	b = appendUint(appendThread(b, t), threadReference, microseconds)
	e.buf = closeMessage(closeMessage(b, m), packet)
}

// endRun writes the samples of the run and clears it.
func (e *encoder) endRun() {
	r := &e.samples.run
	if r.track == nil {
		return
	}
	b, packet := openMessage(e.buf, tracePacket)
	b = appendUint(b, packetSequence, sequenceThreads+uint64(r.track.ID))
	if len(r.interned) > 0 {
		b = appendBytes(b, packetInternedData, r.interned)
	}
	e.buf = closeMessage(appendBytes(b, packetStreamingProfile, r.body), packet)
	*r = run{interned: r.interned[:0], body: r.body[:0]}
}

// stackSample writes a sample as a StackSample.
func (e *encoder) stackSample(it *timeline.Item) {
	w := it.Weight
	q := &e.samples.kinds[w.Kind]
	id := sequenceOf(w.Kind)
	if q.defined == nil {
		q.defined = defined{}
		e.startSequence(id, q.setTypes(w))
	} else if !sameTypes(q.types, w.Types) {
		e.changeDefaults(id, q.setTypes(w))
	}
	b, packet := openMessage(e.buf, tracePacket)
	b = appendUint(b, packetTimestamp, uint64(it.Time-q.last))
	q.last = it.Time
	b = appendUint(b, packetSequence, id)
	start := len(b)
	b, m := openMessage(b, packetInternedData)
	if b = e.stacks.define(b, q.defined, it.Stack); len(b) > m {
		b = closeMessage(b, m)
	} else {
		b = b[:start]
	}
	b, m = openMessage(b, packetStackSample)
	b, task := openMessage(b, sampleTask)
	b = appendUint(b, taskPID, uint64(it.Track.Process.PID))
	b = closeMessage(appendUint(b, taskTID, uint64(it.Track.TID)), task)
	b = appendUint(b, sampleCallstackIID, stackNumber(it.Stack))
	b = q.weights(b, w.Values)
	e.buf = closeMessage(closeMessage(b, m), packet)
}

// sequenceOf returns the ID of the sequence of a kind's samples.
func sequenceOf(k sample.Kind) uint64 {
	if k > sample.Imported {
		return sequenceComputed + uint64(k)
	}
	return sequenceKinds + uint64(k)
}

// weights appends the values of a sample: the primary value, then the others in the order of the descriptors. Negative
// values, as in the difference of two imported profiles, become 0, because Perfetto cannot represent them.
func (q *kindSequence) weights(b []byte, values []int64) []byte {
	if len(values) == 0 {
		return b
	}
	b = appendUint(b, samplePrimaryWeight, uint64(max(values[q.primary], 0)))
	if len(values) == 1 {
		return b
	}
	b, m := openMessage(b, sampleFollowerWeights)
	for i, v := range values {
		if i != q.primary {
			b = appendVarint(b, uint64(max(v, 0)))
		}
	}
	return closeMessage(b, m)
}

func sameTypes(a, b []sample.Type) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// setTypes stores the sample types and returns the fields of TracePacketDefaults that describe them. The primary type
// is the last time, or else the last type, because profile viewers show that first.
func (q *kindSequence) setTypes(w *timeline.Weight) []byte {
	q.types, q.primary = w.Types, max(len(w.Types)-1, 0)
	for i := len(w.Types) - 1; i >= 0; i-- {
		if w.Types[i].Unit == "nanoseconds" {
			q.primary = i
			break
		}
	}
	b, m := openMessage(nil, defaultsStackSample)
	b = appendText(b, sampleDefaultsSource, "ntconv."+w.Kind.String())
	if len(w.Types) > 0 {
		b = appendDescriptor(b, sampleDefaultsPrimary, w.Types[q.primary])
	}
	for i, t := range w.Types {
		if i != q.primary {
			b = appendDescriptor(b, sampleDefaultsFollower, t)
		}
	}
	return closeMessage(b, m)
}

func appendDescriptor(b []byte, field uint64, t sample.Type) []byte {
	b, m := openMessage(b, field)
	b = appendText(b, descriptorName, t.Type)
	switch t.Unit {
	case "nanoseconds":
		b = appendUint(b, descriptorUnit, sampleUnitNanoseconds)
	case "bytes":
		b = appendUint(b, descriptorUnit, sampleUnitBytes)
	case "count":
		b = appendUint(b, descriptorUnit, sampleUnitCount)
	default:
		b = appendText(b, descriptorUnitText, t.Unit)
	}
	return closeMessage(b, m)
}

// changeDefaults writes new defaults for the packets that follow. Interned data of the sequence remains valid.
func (e *encoder) changeDefaults(id uint64, defaults []byte) {
	b, packet := openMessage(e.buf, tracePacket)
	b = appendUint(b, packetSequence, id)
	b, m := openMessage(b, packetDefaults)
	b = appendUint(b, defaultsClock, clockSequence)
	e.buf = closeMessage(closeMessage(append(b, defaults...), m), packet)
}
