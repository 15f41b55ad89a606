package profile

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

// The class of a stack is the first one with equal frames, regardless of the number of classes.
func TestClassIndex(t *testing.T) {
	table := newFrameTable(12345)
	rapid.Check(t, func(t *rapid.T) {
		var classes []class
		var x classIndex
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 40), 0, 100).Draw(t, "classes") {
			frame := ntconv.Frame{PC: 1, Func: &ntconv.Function{Name: string(rune('a' + n/2))}} // another pointer each time
			if n%2 == 1 {
				frame.Line = 1
			}
			c := class{[]ntconv.Frame{{PC: 5}, frame}}
			want := len(classes)
			for i := range classes {
				if classes[i].equal(c) {
					want = i
					break
				}
			}
			classes = append(classes, c)
			if got := x.find(classes, table); got != want {
				t.Fatalf("class %d is %d, want %d", len(classes)-1, got, want)
			}
			if want < len(classes)-1 {
				classes = classes[:len(classes)-1]
			}
		}
	})
}
