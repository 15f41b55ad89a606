package span

import (
	"encoding/hex"
	"slices"
	"strconv"
)

// A Fact is a property of a span that outputs and expressions name. Times, attributes, events and links are none.
type Fact uint8

const (
	FactTraceID Fact = iota
	FactSpanID
	FactParentSpanID
	FactKind
	FactScope // name of the scope
	FactStatus
	FactStatusMessage
	FactTraceState
	// FactCount is the number of facts.
	FactCount
)

var factNames = [FactCount]string{
	"trace_id", "span_id", "parent_span_id", "kind", "scope", "status", "status_message", "trace_state",
}

// String returns the name of the fact. The tables of exporters/parquet have columns of the same names.
func (f Fact) String() string { return factNames[f] }

var (
	kindNames   = [...]string{"unspecified", "internal", "server", "client", "producer", "consumer"}
	statusNames = [...]string{"unset", "ok", "error"}
)

// KindNames returns the names of all kinds that trace.proto defines, by number.
func KindNames() []string { return slices.Clone(kindNames[:]) }

// StatusNames returns the names of all status codes that trace.proto defines, by number.
func StatusNames() []string { return slices.Clone(statusNames[:]) }

// String returns the name of the kind, or its number if trace.proto does not define the kind.
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

// String returns the name of the status, or its number if trace.proto does not define the status.
func (c StatusCode) String() string { return nameOf(statusNames[:], int(c)) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return strconv.Itoa(i)
	}
	return names[i]
}

// AppendFact appends a fact about a span as timelines show it, and returns the extended slice. It appends nothing for
// what a timeline omits: synthetic IDs, kinds that are internal or unspecified, a status that is not set, and the scope
// of an interval of the runtime.
func (s *Span) AppendFact(dst []byte, f Fact) []byte {
	switch f {
	case FactTraceID:
		if !s.MadeID && !s.TraceID.IsZero() {
			return hex.AppendEncode(dst, s.TraceID[:])
		}
	case FactSpanID:
		if !s.MadeID && !s.Context.ID.IsZero() {
			return hex.AppendEncode(dst, s.Context.ID[:])
		}
	case FactParentSpanID:
		if !s.MadeID && !s.ParentID.IsZero() {
			return hex.AppendEncode(dst, s.ParentID[:])
		}
	case FactKind:
		if s.Kind > KindInternal && int(s.Kind) < len(kindNames) {
			return append(dst, kindNames[s.Kind]...)
		}
	case FactScope:
		if s.Evidence != FromRuntime && s.Scope != nil {
			return append(dst, s.Scope.Name...)
		}
	case FactStatus:
		if s.Status != StatusUnset {
			return append(dst, s.Status.String()...)
		}
	case FactStatusMessage:
		return append(dst, s.StatusMessage...)
	case FactTraceState:
		return append(dst, s.TraceState...)
	}
	return dst
}
