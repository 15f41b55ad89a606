// Package mutate generates corrupt copies of small files, so that tests can read millions of them. A seed and a number
// determine a mutant.
//
// Most mutants of a trace, and half of all others, are edited as bytes: flipped bits, extreme numbers, and bytes that
// are inserted, deleted, repeated or copied from another file. They mostly test how a reader rejects its input. The
// other mutants are edited in their form and encoded again: rows of a trace (package wiretext), values of a JSON
// document, fields of a protobuf message, lines of words. The encoding around an edit stays valid, so these mutants
// pass the first checks of a reader.
package mutate

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
)

// A Form is the structure in which a file is edited.
type Form uint8

const (
	Bytes   Form = iota // only bytes
	Trace               // nettrace or netperf
	JSON                // a JSON document, or several
	Proto               // a protobuf message
	Lines               // lines of words
	Parquet             // bytes, with the length of the footer corrected
)

// A Seed is a valid file from which mutants are derived.
type Seed struct {
	Name string
	Form Form
	Data []byte

	edges  []int    // offsets at which blocks and values begin, where edits have the largest effect
	lines  []string // lines of the text form of a trace, or of a file of lines
	nodes  []node   // JSON
	fields []field  // Proto
}

// A Mutator generates mutants of seeds. It is not safe for concurrent use.
type Mutator struct {
	seeds []*Seed
	r     *rand.Rand
	pcg   *rand.PCG
	seed  *Seed // seed of the last mutant
	deep  bool  // the last mutant was edited in its form
	buf   []byte
	lines []string
}

// New returns a mutator of seeds. At least one seed is required.
func New(seeds []*Seed) *Mutator {
	pcg := rand.NewPCG(0, 0)
	m := &Mutator{seeds: seeds, pcg: pcg, r: rand.New(pcg)}
	for _, s := range seeds {
		s.parse()
	}
	return m
}

// parse prepares a seed for the edits of its form.
func (s *Seed) parse() {
	switch s.Form {
	case Trace:
		s.parseTrace()
	case JSON:
		s.nodes = scanJSON(s.Data)
		for _, n := range s.nodes {
			s.edges = append(s.edges, n.begin)
		}
	case Proto:
		s.fields = parseProto(s.Data, 0)
	case Lines:
		s.lines = splitLines(string(s.Data))
	case Parquet:
		s.edges = []int{footer(s.Data)}
	}
}

// Name returns the name of the last mutant's seed and how it was edited.
func (m *Mutator) Name() string {
	if m.deep {
		return m.seed.Name + ", edited as what it is"
	}
	return m.seed.Name + ", edited as bytes"
}

// Seed returns the seed of the last mutant.
func (m *Mutator) Seed() *Seed { return m.seed }

// Mutant returns mutant number n for the given seed of the random number generator. It is valid until the next call.
func (m *Mutator) Mutant(seed, n uint64) []byte {
	m.pcg.Seed(seed, n)
	m.seed = m.seeds[m.r.IntN(len(m.seeds))]
	part := 2
	if m.seed.Form == Trace {
		part = 3 // assembling takes longer than reading the trace
	}
	m.deep = m.r.IntN(part) == 0 && m.edited()
	if !m.deep {
		m.buf = append(m.buf[:0], m.seed.Data...)
	}
	if !m.deep || m.r.IntN(4) == 0 {
		for range 1 + m.r.IntN(8) {
			m.edit()
		}
	}
	if m.r.IntN(50) == 0 {
		m.flips(0.02)
	}
	if m.r.IntN(4) == 0 {
		m.buf = m.buf[:m.r.IntN(len(m.buf)+1)]
	} else if m.seed.Form == Parquet {
		m.correctFooter()
	}
	return m.buf
}

// edited sets buf to a copy edited in its form, and reports whether it succeeded.
func (m *Mutator) edited() (ok bool) {
	switch m.seed.Form {
	case Trace:
		ok = m.editTrace()
	case JSON:
		ok = m.editJSON()
	case Proto:
		ok = m.editProto()
	case Lines:
		ok = m.editLines()
	}
	return ok && len(m.buf) <= 4*len(m.seed.Data)+4096
}

// at returns a random offset; half of the offsets are close to an edge.
func (m *Mutator) at() int {
	n := len(m.buf)
	if n == 0 {
		return 0
	}
	if edges := m.seed.edges; len(edges) > 0 && m.r.IntN(2) == 0 {
		return min(max(edges[m.r.IntN(len(edges))]+m.r.IntN(96)-32, 0), n-1)
	}
	return m.r.IntN(n)
}

// edit makes one edit.
func (m *Mutator) edit() {
	at := m.at()
	length := min(1+m.r.IntN(1<<m.r.IntN(12)), len(m.buf)-at)
	switch kind := m.r.IntN(16); {
	case len(m.buf) == 0 || kind == 0:
		m.buf = slices.Insert(m.buf, at, m.noise(length+1)...)
	case kind < 4:
		m.buf[at] ^= 1 << m.r.IntN(8)
	case kind < 7:
		m.buf[at] = [...]byte{0, 1, 0x7f, 0x80, 0xff}[m.r.IntN(5)]
	case kind < 9:
		m.putFixed(at)
	case kind < 11:
		m.putVarint(at)
	case kind == 11: // a neighbor of the existing number
		m.buf[at] += byte(2*m.r.IntN(2)) - 1
	case kind == 12:
		m.buf = slices.Delete(m.buf, at, at+length)
	case kind == 13:
		m.buf = slices.Insert(m.buf, m.at(), slices.Clone(m.buf[at:at+length])...)
	case kind == 14: // swap two ranges
		other := m.at()
		length = min(length, len(m.buf)-other, max(at-other, other-at))
		for i := range length {
			m.buf[at+i], m.buf[other+i] = m.buf[other+i], m.buf[at+i]
		}
	default: // append the end of another file
		other := m.seeds[m.r.IntN(len(m.seeds))].Data
		m.buf = append(m.buf[:at], other[m.r.IntN(len(other)+1):]...)
	}
}

func (m *Mutator) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.r.Uint32())
	}
	return b
}

// extremes are numbers that are rarely used as sizes, counts and IDs in tests.
var extremes = [...]uint64{
	0, 1, 2, 3, 7, 127, 128, 255, 256, 1<<14 - 1, 1 << 14, 1<<15 - 1, 1 << 15, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, 1<<28 - 1, 1 << 28, math.MaxInt32,
	1 << 31, 1<<31 + 1, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1<<53 + 1, math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64,
}

// extreme returns a number of extremes, or a random number of random size.
func (m *Mutator) extreme() uint64 {
	if m.r.IntN(4) == 0 {
		return m.r.Uint64() >> m.r.IntN(64)
	}
	return extremes[m.r.IntN(len(extremes))]
}

// putFixed writes a number of 2, 4 or 8 bytes.
func (m *Mutator) putFixed(at int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], m.extreme())
	copy(m.buf[at:], b[:2<<m.r.IntN(3)])
}

// putVarint replaces the bytes of the varint at an offset.
func (m *Mutator) putVarint(at int) {
	end := at
	for end < len(m.buf)-1 && m.buf[end] >= 0x80 && end-at < 9 {
		end++
	}
	m.buf = slices.Replace(m.buf, at, end+1, binary.AppendUvarint(nil, m.extreme())...)
}

// flips inverts bits of some bytes.
func (m *Mutator) flips(p float64) {
	for i := range m.buf {
		if m.r.Float64() < p {
			m.buf[i] ^= 1 << m.r.IntN(8)
		}
	}
}

const parquetTail = 8 // length of the footer and magic

// footer returns the offset of the footer of a Parquet file.
func footer(data []byte) int {
	if len(data) < parquetTail {
		return 0
	}
	return max(0, len(data)-parquetTail-int(binary.LittleEndian.Uint32(data[len(data)-parquetTail:])))
}

// correctFooter makes the end of a Parquet file valid for 7 of 8 mutants, so that readers reach the edits in the
// footer.
func (m *Mutator) correctFooter() {
	n := len(m.buf)
	if n < 2*parquetTail || m.r.IntN(8) == 0 {
		return
	}
	begin := m.seed.edges[0]
	copy(m.buf[n-4:], "PAR1")
	binary.LittleEndian.PutUint32(m.buf[n-parquetTail:], uint32(max(0, n-parquetTail-begin)))
}
