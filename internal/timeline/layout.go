package timeline

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/track"
)

// A layout emits the items of a timeline in one pass over the records. It determines what depends on other slices:
// lanes, nesting and arrows. A slice is in open, in the stack of its row and, if it is a span or has inner events, in
// spans or inner, from push until endUntil.
type layout struct {
	t      *Timeline
	emit   func(*Item) error
	item   Item
	weight Weight
	record sliceRecord
	ties   ties

	open  intern.Heap[openSlice, *openSlice]
	free  []*slice                // for reuse
	rows  []row                   // by track ID
	spans map[span.Context]*slice // open spans
	inner map[uint32]*slice       // open slices to which records refer, by number
	lanes map[*processState]*freeLanes
	ids   uint64 // latest ID of a slice or flow
	// arrows maps the numbers of begun arrows in the spool to their IDs, or to 0 if they are omitted.
	arrows map[uint64]uint64
}

// A slice is an open slice. Times are nanoseconds since clock.Tick.
type slice struct {
	begin  int64
	end    int64
	id     uint64
	title  title
	row    *row
	below  *slice // on the same track
	span   span.Context
	isSpan bool
	number uint32 // to which records of recordInner refer; 0 if none does
}

// A row is the state of a track while Each runs.
type row struct {
	track   *Track
	process *processState // set only for a lane
	top     *slice        // innermost open slice
	waiting []arrow       // arrows that end in the next slice
}

// Each passes all items to emit, sorted by Time. At the same time, slices end before others begin, parents begin before
// their children, and longer slices of a track before shorter ones. Call it after Finish, any number of times. It
// returns the first error of emit or of the temporary file.
func (t *Timeline) Each(emit func(*Item) error) error {
	if !t.finished {
		return errNotFinished
	}
	reader, err := t.spool.Read()
	if err != nil {
		return err
	}
	t.counts.Lanes, t.counts.Flows = 0, 0
	l := &layout{
		t: t, emit: emit, rows: make([]row, len(t.owners.tracks)+1),
		spans: map[span.Context]*slice{}, inner: map[uint32]*slice{}, lanes: map[*processState]*freeLanes{},
		arrows: map[uint64]uint64{},
	}
	for i, k := range t.owners.tracks {
		l.rows[i+1].track = k
	}
	for {
		key, rec, err := reader.Next()
		if err != nil && err != io.EOF {
			return err
		}
		if err == nil && l.ties.holds(key, rec) {
			l.ties.put(key, rec)
			continue
		}
		if err := l.beginTies(); err != nil {
			return err
		}
		switch {
		case err == io.EOF:
			return l.finish()
		case isSlice(rec):
			l.ties.put(key, rec)
		default:
			if err := l.add(key, rec); err != nil {
				return err
			}
		}
	}
}

// beginTies begins the slices that ties holds.
func (l *layout) beginTies() error {
	if len(l.ties.records) == 0 {
		return nil
	}
	order, err := l.ties.sort(&l.t.titles)
	for _, i := range order {
		r := &l.ties.records[i]
		if err := l.add(spool.Key{Time: l.ties.at, Rank: r.rank}, l.ties.data[r.from:r.to]); err != nil {
			return err
		}
	}
	l.ties.clear()
	return err
}

// add emits the item of a record, after the ends of slices that precede it.
func (l *layout) add(key spool.Key, rec []byte) error {
	if len(l.open) > 0 {
		if err := l.endUntil(key.Time); err != nil {
			return err
		}
	}
	c := bin.Reader{B: rec}
	kind, id := recordKind(c.Byte()), c.Uvarint32()
	if id == 0 || int(id) >= len(l.rows) {
		return errRecord
	}
	r := &l.rows[id]
	it := &l.item
	*it = Item{Time: bin.SubClamped(key.Time, l.t.start), Track: r.track}
	switch kind {
	case recordInstant:
		l.instant(&c, it)
	case recordSlice:
		l.record.read(&c, &l.t.titles)
		if !c.Failed {
			return l.begin(r, key.Time)
		}
	case recordCounter:
		it.Kind, it.Name, it.Category = Counter, r.track.Name, CategoryCounter
		if b := c.Bytes(8); b != nil {
			it.Value = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case recordSample:
		l.sample(&c, it)
	case recordLoss:
		l.loss(&c, it)
	case recordInner:
		l.innerEvent(&c, it)
	case recordFlow:
		return l.arrow(&c, r, key.Time)
	case recordRaw:
		l.raw(&c, it)
	default:
		c.Failed = true
	}
	if c.Failed {
		return errRecord
	}
	return l.emit(it)
}

// threadOf returns k if it is the track of a thread, and otherwise nil.
func threadOf(k *Track) *Track {
	if k.Kind != ThreadTrack {
		return nil
	}
	return k
}

func (l *layout) raw(c *bin.Reader, it *Item) {
	it.Kind, it.Thread = Raw, threadOf(it.Track)
	it.Encoded = c.Bytes(len(c.B) - 4)
	if b := c.Bytes(4); b != nil {
		l.stack(c, it, binary.LittleEndian.Uint32(b))
	}
}

func (l *layout) sample(c *bin.Reader, it *Item) {
	it.Kind, it.Thread, it.Weight = Sample, threadOf(it.Track), &l.weight
	l.stack(c, it, c.Uvarint32())
	l.t.samples.read(c, &l.weight)
	l.weight.Until = bin.AddClamped(it.Time, l.weight.Until)
}

func (l *layout) instant(c *bin.Reader, it *Item) {
	it.Kind, it.Thread = Instant, threadOf(it.Track)
	title := l.t.titles.read(c)
	it.Name, it.Category = title.name, title.category
	l.stack(c, it, c.Uvarint32())
	it.Bytes, it.Encoded = l.t.allocations.read(c), c.Rest()
}

// innerEvent puts an event of a span on the track of its slice, or on the track of its thread if the slice has ended or
// is omitted.
func (l *layout) innerEvent(c *bin.Reader, it *Item) {
	it.Kind, it.Thread = Instant, threadOf(it.Track)
	if s := l.inner[c.Uvarint32()]; s != nil {
		it.Track = s.row.track
	}
	title := l.t.titles.read(c)
	it.Name, it.Category, it.Encoded = title.name, title.category, c.Rest()
}

func (l *layout) loss(c *bin.Reader, it *Item) {
	it.Kind, it.Name, it.Category = Instant, ownNames[LossTrack], CategoryLoss
	if id := c.Uvarint32(); id != 0 && int(id) < len(l.rows) {
		it.Thread = threadOf(l.rows[id].track)
	}
	it.Encoded = c.Rest()
}

func (l *layout) stack(c *bin.Reader, it *Item, number uint32) {
	n, ok := l.t.stacks.node(number)
	it.Stack = n
	if !ok {
		c.Failed = true
	}
}

// begin emits the begin of the slice in l.record, and the arrows to it.
func (l *layout) begin(home *row, at int64) error {
	t, r, it := l.t, &l.record, &l.item
	end := bin.AddClamped(at, r.duration)
	if r.flags&sliceOpen != 0 {
		end = max(at, t.end)
	}
	parent := l.parent()
	to := l.choose(home, parent, end)
	s := l.push(to, at, end)
	it.Kind, it.Track, it.Thread, it.ID = SliceBegin, to.track, threadOf(home.track), s.id
	it.Duration = bin.SubClamped(end, t.start) - bin.SubClamped(at, t.start)
	it.Name, it.Category = r.title.name, r.title.category
	it.Unfinished, it.Encoded = r.flags&sliceUnfinished != 0, r.args
	if r.endThread != 0 && int(r.endThread) < len(l.rows) {
		it.EndThread = l.rows[r.endThread].track
	}
	var ok bool
	if it.Stack, ok = t.stacks.node(r.stack); !ok {
		return errRecord
	}
	if to.track.Kind == LaneTrack {
		t.counts.Lanes++
	}
	if err := l.emit(it); err != nil || !t.shows(track.Flows) {
		return err
	}
	return l.flows(s, parent)
}

// parent returns the open slice of the parent of the slice in l.record, or nil.
func (l *layout) parent() *slice {
	if l.record.flags&sliceParent == 0 {
		return nil
	}
	return l.spans[span.Context{TraceID: l.record.context.TraceID, ID: l.record.parent}]
}

// push opens the slice in l.record.
func (l *layout) push(to *row, at, end int64) *slice {
	var s *slice
	if n := len(l.free); n > 0 {
		s, l.free = l.free[n-1], l.free[:n-1]
	} else {
		s = new(slice)
	}
	l.ids++
	*s = slice{begin: at, end: end, id: l.ids, title: l.record.title, row: to, below: to.top}
	to.top = s
	if l.record.flags&sliceID != 0 {
		s.span, s.isSpan = l.record.context, true
		l.spans[s.span] = s
	}
	if l.record.number != 0 {
		s.number = l.record.number
		l.inner[s.number] = s
	}
	l.open.Push(openSlice{end, s})
	return s
}

// endUntil emits the ends of the slices that end at the given time or earlier.
func (l *layout) endUntil(at int64) error {
	for len(l.open) > 0 && l.open[0].end <= at {
		s := l.open.Pop().slice
		s.row.top = s.below
		if s.row.top == nil && s.row.process != nil {
			l.lanes[s.row.process].empty.Push(laneNumber(s.row.track.Lane))
		}
		if s.isSpan && l.spans[s.span] == s {
			delete(l.spans, s.span)
		}
		if s.number != 0 {
			delete(l.inner, s.number)
		}
		l.item = Item{
			Kind: SliceEnd, Time: bin.SubClamped(s.end, l.t.start), Track: s.row.track, ID: s.id, Name: s.title.name, Category: s.title.category,
		}
		*s = slice{}
		l.free = append(l.free, s)
		if err := l.emit(&l.item); err != nil {
			return err
		}
	}
	return nil
}
