package span

import (
	"encoding/binary"
	"strconv"

	"github.com/ntconv/ntconv"
)

// An ActivityPath is an activity ID that .NET's ActivityTracker has made: the first 12 bytes are a list of numbers, one
// per nested activity and the first of them that of the application domain, and the last 4 are a checksum combined with
// the process ID (System.Diagnostics.Tracing.ActivityTracker, AddIdToGuid). Its ancestors are its prefixes.
type ActivityPath struct {
	id    ntconv.GUID
	salt  uint32 // the process ID in the checksum
	depth int
	steps [maxPathSteps]pathStep
}

// A pathStep is one number of the path.
type pathStep struct {
	value    uint32
	end      uint8 // nibbles from the start of the path up to the end of this number
	overflow bool  // the number had no place after that of the parent, but after that of a more distant ancestor
}

const (
	pathBytes    = 12
	maxPathSteps = 2 * pathBytes // every number takes at least a nibble

	pathChecksum = 0x599D99AD // is added to the checksum
	// pidBits is how many bits a process ID may have. A container records another ID than the one that its runtime
	// sees, so the ID in the checksum is not compared with that of the process. An arbitrary GUID passes with a
	// probability of 1 to 1,024.
	pidBits = 22
)

// Nibbles that begin a number of a path. Those from 1 to 10 are the number.
const (
	pathEnd       = 0x0
	pathImmediate = 0xA // the largest number of one nibble
	pathOverflow  = 0xB // the next nibble begins a number of several bytes
	pathMultiByte = 0xC // 1 to 4 little-endian bytes for 0xC to 0xF
)

// ParseActivityPath decodes an activity ID, and returns false if it is not a path.
func ParseActivityPath(id ntconv.GUID) (p ActivityPath, ok bool) {
	salt := pathSum(&id) ^ binary.LittleEndian.Uint32(id[pathBytes:])
	if salt>>pidBits != 0 {
		return p, false
	}
	p = ActivityPath{id: id, salt: salt}
	for at := 0; at < 2*pathBytes && p.nibble(at) != pathEnd; {
		step, next, ok := p.step(at)
		if !ok {
			return ActivityPath{}, false
		}
		step.end = uint8(next)
		p.steps[p.depth], at = step, next
		p.depth++
	}
	return p, p.depth > 0
}

func pathSum(id *ntconv.GUID) uint32 {
	return binary.LittleEndian.Uint32(
		id[0:],
	) + binary.LittleEndian.Uint32(
		id[4:],
	) + binary.LittleEndian.Uint32(
		id[8:],
	) + pathChecksum
}

// nibble returns a nibble of the path. The high half of a byte comes first.
func (p *ActivityPath) nibble(i int) byte {
	if i%2 == 0 {
		return p.id[i/2] >> 4
	}
	return p.id[i/2] & 0xf
}

// step decodes the number that begins at a nibble.
func (p *ActivityPath) step(at int) (s pathStep, next int, ok bool) {
	code := p.nibble(at)
	if code <= pathImmediate {
		return pathStep{value: uint32(code)}, at + 1, true
	}
	if code == pathOverflow {
		if at++; at == 2*pathBytes || p.nibble(at) < pathMultiByte {
			return s, 0, false
		}
		code, s.overflow = p.nibble(at), true
	}
	// The bytes begin at a whole byte. A nibble before them, if there is one, holds the high bits.
	first, size := at/2+1, int(code-pathMultiByte)+1
	if first+size > pathBytes {
		return s, 0, false
	}
	if at%2 == 0 {
		s.value = uint32(p.nibble(at + 1))
	}
	high := s.value != 0
	for i := first + size - 1; i >= first; i-- {
		s.value = s.value<<8 | uint32(p.id[i])
	}
	next = 2 * (first + size)
	// ActivityTracker writes a zero byte too many after numbers from 256 to 4,095 with their high bits in a nibble. If
	// a path went on after it, the zero would end it.
	if high && size == 1 && first+size < pathBytes && p.id[first+size] == 0 {
		next += 2
	}
	return s, next, true
}

// Depth returns how many numbers the path has. The first is the application domain, so that an activity without a
// parent has 2.
func (p *ActivityPath) Depth() int { return p.depth }

// Ancestor returns the activity ID of the path's first numbers, of which there are depth. It is the ID itself for
// Depth.
func (p *ActivityPath) Ancestor(depth int) (id ntconv.GUID) {
	if depth >= p.depth {
		return p.id
	}
	if depth <= 0 {
		return id
	}
	end := int(p.steps[depth-1].end)
	copy(id[:(end+1)/2], p.id[:])
	if end%2 == 1 {
		id[end/2] &= 0xf0
	}
	binary.LittleEndian.PutUint32(id[pathBytes:], pathSum(&id)^p.salt)
	return id
}

// String returns the path as Microsoft's TraceEvent library does: //1/2/3, with $ before a number that had no place
// after that of its parent.
func (p *ActivityPath) String() string {
	b := []byte{'/'}
	for _, s := range p.steps[:p.depth] {
		separator := byte('/')
		if s.overflow {
			separator = '$'
		}
		b = strconv.AppendUint(append(b, separator), uint64(s.value), 10)
	}
	return string(b)
}
