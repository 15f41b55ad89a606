package grouping

// A Summary counts what a Namer replaced. A frame counts once per event with it.
type Summary struct {
	Frames     int64        // recorded
	Shown      int64        // frames after the rules were applied, with placeholders
	JustMyCode int64        // of Frames: removed by Rules.JustMyCode
	Native     int64        // of Frames: shown as a module
	Folds      []Expression // in the order of AddFold
	Groups     []Expression // in the order of AddGroup
}

// An Expression is the text of AddFold or AddGroup and the number of frames to which it applied.
type Expression struct {
	Text   string
	Frames int64
}

// counts are the numbers of a Summary.
type counts struct {
	frames, shown, framework, native int64
	folds, groups                    []int64
}

// add counts a stack with the given owners of its frames that occurs in a number of events.
func (c *counts) add(steps []step, n *owners, recorded, shown int, events int64) {
	c.frames += events * int64(recorded)
	c.shown += events * int64(shown)
	for _, s := range steps {
		switch {
		case s.fold >= 0:
			c.folds[s.fold] += events
		case s.class == framework, s.class == generated && !n.unknown():
			c.framework += events
		case s.native:
			c.native += events
		}
		if s.group >= 0 {
			c.groups[s.group] += events
		}
	}
}

// Summary returns the counts for all stacks so far.
func (g *Namer) Summary() Summary {
	s := Summary{
		Frames: g.count.frames, Shown: g.count.shown, JustMyCode: g.count.framework, Native: g.count.native,
	}
	for i := range g.rules.folds {
		s.Folds = append(s.Folds, Expression{g.rules.folds[i].text, g.count.folds[i]})
	}
	for i := range g.rules.groups {
		s.Groups = append(s.Groups, Expression{g.rules.groups[i].text, g.count.groups[i]})
	}
	return s
}
