package wiretext

import (
	"bytes"
	"io"
	"slices"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// The words of lines that do not represent a kind of block.
const (
	wordNettrace = "nettrace"
	wordNetperf  = "netperf"
	wordRaw      = "raw"
)

// rawWidth is the number of bytes per raw line.
const rawWidth = 32

// Disassemble writes the text of a trace, block by block. Any input has a text that assembles to the same bytes: bytes
// that cannot be parsed, or have an encoding that no line represents, become raw lines. Errors are those of w.
func Disassemble(w io.Writer, trace []byte) error {
	p := printer{b: trace}
	for p.pos < len(trace) {
		var text []byte
		for _, n := range p.next() {
			text = n.print(text, 0)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// Assemble returns the trace for a text. Errors contain the line number.
func Assemble(text string) ([]byte, error) {
	top, err := parse(text)
	if err != nil {
		return nil, err
	}
	a := assembler{out: make([]byte, 0, len(text)/2)} // most of a text is payloads, with two digits per byte
	for _, n := range top {
		a.part(n)
	}
	return a.out, a.err
}

// A format is the context that the meaning of lines depends on.
type format struct {
	stream  wire.StreamHeader
	pointer int // size of an address in stacks, as the Trace block states it
}

// A printer converts a trace to lines, one top-level part after another.
type printer struct {
	format
	b     []byte
	pos   int
	began bool // after the stream header
	ended bool // after the end, or after an invalid frame: the rest is raw
}

// next consumes the next part. It checks that the lines assemble to the bytes of the part.
func (p *printer) next() []*node {
	if !p.ended {
		for _, raw := range []bool{false, true} {
			try := *p
			if n := try.part(raw); n != nil && p.assembles(n, try.pos) {
				*p = try
				return []*node{n}
			}
		}
	}
	rest := p.b[p.pos:]
	p.pos, p.ended = len(p.b), true
	return rawLines(rest)
}

func (p *printer) assembles(n *node, end int) bool {
	a := assembler{format: p.format, base: int64(p.pos)}
	a.part(n.clone())
	return a.err == nil && bytes.Equal(a.out, p.b[p.pos:end])
}

// part consumes the stream header or a block and returns its node, or nil if the part is incomplete. If raw is set, it
// prints the body of a block as bytes.
func (p *printer) part(raw bool) *node {
	c := bin.New(p.b[p.pos:], int64(p.pos))
	if !p.began {
		p.began = true
		h, err := wire.ParseStreamHeader(&c)
		p.stream, p.pos = h, int(c.Offset())
		// A later version has the same header, but its blocks are unknown.
		if p.ended = h.Version > wire.V6; err != nil && !p.ended {
			return nil
		}
		return headerNode(h)
	}
	b := p.block(&c)
	if b == nil || c.Err() != nil {
		return nil
	}
	p.pos = int(c.Offset())
	if b.node.word == wire.KindEnd.String() {
		p.ended = true
	}
	body := bin.New(b.body, b.offset)
	if raw {
		b.node.flag(wordRaw, true)
		b.node.kids = rawLines(b.body)
	} else if err := p.printBody(b.node, b.kind, &body); err != nil {
		return nil
	} else {
		b.node.kids = append(b.node.kids, rawLines(body.Rest())...)
	}
	return b.node
}

func headerNode(h wire.StreamHeader) *node {
	n := &node{word: wordNettrace}
	if h.Version == wire.V3 {
		n.word = wordNetperf
	}
	n.num("", uint64(h.Version), 0)
	n.num("minor", uint64(h.Minor), 0)
	return n
}

// A rawBlock is a block whose body has not been parsed.
type rawBlock struct {
	node   *node // contains only the header so far
	kind   wire.Kind
	body   []byte
	offset int64 // of body
}

// block reads the header, the body and the end of a block or object. It returns nil if the form is unknown.
func (p *printer) block(c *bin.Cursor) *rawBlock {
	b := &rawBlock{node: &node{}}
	var size int
	if !p.stream.Objects() {
		header := c.Bytes(wire.BlockHeaderSize)
		if header == nil {
			return nil
		}
		h := wire.ParseBlockHeader(header)
		b.kind, size = h.Kind, h.Size
		b.node.word = h.Kind.String()
	} else {
		o, err := legacy.ParseObject(c)
		if err != nil {
			return nil
		}
		b.kind, size = o.Kind, int(o.Size)
		b.node.word = o.Kind.String()
		if o.End {
			return b
		}
		usual := wirestream.NewFrame(p.stream, o.Kind)
		b.node.int("version", int64(o.Version), int64(usual.Version))
		b.node.int("minreader", int64(o.MinReader), int64(usual.MinReader))
	}
	b.offset = c.Offset()
	b.body = c.Bytes(size)
	if p.stream.Objects() {
		if end := *c; legacy.ParseEndObject(&end) == nil {
			*c = end
		} else {
			b.node.flag("unclosed", true)
		}
	}
	return b
}

// rawLines prints bytes.
func rawLines(b []byte) (lines []*node) {
	for chunk := range slices.Chunk(b, rawWidth) {
		n := &node{word: wordRaw}
		n.hex("", chunk)
		lines = append(lines, n)
	}
	return lines
}

// An assembler appends the bytes of lines to out.
type assembler struct {
	build
	format
	out  []byte
	base int64 // absolute offset of out[0]
}

// part appends the bytes of a top-level line.
func (a *assembler) part(n *node) {
	switch n.word {
	case wordNettrace, wordNetperf:
		a.stream.Version = wire.Version(a.num(n, "", 8, 0))
		a.stream.Minor = uint32(a.num(n, "minor", 32, 0))
		a.out = wire.AppendStreamHeader(a.out, a.stream)
		a.done(n)
	case wordRaw:
		a.raw(n)
	default:
		a.block(n)
	}
}

func (a *assembler) raw(n *node) {
	for i := range n.args {
		if v := &n.args[i]; v.key == "" && len(v.atoms) == 1 && !v.atoms[0].quoted {
			v.used = true
			a.out = append(a.out, a.parseHex(n, v.atoms[0].text)...)
		}
	}
	a.done(n)
}

// block appends the header, the body and the end of a block.
func (a *assembler) block(n *node) {
	kind := a.kind(n)
	f := wirestream.NewFrame(a.stream, kind)
	size := a.int(n, "size", 32, -1)
	if a.stream.Objects() && kind != wire.KindEnd {
		f.Version = int32(a.int(n, "version", 32, int64(f.Version)))
		f.MinReader = int32(a.int(n, "minreader", 32, int64(f.MinReader)))
		f.Unclosed = a.flag(n, "unclosed")
	}
	start := len(a.out)
	at := a.base + int64(start)
	a.out, _ = f.AppendHeader(a.out, at, 0) // only the length matters; the size is set below
	body := len(a.out)
	if a.stream.Objects() && kind == wire.KindEnd {
		a.done(n)
		return
	}
	a.body(n, kind)
	if size < 0 {
		size = int64(len(a.out) - body)
	}
	header, err := f.AppendHeader(nil, at, size)
	if err != nil {
		a.fail(n, "%w", err)
	}
	copy(a.out[start:], header)
	a.out = f.AppendEnd(a.out)
}

// kind returns the block kind of a line: by name, or "Block(99)".
func (a *assembler) kind(n *node) wire.Kind {
	for k := range 256 {
		kind := wire.Kind(k)
		if kind.String() == n.word &&
			(!a.stream.Objects() || kind == wire.KindEnd || kind.Known() && wire.Kinds[kind].Object != "") {
			return kind
		}
	}
	a.fail(n, "unknown line or block in %v", a.stream.Version)
	return wire.KindEnd
}

// body appends the bytes of the lines in a block.
func (a *assembler) body(n *node, kind wire.Kind) {
	words := []string{wordRaw}
	if !a.flag(n, wordRaw) {
		words = append(words, a.buildBody(n, kind)...)
	} else {
		a.rawKids(n)
	}
	a.done(n, words...)
}

// rawKids appends the bytes of the raw lines below n.
func (a *assembler) rawKids(n *node) {
	for _, k := range n.kids {
		if k.word == wordRaw {
			a.raw(k)
		}
	}
}
