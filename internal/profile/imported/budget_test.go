package imported

import "testing"

// The budget limits the frames per stack if stacks are deep on average; otherwise stacks are complete.
func TestFrameBudget(t *testing.T) {
	for _, tt := range []struct{ stacks, depth, want int }{
		{20, 10_000, 20 * 10_000}, {1_000_000, 250, 250_000_000}, {100_000, 10_000, anyFrames + 100_000*meanFrames + 10_000},
	} {
		var b FrameBudget
		got := 0
		for range tt.stacks {
			n := min(b.Limit(10_000), tt.depth)
			b.Add(n)
			got += n
		}
		if got > tt.want || got < tt.want*9/10 {
			t.Errorf("%d stacks of %d frames have %d frames, want %d", tt.stacks, tt.depth, got, tt.want)
		}
	}
}
