package profile

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/intern"
)

// A classIndex finds the class of a group that has the same frames as the latest one. Nearly all groups have one class;
// a stack that many processes have has one for each of them.
type classIndex struct {
	index   intern.Index // classes + 1; empty while there are few
	indexed int          // so many classes
	// contents are hashes of what frames point to. Names may be long, so each is hashed once.
	contents map[pointees]uint64
}

// pointees are what a frame points to.
type pointees struct {
	function *ntconv.Function
	mapping  *ntconv.Mapping
}

// fewClasses is how many classes are compared one by one.
const fewClasses = 8

// find returns the number of the first class with the frames of the last one, which is the number of that if there is
// no other.
func (x *classIndex) find(classes []class, frames *frameTable) int {
	latest := len(classes) - 1
	if latest < fewClasses {
		return slices.IndexFunc(classes, classes[latest].equal)
	}
	for ; x.indexed < latest; x.indexed++ {
		p := x.index.Probe(x.hash(classes[x.indexed], frames))
		for p.Next() {
		}
		x.index.Insert(&p, uint32(x.indexed)+1)
	}
	p := x.index.Probe(x.hash(classes[latest], frames))
	for p.Next() {
		if classes[latest].equal(classes[p.ID-1]) {
			return int(p.ID - 1)
		}
	}
	return latest
}

// reset removes all classes.
func (x *classIndex) reset() {
	if x.indexed > 0 {
		x.index.Reset()
		x.indexed, x.contents = 0, nil
	}
}

func (c class) equal(d class) bool { return slices.EqualFunc(c.frames, d.frames, sameFrame) }

// hash is of all that equal compares.
func (x *classIndex) hash(c class, frames *frameTable) uint64 {
	if x.contents == nil {
		x.contents = make(map[pointees]uint64)
	}
	h := uint64(len(c.frames))
	for i := range c.frames {
		f := &c.frames[i]
		to := pointees{f.Func, f.Mapping}
		content, ok := x.contents[to]
		if !ok {
			content = frames.hash(&ntconv.Frame{Func: f.Func, Mapping: f.Mapping})
			x.contents[to] = content
		}
		h = fold(h^f.PC, frames.k^content)
		h = fold(h^uint64(f.Flags), frames.k^uint64(uint32(f.Line))^uint64(uint32(f.Column))<<32)
	}
	return h
}
