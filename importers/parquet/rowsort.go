package parquet

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/ntconv/ntconv"
)

// A rowSorter sorts the rows of foreign tables by time; rows of equal times keep their order. It sorts as many rows as fit into memory,
// writes them to a temporary file as a run, and merges the runs.
type rowSorter struct {
	s      *foreign
	filled bool

	records      []byte      // of the rows in memory
	index        []sortedRow // of records
	next         int         // in index, if there are no runs
	file         *os.File    // removed as soon as it is open where the system allows it
	size         int64       // of the file
	runs         runHeap     // the run whose first record is the earliest first
	bounds       []runBounds // of the runs in the file
	lanes        []*lane     // by number
	numbers      map[*lane]uint32
	stacks       []*ntconv.Stack // by number, from 1
	stackNumbers map[*ntconv.Stack]uint32
}

// A sortedRow is the place of a record in rowSorter.records.
type sortedRow struct {
	time       int64
	start, end int
}

// runBounds is the place of a run in the file.
type runBounds struct{ start, end int64 }

// A record has a header of this size, and the payload:
//
//	 0  time, end, row                          8 bytes each
//	24  trace ID, span ID                       16 and 8 bytes
//	48  type, thread, stack (0 for none), CPU   4 bytes each
//	64  size of the payload                     4 bytes
const recordHeader = 68

// runBuffer is the size of the buffers of all runs.
const runBuffer = 32 << 20

func newRowSorter(s *foreign) *rowSorter {
	return &rowSorter{s: s, numbers: map[*lane]uint32{}, stackNumbers: map[*ntconv.Stack]uint32{}}
}

// read makes the event of the next row in time order.
func (r *rowSorter) read(e *rowEvent) error {
	if !r.filled {
		r.filled = true
		if err := r.fill(); err != nil {
			return err
		}
	}
	if r.bounds == nil {
		if r.next == len(r.index) {
			return io.EOF
		}
		row := r.index[r.next]
		r.next++
		r.decode(e, r.records[row.start:row.end])
		return nil
	}
	if len(r.runs) == 0 {
		return io.EOF
	}
	run := r.runs[0]
	r.decode(e, run.record)
	if err := run.advance(); err == io.EOF {
		heap.Pop(&r.runs)
	} else if err != nil {
		return fmt.Errorf("sort rows in a temporary file: %w", err)
	} else {
		heap.Fix(&r.runs, 0)
	}
	return nil
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
	if r.bounds == nil {
		r.sort()
		return nil
	}
	if err := r.spill(); err != nil {
		return err
	}
	r.records, r.index = nil, nil
	size := min(64<<10, max(4<<10, runBuffer/len(r.bounds)))
	for i, b := range r.bounds {
		run := &run{number: i, r: bufio.NewReaderSize(io.NewSectionReader(r.file, b.start, b.end-b.start), size)}
		if err := run.advance(); err != nil {
			return fmt.Errorf("sort rows in a temporary file: %w", err)
		}
		r.runs = append(r.runs, run)
	}
	heap.Init(&r.runs)
	return nil
}

// add appends the record of a row.
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
	start := len(r.records)
	le := binary.LittleEndian
	b := le.AppendUint64(r.records, uint64(e.time))
	b = le.AppendUint64(b, uint64(e.end))
	b = le.AppendUint64(b, uint64(e.row))
	b = append(append(b, e.ids.trace[:]...), e.ids.span[:]...)
	for _, n := range [...]uint32{e.types.number, lane, stack, uint32(e.cpu), uint32(len(e.payload))} {
		b = le.AppendUint32(b, n)
	}
	r.records = append(b, e.payload...)
	r.index = append(r.index, sortedRow{e.time, start, len(r.records)})
	if int64(len(r.records)) >= r.s.o.Limits.SortBytes {
		return r.spill()
	}
	return nil
}

// decode makes the event of a record. e.payload is valid until the next record of its run is read.
func (r *rowSorter) decode(e *rowEvent, b []byte) {
	le := binary.LittleEndian
	*e = rowEvent{
		time: int64(le.Uint64(b)), end: int64(le.Uint64(b[8:])), row: int64(le.Uint64(b[16:])),
		types: r.s.types.list[le.Uint32(b[48:])], lane: r.lanes[le.Uint32(b[52:])], cpu: int32(le.Uint32(b[60:])),
		payload: append(e.payload[:0], b[recordHeader:]...),
	}
	copy(e.ids.trace[:], b[24:])
	copy(e.ids.span[:], b[40:])
	if n := le.Uint32(b[56:]); n > 0 {
		e.stack = r.stacks[n-1]
	}
}

func (r *rowSorter) sort() {
	slices.SortStableFunc(r.index, func(a, b sortedRow) int { return cmp.Compare(a.time, b.time) })
}

// spill writes the rows in memory to the file.
func (r *rowSorter) spill() error {
	if len(r.index) == 0 {
		return nil
	}
	if err := r.write(); err != nil {
		return fmt.Errorf("sort rows in a temporary file: %w", err)
	}
	r.records, r.index = r.records[:0], r.index[:0]
	return nil
}

func (r *rowSorter) write() error {
	if r.file == nil {
		f, err := os.CreateTemp(r.s.o.TempDir, "ntconv-sort-*")
		if err != nil {
			return err
		}
		_ = os.Remove(f.Name()) // fails on Windows, where Close removes it
		r.file = f
	}
	r.sort()
	w := bufio.NewWriterSize(r.file, 256<<10)
	start := r.size
	for _, row := range r.index {
		n, err := w.Write(r.records[row.start:row.end])
		r.size += int64(n)
		if err != nil {
			return err
		}
	}
	r.bounds = append(r.bounds, runBounds{start, r.size})
	return w.Flush()
}

// Close removes the file.
func (r *rowSorter) Close() error {
	if r.file == nil {
		return nil
	}
	name := r.file.Name()
	err := r.file.Close()
	r.file, r.runs = nil, nil
	if e := os.Remove(name); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// A run is a sorted part of the file.
type run struct {
	number int
	r      *bufio.Reader
	record []byte // the next one
}

// advance reads the next record.
func (r *run) advance() error {
	r.record = slices.Grow(r.record[:0], recordHeader)[:recordHeader]
	if _, err := io.ReadFull(r.r, r.record); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(r.record[recordHeader-4:]))
	r.record = slices.Grow(r.record, n)[:recordHeader+n]
	_, err := io.ReadFull(r.r, r.record[recordHeader:])
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (r *run) time() int64 {
	if len(r.record) < recordHeader {
		return math.MaxInt64
	}
	return int64(binary.LittleEndian.Uint64(r.record))
}

type runHeap []*run

func (h runHeap) Len() int { return len(h) }

func (h runHeap) Less(i, j int) bool {
	if a, b := h[i].time(), h[j].time(); a != b {
		return a < b
	}
	return h[i].number < h[j].number
}

func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*run)) }

func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
