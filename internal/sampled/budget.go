package sampled

// A FrameBudget bounds the frames of all stacks that are made of a tree. A tree of n nodes can have stacks of n*n/2
// frames, which is more than a profile may cost; stacks that are a few hundred frames deep on average are not limited.
// The zero value is ready to use.
type FrameBudget struct{ stacks, frames int64 }

const (
	anyFrames  = 1 << 18 // frames of stacks of any depth
	meanFrames = 256     // further frames per stack
)

// Limit returns the most frames that the next stack may have, given the limit of a single stack: that limit, or less if
// the stacks so far were deep.
func (b *FrameBudget) Limit(single int) int {
	b.stacks++
	if b.frames > anyFrames+meanFrames*b.stacks {
		return min(single, meanFrames)
	}
	return single
}

// Add counts the frames of a stack that was made.
func (b *FrameBudget) Add(frames int) { b.frames += int64(frames) }
