package pass

import "github.com/ntconv/ntconv"

// An Entry is an entry of an ntconv.Report as JSON.
type Entry struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Count    uint64 `json:"count"`
	Offset   *int64 `json:"offset,omitempty"` // byte offset of the first occurrence in the decompressed input, or nil
	Text     string `json:"text"`
	Detail   string `json:"detail,omitempty"`
	code     ntconv.Code
}

// Entries returns the entries of a report, which may be nil. The result is not nil.
func Entries(r *ntconv.Report) []Entry {
	list := []Entry{}
	for _, e := range r.Entries() {
		j := Entry{
			Code:     e.Code.String(),
			Severity: e.Code.Severity().String(),
			Count:    e.Count,
			Text:     e.Code.TextFor(e.Count),
			Detail:   e.Detail,
			code:     e.Code,
		}
		if e.Offset >= 0 {
			j.Offset = &e.Offset
		}
		list = append(list, j)
	}
	return list
}
