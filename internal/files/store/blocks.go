package store

import (
	"io"
	"sync"
)

// Reading at a distance: blocks are read singly, and several at a time if the file is read in order.
const (
	BlockSize = 1 << 20
	MaxBlocks = 8 // of one request
)

// Blocks reads a file of which ranges can be fetched. It keeps a few blocks, so that small reads near each other cost one request.
// ReadAt is safe for concurrent use.
type Blocks struct {
	size  int64
	fetch func(from, n int64) ([]byte, error)

	mu     sync.Mutex
	blocks map[int64][]byte // by number
	order  []int64          // of blocks, the oldest first
	last   int64            // number of the block that was read last
}

// NewBlocks returns a reader of a file of size bytes. fetch returns a range; it need not be safe for concurrent use. It gets ranges of
// MaxBlocks*BlockSize bytes at most, inside the file.
func NewBlocks(size int64, fetch func(from, n int64) ([]byte, error)) *Blocks {
	return &Blocks{size: size, fetch: fetch, blocks: make(map[int64][]byte)}
}

// Size returns the size of the file.
func (b *Blocks) Size() int64 { return b.size }

// ReadAt implements io.ReaderAt.
func (b *Blocks) ReadAt(p []byte, at int64) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n < len(p) {
		if at >= b.size {
			return n, io.EOF
		}
		block, err := b.block(at / BlockSize)
		if err != nil {
			return n, err
		}
		k := copy(p[n:], block[at%BlockSize:])
		n, at = n+k, at+int64(k)
	}
	return n, nil
}

// block returns a block, and gets it with those after it if the file is read in order.
func (b *Blocks) block(i int64) ([]byte, error) {
	before := b.last
	b.last = i
	if data := b.blocks[i]; data != nil {
		return data, nil
	}
	count := int64(1)
	if i == before+1 {
		count = MaxBlocks
	}
	from := i * BlockSize
	data, err := b.fetch(from, min(count*BlockSize, b.size-from))
	if err != nil {
		return nil, err
	}
	b.Put(i, data)
	if data := b.blocks[i]; data != nil {
		return data, nil
	}
	return nil, io.ErrUnexpectedEOF
}

// Put keeps the blocks of data, of which the first one has a number. An incomplete one that is not the end of the file is ignored.
func (b *Blocks) Put(i int64, data []byte) {
	for ; len(data) > 0; i++ {
		n := min(len(data), BlockSize)
		if n < BlockSize && i*BlockSize+int64(n) < b.size {
			return
		}
		if b.blocks[i] == nil {
			b.order = append(b.order, i)
		}
		b.blocks[i], data = data[:n:n], data[n:]
	}
	for len(b.order) > 2*MaxBlocks {
		delete(b.blocks, b.order[0])
		b.order = b.order[1:]
	}
}
