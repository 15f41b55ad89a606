package html

import "strings"

const (
	// maxTexts and maxTextBytes bound the strings of one part of a recording.
	maxTexts, maxTextBytes = 1 << 20, 64 << 20
	// moreTexts replaces strings beyond the limits.
	moreTexts = "(further names)"
)

// texts numbers strings. The number of "" is 0. The zero value is ready to use. It is not safe for concurrent use.
type texts struct {
	ids   map[string]uint32
	list  []string
	bytes int
	more  int64 // number of calls with a string beyond the limits
}

// id returns the number of a string, of which it keeps a copy.
func (t *texts) id(s string) uint32 {
	if s == "" {
		return 0
	}
	if id, ok := t.ids[s]; ok {
		return id
	}
	if t.ids == nil {
		t.ids, t.list = make(map[string]uint32), []string{""}
	}
	if len(t.list) >= maxTexts || t.bytes+len(s) > maxTextBytes {
		t.more++
		if s = moreTexts; t.ids[s] != 0 {
			return t.ids[s]
		}
	}
	s = strings.Clone(s)
	id := uint32(len(t.list))
	t.ids[s], t.list = id, append(t.list, s)
	t.bytes += len(s)
	return id
}

// at returns the string with a number.
func (t *texts) at(id uint32) string {
	if id == 0 {
		return ""
	}
	return t.list[id]
}
