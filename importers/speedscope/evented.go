package speedscope

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// An open holds the state of an evented profile: the frames or slices that are open after the events so far.
type open struct {
	begun  bool
	node   imported.Node
	frames []uint32 // open frames, from the root
	start  int64    // start of the profile in the trace
	last   int64    // value up to which samples have been added
	slices []slice  // open slices, only for files that ntconv wrote
}

var eventMembers = []string{"type", "frame", "at"}

// readEvents reads the events. It applies each event at once if unit, start and name are known, as in most files;
// otherwise it keeps the event in pending.
func (p *profile) readEvents() error {
	err := p.Array(func(int) error {
		e, err := p.event()
		if err != nil {
			return err
		}
		if p.unit == nil || !p.hasStart || p.name == "" {
			p.pending = append(p.pending, e)
			return p.charge(pendingBytes)
		}
		return p.apply(e)
	})
	if err == nil {
		p.events = p.Place()
	}
	return err
}

// event reads an event and validates its members.
func (p *profile) event() (e pendingEvent, err error) {
	var kind string
	frame, hasTime := int64(-1), false
	err = p.Object(eventMembers, func(i int) (err error) {
		switch i {
		case 0:
			kind, err = p.String()
		case 1:
			frame, err = p.Index(0, 1<<32-1, -1)
			if err == nil {
				err = p.checkFrame(frame)
			}
		case 2:
			e.at, hasTime, err = p.Decimal()
		}
		return err
	})
	switch {
	case err != nil:
	case kind != "O" && kind != "C":
		err = p.Corrupt("want an event of type O or C, got %q", kind)
	case frame < 0 || !hasTime:
		err = p.Corrupt("an event has no frame or no time")
	}
	e.frame, e.close = uint32(frame), kind == "C"
	return e, err
}

// apply applies an event: it opens or closes a frame or slice.
func (p *profile) apply(e pendingEvent) error {
	o := &p.open
	if !o.begun {
		if err := p.beginEvents(); err != nil {
			return err
		}
	}
	at, err := p.value(e.at, "time")
	if err != nil {
		return err
	}
	if p.hasSlices() {
		return p.applySlice(&e, at)
	}
	if err := p.until(at); err != nil {
		return err
	}
	if !e.close {
		o.frames = append(o.frames, e.frame)
		if o.node, err = p.b.Child(o.node, e.frame); err != nil {
			return p.Fail(p.Place(), err)
		}
		return nil
	}
	p.closeFrame(e.frame)
	return nil
}

// beginEvents prepares the profile for its first event. Unit, start and name must be known.
func (p *profile) beginEvents() (err error) {
	p.open.begun = true
	if err := p.prepare(!p.hasSlices()); err != nil {
		return err
	}
	if p.open.start, err = p.begin(); err != nil {
		return err
	}
	p.open.last, err = p.value(p.start, "startValue")
	return err
}

// until adds the sample for the time from the previous event to at.
func (p *profile) until(at int64) error {
	o := &p.open
	if at <= o.last {
		if at < o.last {
			p.o.Report.Note(ntconv.CodeOutOfOrder, 1, p.Place().Offset, "times that decrease; the previous time is used")
		}
		return nil
	}
	from, last := o.start, o.last
	if p.unit.isTime {
		from = last
	}
	o.last = at
	if o.node == imported.NoStack {
		return nil
	}
	if err := p.b.Sample(from, p.number, o.node, []imported.Value{{Column: p.column, N: at - last}}); err != nil {
		return p.Fail(p.Place(), err)
	}
	return nil
}

// closeFrame closes a frame and the frames that it has called if they are still open. Files of dotnet-trace, for
// example, need this.
func (p *profile) closeFrame(frame uint32) {
	o := &p.open
	n := len(o.frames) - 1
	for n >= 0 && o.frames[n] != frame {
		n--
	}
	if n < len(o.frames)-1 || n < 0 {
		p.noteUnbalanced()
	}
	if n < 0 {
		return
	}
	for ; len(o.frames) > n; o.frames = o.frames[:len(o.frames)-1] {
		o.node = p.b.Caller(o.node)
	}
}

func (p *profile) noteUnbalanced() {
	p.o.Report.Note(ntconv.CodeRepaired, 1, p.Place().Offset, "frames that are closed while others are open in them, or are not open")
}

// finishEvented applies the pending events and closes everything that is open.
func (p *profile) finishEvented() error {
	for _, e := range p.pending {
		if err := p.apply(e); err != nil {
			return err
		}
	}
	if !p.open.begun {
		if err := p.beginEvents(); err != nil {
			return err
		}
	}
	end := p.end
	if !p.hasEnd {
		end = jsonio.Decimal{Mantissa: p.open.last, Exponent: int32(-p.unit.digits)}
	}
	at, err := p.value(end, "endValue")
	if err != nil || p.open.node == imported.NoStack && len(p.open.slices) == 0 {
		return err
	}
	p.o.Report.Note(ntconv.CodeRepaired, 1, p.events.Offset, "frames that are not closed; they end with their profile")
	if p.open.slices != nil {
		p.open.last = max(at, p.open.last)
		return p.endSlices(0)
	}
	return p.until(max(at, p.open.last))
}
