// Package otlp writes a trace as OTLP, the protocol of OpenTelemetry, either to a receiver through an Uploader or to a
// file.
//
//	sink := otlp.New(ctx, client, src.Info(), nil, nil)
//	_, err := ntconv.Copy(sink, src)
//	err = errors.Join(err, sink.Close())
//
// client is an Uploader: it gets the body of each request. NewFile writes a file and needs no client. After Close,
// Summary states how many spans arrived.
//
// The sink builds spans from Activities that a DiagnosticSource recorded, from events with the labels TraceId and
// SpanId, from Start and Stop events of event sources, and from spans that were imported from OTLP. docs/otlp.md
// specifies the mapping.
//
// The sink sends spans in batches as they end. Its memory depends on the batch size and the number of open spans, not
// on the length of the trace. Equal events give equal batches unless Options.FlushEvery sends a batch early.
package otlp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/events/wallclock"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/eventmetrics"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/internal/span/metrics"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Form is the encoding of an OTLP file.
type Form uint8

const (
	// JSONLines is OTLP/JSON with one TracesData object per batch and line. It is the default format of the
	// OpenTelemetry Collector's file exporter.
	JSONLines Form = iota
	// Protobuf is a single TracesData message. The sink writes it as a concatenation of batches, which protobuf defines
	// to be the merged message.
	Protobuf
	// Delimited is one TracesData message per batch, each preceded by its length in bytes as a big-endian 32-bit
	// number. It is the format of the OpenTelemetry Collector's file exporter with the setting format: proto.
	Delimited
)

// A Sink writes spans. It is not safe for concurrent use. Call Close even if Write has failed, because it ends the
// goroutines of the sink.
type Sink struct {
	o        Options
	namer    ntconv.Namer
	uploader Uploader // nil for a file
	tracker  *tracker.Tracker
	logs     *logs.Reader         // nil if log records are not written
	metrics  *metrics.Reader      // nil if data points are not written
	profiler *profiler            // nil if profiles are not written
	counted  *eventmetrics.Reader // nil if events are not counted
	// profileBytes is the size in bytes at which a batch of profiles is sent.
	profileBytes int
	delivery     *delivery
	omitted      int64 // spans omitted by OmitNotRecorded
	undated      bool  // the trace has no date
	in1970       int64 // items without a date
	closed       bool
	done         Summary
	err          error // of Close

	uses      map[*ntconv.Type]uses
	recent    intern.Cache[*ntconv.Type, uses]
	watched   *ntconv.Type // type of the latest event that Watch observed
	describes bool         // events of this type describe a process

	// mu guards the following fields, which the timer of FlushEvery also uses.
	mu        sync.Mutex
	processes processes
	table     table
	streams   [NumSignals]stream
	held      held
	timer     *time.Timer
	extra     []span.Attribute // scratch of extraOf
}

// A stream is the output of one signal.
type stream struct {
	batch *batch // being filled; nil if there is none
	items int64  // to be written
}

var (
	_ ntconv.Sink    = (*Sink)(nil)
	_ ntconv.Watcher = (*Sink)(nil)
	_ ntconv.Flusher = (*Sink)(nil)
)

// New returns a sink that sends spans through u. The sink passes ctx to u; when ctx is done, the sink stops sending and
// fails. info must not be nil. A nil namer means that process and thread names come only from the events that the sink
// receives. Nil opts select the defaults.
func New(ctx context.Context, u Uploader, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := newSink(info, namer, opts)
	s.uploader = u
	s.delivery = newDelivery(ctx, upload{u, s.o.Spend}, &s.o)
	return s
}

// NewFile returns a sink that writes spans to w with one Write per batch. It does not close w. The other parameters are
// those of New; Options.Concurrency has no effect.
func NewFile(w io.Writer, form Form, info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Concurrency = 1
	if form != JSONLines && len(o.Signals.List()) > 1 { // messages of several signals cannot be distinguished
		o.Signals = SignalSet(Traces)
	}
	s := newSink(info, namer, &o)
	if form == Protobuf { // one message has one dictionary
		s.profileBytes = math.MaxInt
	}
	s.delivery = newDelivery(context.Background(), &file{w: w, form: form}, &s.o)
	return s
}

// newSink returns a sink without a delivery, which the caller sets.
func newSink(info *ntconv.Info, namer ntconv.Namer, opts *Options) *Sink {
	s := &Sink{namer: namer, uses: make(map[*ntconv.Type]uses), recent: intern.NewCache[*ntconv.Type, uses](8)}
	if opts != nil {
		s.o = *opts
	}
	if s.namer == nil {
		s.namer = new(ntconv.NoNames)
	}
	s.processes.foreign = info != nil && strings.HasPrefix(info.Format, "chrome")
	s.undated = info != nil && info.Clock.Wall.IsZero()
	s.o.setDefaults()
	s.profileBytes = s.o.BatchBytes
	s.table.added = s.o.ImportedResource
	s.tracker = tracker.New(info, s.add, s.o.tracker())
	s.logs, s.metrics, s.profiler = s.newLogs(info), s.newMetrics(info), s.newProfiler(info)
	s.counted = s.newEventMetrics(info)
	return s
}

// ErrClosed means that an event was written to a Sink after Close.
var ErrClosed = errors.New("otlp: the sink is closed")

// Write adds an event to the spans that it belongs to. The sink does not keep e. Events must arrive in time order
// (reader.ByTime): an event that arrives before the Start or after the Stop of its span is not part of the span. Write
// returns an *UploadError if this or an earlier batch could not be sent, and ErrClosed after Close.
func (s *Sink) Write(e *ntconv.Event) error {
	if s.closed {
		return ErrClosed
	}
	if err := e.Check(); err != nil {
		return err
	}
	s.learn(e)
	if s.profiler != nil {
		s.profiler.add(e, s.o.Report)
		e = s.profiler.unlinked(e)
	}
	s.tracker.Add(e) // also if its spans are not written: log records refer to them
	if s.counted != nil {
		s.counted.Add(e)
	}
	uses := s.usesOf(e)
	if s.logs != nil && (uses.logs || s.logs.Waits()) {
		s.logs.Add(e)
	}
	if uses.metrics {
		s.metrics.Add(e)
	}
	if s.delivery.failed.Load() {
		return s.failure()
	}
	return nil
}

// A uses states which signals events of a type may be part of, in addition to spans.
type uses struct{ logs, metrics bool }

// usesOf returns the uses of an event's type, which it caches: most events are part of neither.
func (s *Sink) usesOf(e *ntconv.Event) uses {
	if e.Kind != ntconv.KindEvent {
		return uses{}
	}
	hash := uint64(e.Type.ID)<<8 ^ uint64(len(e.Type.Provider))
	if u := s.recent.Get(hash, &e.Type); u != nil {
		return *u
	}
	u, known := s.uses[e.Type]
	if !known {
		u = uses{logs: s.logs != nil && s.logs.Reads(e), metrics: s.metrics != nil && s.metrics.Reads(e)}
		s.uses[e.Type] = u
	}
	s.recent.Put(hash, &e.Type, u)
	return u
}

func (s *Sink) failure() error {
	_, err := s.delivery.outcome(s.items())
	return err
}

// Watch learns from an event that a selection may omit what it reports about its process, such as the command line.
// Call it for every event of the trace, before Write if the event is selected. You can omit the calls if all events are
// written. .NET writes the command line last: to have it in all batches, also call Watch for all events of an earlier
// reading of the trace. Watch does not keep e.
func (s *Sink) Watch(e *ntconv.Event) {
	if s.profiler != nil {
		s.profiler.build.Watch(e)
	}
	s.learn(e)
}

// learn learns from an event about processes.
func (s *Sink) learn(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent || e.Type == nil {
		return
	}
	if e.Type != s.watched {
		s.watched, s.describes = e.Type, recording.Describes(e.Type)
	}
	if s.describes {
		s.mu.Lock()
		s.processes.learn(e)
		if s.held.batches != nil && !s.processes.awaited() {
			s.release()
		}
		s.mu.Unlock()
	}
}

// items returns the number of items of each signal.
func (s *Sink) items() (n [NumSignals]int64) {
	for i := range s.streams {
		n[i] = s.streams[i].items
	}
	return n
}

// add adds a span from the tracker.
func (s *Sink) add(sp *span.Span) {
	if sp.NotRecorded && s.o.OmitNotRecorded {
		s.omitted++
		return
	}
	if !s.o.Signals.Has(Traces) {
		return
	}
	s.put(Traces, sp.Start, origin{resource: sp.Resource, process: sp.Process, scope: sp.Scope}, func(e *encoder) { e.span(sp, s.extraOf(sp)) })
}

// An origin states what recorded an item. resource is nil if only the process is known.
type origin struct {
	resource *span.Resource
	process  *ntconv.Process
	scope    *span.Scope
	metric   *metrics.Metric // of a data point
}

// put counts an item of a signal, whose time is nanos since 1970, and adds it to the batch of the signal
// unless the delivery has failed. encode appends it as an element of its scope or metric. put sends the batch when it is
// full.
func (s *Sink) put(signal Signal, nanos uint64, from origin, encode func(*encoder)) {
	st := &s.streams[signal]
	st.items++
	if s.undated && !wallclock.IsDate(int64(nanos)) {
		s.in1970++
	}
	if s.delivery.failed.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hasBatch(signal) {
		return
	}
	at := s.pathOf(from)
	for !st.batch.add(at, encode, s.o.BatchBytes) {
		if s.send(signal); !s.hasBatch(signal) {
			return
		}
		at = s.pathOf(from) // send may have emptied the table
	}
	if p := at[0].process; p != nil {
		p.items++
	}
	if len(st.batch.rows) >= s.o.BatchItems || st.batch.size >= s.o.BatchBytes {
		s.send(signal)
	}
}

// pathOf returns the path of an item in its resource and scope.
func (s *Sink) pathOf(from origin) path {
	at := path{s.resourceOf(from), s.table.scopeOf(from.scope)}
	if from.metric != nil {
		m := s.table.metricOf(from.metric)
		at[2], at[3] = m.metric, m.data
	}
	return at
}

// hasBatch ensures that there is a batch of the signal to fill. It returns false if the delivery has failed. The caller
// holds mu.
func (s *Sink) hasBatch(signal Signal) bool {
	st := &s.streams[signal]
	if st.batch != nil {
		return true
	}
	if s.held.batches != nil { // the batches of the delivery may all be held
		st.batch = &batch{spare: true}
	} else if st.batch = s.delivery.take(); st.batch == nil {
		return false
	}
	st.batch.signal = signal
	if s.o.FlushEvery > 0 {
		st.batch.since = time.Now()
		if s.timer == nil {
			s.timer = time.AfterFunc(s.o.FlushEvery, s.expire)
		} else if s.waiting() == 1 {
			s.timer.Reset(s.o.FlushEvery)
		}
	}
	return true
}

// waiting returns the number of batches that are being filled.
func (s *Sink) waiting() (n int) {
	for i := range s.streams {
		if s.streams[i].batch != nil {
			n++
		}
	}
	return n
}

// expire sends the batches that have waited long enough. The timer calls it on its own goroutine.
func (s *Sink) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := time.Duration(0)
	for i := range s.streams {
		st := &s.streams[i]
		if st.batch == nil {
			continue
		}
		// The timer may have been started for another batch.
		rest := s.o.FlushEvery - time.Since(st.batch.since)
		if rest <= 0 {
			s.send(Signal(i))
		} else if next == 0 || rest < next {
			next = rest
		}
	}
	if next > 0 {
		s.timer.Reset(next)
	}
}

// send queues the batch of a signal for delivery, or holds it while its processes have no name. The caller holds mu.
func (s *Sink) send(signal Signal) {
	b := s.streams[signal].batch
	if b == nil {
		return
	}
	s.streams[signal].batch = nil
	if b.profiles != nil {
		b.rows = b.profiles.rows(b.rows)
	}
	if !s.hold(b) {
		s.deliver(b)
	}
	if s.table.full() { // batches compare envelopes by pointer, so none may be waiting
		for i := range NumSignals {
			s.send(i)
		}
		s.table.trim()
	}
}

// deliver queues a batch for delivery. It describes the processes of its items if this is their first batch. The caller
// holds mu.
func (s *Sink) deliver(b *batch) {
	for _, r := range b.rows {
		if p := r.path[0].process; p != nil && r.path[0].head == nil {
			p.describe(&s.table, &s.o)
		}
	}
	s.repaired(&b.encoder)
	s.repaired(&s.table.encoder)
	s.delivery.put(b)
}

// repaired reports strings that were not valid UTF-8 and resets their count.
func (s *Sink) repaired(e *encoder) {
	s.o.Report.Note(ntconv.CodeRepaired, e.repaired, -1, "strings that are not valid UTF-8; invalid parts became U+FFFD")
	e.repaired = 0
}

// resourceOf returns the envelope of an item's resource. That of a process whose first batch has not been sent is not
// encoded yet and has only an upper bound of its size.
func (s *Sink) resourceOf(from origin) *envelope {
	if from.resource != nil {
		return s.table.resourceOf(from.resource)
	}
	p := s.processes.of(from.process)
	if p.envelope.head == nil {
		p.model = from.process
		s.name(p)
		p.envelope.size = p.maxSize(&s.o)
	}
	return &p.envelope
}

// name asks the namer for the name of a process that no event has described. Only methods that the user of the sink calls
// may do so: a Namer is not safe for concurrent use, and timers send batches, too.
func (s *Sink) name(p *process) {
	if p.Command == "" {
		known := s.namer.Process(p.model)
		p.Command, p.Name = known.CommandLine, cmp.Or(known.Name, p.Name)
	}
}

// Attributes for Options.ThreadAttributes and Options.ProfileIDs. thread.id of the semantic conventions is the managed
// thread ID, which no trace contains.
const (
	attrThread     = "dotnet.thread.os_id"
	attrThreadName = "thread.name"
	attrProfile    = "pyroscope.profile.id"
)

// extraOf returns the attributes that the options add to a span. The result is valid until the next call.
func (s *Sink) extraOf(sp *span.Span) []span.Attribute {
	s.extra = s.extra[:0]
	if s.o.ProfileIDs && sp.Evidence != span.FromRuntime &&
		!slices.ContainsFunc(sp.Attributes, func(a span.Attribute) bool { return a.Key == attrProfile }) {
		s.extra = append(s.extra, span.Attribute{Key: attrProfile, Value: span.String(sp.ID.String())})
	}
	if t := sp.Thread; t != nil && s.o.ThreadAttributes && sp.Evidence != span.FromOTLP {
		if t.TID != ntconv.TIDUnknown {
			s.extra = append(s.extra, span.Attribute{Key: attrThread, Value: span.Int(int64(t.TID))})
		}
		if name := s.namer.ThreadName(t); name != "" {
			s.extra = append(s.extra, span.Attribute{Key: attrThreadName, Value: span.String(name)})
		}
	}
	return s.extra
}

// Flush sends all items that are complete and returns when the receiver has them. Open spans stay open. It returns an
// *UploadError if this or an earlier batch could not be sent.
func (s *Sink) Flush() error {
	s.mu.Lock()
	for _, p := range s.processes.all {
		if p.model != nil && p.envelope.head == nil {
			s.name(p)
		}
	}
	for i := range NumSignals {
		s.send(i)
	}
	s.release()
	s.mu.Unlock()
	s.delivery.wait()
	return s.failure()
}

// Close ends the open spans as Options.Unfinished states, sends all remaining items and waits until they are delivered.
// If the context of New is done, it waits at most one second for the Uploader. It returns an *UploadError if not all
// items were received. Items that the receiver rejected are not an error; Summary and Options.Report count
// them. A second call returns the same error.
func (s *Sink) Close() error {
	if s.closed {
		return s.err
	}
	s.tracker.Finish()
	if s.logs != nil {
		s.logs.Finish()
	}
	if s.counted != nil {
		s.counted.Finish(s.metrics.Measured)
	}
	if s.profiler != nil {
		s.writeProfiles()
	}
	s.err = s.Flush()
	s.delivery.reportUnsupported()
	s.delivery.close()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.done, s.closed = s.Summary(), true
	s.o.Report.Note(ntconv.CodeDoubled, uint64(s.done.Doubled), -1, "")
	return s.err
}

// Summary returns what has been written so far. It is complete after Close.
func (s *Sink) Summary() Summary {
	if s.closed {
		return s.done
	}
	sum, _ := s.delivery.outcome(s.items())
	var c tracker.Counts
	if s.o.Signals.Has(Traces) {
		c = s.tracker.Counts()
	}
	sum.MadeIDs, sum.Unfinished, sum.Evicted, sum.Clamped = c.MadeIDs, c.Unfinished, c.Evicted, c.Clamped
	sum.Intervals, sum.Linked = c.Intervals, c.Linked
	s.mu.Lock()
	sum.Unnamed = s.processes.unnamed()
	s.mu.Unlock()
	if s.metrics != nil {
		sum.Problems = s.metrics.Problems()
	}
	sum.Undated = s.in1970
	sum.Exporter, sum.NotRecorded, sum.Invalid, sum.Unmatched = c.Exporter, s.omitted, c.Invalid, c.Unmatched
	if u, ok := s.uploader.(StatsReporter); ok {
		stats := u.Stats()
		sum.Retries, sum.Doubled = stats.Retries, stats.Doubled
	}
	return sum
}
