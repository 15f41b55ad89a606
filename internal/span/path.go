package span

import (
	"encoding/binary"
	"strconv"

	"github.com/ntconv/ntconv"
)

// An ActivityPath is an activity ID in the format of .NET's ActivityTracker. Its first 12 bytes are a list of numbers:
// the application domain, then one number per nested activity. The last 4 bytes are a checksum combined with the
// process ID (System.Diagnostics.Tracing.ActivityTracker, AddIdToGuid). The prefixes of a path are the IDs of its
// ancestors.
type ActivityPath struct {
	id    ntconv.GUID
	salt  uint32 // process ID in the checksum
	depth int
	steps [maxPathSteps]pathStep
}

// A pathStep is one number of a path.
type pathStep struct {
	value    uint32
	end      uint8 // nibbles from the start of the path to the end of this number
	overflow bool  // the path of the parent had no space; the number follows the path of a more distant ancestor
}

const (
	pathBytes    = 12
	maxPathSteps = 2 * pathBytes // every number has at least one nibble

	pathChecksum = 0x599D99AD // constant term of the checksum
	// pidBits is the maximum number of bits of a process ID. The ID in the checksum is not compared with that of the
	// process, because a container may record a different one than its runtime sees. A random GUID passes with a
	// probability of 1/1,024.
	pidBits = 22
)

// Values of the first nibble of a number. A nibble from 1 to 10 is the number itself.
const (
	pathEnd       = 0x0
	pathImmediate = 0xA // largest number in one nibble
	pathOverflow  = 0xB // the next nibble begins a number of several bytes
	pathMultiByte = 0xC // 1 to 4 little-endian bytes for 0xC to 0xF
)

// ParseActivityPath decodes an activity ID. It returns false if the ID is not a path.
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

// pathSum returns the checksum of the path in id, without the process ID.
func pathSum(id *ntconv.GUID) uint32 {
	return binary.LittleEndian.Uint32(id[0:]) + binary.LittleEndian.Uint32(id[4:]) + binary.LittleEndian.Uint32(id[8:]) + pathChecksum
}

// nibble returns a nibble of the path. The high nibble of a byte comes first.
func (p *ActivityPath) nibble(i int) byte {
	if i%2 == 0 {
		return p.id[i/2] >> 4
	}
	return p.id[i/2] & 0xf
}

// step decodes the number that begins at nibble at, and returns the nibble after it.
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
	// The bytes are aligned. If there is a nibble before them, it holds the high bits.
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
	// ActivityTracker writes an extra zero byte after a number from 256 to 4,095 whose high bits are in a nibble.
	// Unless it is skipped, it ends the path.
	if high && size == 1 && first+size < pathBytes && p.id[first+size] == 0 {
		next += 2
	}
	return s, next, true
}

// Depth returns the number of numbers in the path. The first one is the application domain, so an activity without a
// parent has depth 2.
func (p *ActivityPath) Depth() int { return p.depth }

// Ancestor returns the activity ID of the first depth numbers of the path: the ID itself for depth >= Depth, and the
// zero GUID for depth <= 0.
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

// String returns the path in the notation of Microsoft's TraceEvent library: //1/2/3, with $ before a number that
// follows a more distant ancestor than its parent.
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
