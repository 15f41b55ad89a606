// Package otlp reads traces in the OpenTelemetry protocol (OTLP) as a source of events. Each span becomes one event
// otlp/Span. A large span also has events otlp/SpanPart before it, see docs/otlp.md. exporters/otlp restores the spans.
//
// New recognizes the form of the input:
//
//	a message          TracesData or ExportTraceServiceRequest, whose encodings are the same
//	delimited messages each after its length: 4 bytes, big-endian, as the collector's file exporter writes it with format: proto, or a
//	                   varint
//	OTLP/JSON          one object, an array of objects, or one object after another, usually one per line. In addition to what the
//	                   protocol defines, snake_case names, names of enum values, and base64 of the URL alphabet are accepted
//
// Logs, metrics and profiles are refused with an error that names them and wraps ntconv.ErrUnsupported.
//
// The source holds one ResourceSpans message at a time, and tables of processes and threads. Events come in the order
// of the input unless Options.ByTime is set.
//
// # Time
//
// Ticks are nanoseconds since 1970. The time of an event is the end of the span, or its start if the span has no end.
// It is later if that is before 1970. It is also later if the span is so much out of order that its event would belong
// before a sequence point, which the source inserts every 65,536 events or more (CodeOutOfOrder). The payload always
// has the exact times.
//
// # Processes and threads
//
// Each distinct resource is a process. Its PID is the attribute process.pid, or the next free number; its name is
// service.name or process.executable.name, its host host.name. The attributes thread.id and thread.name of a span are
// the thread of the event. The capture thread is synthetic: the first thread of the process whose last event is not
// later.
package otlp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timesort"
)

// Options configure a source. The zero value selects the defaults.
type Options struct {
	// ByTime delivers the events in time order and not in the order of the input. The source then holds up to 131,072
	// events or 64 MiB of their payloads.
	ByTime bool
	Limits Limits
	Report *ntconv.Report // may be nil
}

// New returns a source over decompressed input. It reads up to the first span. opts may be nil.
//
// Errors are *ntconv.FormatError with the place, unless r returned them, and wrap ntconv.ErrFormat if the input is not
// OTLP, ntconv.ErrUnsupported if it holds another signal than traces, ErrCorrupt, ErrLimit, or ErrTruncated. The report
// counts spans that are skipped because an ID is invalid or the message is corrupt (CodeRowSkipped, CodeCorrupt),
// corrupt parts of JSON that another object of traces follows (CodeCorrupt), fields that the model does not have
// (CodeNotCarried), and invalid UTF-8 (CodeRepaired).
func New(r io.Reader, opts *Options) (ntconv.Source, error) {
	s := &source{encoder: span.NewEncoder()}
	if opts != nil {
		s.o = *opts
	}
	s.o.Limits = s.o.Limits.Defaults()
	s.owners = newOwners(s.o.Report)
	in := bufio.NewReaderSize(r, headSize)
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	d := &decoder{limits: s.o.Limits, report: s.o.Report}
	switch form := formOf(head); form {
	case formJSON:
		s.spans = newJSONReader(in, d)
	case formNone:
		return nil, located(
			0,
			"",
			fmt.Errorf("%w: want OTLP as protobuf or JSON, got % x", ntconv.ErrFormat, head[:min(8, len(head))]),
		)
	default:
		s.spans = newProtoReader(in, form, d)
	}
	s.ahead, s.err = s.spans.next()
	if s.err != nil && s.err != io.EOF && errors.Is(s.err, ntconv.ErrUnsupported) {
		return nil, s.err
	}
	s.describe()
	if s.o.ByTime {
		return timesort.New(s, nil), nil
	}
	return s, nil
}

// headSize is how many bytes of the input New looks at.
const headSize = 64 << 10

// spans decodes an input. The span that next returns is borrowed until the next call.
type spans interface {
	next() (*span.Span, error)
}

// located says where something is wrong.
func located(offset int64, where string, err error) error {
	return &ntconv.FormatError{Format: "otlp", Offset: offset, Where: where, Err: err}
}

// A source yields the spans of an input.
type source struct {
	o       Options
	info    ntconv.Info
	spans   spans
	ahead   *span.Span // the span that is next, nil if err is set
	encoder *span.Encoder
	lane    *lane // of the span that encoder is at
	owners  *owners
	mark    ntconv.Event
	err     error
}

// describe makes the Info. The clock's Wall is near the first span, because viewers count from it.
func (s *source) describe() {
	start := int64(0)
	if s.ahead != nil {
		start = max(0, int64(s.ahead.Start))
	}
	wall := time.Unix(0, start).UTC().Truncate(time.Millisecond)
	s.info = ntconv.Info{
		Format:      "otlp",
		PointerSize: 8,
		Clock:       ntconv.Clock{Freq: 1e9, Tick: ntconv.Ticks(wall.UnixNano()), Wall: wall},
	}
}

func (s *source) Info() *ntconv.Info { return &s.info }

func (s *source) Next() (*ntconv.Event, error) {
	if s.lane != nil {
		if e := s.encoder.Next(); e != nil {
			s.lane.seq++
			e.Seq = s.lane.seq
			s.owners.events++
			s.owners.bytes += len(e.Payload)
			return e, nil
		}
		s.lane = nil
		s.ahead, s.err = s.spans.next()
	}
	if s.err != nil {
		return nil, s.err
	}
	if m := s.owners.markDue(s.ahead); m != nil {
		s.mark = ntconv.Event{Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown, Time: s.owners.latest, Offset: -1, Mark: m}
		return &s.mark, nil
	}
	like := ntconv.Event{Kind: ntconv.KindEvent, CPU: ntconv.CPUUnknown, Offset: -1}
	s.lane = s.owners.place(s.ahead, &like)
	s.encoder.Encode(s.ahead, &like)
	return s.Next()
}

// A form is how an input holds messages.
type form uint8

const (
	formNone form = iota
	formJSON
	formProto
	formDelimited // 4 bytes, big-endian
	formVarint
)

var byteOrderMark = []byte("\ufeff")

// formOf returns the form of an input that begins with head.
func formOf(head []byte) form {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n")
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return formJSON // as protobuf these would be groups
	case len(head) == 0:
		return formProto // a message without spans is empty
	}
	if f := probe(head); f != formNone {
		return f
	}
	switch { // too little is there to be certain
	case head[0] == 1<<3|2:
		return formProto
	case len(head) >= 4 && head[0] < 1<<3|2 && (len(head) == 4 || head[4] == 1<<3|2):
		return formDelimited
	}
	return formNone
}

// Recognize reports whether an input that begins with head is OTLP of any signal: protobuf in any form whose beginning
// holds at least an attribute or an item, or JSON objects with one of the fields resourceSpans, resourceMetrics,
// resourceLogs and resourceProfiles. 4,096 bytes are usually enough. It is for programs that read several formats:
// other protobuf messages are not recognized.
func Recognize(head []byte) bool {
	if formOf(head) == formJSON {
		return recognizeJSON(head)
	}
	return probe(head) != formNone
}
