package grouping

import (
	"slices"

	"github.com/ntconv/ntconv"
)

// frameworkFrame and foldedFrame represent stacks of which no frame is left.
const (
	frameworkFrame = "[framework]"
	foldedFrame    = "[folded]"
)

// A step is a recorded frame with its decision.
type step struct {
	*decision
	location int // frames of one location, a function and those inlined into it, have the same number
}

// owners counts the frames of a stack: those that a fold removes, and the others by class.
type owners struct{ program, framework, generated, folded int }

// unknown reports whether nothing is known about the owner of generated code, because the stack has no other frames.
func (n *owners) unknown() bool { return n.program == 0 && n.framework == 0 }

// AppendGrouped implements ntconv.FrameGrouper.
func (g *Namer) AppendGrouped(dst []ntconv.Frame, p *ntconv.Process, recorded []ntconv.Frame, events int64) []ntconv.Frame {
	if g.nativeOnly && !slices.ContainsFunc(recorded, isUnnamedModule) { // fast path of most traces
		g.count.frames += events * int64(len(recorded))
		g.count.shown += events * int64(len(recorded))
		return append(dst, recorded...)
	}
	g.steps = g.steps[:0]
	var n owners
	location, changed := 0, false
	for i := range recorded {
		d := g.decide(p, &recorded[i])
		g.steps = append(g.steps, step{d, location})
		if recorded[i].Flags&ntconv.FrameInlined == 0 {
			location++
		}
		switch {
		case d.label:
			continue
		case d.fold >= 0:
			n.folded++
		case d.class == framework:
			n.framework++
		case d.class == generated:
			n.generated++
		default:
			n.program++
		}
		changed = changed || d.fold >= 0 || d.class != program || d.shown.Func != nil
	}
	from := len(dst)
	if changed {
		dst = g.replace(dst, recorded, &n)
	} else {
		dst = append(dst, recorded...)
	}
	g.count.add(g.steps, &n, len(recorded), len(dst)-from, events)
	return dst
}

// replace appends the frames that represent recorded, to which g.steps belong.
func (g *Namer) replace(dst, recorded []ntconv.Frame, n *owners) []ntconv.Frame {
	placeholder := ""
	switch {
	case n.program > 0 || n.unknown() && n.generated > 0:
	case n.framework > 0:
		placeholder = frameworkFrame
	default:
		placeholder = foldedFrame
	}
	last := step{location: -1} // of the last frame of dst, if it was appended here
	for i, s := range g.steps {
		f := &recorded[i]
		switch {
		case s.label:
			dst, last = append(endLocation(dst, last, -1), *f), step{location: -1}
		case s.fold >= 0 || s.class == framework || s.class == generated && !n.unknown():
			if placeholder != "" {
				dst = append(dst, ntconv.Frame{Func: g.entryFunction(placeholder, nil), Flags: ntconv.FrameFolded})
				placeholder = ""
			}
		case s.shown.Func == nil:
			dst = append(endLocation(dst, last, s.location), *f)
			last = s
		case last.decision == nil || !s.continues(last.decision):
			dst = append(endLocation(dst, last, -1), g.shown(s.decision, f))
			last = step{s.decision, -1}
		case s.group >= 0: // the outer frame is the one through which the group was entered
			dst[len(dst)-1] = g.shown(s.decision, f)
		}
	}
	return endLocation(dst, last, -1)
}

// continues reports whether a frame and the inner frame before it are shown as one.
func (d *decision) continues(inner *decision) bool {
	if inner.shown.Func == nil || d.native != inner.native {
		return false
	}
	return d.native && d.shown.Func == inner.shown.Func || !d.native && d.group == inner.group && d.name == inner.name
}

// shown returns the frame that represents f and the inner frames of the same group or module.
func (g *Namer) shown(d *decision, f *ntconv.Frame) ntconv.Frame {
	shown := d.shown
	if d.group >= 0 && g.rules.groups[d.group].entry && f.Func != nil {
		shown.Func = g.entryFunction(d.name, f.Func)
	}
	return shown
}

// endLocation clears FrameInlined of the last frame if the next outer frame, of the given location, is not of the same
// location: the frame into which the function was inlined has been removed.
func endLocation(dst []ntconv.Frame, last step, location int) []ntconv.Frame {
	if last.location >= 0 && last.location != location {
		dst[len(dst)-1].Flags &^= ntconv.FrameInlined
	}
	return dst
}
