package input

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
)

// ErrSameFile is wrapped by the error for two inputs that are one file, whose events would count twice.
var ErrSameFile = errors.New("same file")

// checkDistinct returns an error if two names denote one file.
func checkDistinct(names []string) error {
	infos := make([]os.FileInfo, len(names))
	for i, name := range names {
		if name == "-" {
			infos[i], _ = os.Stdin.Stat() // standard input without information is not a file
		} else {
			infos[i], _ = os.Stat(name) // opening the file reports that it is missing
		}
		for j := range i {
			if (fileio.IsRemote(name) || store.Is(name)) && name == names[j] || infos[i] != nil && infos[j] != nil && os.SameFile(infos[i], infos[j]) {
				err := fmt.Errorf("%w as %s; name each input once", ErrSameFile, NameOf(names[j], 0))
				return &Error{NameOf(name, 0), err}
			}
		}
	}
	return nil
}

// A contribution describes what a pass has read of one of several inputs.
type contribution struct {
	clock       ntconv.Clock
	events      int64
	first, last ntconv.Ticks
	digest      uint64 // hash of all events, equal for equal recordings
}

// newContribution returns the contribution of an input before its first event.
func newContribution(clock ntconv.Clock) contribution {
	c := contribution{clock: clock}
	if !clock.Wall.IsZero() {
		c.digest = uint64(clock.Wall.UnixNano())
	}
	return c
}

// add borrows an event of kind KindEvent.
func (c *contribution) add(e *ntconv.Event, seed maphash.Seed) {
	if c.events == 0 {
		c.first, c.last = e.Time, e.Time
	}
	c.events++
	c.first, c.last = min(c.first, e.Time), max(c.last, e.Time)
	const odd = 0x9e3779b97f4a7c15
	mix := func(n uint64) { c.digest = (c.digest ^ n) * odd }
	mix(uint64(e.Time))
	mix(uint64(e.Seq))
	mix(maphash.Bytes(seed, e.Payload))
	if e.Thread != nil {
		mix(e.Thread.TID)
	}
	if s := e.Stack; s != nil {
		for _, pc := range s.PCs {
			mix(pc)
		}
		for i := range s.Frames {
			if f := s.Frames[i].Func; f != nil {
				mix(maphash.String(seed, f.Name))
			}
		}
	}
}

// A namedSource is one of several inputs. Its errors name the input, and it notes the contribution and the unit of the
// weights.
type namedSource struct {
	ntconv.Source
	in   *Input
	seed maphash.Seed
	seen *ntconv.Type
}

func (s *namedSource) Next() (*ntconv.Event, error) {
	e, err := s.Source.Next()
	if err != nil && err != io.EOF {
		return e, &Error{s.in.raw.Name(), err}
	}
	if e == nil {
		return e, err
	}
	if e.Kind == ntconv.KindEvent {
		s.in.part.add(e, s.seed)
	}
	if e.Type != s.seen {
		s.seen = e.Type
		if unit := formats.WeightUnit(e.Type); unit != "" {
			s.in.unit = unit
		}
	}
	return e, err
}

// MergeNotes returns what users should know about reading several inputs as one: inputs with the same events, and
// recordings that are far apart. Call it after a pass.
func (in *Input) MergeNotes() (notes []string) {
	all := append([]*Input{in}, in.others...)
	for i, one := range all {
		for _, other := range all[:i] {
			if a, b := &one.part, &other.part; a.events > 0 && a.events == b.events && a.digest == b.digest {
				notes = append(notes, fmt.Sprintf("%s and %s hold the same events, so these count twice; omit one of them",
					other.raw.Name(), one.raw.Name()))
				break
			}
		}
	}
	if gaps, total := in.gaps(all); gaps > total-gaps && gaps >= time.Minute {
		part := long(gaps)
		if part == long(total) {
			part = "nearly all"
		}
		notes = append(notes, fmt.Sprintf("%s of the %s from the first to the last event are gaps between the inputs, "+
			"which count as duration; convert each recording alone for its own duration", part, long(total)))
	}
	return notes
}

// long formats a duration of a minute or more; more than two days are formatted in days.
func long(d time.Duration) string {
	const day = 24 * time.Hour
	if d > 2*day {
		return message.Count(int64(d/day), "day")
	}
	return message.Duration(d)
}

// gaps returns how much of the time from the first to the last event no input covers. Both results are 0 for inputs
// without wall-clock time.
func (in *Input) gaps(all []*Input) (gaps, total time.Duration) {
	type span struct{ from, to time.Time }
	var spans []span
	for _, one := range all {
		c := &one.part
		if c.events == 0 {
			continue
		}
		if c.clock.Wall.IsZero() {
			return 0, 0
		}
		spans = append(spans, span{c.clock.Time(c.first), c.clock.Time(c.last)})
	}
	if len(spans) < 2 {
		return 0, 0
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	end := spans[0].to
	for _, s := range spans[1:] {
		gaps += max(0, s.from.Sub(end))
		if s.to.After(end) {
			end = s.to
		}
	}
	return gaps, end.Sub(spans[0].from)
}
