package ntconv_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
)

// TestNoNames checks that the frames of a stack are returned unchanged and that other addresses become placeholders.
// Equal addresses have equal frames, so that aggregators that compare frames find equal stacks.
func TestNoNames(t *testing.T) {
	names := new(ntconv.NoNames)
	before := ntconv.Frame{Func: &ntconv.Function{Name: "before"}}
	own := []ntconv.Frame{{Func: &ntconv.Function{Name: "leaf"}, PC: 1, Flags: ntconv.FrameInlined}, {Func: &ntconv.Function{Name: "root"}, PC: 1}}
	cases := []struct {
		name  string
		stack *ntconv.Stack
		want  []string
		flags ntconv.FrameFlags
	}{
		{"addresses", &ntconv.Stack{PCs: []uint64{0x10, 0xffff_ffff_ffff_fff0, 0x10}}, []string{"0x10", "0xfffffffffffffff0", "0x10"}, ntconv.FrameUnresolved},
		{"frames and addresses", &ntconv.Stack{PCs: []uint64{0x10}, Frames: own}, []string{"leaf", "root"}, 0},
		{"frames", &ntconv.Stack{Frames: own}, []string{"leaf", "root"}, 0},
		{"nothing", &ntconv.Stack{}, nil, 0},
	}
	for _, c := range cases {
		frames := names.AppendFrames([]ntconv.Frame{before}, nil, c.stack, 5)
		again := names.AppendFrames(nil, &ntconv.Process{PID: 7}, c.stack, 9)
		if frames[0] != before || !slices.Equal(frames[1:], again) {
			t.Errorf("%s: %v and then %v", c.name, frames, again)
		}
		var got []string
		for i, f := range again {
			got = append(got, f.Func.Name)
			switch {
			case len(c.stack.Frames) > 0 && f != own[i]:
				t.Errorf("%s: frame %d became %v", c.name, i, f)
			case len(c.stack.Frames) == 0 && (f.PC != c.stack.PCs[i] || f.Flags != c.flags || f.Mapping != nil):
				t.Errorf("%s: frame %d is %v", c.name, i, f)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	thread := &ntconv.Thread{Name: "worker", Process: &ntconv.Process{Name: "shop"}}
	if names.Epoch(thread.Process, cases[0].stack, 1) != names.Epoch(nil, cases[0].stack, 2) || names.Mappings(thread.Process) != nil ||
		!reflect.DeepEqual(names.Process(thread.Process), ntconv.ProcessInfo{}) || names.ThreadName(thread) != "worker" {
		t.Error("something is known that no stack carries")
	}
}

// TestNoNamesShareNothing checks that two Namers may be used at the same time.
func TestNoNamesShareNothing(t *testing.T) {
	stack := &ntconv.Stack{PCs: []uint64{1}}
	a, b := new(ntconv.NoNames).AppendFrames(nil, nil, stack, 0), new(ntconv.NoNames).AppendFrames(nil, nil, stack, 0)
	if a[0].Func == b[0].Func {
		t.Error("two Namers have one placeholder")
	}
}
