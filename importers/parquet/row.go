package parquet

import (
	"encoding/hex"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// row converts the current row to an event. It returns false if the row has no time. It reuses e.payload.
func (s *foreign) row(e *rowEvent) (ok bool, err error) {
	r := &s.reader
	v, _ := r.value(s.roles.at[roleTime])
	at, ok := s.time.at(v)
	if !ok {
		return false, nil
	}
	*e = rowEvent{time: at, row: r.total, cpu: ntconv.CPUUnknown, payload: e.payload[:0]}
	end, paired := s.endOf(at)
	e.end = end
	e.lane = s.owners.lane(ownerKey{pid: s.number64(rolePID), tid: s.number64(roleTID), process: s.textOf(roleProcess), thread: s.textOf(roleThread)})
	if n := s.number64(roleCPU); n >= 0 {
		e.cpu = int32(n)
	}
	if e.stack, err = s.stackOf(); err != nil {
		return false, err
	}
	e.ids = s.idsOf()
	e.types, err = s.types.of(s.providerOf(), s.textOf(roleName), paired)
	if err != nil {
		return false, err
	}
	s.payloadOf(e)
	return true, nil
}

// number64 returns the value of an integer role, or unknownID if there is none.
func (s *foreign) number64(role string) int64 {
	i, ok := s.roles.at[role]
	if !ok {
		return unknownID
	}
	v, ok := s.reader.value(i)
	if !ok {
		return unknownID
	}
	return s.roles.columns[i].int(v)
}

// textOf returns the value of a text role, or "" if there is none.
func (s *foreign) textOf(role string) string {
	i, ok := s.roles.at[role]
	if !ok {
		return ""
	}
	v, ok := s.reader.value(i)
	if !ok {
		return ""
	}
	return s.cache.text(v.Bytes())
}

func (s *foreign) providerOf() string {
	if p := s.textOf(roleProvider); p != "" {
		return p
	}
	return s.textOf(roleCategory)
}

// stackOf returns the stack of the current row, or nil.
func (s *foreign) stackOf() (*ntconv.Stack, error) {
	i, ok := s.roles.at[roleStack]
	if !ok {
		return nil, nil
	}
	values := s.reader.batch.Row(i, s.reader.at)
	if !s.roles.columns[i].repeated() {
		if values[0].IsNull() {
			return nil, nil
		}
		return s.stacks.folded(string(values[0].Bytes()))
	}
	names := s.stacks.names[:0]
	for _, v := range values {
		if !v.IsNull() {
			names = append(names, s.cache.text(v.Bytes()))
		}
	}
	s.stacks.names = names
	return s.stacks.stack(names)
}

// idsOf returns the trace ID and span ID of the current row.
func (s *foreign) idsOf() (ids spanIDs) {
	s.idOf(roleTraceID, ids.trace[:])
	s.idOf(roleSpanID, ids.span[:])
	return ids
}

// idOf decodes an ID into dst. The ID has len(dst) bytes, or twice as many hexadecimal digits.
func (s *foreign) idOf(role string, dst []byte) {
	i, ok := s.roles.at[role]
	if !ok {
		return
	}
	v, ok := s.reader.value(i)
	if !ok || len(v.Bytes()) == 0 {
		return
	}
	text := v.Bytes()
	if len(text) == len(dst) {
		copy(dst, text)
		return
	}
	var digits [32]byte
	n := 0
	for _, c := range text {
		if c == '-' {
			continue
		}
		if n == len(digits) {
			n++
			break
		}
		digits[n] = c
		n++
	}
	if n != 2*len(dst) {
		s.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "IDs in the column "+s.roles.columns[i].name+" that are not hexadecimal digits of the usual number")
		return
	}
	if _, err := hex.Decode(dst, digits[:n]); err != nil {
		clear(dst)
		s.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "IDs in the column "+s.roles.columns[i].name+" that are not hexadecimal digits of the usual number")
	}
}

// payloadOf appends the fields of the current row that are not NULL, as its type declares them.
func (s *foreign) payloadOf(e *rowEvent) {
	if s.sample {
		n := int64(1)
		if i, ok := s.roles.at[roleValue]; ok {
			n = 0
			if v, ok := s.reader.value(i); ok {
				n = s.roles.columns[i].weight(v)
			}
		}
		e.payload = bin.AppendVaruint(e.payload, uint64(max(n, 0)))
		e.payload = bin.AppendVarint(e.payload, n)
	}
	for i, column := range s.fields {
		c := &s.roles.columns[column]
		values := s.reader.batch.Row(column, s.reader.at)
		switch {
		case s.types.isNull(i):
		case len(values) == 1 && values[0].IsNull(): // the type declares the field because there are too many types
			e.payload = c.appendZero(e.payload)
		case !c.repeated():
			e.payload = c.appendField(e.payload, values[0], s.o.Report)
		case c.values >= 0:
			s.json = c.json(s.json[:0], values, s.reader.batch.Row(c.values, s.reader.at), &s.roles.columns[c.values])
			e.payload = appendText(e.payload, string(s.json), s.o.Report)
		default:
			s.json = c.json(s.json[:0], values, nil, nil)
			e.payload = appendText(e.payload, string(s.json), s.o.Report)
		}
	}
}

// A stringCache caches recent strings of columns, because values repeat.
type stringCache map[string]string

// maxStrings is the maximum number of strings in a stringCache, maxStringBytes their maximum size.
const (
	maxStrings     = 1 << 14
	maxStringBytes = 1 << 10
)

// text returns b as a string of valid UTF-8.
func (t stringCache) text(b []byte) string {
	if s, ok := t[string(b)]; ok {
		return s
	}
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	if len(b) > maxStringBytes {
		return s
	}
	if len(t) >= maxStrings {
		clear(t)
	}
	t[string(b)] = s
	return s
}
