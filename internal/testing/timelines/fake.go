// Package timelines helps to test the exporters of timelines: with timelines of hand-made items, and with real traces.
package timelines

import (
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// A Fake is a timeline of hand-made items.
type Fake struct {
	Shown []*timeline.Track
	Items []timeline.Item
	Tree  []Node // the first is the root
	Code  []ntconv.Frame
}

var _ timeline.Trace = (*Fake)(nil)

// A Node is an element of the tree of stacks.
type Node struct {
	Parent timeline.Node
	Frame  uint32
}

// New returns a Fake whose frames are called by each other: node n is frames[n-1], called by node n-1.
func New(frames ...ntconv.Frame) *Fake {
	f := &Fake{Code: frames, Tree: make([]Node, 1)}
	for i := range frames {
		f.Tree = append(f.Tree, Node{timeline.Node(i), uint32(i)})
	}
	return f
}

// Frames returns frames of functions with these names.
func Frames(names ...string) (list []ntconv.Frame) {
	for _, n := range names {
		list = append(list, ntconv.Frame{Func: &ntconv.Function{Name: n}})
	}
	return list
}

// Process adds a process with its track.
func (f *Fake) Process(pid uint32, name string) *timeline.Process {
	p := &timeline.Process{PID: pid, Name: name, Command: name + " --fast"}
	p.Track = f.Track(p, timeline.ProcessTrack, 2_000_000_000+pid, name, "")
	return p
}

// Track adds a track.
func (f *Fake) Track(p *timeline.Process, k timeline.TrackKind, tid uint32, name, unit string) *timeline.Track {
	t := &timeline.Track{ID: uint32(len(f.Shown) + 1), Kind: k, Process: p, TID: tid, Name: name, Unit: unit}
	f.Shown = append(f.Shown, t)
	return t
}

// Add adds items.
func (f *Fake) Add(items ...timeline.Item) { f.Items = append(f.Items, items...) }

// Each implements timeline.Trace. As that of a Timeline, it lends the item.
func (f *Fake) Each(emit func(*timeline.Item) error) error {
	it := new(timeline.Item)
	for i := range f.Items {
		*it = f.Items[i]
		if err := emit(it); err != nil {
			return err
		}
	}
	return nil
}

// Start is not a whole number of microseconds.
func (f *Fake) Start() time.Time { return time.Unix(1_700_000_000, 123_456_789) }

func (f *Fake) End() (end int64) {
	for i := range f.Items {
		end = max(end, f.Items[i].Time+f.Items[i].Duration)
	}
	return end
}

func (f *Fake) Processes() (list []*timeline.Process) {
	for _, t := range f.Shown {
		if !slices.Contains(list, t.Process) {
			list = append(list, t.Process)
		}
	}
	return list
}

// Tracks returns all tracks but lanes, which first appear in Each.
func (f *Fake) Tracks() []*timeline.Track {
	return slices.DeleteFunc(slices.Clone(f.Shown), func(t *timeline.Track) bool { return t.Kind == timeline.LaneTrack })
}

func (f *Fake) Nodes() int { return len(f.Tree) }
func (f *Fake) Node(n timeline.Node) (parent timeline.Node, frame uint32) {
	return f.Tree[n].Parent, f.Tree[n].Frame
}
func (f *Fake) Frames() int                     { return len(f.Code) }
func (f *Fake) Frame(frame uint32) ntconv.Frame { return f.Code[frame] }
func (f *Fake) Counts() track.Counts            { return track.Counts{} }
