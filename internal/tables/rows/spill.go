package rows

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// A spill is a temporary file of stacks. write creates it for the first stack.
type spill struct {
	dir  string // "" means os.TempDir()
	max  int64  // bytes; 0 means no limit
	file *spool.File
	w    *bufio.Writer
	buf  []byte
}

// spillBuffer is the size of the buffers of the file in bytes.
const spillBuffer = 64 << 10

// A spilled is a stack in the file. frames contains frame IDs, but only for a stack that carries its frames.
type spilled struct {
	process int32
	time    ntconv.Ticks
	pcs     []uint64
	frames  []int32
}

// write appends a stack:
//
//	uvarint process, varint time, uvarint number of addresses, uvarint number of frames,
//	8 bytes per address, 4 bytes per frame
func (s *spill) write(process int32, at ntconv.Ticks, pcs []uint64, frames []int32) error {
	if s.file == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	b := binary.AppendUvarint(s.buf[:0], uint64(process))
	b = binary.AppendVarint(b, int64(at))
	b = binary.AppendUvarint(b, uint64(len(pcs)))
	b = binary.AppendUvarint(b, uint64(len(frames)))
	for _, pc := range pcs {
		b = binary.LittleEndian.AppendUint64(b, pc)
	}
	for _, id := range frames {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	s.buf = b
	if _, err := s.w.Write(b); err != nil {
		return spillError(err)
	}
	return nil
}

func (s *spill) create() (err error) {
	if s.file, err = spool.Create(s.dir, "ntconv-stacks-*", s.max); err != nil {
		return spillError(err)
	}
	s.w = bufio.NewWriterSize(s.file, spillBuffer)
	return nil
}

// reader returns a reader of all stacks. Do not call write after it.
func (s *spill) reader() (*spillReader, error) {
	if s.file == nil {
		return &spillReader{}, nil
	}
	if err := s.w.Flush(); err != nil {
		return nil, spillError(err)
	}
	return &spillReader{r: bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.file.Size()), spillBuffer)}, nil
}

// close removes the file.
func (s *spill) close() error {
	if err := s.file.Close(); err != nil {
		return spillError(err)
	}
	return nil
}

func spillError(err error) error { return fmt.Errorf("stacks: %w", err) }

// A spillReader reads the stacks of a spill in the order in which they were written.
type spillReader struct {
	r   *bufio.Reader // nil if there are no stacks
	buf []byte
}

// read reads the next stack into s, whose slices it reuses. It returns io.EOF after the last stack.
func (r *spillReader) read(s *spilled) error {
	if r.r == nil {
		return io.EOF
	}
	process, err := binary.ReadUvarint(r.r)
	if err == io.EOF {
		return err
	}
	at, err1 := binary.ReadVarint(r.r)
	pcs, err2 := binary.ReadUvarint(r.r)
	frames, err3 := binary.ReadUvarint(r.r)
	for _, e := range []error{err, err1, err2, err3} {
		if e != nil {
			return spillError(e)
		}
	}
	s.process, s.time, s.pcs, s.frames = int32(process), ntconv.Ticks(at), s.pcs[:0], s.frames[:0]
	n := int(8*pcs + 4*frames)
	if n > cap(r.buf) {
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	if _, err := io.ReadFull(r.r, b); err != nil {
		return spillError(err)
	}
	for range pcs {
		s.pcs, b = append(s.pcs, binary.LittleEndian.Uint64(b)), b[8:]
	}
	for range frames {
		s.frames, b = append(s.frames, int32(binary.LittleEndian.Uint32(b))), b[4:]
	}
	return nil
}
