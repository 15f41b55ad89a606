// Package otlp reads traces, logs, metrics and profiles in the OpenTelemetry protocol (OTLP) as a source of events. Each
// span becomes an event otlp/Span, each log record an event otlp/LogRecord, each data point an event otlp/DataPoint. A
// profile becomes an event otlp/Profile, and its samples are imported samples as in importers/pprof. Events otlp/SpanPart,
// otlp/LogRecordPart and so on precede the event of an item that is large; see docs/otlp.md. exporters/otlp restores the
// items.
//
// New recognizes the form of the input:
//
//   - A message: TracesData or ExportTraceServiceRequest, which have the same encoding, or their counterparts for other
//     signals. Profiles are those of profiles/v1development in opentelemetry-proto 1.10 and 1.11.
//   - Delimited messages, each preceded by its length as 4 bytes, big-endian, or as a varint. The OpenTelemetry
//     Collector's file exporter writes the former with format: proto.
//   - OTLP/JSON: one object, an array of objects, or a sequence of objects, usually one per line. New also accepts
//     snake_case names, names of enum values, and base64 in the URL alphabet.
//
// An input may have several signals, such as lines of traces and of logs.
//
// The source holds one ResourceSpans message or its counterpart at a time, a whole message of profiles, and tables of processes
// and threads. Events
// have the order of the input unless Options.ByTime is set.
//
// # Time
//
// Ticks are nanoseconds since 1970. The time of an event is the end of the span, or its start if the span has no end;
// it is the time of a log record, or else the time at which that was observed, and that of a data point. Samples of a profile
// have their own times, or are distributed evenly over its duration. It is later than that in two cases: the
// time is before 1970, or the item is so far out of order that its event would belong before a sequence point
// (CodeOutOfOrder). The source inserts a sequence point after 65,536 or more events. The payload always contains the
// exact times.
//
// # Processes and threads
//
// Each distinct resource is a process. Its PID is the attribute process.pid, or the next unused number. Its name is
// service.name or process.executable.name, its host host.name. The attributes thread.id and thread.name of an
// item determine the thread of the event. The capture thread is synthetic: the first thread of the process whose last event
// is not later.
package otlp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/wallclock"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// Options configure a source. The zero value selects the defaults.
type Options struct {
	// ByTime delivers the events in time order instead of the order of the input. The source then buffers up to 131,072
	// events or 64 MiB of their payloads.
	ByTime bool
	Limits Limits
	Report *ntconv.Report // receives the conditions that the import counts; may be nil
}

// New returns a Source over decompressed input. It reads up to the first item. Nil opts select the defaults. The Source
// is not safe for concurrent use.
//
// Errors of New and Next are *ntconv.FormatError with a position, unless r returned them. They wrap ntconv.ErrFormat if
// the input is not OTLP, ntconv.ErrCorrupt,
// ntconv.ErrLimit or ntconv.ErrTruncated. The report counts items that are skipped because an ID of a span is invalid or
// their message is corrupt (CodeRowSkipped, CodeCorrupt), corrupt JSON that another object follows (CodeCorrupt),
// fields that the model cannot represent (CodeNotCarried) and invalid UTF-8 (CodeRepaired).
func New(r io.Reader, opts *Options) (ntconv.Source, error) {
	s := &source{encoders: newEncoders()}
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
		s.items = newJSONReader(in, d)
	case formNone:
		return nil, located(0, "", fmt.Errorf("%w: want OTLP as protobuf or JSON, got % x", ntconv.ErrFormat, head[:min(8, len(head))]))
	default:
		s.items = newProtoReader(in, form, d)
	}
	s.ahead, s.err = s.items.next()
	s.describe()
	if s.o.ByTime {
		return spool.NewSorted(s, nil), nil
	}
	return s, nil
}

// headSize is the number of bytes of the input that New examines.
const headSize = 64 << 10

// located adds a position to an error.
func located(offset int64, where string, err error) error {
	return &ntconv.FormatError{Format: "otlp", Offset: offset, Where: where, Err: err}
}

// A source converts the items of an input to events.
type source struct {
	o        Options
	info     ntconv.Info
	items    itemReader
	ahead    item // the next item, unless err is set
	encoders encoders
	current  encoder // of the item whose events are being delivered; nil between items
	lane     *lane   // its capture thread
	owners   *owners
	mark     ntconv.Event
	err      error
}

// describe sets info.
func (s *source) describe() {
	s.info = ntconv.Info{Format: "otlp", PointerSize: 8, Clock: wallclock.Unix(max(0, s.ahead.start))}
}

func (s *source) Info() *ntconv.Info { return &s.info }

func (s *source) Next() (*ntconv.Event, error) {
	if s.current != nil {
		if e := s.current.Next(); e != nil {
			s.lane.seq++
			e.Seq = s.lane.seq
			s.owners.events++
			s.owners.bytes += len(e.Payload)
			return e, nil
		}
		s.current = nil
		s.ahead, s.err = s.items.next()
	}
	if s.err != nil {
		return nil, s.err
	}
	if m := s.owners.markDue(&s.ahead); m != nil {
		s.mark = ntconv.Event{Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown, Time: s.owners.latest, Offset: -1, Mark: m}
		return &s.mark, nil
	}
	like := ntconv.Event{Kind: ntconv.KindEvent, CPU: ntconv.CPUUnknown, Offset: -1}
	s.lane = s.owners.place(&s.ahead, &like)
	s.current = s.encoders.encode(&s.ahead, &like)
	return s.Next()
}

// A form states how an input frames its messages.
type form uint8

const (
	formNone form = iota
	formJSON
	formProto
	formDelimited // length as 4 bytes, big-endian
	formVarint
)

var byteOrderMark = []byte("\ufeff")

// formOf returns the form of an input that begins with head.
func formOf(head []byte) form {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n")
	switch {
	case beginsJSON(text):
		return formJSON
	case len(head) == 0:
		return formProto // a message without spans is empty
	}
	if f := probe(head); f != formNone {
		return f
	}
	switch { // too short for certainty
	case begins(head):
		return formProto
	case len(head) >= 4 && head[0] < 1<<3|2 && (len(head) == 4 || begins(head[4:])):
		return formDelimited
	}
	return formNone
}

// beginsJSON reports whether text begins a JSON object or array. In protobuf, the first byte would begin a group, but it
// may be the length of a delimited message of 91 or 123 bytes.
func beginsJSON(text []byte) bool {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	first := `"}`
	if text[0] == '[' {
		first = `"{[]-0123456789tfn`
	}
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) == 0 || strings.IndexByte(first, rest[0]) >= 0
}

// Recognize reports whether an input that begins with head is OTLP of any signal: protobuf in any form if head contains
// at least one complete attribute or item, or JSON objects with one of the fields resourceSpans, resourceMetrics,
// resourceLogs and resourceProfiles. 4,096 bytes are usually enough. It returns false for other protobuf messages, so
// programs that read several formats can use it.
func Recognize(head []byte) bool {
	if formOf(head) == formJSON {
		return recognizeJSON(head)
	}
	return probe(head) != formNone
}
