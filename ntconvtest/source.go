package ntconvtest

import (
	"io"

	"github.com/ntconv/ntconv"
)

// A SliceSource is a Source of events in memory. It returns the events themselves, not copies. It is not safe for
// concurrent use.
type SliceSource struct {
	// Err is the error that Next returns after the last event; nil means io.EOF.
	Err error

	info   *ntconv.Info
	events []*ntconv.Event
}

// NewSource returns a source of the given events, which it does not copy. A nil info selects a clock of 1 GHz and
// 8-byte pointers.
func NewSource(info *ntconv.Info, events ...*ntconv.Event) *SliceSource {
	if info == nil {
		info = &ntconv.Info{Format: "memory", Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
	}
	return &SliceSource{info: info, events: events}
}

// Info returns the info passed to NewSource.
func (s *SliceSource) Info() *ntconv.Info { return s.info }

// Next returns the next event. After the last one it returns Err, or io.EOF if Err is nil.
func (s *SliceSource) Next() (*ntconv.Event, error) {
	if len(s.events) == 0 {
		if s.Err != nil {
			return nil, s.Err
		}
		return nil, io.EOF
	}
	e := s.events[0]
	s.events = s.events[1:]
	return e, nil
}

// A Recorder is a Sink that stores a clone of every event. The zero value is ready to use.
type Recorder struct {
	Events []*ntconv.Event
	Closed int // number of calls of Close

	// If Err is not nil, Write returns it after FailAfter events.
	FailAfter int
	Err       error
}

// Write appends a clone of the event to Events, or returns Err.
func (r *Recorder) Write(e *ntconv.Event) error {
	if r.Err != nil && len(r.Events) >= r.FailAfter {
		return r.Err
	}
	r.Events = append(r.Events, e.Clone())
	return nil
}

// Close counts its calls. It never fails.
func (r *Recorder) Close() error {
	r.Closed++
	return nil
}

// Record returns clones of all events of a source. If the source fails, Record returns its error and the events before
// it.
func Record(src ntconv.Source) ([]*ntconv.Event, error) {
	var r Recorder
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return r.Events, err
		}
		if err := r.Write(e); err != nil {
			return r.Events, err
		}
	}
	return r.Events, nil
}

// Poison returns a source that enforces the ownership rule of sources: it returns copies of the events of src, and
// overwrites each copy and its payload when the next event is requested. Code that retains a borrowed event or payload
// then sees garbage.
func Poison(src ntconv.Source) ntconv.Source { return &poison{Source: src} }

type poison struct {
	ntconv.Source
	lent *ntconv.Event
}

func (p *poison) Next() (*ntconv.Event, error) {
	if p.lent != nil {
		for i := range p.lent.Payload {
			p.lent.Payload[i] = 0xdb
		}
		*p.lent = ntconv.Event{
			Kind:    0xdb,
			Flags:   0xdb,
			CPU:     -0x24,
			Seq:     0xdbdbdbdb,
			Time:    -1,
			Offset:  -0xdb,
			Payload: p.lent.Payload,
		}
		p.lent = nil
	}
	e, err := p.Source.Next()
	if err != nil {
		return nil, err
	}
	p.lent = e.Clone()
	return p.lent, nil
}

// chopSizes are the sizes of reads with which readers are tested: single bytes, a size that divides no boundary, and a
// usual one.
var chopSizes = [...]int{1, 7, 4096}

// Chops returns readers of b that return at most 1, 7 and 4,096 bytes per read.
func Chops(b []byte) []io.Reader {
	var out []io.Reader
	for _, n := range chopSizes {
		out = append(out, Chop(&bytesReader{b}, n))
	}
	return out
}

// Chop returns a reader that returns at most n bytes of r per read.
func Chop(r io.Reader, n int) io.Reader { return &chopped{r, n} }

type chopped struct {
	r io.Reader
	n int
}

func (c *chopped) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.n)]) }

// bytesReader is a bytes.Reader that implements only io.Reader, so that no caller can avoid Read.
type bytesReader struct{ b []byte }

func (r *bytesReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}
