package imported

// A FrameBudget bounds the total number of frames in stacks that are built from a tree. A tree of n nodes can have
// stacks of n*n/2 frames, which would exceed any memory limit. Stacks with a few hundred frames on average are not
// affected. The zero value is ready for use.
type FrameBudget struct{ stacks, frames int64 }

const (
	anyFrames  = 1 << 18 // frames of stacks of any depth
	meanFrames = 256     // further frames per stack
)

// Limit returns the maximum number of frames of the next stack: single, the limit of one stack, or less if the previous
// stacks were deep.
func (b *FrameBudget) Limit(single int) int {
	b.stacks++
	if b.frames > anyFrames+meanFrames*b.stacks {
		return min(single, meanFrames)
	}
	return single
}

// Add counts the frames of a new stack.
func (b *FrameBudget) Add(frames int) { b.frames += int64(frames) }
