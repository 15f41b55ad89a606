package payload

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// Keys holds the JSON names in use in one object, each with the first suffix that may be free for it. Create one Keys
// per object. It is not safe for concurrent use.
type Keys map[string]int

// Add reserves a name for the next member of the object and returns it quoted, with its colon. If the name is in use,
// Add appends the position of the member, or the next number that makes the name unique.
func (k Keys) Add(name string, position int) string {
	key := quotedKey(name)
	free, taken := k[key]
	if !taken {
		k[key] = 0
		return key
	}
	// All suffixes from the position of an earlier member with this name to the suffix that it got are in use. free
	// skips them, so that many equal names take linear time.
	for n := max(position, free); ; n++ {
		next := quotedKey(name + "_" + strconv.Itoa(n))
		if _, taken := k[next]; !taken {
			k[key], k[next] = n+1, 0
			return next
		}
	}
}

// Take reserves a key that Add of another Keys has returned.
func (k Keys) Take(key string) {
	if _, taken := k[key]; !taken {
		k[key] = 0
	}
}

// quotedKey returns a name as a JSON string followed by a colon.
func quotedKey(name string) string {
	return string(append(jsonio.AppendQuoted(nil, name), ':'))
}
