package spool

import (
	"io"
)

// A cursor is a position in a sorted sequence of records: the chunks of a chain, the sorted late records, or a run of
// the file. late is set for the second, file for the third.
type cursor struct {
	key  Key
	size int // bytes of the record's data
	// unread begins with the data of the current record, or with the next header once data has returned it.
	unread []byte
	chunks [][]byte // after unread
	late   *late
	entry  int // index of the next late record

	file    file
	extents []extent // shared with the run
	extent  int      // index of the current extent
	read    int64    // bytes of the current extent already read
	left    int64    // bytes of all extents not yet read
	buffer  []byte   // unread is a part of it
}

// next moves to the next record and returns false after the last one. Call data for each record before the next call of
// next.
func (c *cursor) next() (bool, error) {
	if c.late != nil {
		if c.entry == len(c.late.index) {
			return false, nil
		}
		e := c.late.index[c.entry]
		c.entry++
		c.key, c.unread = e.key, c.late.data(e)
		c.size = len(c.unread)
		return true, nil
	}
	if len(c.unread) < maxHeader && c.left > 0 {
		if err := c.fill(); err != nil {
			return false, err
		}
	}
	if len(c.unread) == 0 {
		if len(c.chunks) == 0 {
			return false, nil
		}
		c.unread, c.chunks = c.chunks[0], c.chunks[1:]
	}
	key, size, rest := header(c.unread, c.key)
	if rest == nil || int64(size) > int64(len(rest))+c.left {
		return false, &Error{Err: ErrChanged}
	}
	c.key, c.size, c.unread = key, size, rest
	return true, nil
}

// data returns the data of the record, borrowed until the next call of next. Data that exceeds the buffer is read into
// *large, which grows.
func (c *cursor) data(large *[]byte) ([]byte, error) {
	if len(c.unread) < c.size && c.size <= len(c.buffer) {
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
	if len(c.unread) >= c.size {
		data := c.unread[:c.size]
		c.unread = c.unread[c.size:]
		return data, nil
	}
	if cap(*large) < c.size {
		*large = make([]byte, c.size)
	}
	data := (*large)[:c.size]
	n := copy(data, c.unread)
	c.unread = nil
	_, err := c.readMore(data[n:])
	return data, err
}

// fill moves unread to the beginning of the buffer and reads into the remaining space.
func (c *cursor) fill() error {
	n := copy(c.buffer, c.unread)
	more, err := c.readMore(c.buffer[n:])
	c.unread = c.buffer[:n+more]
	return err
}

// readMore reads the next bytes of the run. It returns fewer than len(b) only at the end of the run.
func (c *cursor) readMore(b []byte) (int, error) {
	n := 0
	for n < len(b) && c.left > 0 {
		x := c.extents[c.extent]
		m := int(min(int64(len(b)-n), x.size-c.read))
		if _, err := c.file.ReadAt(b[n:n+m], x.offset+c.read); err != nil {
			if err == io.EOF {
				err = &Error{Err: ErrChanged}
			}
			return n, err
		}
		n += m
		c.left -= int64(m)
		if c.read += int64(m); c.read == x.size {
			c.extent, c.read = c.extent+1, 0
		}
	}
	return n, nil
}
