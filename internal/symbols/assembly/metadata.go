package assembly

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Metadata is the metadata of an assembly or a portable PDB. It refers to the bytes that it was parsed from.
type Metadata struct {
	strings, blobs, guids, pdb []byte

	tables [numTables]table
}

// A table holds the rows of a metadata table, and where its columns lie in a row.
type table struct {
	rows    uint32
	size    uint32 // of a row
	offsets [9]uint8
	sizes   [9]uint8
	data    []byte
}

const (
	metadataMagic = 0x424a5342 // "BSJB"
	maxStreams    = 64
	maxVersion    = 256 // of the version string; II.24.2.1 has 255
)

// ParseMetadata parses the root of metadata (II.24.2) and the headers of its tables.
func ParseMetadata(data []byte) (*Metadata, error) {
	version := u32(data, 12)
	if u32(data, 0) != metadataMagic || version > maxVersion {
		return nil, fmt.Errorf("byte 0: no metadata signature: %w", ErrFormat)
	}
	m := &Metadata{}
	var tables []byte
	next := 20 + version
	for range min(u16(data, 18+version), maxStreams) {
		stream := at(data, u32(data, next), u32(data, next+4))
		name, _, ok := bytes.Cut(data[min(uint64(next)+8, uint64(len(data))):], []byte{0})
		if !ok || len(name) > 32 {
			return nil, fmt.Errorf("byte %d: invalid name of a stream: %w", next+8, ErrFormat)
		}
		switch string(name) {
		case "#~", "#-":
			tables = stream
		case "#Strings":
			m.strings = stream
		case "#Blob":
			m.blobs = stream
		case "#GUID":
			m.guids = stream
		case "#Pdb":
			m.pdb = stream
		}
		next += 8 + uint32(len(name)+4)&^3
	}
	if err := m.parseTables(tables); err != nil {
		return nil, err
	}
	return m, nil
}

// parseTables locates the tables in the stream #~ (II.24.2.6).
func (m *Metadata) parseTables(b []byte) error {
	const header = 24
	if len(b) < header {
		return fmt.Errorf("no tables: %w", ErrFormat)
	}
	heaps, valid := b[6], binary.LittleEndian.Uint64(b[8:])
	if valid>>numTables != 0 {
		return fmt.Errorf("unknown tables %#x: %w", valid, ErrFormat)
	}
	var rows [numTables]uint32
	next := uint32(header)
	for rest := valid; rest != 0; rest &= rest - 1 {
		rows[bits.TrailingZeros64(rest)] = u32(b, next)
		next += 4
	}
	if heaps&0x40 != 0 { // the compiler's own data
		next += 4
	}
	width := rows
	m.typeSystemRows(&width)
	for i := range m.tables {
		t := &m.tables[i]
		t.rows = rows[i]
		if t.rows == 0 {
			continue
		}
		t.layout(schemas[i], heaps, &width)
		if t.data = at(b, next, uint32(min(uint64(t.size)*uint64(t.rows), 1<<32-1))); t.data == nil {
			return fmt.Errorf("table %#x: %d rows exceed the metadata: %w", i, t.rows, ErrFormat)
		}
		next += t.size * t.rows
	}
	return nil
}

// typeSystemRows adds the row counts of the assembly's tables, which a portable PDB states in the stream #Pdb because
// the sizes of its own indexes depend on them.
func (m *Metadata) typeSystemRows(rows *[numTables]uint32) {
	if len(m.pdb) < 32 {
		return
	}
	next := uint32(32)
	for rest := binary.LittleEndian.Uint64(m.pdb[24:]) & (1<<numTables - 1); rest != 0; rest &= rest - 1 {
		rows[bits.TrailingZeros64(rest)] = u32(m.pdb, next)
		next += 4
	}
}

// layout computes the sizes of the columns.
func (t *table) layout(schema string, heaps uint8, rows *[numTables]uint32) {
	for col := 0; schema != ""; col++ {
		letter := schema[0]
		schema = schema[1:]
		size := uint8(2)
		switch letter {
		case '2':
		case '4':
			size = 4
		case 'S', 'G', 'B':
			if heaps&(1<<strings.IndexByte("SGB", letter)) != 0 {
				size = 4
			}
		case 'T':
			n, _ := strconv.ParseUint(schema[:2], 16, 8)
			schema = schema[2:]
			if rows[n] >= 1<<16 {
				size = 4
			}
		default:
			targets, tag := coded(letter)
			for _, n := range targets {
				if n != noTable && rows[n] >= 1<<(16-tag) {
					size = 4
				}
			}
		}
		t.offsets[col], t.sizes[col] = uint8(t.size), size
		t.size += uint32(size)
	}
}

// Rows returns the number of rows of a table.
func (m *Metadata) Rows(t Table) uint32 { return m.tables[t].rows }

// Cell returns the value of a column of a row; the first row is 1. It returns 0 if there is no such row.
func (m *Metadata) Cell(t Table, row uint32, column int) uint32 {
	tab := &m.tables[t]
	if row == 0 || row > tab.rows {
		return 0
	}
	offset := (row-1)*tab.size + uint32(tab.offsets[column])
	if tab.sizes[column] == 4 {
		return u32(tab.data, offset)
	}
	return uint32(u16(tab.data, offset))
}

// maxName bounds a name. The specification allows 1,023 bytes; compilers write longer ones for generated classes.
const maxName = 1 << 14

// String returns a string of the heap #Strings, at most maxName bytes of it.
func (m *Metadata) String(offset uint32) string {
	if uint64(offset) >= uint64(len(m.strings)) {
		return ""
	}
	b := m.strings[offset:]
	b = b[:min(len(b), maxName)]
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// Blob returns a blob of the heap #Blob, which belongs to the metadata.
func (m *Metadata) Blob(offset uint32) []byte {
	if uint64(offset) >= uint64(len(m.blobs)) {
		return nil
	}
	size, rest, ok := Compressed(m.blobs[offset:])
	if !ok || uint64(size) > uint64(len(rest)) {
		return nil
	}
	return rest[:size:size]
}

// GUID returns the GUID with a number, which starts at 1, in the order of the file.
func (m *Metadata) GUID(number uint32) (id [16]byte) {
	if number > 0 && uint64(number)*16 <= uint64(len(m.guids)) {
		copy(id[:], m.guids[16*(number-1):])
	}
	return id
}

// MVID returns the GUID that identifies a build of the assembly, in the order of the file.
func (m *Metadata) MVID() [16]byte { return m.GUID(m.Cell(module, 1, ModuleMVID)) }

// PDB returns the identity of a portable PDB. It returns false if m is not one.
func (m *Metadata) PDB() (id PDBID, ok bool) {
	if len(m.pdb) < 20 {
		return id, false
	}
	copy(id.GUID[:], m.pdb)
	id.Stamp = u32(m.pdb, 16)
	return id, true
}

// Compressed reads a compressed unsigned integer (II.23.2).
func Compressed(b []byte) (v uint32, rest []byte, ok bool) {
	switch {
	case len(b) >= 1 && b[0]&0x80 == 0:
		return uint32(b[0]), b[1:], true
	case len(b) >= 2 && b[0]&0xc0 == 0x80:
		return uint32(b[0]&0x3f)<<8 | uint32(b[1]), b[2:], true
	case len(b) >= 4 && b[0]&0xe0 == 0xc0:
		return uint32(b[0]&0x1f)<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]), b[4:], true
	}
	return 0, b, false
}

// CompressedSigned reads a compressed signed integer (II.23.2).
func CompressedSigned(b []byte) (v int32, rest []byte, ok bool) {
	u, rest, ok := Compressed(b)
	v = int32(u >> 1)
	if u&1 != 0 {
		switch len(b) - len(rest) {
		case 1:
			v -= 1 << 6
		case 2:
			v -= 1 << 13
		case 4:
			v -= 1 << 28
		}
	}
	return v, rest, ok
}
