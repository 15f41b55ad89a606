package scrub

import (
	"bytes"
	"strconv"
	"testing"
)

// The caches of words are bounded in bytes, not only in words, so that long tokens, each different, need little memory
// after they are replaced.
func TestCachesAreBounded(t *testing.T) {
	d := newDictionary([]byte("0123456789abcdef"))
	for i := range 300 {
		word := append(bytes.Repeat([]byte("q"), 1<<16), strconv.Itoa(i)...)
		first := bytes.Clone(d.plain(word))
		if again := d.plain(word); !bytes.Equal(first, again) || len(first) != len(word) || bytes.Equal(first, word) {
			t.Fatalf("word %d: %d bytes, replaced by %d, then %d", i, len(word), len(first), len(again))
		}
	}
	size := 0
	for k := range d.ascii.current {
		size += len(k)
	}
	for k := range d.words.current {
		size += len(k)
	}
	if size == 0 {
		t.Error("the caches are empty")
	}
	if size > 2*maxKeyBytes {
		t.Errorf("the caches keep words of %d bytes", size)
	}
}
