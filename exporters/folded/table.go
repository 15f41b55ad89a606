package folded

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A table aggregates values by line. A line is a list of name IDs, so that a stack costs 4 bytes per frame instead of
// its text. sorted replaces the IDs by ranks and releases the maps; no value can be added afterwards.
type table struct {
	annotate bool
	ids      map[string]uint32   // ID of an escaped name
	names    []string            // by ID; by rank once sorted has run
	frames   map[frameKey]uint32 // cache of name IDs
	changed  uint64              // function names that escape changed

	lines   map[string]uint32 // index of a line, by its key: the big-endian IDs of its frames
	keys    []string          // by index of the line
	sums    []int64           // totals, by index of the line
	line    []byte            // scratch: key of the current sample
	written int
}

// A frameKey determines the text of a frame.
type frameKey struct {
	function *ntconv.Function
	flags    ntconv.FrameFlags
}

const annotated = ntconv.FrameInlined | ntconv.FrameKernel | ntconv.FrameManaged

func newTable(annotate bool) *table {
	return &table{
		annotate: annotate, ids: map[string]uint32{}, frames: map[frameKey]uint32{}, lines: map[string]uint32{},
	}
}

// name returns the ID of an escaped name.
func (t *table) name(text string) uint32 {
	id, ok := t.ids[text]
	if !ok {
		id = uint32(len(t.names))
		t.ids[text] = id
		t.names = append(t.names, text)
	}
	return id
}

// escaped returns the ID of a name with a suffix. It escapes the name and counts changed names once each.
func (t *table) escaped(name, suffix string) uint32 {
	text, changed := escape(name)
	known := len(t.names)
	id := t.name(text + suffix)
	if changed && len(t.names) > known {
		t.changed++
	}
	return id
}

// frame returns the ID of a frame's text.
func (t *table) frame(f *ntconv.Frame) uint32 {
	k := frameKey{function: f.Func}
	if t.annotate {
		k.flags = f.Flags & annotated
	}
	id, ok := t.frames[k]
	if ok {
		return id
	}
	name := imported.NoName
	if f.Func != nil && f.Func.Name != "" {
		name = f.Func.Name
	}
	id = t.escaped(name, annotation(k.flags))
	if f.Flags&ntconv.FrameUnresolved != 0 { // a placeholder, which the Namer may create per use
		return id
	}
	if len(t.frames) > 4*len(t.names)+1<<16 { // the source creates a Function per use
		clear(t.frames)
	}
	t.frames[k] = id
	return id
}

// annotation returns the suffix of a frame. If several apply, the order is that of stackcollapse-perf.pl.
func annotation(flags ntconv.FrameFlags) string {
	switch {
	case flags&ntconv.FrameInlined != 0:
		return "_[i]"
	case flags&ntconv.FrameKernel != 0:
		return "_[k]"
	case flags&ntconv.FrameManaged != 0:
		return "_[j]"
	}
	return ""
}

// add adds a value to the line with the given roots, outermost first, and frames, leaf first. It does not keep them.
func (t *table) add(roots []uint32, frames []ntconv.Frame, value int64) {
	key := t.line[:0]
	for _, id := range roots {
		key = binary.BigEndian.AppendUint32(key, id)
	}
	for i := len(frames) - 1; i >= 0; i-- {
		key = binary.BigEndian.AppendUint32(key, t.frame(&frames[i]))
	}
	if len(frames) == 0 {
		key = binary.BigEndian.AppendUint32(key, t.name(imported.NoStackName))
	}
	t.line = key
	i, ok := t.lines[string(key)]
	if !ok {
		i = uint32(len(t.keys))
		k := string(key)
		t.lines[k] = i
		t.keys, t.sums = append(t.keys, k), append(t.sums, 0)
	}
	t.sums[i] = bin.AddClamped(t.sums[i], value)
}

// sorted returns the indexes of the lines in output order: frame by frame from the root, names byte by byte. It
// replaces the IDs in keys by the ranks of the names, so that keys compare as byte strings.
func (t *table) sorted() []uint32 {
	byName := make([]uint32, len(t.names))
	for i := range byName {
		byName[i] = uint32(i)
	}
	slices.SortFunc(byName, func(a, b uint32) int {
		if t.names[a] < t.names[b] {
			return -1
		}
		return 1 // names are distinct
	})
	rank := make([]uint32, len(byName))
	names := make([]string, len(byName))
	for r, id := range byName {
		rank[id], names[r] = uint32(r), t.names[id]
	}
	order := make([]uint32, len(t.keys))
	t.lines, t.frames, t.ids = nil, nil, nil // they refer to IDs, and their memory is needed for the new keys
	for i, key := range t.keys {
		order[i] = uint32(i)
		line := t.line[:0]
		for ; len(key) > 0; key = key[4:] {
			line = binary.BigEndian.AppendUint32(line, rank[idAt(key)])
		}
		t.keys[i], t.line = string(line), line
	}
	t.names = names
	slices.SortFunc(order, func(a, b uint32) int {
		if t.keys[a] < t.keys[b] {
			return -1
		}
		return 1 // lines are distinct
	})
	return order
}

// idAt returns the first ID of a key.
func idAt(key string) uint32 {
	return uint32(key[0])<<24 | uint32(key[1])<<16 | uint32(key[2])<<8 | uint32(key[3])
}

// flushBytes is the size from which write calls the writer.
const flushBytes = 64 << 10

// write writes all lines with a positive value. The table cannot be used afterwards.
func (t *table) write(w io.Writer, s scale, report *ntconv.Report) error {
	var out []byte
	var negative, small uint64
	for _, i := range t.sorted() {
		value := s.convert(t.sums[i])
		if value <= 0 {
			if t.sums[i] < 0 {
				negative++
			} else if t.sums[i] > 0 {
				small++
			}
			continue
		}
		for key := t.keys[i]; len(key) > 0; key = key[4:] {
			if len(key) < len(t.keys[i]) {
				out = append(out, ';')
			}
			out = append(out, t.names[idAt(key)]...)
			if len(out) >= flushBytes {
				if _, err := w.Write(out); err != nil {
					return err
				}
				out = out[:0]
			}
		}
		out = append(strconv.AppendInt(append(out, ' '), value, 10), '\n')
		t.written++
	}
	report.Note(ntconv.CodeNotCarried, negative, -1, "stacks with negative totals, which flame graph tools reject")
	report.Note(ntconv.CodeNotCarried, small, -1, fmt.Sprintf("stacks with less than half a unit (%s)", s.to))
	if t.written == 0 && small > 0 {
		return &UnitError{Unit: s.to, Small: true}
	}
	if len(out) == 0 {
		return nil
	}
	_, err := w.Write(out)
	return err
}
