package input

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/wallclock"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/merge"
)

// An Ending ends a pass. Close it after use.
type Ending interface {
	io.Closer
	// Finish verifies the checksums of compressed inputs. Call it once the source has returned io.EOF, because a trace
	// may end before the data that contains it. Errors are of type *Error.
	Finish() error
}

// Source begins a pass over the input and returns its source and its Ending; the input remains open. Errors, including
// those of the source, are of type *Error, except that those of several inputs may be joined.
func (in *Input) Source(o *formats.ReadOptions) (ntconv.Source, Ending, error) {
	if len(in.others) == 0 && in.opts.Merge == nil {
		src, closer, err := in.one(o)
		if err != nil {
			return nil, nil, err
		}
		return in.guard(src), closer, nil
	}
	var sources []ntconv.Source
	var all endings
	seed := maphash.MakeSeed()
	for _, one := range append([]*Input{in}, in.others...) {
		src, closer, err := one.one(o)
		if err != nil {
			_ = all.Close() // nothing was read
			return nil, nil, err
		}
		one.part = newContribution(src.Info().Clock)
		sources, all = append(sources, &namedSource{Source: src, in: one, seed: seed}), append(all, closer)
	}
	merged, err := in.merge(sources)
	if err != nil {
		_ = all.Close() // nothing was read
		return nil, nil, err
	}
	return in.guard(merged), all, nil
}

// merge returns one source for those of all inputs.
func (in *Input) merge(sources []ntconv.Source) (ntconv.Source, error) {
	if in.opts.Merge != nil {
		return in.opts.Merge(sources)
	}
	return merge.ByTime(sources...), nil
}

func (in *Input) guard(src ntconv.Source) ntconv.Source {
	if in.opts.Guard != nil {
		src = in.opts.Guard(src)
	}
	if in.opts.Rewrite != nil {
		src = in.opts.Rewrite(src)
	}
	return src
}

// one begins a pass over this input alone.
func (in *Input) one(o *formats.ReadOptions) (ntconv.Source, Ending, error) {
	h := &handle{Input: in.raw, head: in.head, meter: &meter{of: in}}
	in.head = nil
	src, err := in.opts.Openers.Open(in.Format, h, o)
	if err != nil {
		h.Close()
		return nil, nil, &Error{in.raw.Name(), err}
	}
	if own, ok := src.(ntconv.SourceCloser); ok {
		h.opened = append(h.opened, own)
	}
	if in.dated = false; !o.Start.IsZero() {
		if in.dated = !src.Info().Clock.Wall.IsZero(); !in.dated {
			src = startedAt(src, o.Start)
		}
	}
	return src, h, nil
}

// A started is a source without a date to which the user has given one.
type started struct {
	ntconv.Source
	info ntconv.Info
}

// startedAt returns src with a clock that showed wall when the recording began.
func startedAt(src ntconv.Source, wall time.Time) ntconv.Source {
	s := &started{src, *src.Info()}
	s.info.Clock = wallclock.Dated(s.info.Clock, wall)
	return s
}

// Info implements ntconv.Source.
func (s *started) Info() *ntconv.Info { return &s.info }

// StartNotes returns which inputs ignored ReadOptions.Start. Call it after a pass.
func (in *Input) StartNotes() []string {
	var names []string
	for _, one := range append([]*Input{in}, in.others...) {
		if one.dated {
			names = append(names, one.raw.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("--%s has no effect: %s states when it began", formats.FlagStart, NameOf(names[0], len(names)-1))}
}

// A handle is the view of an input that a format has in one pass. It closes everything that was opened through it.
type handle struct {
	*fileio.Input
	head   *head // the first stream; nil if it must be opened
	opened closers
	own    bool // the Input is a member of another Input
	meter  *meter
}

// Stream implements formats.Input.
func (h *handle) Stream() (io.Reader, error) {
	if at := h.head; at != nil {
		h.head = nil
		h.opened = append(h.opened, at.stream)
		return &metered{peekedReader{at}, h.meter}, nil
	}
	s, err := h.Input.Stream()
	if err != nil {
		return nil, err
	}
	h.opened = append(h.opened, s)
	return &metered{s, h.meter}, nil
}

// At implements formats.Input.
func (h *handle) At() (io.ReaderAt, int64, error) {
	r, size, err := h.Input.At()
	if err == nil {
		h.meter.add(size * AtFactor)
	}
	return r, size, err
}

// A peekedReader reads a head from its first byte.
type peekedReader struct{ *head }

func (r peekedReader) Read(p []byte) (int, error) { return r.peeked.Read(p) }

// Layer implements fileio.Layered.
func (r peekedReader) Layer() *fileio.Layer { return fileio.LayerOf(r.stream) }

// Member implements formats.Input.
func (h *handle) Member(name string) (formats.Input, error) {
	in, err := h.Input.Member(name)
	if err != nil {
		return nil, err
	}
	m := &handle{Input: in, own: true, meter: h.meter}
	h.opened = append(h.opened, m)
	return m, nil
}

// AtFactor is the number of decompressed bytes that each byte of a file with random access counts as: Parquet is
// compressed inside.
const AtFactor = 10

// A meter counts the decompressed bytes that a pass reads of an input and its members. It is safe for concurrent use.
type meter struct {
	of    *Input
	count atomic.Int64
}

// add counts n bytes. Bytes that an earlier pass has read are not new.
func (m *meter) add(n int64) {
	taken := m.of.opts.Taken
	if n <= 0 || taken == nil {
		return
	}
	total := m.count.Add(n)
	for most := m.of.taken.Load(); total > most; most = m.of.taken.Load() {
		if m.of.taken.CompareAndSwap(most, total) {
			taken(total - most)
			return
		}
	}
}

// A metered is a stream that counts the bytes read, and ends with the error of Options.Check.
type metered struct {
	r     io.Reader
	meter *meter
}

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	if check := m.meter.of.opts.Check; check != nil {
		if err := check(); err != nil {
			return 0, err
		}
	}
	n, err := m.r.Read(p)
	m.meter.add(int64(n))
	return n, err
}

// Finish implements Ending.
func (h *handle) Finish() error {
	for _, c := range h.opened {
		f, ok := c.(fileio.Finisher)
		if !ok {
			continue
		}
		if err := f.Finish(); err != nil {
			return &Error{h.Input.Name(), err}
		}
	}
	return nil
}

// Layer implements fileio.Layered.
func (m *metered) Layer() *fileio.Layer { return fileio.LayerOf(m.r) }

// Close ends the pass.
func (h *handle) Close() error {
	if h.head != nil {
		h.opened = append(h.opened, h.head.stream)
	}
	err := h.opened.Close()
	if h.own {
		err = errors.Join(err, h.Input.Close())
	}
	return err
}

// endings are the Endings of several inputs.
type endings []Ending

// Finish implements Ending.
func (e endings) Finish() error {
	var errs []error
	for _, one := range e {
		errs = append(errs, one.Finish())
	}
	return errors.Join(errs...)
}

// Close implements Ending.
func (e endings) Close() error {
	var errs []error
	for _, one := range e {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

type closers []io.Closer

func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
