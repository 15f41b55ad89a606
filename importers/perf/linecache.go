package perf

import "github.com/ntconv/ntconv/internal/data/intern"

// A lineCache finds the frames of lines that occurred before, which are most lines of a long recording: parsing a line
// costs several times as much, and allocates. Lines of one function differ by address, so their number has no bound and
// the cache is emptied when it is full. The zero value is empty.
type lineCache struct {
	lines  intern.Bytes
	frames []uint32 // by the number of the line, from 1
	bytes  int
}

// maxCached is the size of all lines in a cache in bytes.
const maxCached = 4 << 20

// lineBytes is the memory of a line in a cache without its text, in bytes.
const lineBytes = 32

// find returns the frame of a line. ok is false if the cache does not have the line.
func (c *lineCache) find(line []byte) (frame uint32, ok bool) {
	n := c.lines.Find(line)
	if n == 0 {
		return 0, false
	}
	return c.frames[n-1], true
}

// add adds a line that find has not found.
func (c *lineCache) add(line []byte, frame uint32) {
	if c.bytes += len(line) + lineBytes; c.bytes > maxCached {
		c.lines.Reset()
		c.frames, c.bytes = c.frames[:0], len(line)+lineBytes
	}
	if n := c.lines.Add(line); int(n) > len(c.frames) {
		c.frames = append(c.frames, frame)
	}
}
