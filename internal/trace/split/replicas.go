package split

import (
	"encoding/binary"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// A symbolClass states whether events of a type describe methods, modules, symbols or processes.
type symbolClass uint8

const (
	notSymbols  symbolClass = iota
	symbols                 // needed by later parts
	lateSymbols             // needed by earlier parts, too: the trace may describe an address only after its last use
)

// classOf returns the class of a type. A recorder states what it knows at the end in rundown and Universal.System events
// and when something is unloaded. A method that is loaded after a part is in no stack of the part.
func classOf(t *ntconv.Type) symbolClass {
	switch t.Provider {
	case clr.Rundown:
		return lateSymbols
	case recording.Provider:
		if recording.IsWeight(t) || IsMark(t) {
			return notSymbols
		}
		return lateSymbols // symbols of stacks of names
	}
	switch clr.ClassOf(t) {
	case clr.ClassNone, clr.ClassSample, clr.ClassUniversalCPU, clr.ClassUniversalCSwitch, clr.ClassUniversalOther:
		return notSymbols
	case clr.ClassUniversalProcess, clr.ClassUniversalMapping, clr.ClassUniversalSymbol,
		clr.ClassUniversalMappingMetadata, clr.ClassProcessInfo:
		return lateSymbols
	case clr.ClassMethod:
		if t.ID == methodUnload || t.ID == methodUnloadVerbose {
			return lateSymbols
		}
	case clr.ClassModule:
		if t.ID == moduleUnload {
			return lateSymbols
		}
	}
	return symbols
}

// IDs of events of the .NET runtime that describe what they end.
const (
	methodUnload        = 142
	methodUnloadVerbose = 144
	moduleUnload        = 153
)

// symbolTypes caches the class of each type.
type symbolTypes struct {
	classes map[*ntconv.Type]symbolClass
	last    *ntconv.Type
	class   symbolClass
}

func (s *symbolTypes) of(t *ntconv.Type) symbolClass {
	if t == s.last {
		return s.class
	}
	class, known := s.classes[t]
	if !known {
		class = classOf(t)
		if s.classes == nil {
			s.classes = map[*ntconv.Type]symbolClass{}
		}
		s.classes[t] = class
	}
	s.last, s.class = t, class
	return class
}

// A symbolEvent is an event kept for replicas. It has no stack, which replicas do not need.
type symbolEvent struct {
	number  int64          // among the symbol events of the trace
	part    int            // to which the original belongs
	typ     *ntconv.Type   // counterparts, see identities
	thread  *ntconv.Thread //
	labels  *ntconv.Labels
	cpu     int32
	payload []byte
	refs    ref // what other processes may use

	kind        symbolKind
	first, last uint64 // addresses of codeSymbols
	method      uint64 // ID of the method of codeSymbols and codeMap, if the event states one
}

// A symbolKind is what a part needs to have so that it needs a symbol event.
type symbolKind uint8

const (
	context    symbolKind = iota // nothing: modules, processes, mappings
	codeSymbol                   // an address between first and last in a stack
	codeMap                      // a codeSymbol with this method
)

// describe sets the kind of an event and what it depends on.
func (x *symbolEvent) describe(e *ntconv.Event) {
	var m clr.Method
	var s clr.Symbol
	switch class := clr.ClassOf(e.Type); {
	case class == clr.ClassMethod && clr.ParseMethod(e, &m) && m.Size > 0:
		x.kind, x.first, x.last, x.method = codeSymbol, m.Start, m.Start+uint64(m.Size), m.MethodID
	case class == clr.ClassUniversalSymbol && clr.ParseSymbol(e, &s) && s.End >= s.Start:
		x.kind, x.first, x.last = codeSymbol, s.Start, s.End
	case class == clr.ClassILMap && len(e.Payload) >= 8:
		x.kind, x.method = codeMap, binary.LittleEndian.Uint64(e.Payload)
	}
}

// A symbolStore keeps symbol events in the order of the trace. Payloads share chunks of memory, so that the store needs
// little more than their bytes.
type symbolStore struct {
	events []symbolEvent
	chunk  []byte
	bytes  int64
}

const chunkSize = 256 << 10

// add keeps a copy of an event. typ and thread are the counterparts of its own.
func (s *symbolStore) add(e *ntconv.Event, typ *ntconv.Type, thread *ntconv.Thread, number int64, part int) {
	payload := s.copyOf(e.Payload)
	s.events = append(s.events, symbolEvent{
		number: number, part: part, typ: typ, thread: thread, labels: e.Labels, cpu: e.CPU,
		payload: payload, refs: refOf(e),
	})
	s.events[len(s.events)-1].describe(e)
}

// copyOf returns a copy of a payload in the chunks of the store.
func (s *symbolStore) copyOf(payload []byte) []byte {
	n := len(payload)
	if cap(s.chunk)-len(s.chunk) < n {
		s.chunk = make([]byte, 0, max(chunkSize, n))
	}
	at := len(s.chunk)
	s.chunk = append(s.chunk, payload...)
	s.bytes += int64(n)
	return s.chunk[at:len(s.chunk):len(s.chunk)]
}

// A ref identifies a mapping, or its metadata, that processes other than that of the event may refer to. The zero value
// is none.
type ref struct {
	class clr.Class
	host  string
	id    uint64
}

// refOf returns what an event describes for other processes.
func refOf(e *ntconv.Event) ref {
	var symbol clr.Symbol
	var meta clr.MappingMetadata
	switch class := clr.ClassOf(e.Type); {
	case class == clr.ClassUniversalSymbol && clr.ParseSymbol(e, &symbol):
		return ref{class, processOf(e.Thread).host, symbol.MappingID}
	case class == clr.ClassUniversalMappingMetadata && clr.ParseMappingMetadata(e, &meta):
		return ref{class, processOf(e.Thread).host, meta.ID}
	}
	return ref{}
}

// users are the parts whose processes use a mapping that an event of another process describes.
type users map[ref][]int

// learn notes the mapping that an event of a part describes.
func (u users) learn(e *ntconv.Event, part int) {
	var m clr.Mapping
	if clr.ClassOf(e.Type) != clr.ClassUniversalMapping || !clr.ParseMapping(e, &m) {
		return
	}
	host := processOf(e.Thread).host
	for _, r := range []ref{
		{clr.ClassUniversalSymbol, host, m.ID}, {clr.ClassUniversalMappingMetadata, host, m.MetadataID},
	} {
		if !slices.Contains(u[r], part) {
			u[r] = append(u[r], part)
		}
	}
}
