package chromeevent

import (
	"github.com/ntconv/ntconv"
)

// Phases with a defined meaning. Events with other phases are preserved unchanged.
const (
	PhaseBegin         = "B" // begins a slice of a thread
	PhaseEnd           = "E"
	PhaseComplete      = "X" // a slice with its duration
	PhaseInstant       = "i"
	PhaseOldInstant    = "I" // PhaseInstant in older files
	PhaseCounter       = "C"
	PhaseAsyncBegin    = "b" // begins a slice that is identified by an ID
	PhaseAsyncInstant  = "n"
	PhaseAsyncEnd      = "e"
	PhaseOldAsyncBegin = "S"
	PhaseOldAsyncInto  = "T" // a step that begins
	PhaseOldAsyncPast  = "p" // a step that has ended
	PhaseOldAsyncEnd   = "F"
	PhaseFlowBegin     = "s"
	PhaseFlowStep      = "t"
	PhaseFlowEnd       = "f"
	PhaseObjectNew     = "N"
	PhaseObjectState   = "O"
	PhaseObjectDelete  = "D"
	PhaseMetadata      = "M"
	PhaseSample        = "P"
	PhaseMark          = "R"
	PhaseClockSync     = "c"
	PhaseMemoryDump    = "v"
	PhaseMemoryDumpAll = "V"
)

// A Member is a bit set of members of an event. It has bits only for members whose presence is not visible from their
// values.
type Member uint16

const (
	HasName Member = 1 << iota
	HasCategory
	HasTime           // Event.Time is the member ts
	HasDuration       // dur
	HasThreadTime     // tts
	HasThreadDuration // tdur
	HasIDScope        // scope
	HasScope          // s
	HasBindPoint      // bp
	HasFlowIn         // flow_in
	HasFlowOut        // flow_out
	HasPID
	HasTID
)

// An Event is an event of Chrome's trace event format. All times are in nanoseconds. Byte slices are borrowed from the
// Parser or Decoder that set them. Strings may be retained.
//
// The members sf and stack become the stack of the event of the trace; they are not in its payload.
type Event struct {
	// Phase is the member ph, "" if absent.
	Phase string
	// Name and Category are the members name and cat in UTF-8. Category may be a comma-separated list.
	Name, Category string
	// Has contains the members that are present.
	Has Member
	// Time is the member ts, counted from the start of the file's clock. If ts is absent, HasTime is not set and Time
	// is a time at which the event can be delivered.
	Time int64
	// Duration, ThreadTime and ThreadDuration are the members dur, tts and tdur.
	Duration, ThreadTime, ThreadDuration int64
	// PID and TID are the members pid and tid as JSON, usually numbers. They are nil if absent.
	PID, TID []byte
	// ID is the member id or id2, BindID the member bind_id.
	ID, BindID ID
	// IDScope is the member scope, which distinguishes equal IDs. Scope is the member s of an instant: g, p or t.
	// BindPoint is the member bp of a flow: e for the enclosing slice.
	IDScope, Scope, BindPoint string
	// FlowIn and FlowOut are the members flow_in and flow_out.
	FlowIn, FlowOut bool
	// Args is the member args as JSON, or nil if absent. It is an object in all files that conform to the format.
	Args []byte
	// Other contains all other members as JSON, without the braces of an object: `"cname":"good","sf2":1`. It is nil if
	// there are none.
	Other []byte
	// StackID and StackNames are the members sf and stack as JSON. Only a Parser sets them. Code that creates an event
	// of a trace must set its stack from them or append them to Other.
	StackID, StackNames []byte
	// TopLevel means that this is not an event but a member of the outermost object of the file, such as metadata or
	// otherData. Name is its name and Args its value.
	TopLevel bool
}

// An IDKind states which member contains an ID, and thus its scope.
type IDKind uint8

const (
	NoID     IDKind = iota
	PlainID         // id, bind_id
	LocalID         // id2.local: unique in the process
	GlobalID        // id2.global
)

// An ID identifies an asynchronous slice, a flow or an object.
type ID struct {
	Kind IDKind
	// Number means that the ID is a number in JSON. Text is its text, without quotes if it is a string.
	Number bool
	Text   []byte
}

// Attributes of the types that an Encoder creates.
const (
	attrPhase    = "chrome.ph"     // phase, or phaseField if the phase is a field
	attrLayout   = "chrome.layout" // meaning of the fields, see layout.go
	attrCategory = "chrome.cat"    // category if it differs from the provider
	attrName     = "chrome.name"   // name if it differs from the name of the type
	attrAbsent   = "chrome.absent" // absent members: name, cat, ts
)

// Attributes of threads whose PID or TID differs from the member pid or tid. The values are the members as JSON, or ""
// for an absent member.
const (
	AttrPID = "chrome.pid"
	AttrTID = "chrome.tid"
)

// phaseField is the phase of types whose events contain the phase as a field.
const phaseField = "?"

// noProvider is the provider of events without a category.
const noProvider = "chrome"

// Of returns the phase of events of type t, and reports whether they are events of Chrome's format written by an
// Encoder. The phase is "" for parts of events, for events without a phase, for members of the outermost object, and
// for events whose payload contains the phase. Of searches the attributes of the type, so cache the result by t. t may
// be nil.
func Of(t *ntconv.Type) (phase string, ok bool) {
	if t == nil || len(t.Attrs) == 0 {
		return "", false
	}
	phase, ok = t.Attrs.Get(attrPhase)
	if phase == phaseField {
		phase = ""
	}
	return phase, ok
}
