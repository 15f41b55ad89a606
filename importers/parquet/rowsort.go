package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// A rowSorter sorts the rows of foreign tables by time. Rows with equal times keep their order. It keeps up to
// Limits.SortBytes in memory and the rest in a temporary file.
type rowSorter struct {
	s            *foreign
	spool        *spool.Spool
	sorted       *spool.Reader // nil until all rows have been read
	record       []byte
	lanes        []*lane // by number
	numbers      map[*lane]uint32
	stacks       []*ntconv.Stack // by number - 1
	stackNumbers map[*ntconv.Stack]uint32
}

// A record has a header of this size in bytes, then the payload. Its key is the time.
//
//	 0  end, row                                8 bytes each
//	16  trace ID, span ID                       16 and 8 bytes
//	40  type, thread, stack (0 for none), CPU   4 bytes each
const recordHeader = 56

func newRowSorter(s *foreign) *rowSorter {
	memory := int(min(s.o.Limits.SortBytes, 1<<30))
	return &rowSorter{
		s: s, spool: spool.New(&spool.Options{Dir: s.o.TempDir, Max: s.o.MaxTemp, Memory: memory}),
		numbers: map[*lane]uint32{}, stackNumbers: map[*ntconv.Stack]uint32{},
	}
}

// read reads the next row in time order. e.payload is valid until the next call.
func (r *rowSorter) read(e *rowEvent) error {
	if r.sorted == nil {
		if err := r.fill(); err != nil {
			return err
		}
	}
	k, b, err := r.sorted.Next()
	if err != nil {
		return sortError(err)
	}
	r.decode(e, k.Time, b)
	return nil
}

// sortError adds context to an error of the spool.
func sortError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("sort rows: %w", err)
}

// fill reads all rows.
func (r *rowSorter) fill() error {
	var e rowEvent
	for {
		err := r.s.readRow(&e)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.add(&e)
		}
		if err != nil {
			return err
		}
	}
	var err error
	r.sorted, err = r.spool.Read()
	return sortError(err)
}

// add adds the record of a row.
func (r *rowSorter) add(e *rowEvent) error {
	lane, ok := r.numbers[e.lane]
	if !ok {
		lane = uint32(len(r.lanes))
		r.numbers[e.lane] = lane
		r.lanes = append(r.lanes, e.lane)
	}
	stack := uint32(0)
	if e.stack != nil {
		if stack, ok = r.stackNumbers[e.stack]; !ok {
			if err := r.s.stacks.memory.add(rowBytes + 48*len(e.stack.Frames)); err != nil {
				return err
			}
			r.stacks = append(r.stacks, e.stack)
			stack = uint32(len(r.stacks))
			r.stackNumbers[e.stack] = stack
		}
	}
	le := binary.LittleEndian
	b := le.AppendUint64(r.record[:0], uint64(e.end))
	b = le.AppendUint64(b, uint64(e.row))
	b = append(append(b, e.ids.trace[:]...), e.ids.span[:]...)
	for _, n := range [...]uint32{e.types.number, lane, stack, uint32(e.cpu)} {
		b = le.AppendUint32(b, n)
	}
	r.record = append(b, e.payload...)
	return sortError(r.spool.Add(spool.Key{Time: e.time}, r.record))
}

// decode decodes a record.
func (r *rowSorter) decode(e *rowEvent, time int64, b []byte) {
	le := binary.LittleEndian
	*e = rowEvent{
		time: time, end: int64(le.Uint64(b)), row: int64(le.Uint64(b[8:])),
		types: r.s.types.list[le.Uint32(b[40:])], lane: r.lanes[le.Uint32(b[44:])], cpu: int32(le.Uint32(b[52:])),
		payload: append(e.payload[:0], b[recordHeader:]...),
	}
	copy(e.ids.trace[:], b[16:])
	copy(e.ids.span[:], b[32:])
	if n := le.Uint32(b[48:]); n > 0 {
		e.stack = r.stacks[n-1]
	}
}
