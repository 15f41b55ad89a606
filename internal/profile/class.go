package profile

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
)

// A classIndex finds the class of a group that has the same frames as the latest class. Nearly all groups have one
// class; a stack that many processes share has one class per process.
type classIndex struct {
	index   intern.Index // maps hashes to classes + 1; empty while there are few classes
	indexed int          // number of classes in index
	// contents caches the hashes of the objects that frames point to, because their names may be long.
	contents map[pointees]uint64
}

// pointees are the objects that a frame points to.
type pointees struct {
	function *ntconv.Function
	mapping  *ntconv.Mapping
}

// fewClasses is the number of classes that are compared linearly.
const fewClasses = 8

// find returns the index of the first class with the frames of the last one. If no other class has them, this is the
// index of the last class.
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

// hash covers everything that equal compares.
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
