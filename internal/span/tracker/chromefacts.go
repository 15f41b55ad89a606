package tracker

import (
	"bytes"
	"encoding/hex"
	"slices"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/span"
)

// facts are the args of a slice that state what the slice was as a span, unquoted. Timelines write them, see
// span.Span.AppendFact.
type facts [span.FactCount][]byte

// factsIn returns the facts among the args of a slice. Without valid IDs, args of these names mean something else; then
// ok is false.
func (t *Tracker) factsIn(args []byte) (f facts, c span.Context, ok bool) {
	// The search is a fast path: most args have no IDs.
	if t.opts.SerialIDs || !bytes.Contains(args, []byte(span.FactSpanID.String())) || args[0] != '{' {
		return f, c, false
	}
	for name, value := range jsonio.EachMember(args) {
		if fact, found := factOf(name); found && value[0] == '"' {
			f[fact], _ = jsonio.AppendUnquoted(f[fact][:0], value)
		}
	}
	ok = readID(c.TraceID[:], f[span.FactTraceID]) && readID(c.ID[:], f[span.FactSpanID]) && !c.TraceID.IsZero() && !c.ID.IsZero()
	return f, c, ok
}

// factOf returns the fact that a quoted name denotes.
func factOf(quoted []byte) (span.Fact, bool) {
	if len(quoted) < 2 {
		return 0, false
	}
	for fact := range span.FactCount {
		if string(quoted[1:len(quoted)-1]) == fact.String() {
			return fact, true
		}
	}
	return 0, false
}

// readID reads an ID of len(dst) bytes in hexadecimal digits.
func readID(dst, digits []byte) bool {
	if len(digits) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, digits)
	return err == nil
}

// restore sets what the facts state about a slice. It returns false, and sets nothing, if another span has the same
// IDs: then the args are notes of a program about the span in which the slice occurred.
func (t *Tracker) restore(o *open, f *facts, c span.Context) bool {
	key := spanKey{o.Process, c}
	if t.ended.has(key) {
		return false
	}
	t.ended.add(key)
	o.Context = c
	if !readID(o.ParentID[:], f[span.FactParentSpanID]) {
		o.ParentID = span.ID{}
	}
	if i := slices.Index(span.KindNames(), string(f[span.FactKind])); i >= 0 {
		o.Kind = span.Kind(i)
	}
	if i := slices.Index(span.StatusNames(), string(f[span.FactStatus])); i >= 0 {
		o.Status = span.StatusCode(i)
	}
	o.StatusMessage, o.TraceState = string(f[span.FactStatusMessage]), string(f[span.FactTraceState])
	o.Scope = t.scopeOf(string(f[span.FactScope]))
	return true
}
