package profilediff

import (
	"math/bits"

	"github.com/ntconv/ntconv"
)

// LabelSlice is the key of the label that Divide adds to events: the number of the slice of time that the event is in.
const LabelSlice = "ntconv::slice"

// Slices of time. The length of a recording is not known while it is read, so slices become longer with time: the first
// firstSlices are sliceTicks long, and each time the recording has doubled, slices are twice as long from there on.
// Every slice is therefore short compared with the recording, and a recording of any length has few slices.
const (
	firstSlices = 1024
	perDoubling = firstSlices / 2
	maxSlice    = firstSlices + 40*perDoubling
)

// sliceOf returns the number of the slice that contains a time, in units of the first slices.
func sliceOf(at int64) int64 {
	if at < firstSlices {
		return max(at, 0)
	}
	doublings := bits.Len64(uint64(at)) - bits.Len64(firstSlices)
	begin := int64(firstSlices) << doublings
	return min(firstSlices+int64(doublings)*perDoubling+(at-begin)>>(doublings+1), maxSlice)
}

// middleOf returns the middle of a slice, in units of the first slices. Numbers that no slice has, which a profile may
// contain, become the nearest one.
func middleOf(slice int64) float64 {
	slice = min(max(slice, 0), maxSlice)
	if slice < firstSlices {
		return float64(slice) + 0.5
	}
	doublings := (slice - firstSlices) / perDoubling
	begin := int64(firstSlices) << doublings
	width := int64(2) << doublings
	return float64(begin+(slice-firstSlices)%perDoubling*width) + float64(width)/2
}

// Divide returns a source with the events of src, to whose labels it adds the slice of time that they are in. It adds
// nothing to events that are aggregates, because these have no times. Events keep all other members.
func Divide(src ntconv.Source) ntconv.Source {
	if src.Info().Aggregate {
		return src
	}
	clock := src.Info().Clock
	return &divided{src: src, clock: &clock, unit: max(1, ntconv.Ticks(clock.Freq/1000)), lists: map[*ntconv.Labels]*ntconv.Labels{}}
}

// A divided is the source of Divide.
type divided struct {
	src    ntconv.Source
	clock  *ntconv.Clock
	unit   ntconv.Ticks // length of the first slices: 1 ms
	origin ntconv.Ticks
	began  bool
	slice  int64
	lists  map[*ntconv.Labels]*ntconv.Labels // with the label of slice, by list without it
	event  ntconv.Event
}

// Info implements ntconv.Source.
func (d *divided) Info() *ntconv.Info { return d.src.Info() }

// maxHead is the time after the origin of a clock in which the first event is expected. Clocks of some sources begin
// long before the recording, and slices after such a time would be long.
const maxHead = 60_000 // units

// Next implements ntconv.Source.
func (d *divided) Next() (*ntconv.Event, error) {
	e, err := d.src.Next()
	if err != nil || e.Kind != ntconv.KindEvent {
		return e, err
	}
	if !d.began {
		d.began, d.origin = true, d.clock.Tick
		if e.Time < d.origin || (e.Time-d.origin)/d.unit > maxHead {
			d.origin = e.Time
		}
	}
	if n := sliceOf(int64((e.Time - d.origin) / d.unit)); n != d.slice {
		d.slice = n
		clear(d.lists)
	}
	d.event = *e
	d.event.Labels = d.with(e.Labels)
	return &d.event, nil
}

// with returns a list of labels with that of the slice.
func (d *divided) with(l *ntconv.Labels) *ntconv.Labels {
	list := d.lists[l]
	if list == nil {
		all := append([]ntconv.Label{}, l.List()...)
		list = ntconv.NewLabels(append(all, ntconv.Label{Kind: ntconv.LabelInt, Key: LabelSlice, Num: d.slice, Unit: "slice"}))
		d.lists[l] = list
	}
	return list
}
