package mutate

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/testing/wiretext"
)

// A Cut selects the part of a trace to keep.
type Cut struct {
	PerType int // events per type
	Skip    int // events to skip at the start
	Bytes   int // approximate size of the events
	Frames  int // addresses per stack
}

const (
	maxCutPayload = 600 // maximum payload size of a kept event
	maxCutSymbols = 12  // maximum number of symbol events for the kept stacks
	maxCutPCs     = 6   // addresses per stack for which symbol events are searched
)

// Of returns a small trace of the same version: some events, the rows that they refer to, and symbol events for some
// addresses of their stacks.
func (c Cut) Of(trace []byte) ([]byte, error) {
	var text bytes.Buffer
	_ = wiretext.Disassemble(&text, trace) // a buffer returns no errors
	k := cutter{Cut: c, lines: splitLines(text.String())}
	k.list()
	k.choose()
	data, err := wiretext.Assemble(strings.Join(k.kept(), "\n"))
	if err != nil {
		return nil, fmt.Errorf("a part of a trace: %w", err)
	}
	return data, nil
}

// A rowID is the number of a stack or label list. It is valid until the next sequence point.
type rowID struct {
	window int
	id     uint64
}

// A cutEvent is an event of the text form.
type cutEvent struct {
	begin, end int // lines
	metadata   uint64
	stack      rowID
	labels     rowID
	pcs        []uint64 // addresses of a stack that is a line of its own: netperf
	payload    []byte
	keep       bool
}

type cutter struct {
	Cut
	lines  []string
	events []cutEvent
	stacks map[rowID][]uint64
}

// argument returns a numeric argument of a line, or 0.
func argument(line, key string) uint64 {
	_, after, ok := strings.Cut(line, " "+key+"=")
	if !ok {
		return 0
	}
	text, _, _ := strings.Cut(after, " ")
	v, _ := strconv.ParseUint(text, 0, 64)
	return v
}

// positional returns the first number after the word of a line, or 0.
func positional(line string) uint64 {
	_, after, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	text, _, _ := strings.Cut(after, " ")
	v, _ := strconv.ParseUint(text, 0, 64)
	return v
}

// blocks calls visit with the range of lines of each block that is not raw, and the number of its window.
func (k *cutter) blocks(visit func(begin, end, window int)) {
	window := 0
	for i := 0; i < len(k.lines); {
		end := block(k.lines, i)
		if !strings.Contains(k.lines[i], " raw") && word(k.lines[i]) != "raw" {
			visit(i, end, window)
		}
		if word(k.lines[i]) == "SequencePoint" {
			window++
		}
		i = end
	}
}

// rows calls visit with the range of lines of each row in a block.
func (k *cutter) rows(begin, end int, visit func(i, end int)) {
	for i := begin + 1; i < end; {
		next := block(k.lines, i)
		visit(i, next)
		i = next
	}
}

// list collects events and stacks.
func (k *cutter) list() {
	k.stacks = map[rowID][]uint64{}
	k.blocks(func(begin, end, window int) {
		switch word(k.lines[begin]) {
		case "Event":
			k.rows(begin, end, func(i, next int) {
				if word(k.lines[i]) == "event" && argument(k.lines[i], "metadata") != 0 {
					k.events = append(k.events, k.event(i, next, window))
				}
			})
		case "Stack":
			id := max(argument(k.lines[begin], "first"), 1)
			k.rows(begin, end, func(i, _ int) {
				k.stacks[rowID{window, id}] = addresses(k.lines[i])
				id++
			})
		}
	})
}

func (k *cutter) event(i, end, window int) cutEvent {
	line := k.lines[i]
	e := cutEvent{
		begin: i, end: end, metadata: argument(line, "metadata"),
		stack: rowID{window, argument(line, "stack")}, labels: rowID{window, argument(line, "labels")},
	}
	for _, l := range k.lines[i+1 : end] {
		e.pcs = append(e.pcs, addresses(l)...)
	}
	if _, text, ok := strings.Cut(line, "payload="); ok {
		text, _, _ = strings.Cut(text, " ")
		e.payload, _ = hex.DecodeString(text)
	}
	return e
}

func addresses(line string) (pcs []uint64) {
	for _, s := range numbers(line) {
		v, _ := strconv.ParseUint(line[s[0]:s[1]], 0, 64)
		pcs = append(pcs, v)
	}
	return pcs
}

// choose marks the events to keep.
func (k *cutter) choose() {
	left := k.Bytes
	count := map[uint64]int{}
	var pcs []uint64
	for i := range k.events {
		e := &k.events[i]
		if i < k.Skip || count[e.metadata] >= k.PerType || len(e.payload) > maxCutPayload || left < len(e.payload) {
			continue
		}
		e.keep = true
		count[e.metadata]++
		left -= len(e.payload) + 8
		stack := append(k.stacks[e.stack], e.pcs...)
		pcs = append(pcs, stack[:min(len(stack), maxCutPCs, k.Frames)]...)
	}
	symbols := 0
	for i := range k.events {
		e := &k.events[i]
		if begin, end := codeRange(e.payload); begin < end && !e.keep && symbols < maxCutSymbols &&
			len(e.payload) <= maxCutPayload {
			e.keep = slices.ContainsFunc(pcs, func(pc uint64) bool { return pc >= begin && pc < end })
			if e.keep {
				symbols++
			}
		}
	}
}

// codeRange guesses the address range in a payload: that of a method of the runtime, or of a symbol or mapping of a
// machine-wide trace.
func codeRange(payload []byte) (begin, end uint64) {
	if len(payload) >= 28 {
		begin = binary.LittleEndian.Uint64(payload[16:])
		size := binary.LittleEndian.Uint32(payload[24:])
		if begin > 1<<32 && begin < 1<<48 && size > 0 && size < 1<<20 {
			return begin, begin + uint64(size)
		}
	}
	var n [4]uint64
	for i := range n {
		v, size := binary.Uvarint(payload)
		if size <= 0 {
			return 0, 0
		}
		n[i], payload = v, payload[size:]
	}
	for _, r := range [][2]uint64{{n[2], n[3]}, {n[1], n[2]}} {
		if r[0] > 1<<20 && r[0] < r[1] && r[1]-r[0] < 1<<28 {
			return r[0], r[1]
		}
	}
	return 0, 0
}

// kept returns the lines to keep.
func (k *cutter) kept() (out []string) {
	types, threads := map[uint64]bool{}, map[uint64]bool{}
	stacks, labels := map[rowID]bool{}, map[rowID]bool{}
	events := map[int]bool{}
	for i := range k.events {
		if e := &k.events[i]; e.keep {
			types[e.metadata], stacks[e.stack], labels[e.labels], events[e.begin] = true, true, true, true
			threads[argument(k.lines[e.begin], "thread")] = true
		}
	}
	k.blocks(func(begin, end, window int) {
		var rows []string
		add := func(keep bool, i, end int) {
			if keep {
				rows = append(rows, k.lines[i:end]...)
			}
		}
		switch word(k.lines[begin]) {
		case "Event", "Metadata":
			k.rows(begin, end, func(i, next int) { add(events[i] || types[k.definition(i, next)], i, next) })
		case "Stack":
			out = append(out, k.numbered(begin, end, window, stacks)...)
			return
		case "LabelList":
			out = append(out, k.numbered(begin, end, window, labels)...)
			return
		case "Thread", "RemoveThread":
			k.rows(begin, end, func(i, next int) { add(threads[positional(k.lines[i])], i, next) })
		case "SequencePoint":
			out = append(out, k.lines[begin:min(end, begin+8)]...)
			return
		default:
			out = append(out, k.lines[begin:end]...)
			return
		}
		if len(rows) > 0 {
			out = append(append(out, k.lines[begin]), rows...)
		}
	})
	return out
}

// definition returns the ID of the type that a row or event defines, or 0.
func (k *cutter) definition(i, end int) uint64 {
	for _, l := range k.lines[i:min(end, i+2)] {
		if word(l) == "row" {
			return positional(l)
		}
	}
	return 0
}

// numbered returns the lines of blocks with the wanted rows. Rows keep their numbers.
func (k *cutter) numbered(begin, end, window int, want map[rowID]bool) (out []string) {
	id, last := max(argument(k.lines[begin], "first"), 1), uint64(0)
	k.rows(begin, end, func(i, _ int) {
		if want[rowID{window, id}] {
			if last == 0 || id != last+1 {
				out = append(out, fmt.Sprintf("%s first=%d", word(k.lines[begin]), id))
			}
			words := strings.Split(k.lines[i], " ") // two spaces and the word precede it
			out = append(out, strings.Join(words[:min(len(words), 3+k.Frames)], " "))
			last = id
		}
		id++
	})
	return out
}
