package ntconvtest

import (
	"io"

	"github.com/ntconv/ntconv"
)

// A SliceSource is a Source over events in memory. It returns the events themselves, not copies.
type SliceSource struct {
	// Err is returned after the last event, again and again; nil means io.EOF.
	Err error

	info   *ntconv.Info
	events []*ntconv.Event
}

// NewSource returns a source of the given events. A nil info stands for a clock of 1 GHz and 8-byte pointers.
func NewSource(info *ntconv.Info, events ...*ntconv.Event) *SliceSource {
	if info == nil {
		info = &ntconv.Info{Format: "memory", Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
	}
	return &SliceSource{info: info, events: events}
}

// Info returns what NewSource was given.
func (s *SliceSource) Info() *ntconv.Info { return s.info }

// Next returns the next event of the slice.
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

// A Recorder is a Sink that keeps a clone of every event.
type Recorder struct {
	Events []*ntconv.Event
	Closed int // how often Close was called

	// FailAfter events, Write returns Err. A nil Err never fails.
	FailAfter int
	Err       error
}

// Write clones the event.
func (r *Recorder) Write(e *ntconv.Event) error {
	if r.Err != nil && len(r.Events) >= r.FailAfter {
		return r.Err
	}
	r.Events = append(r.Events, e.Clone())
	return nil
}

// Close counts its calls.
func (r *Recorder) Close() error {
	r.Closed++
	return nil
}

// Record returns clones of all events of a source. The error is that of the source, nil at its end; the events before
// it are returned with it.
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

// Poison returns a source that enforces the rule of ownership: it gives out copies of the events of src and overwrites
// each one, payload included, when the next is asked for. Whoever keeps an event or its payload then holds garbage.
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

// chopSizes are the read sizes under which readers are tried: every byte alone, a size that no boundary is a multiple
// of, and a usual one.
var chopSizes = [...]int{1, 7, 4096}

// Chops returns readers over the same bytes that return at most 1, 7 and 4096 of them at a time.
func Chops(b []byte) []io.Reader {
	var out []io.Reader
	for _, n := range chopSizes {
		out = append(out, Chop(&bytesReader{b}, n))
	}
	return out
}

// Chop returns a reader that returns at most n bytes of r at a time.
func Chop(r io.Reader, n int) io.Reader { return &chopped{r, n} }

type chopped struct {
	r io.Reader
	n int
}

func (c *chopped) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.n)]) }

// bytesReader is a bytes.Reader that is nothing but an io.Reader, so that no one takes a shortcut around Read.
type bytesReader struct{ b []byte }

func (r *bytesReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}
