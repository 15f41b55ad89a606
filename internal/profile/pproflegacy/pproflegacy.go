// Package pproflegacy recognizes profiles in the formats that preceded profile.proto, text and binary, and translates
// them to profile.proto. The library of google/pprof does the translation.
package pproflegacy

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"sync"

	"github.com/google/pprof/profile"
)

// matchBytes is the number of bytes of an input that Match examines.
const matchBytes = 256

// Match reports whether the beginning of a decompressed input looks like one of the older formats. Inputs in
// profile.proto may match as well: try profile.proto first.
func Match(head []byte) bool {
	head = head[:min(len(head), matchBytes)]
	return text().Match(head) || isCPU(head)
}

// text matches the first line of the text formats. It is compiled at first use, because every start of a program would
// pay for it.
var text = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A\s*(--- (contentionz|threadz|heapz|growthz|mutex|contention|Thread)|heap profile:|\S+ profile: total \d+\n)`)
})

// isCPU reports whether head is the header of a CPU profile of C++ or Java. It consists of words of 4 or 8 bytes: 0,
// the number 3 of further header words, and the version 0 or 1.
func isCPU(head []byte) bool {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if len(head) >= 12 && order.Uint32(head) == 0 && order.Uint32(head[4:]) == 3 && order.Uint32(head[8:]) <= 1 {
			return true
		}
		if len(head) >= 24 && order.Uint64(head) == 0 && order.Uint64(head[8:]) == 3 && order.Uint64(head[16:]) <= 1 {
			return true
		}
	}
	return false
}

// mapping matches lines of /proc/self/maps as the library does, and some others.
var mapping = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:0x)?[[:xdigit:]]+(?:-|\s+)(?:0x)?[[:xdigit:]]+`)
})

// Lookups returns an upper bound on the comparisons of an address with a mapping that Convert makes. The library
// compares each address with each mapping.
func Lookups(data []byte) int64 {
	mappings, match := 0, mapping()
	for line := range bytes.Lines(data) {
		if match.Match(line[:min(len(line), matchBytes)]) {
			mappings++
		}
	}
	if mappings == 0 || !Match(data) {
		return 0
	}
	return int64(mappings) * int64(addresses(data))
}

// addresses returns an upper bound on the distinct addresses of a profile.
func addresses(data []byte) int {
	if text().Match(data[:min(len(data), matchBytes)]) {
		return bytes.Count(data, []byte("0x"))
	}
	size := 8
	// In a profile with words of 4 bytes, the second word is the number 3.
	if binary.LittleEndian.Uint32(data[4:])|binary.BigEndian.Uint32(data[4:]) != 0 {
		size = 4
	}
	words := make(map[string]struct{})
	for ; len(data) >= size; data = data[size:] {
		words[string(data[:size])] = struct{}{}
	}
	return len(words)
}

// Convert returns a decompressed profile of one of the older formats as an uncompressed message of profile.proto. Its
// time grows with the size and with Lookups. Errors are those of the library.
func Convert(data []byte) ([]byte, error) {
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
