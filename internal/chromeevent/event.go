package chromeevent

import (
	"github.com/ntconv/ntconv"
)

// Phases that have a meaning of their own. Others are kept as they are.
const (
	PhaseBegin         = "B" // of a slice of a thread
	PhaseEnd           = "E"
	PhaseComplete      = "X" // a slice with its duration
	PhaseInstant       = "i"
	PhaseOldInstant    = "I" // is PhaseInstant in older files
	PhaseCounter       = "C"
	PhaseAsyncBegin    = "b" // of a slice that an ID names
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

// A Member is a bit for a member of an event that may be absent.
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

// An Event is an event of Chrome's trace event format. All times are nanoseconds. Byte slices are borrowed: the Parser
// or Decoder that filled in the Event says until when. Strings may be kept.
//
// The stack of an event of the trace is that of the members sf or stack. It is not in the payload.
type Event struct {
	// Phase is the member ph, "" if absent.
	Phase string
	// Name and Category are the members name and cat, as UTF-8. Category may be a list with commas.
	Name, Category string
	// Has says which of the members are present whose absence their values do not show.
	Has Member
	// Time is the member ts. Its start is that of the file's clock. If the file does not state it, HasTime is not set,
	// and Time is a time at which the event can be delivered.
	Time int64
	// Duration, ThreadTime and ThreadDuration are the members dur, tts and tdur.
	Duration, ThreadTime, ThreadDuration int64
	// PID and TID are the members pid and tid as JSON: usually a number.
	PID, TID []byte
	// ID is the member id or id2, BindID the member bind_id.
	ID, BindID ID
	// IDScope is the member scope, which distinguishes equal IDs. Scope is the member s of an instant: g, p or t.
	// BindPoint is the member bp of a flow: e for the enclosing slice.
	IDScope, Scope, BindPoint string
	// FlowIn and FlowOut are the members flow_in and flow_out.
	FlowIn, FlowOut bool
	// Args is the member args as JSON, nil if absent. It is an object in all files that keep to the format.
	Args []byte
	// Other holds all other members as JSON, without the braces of an object: `"cname":"good","sf2":1`. It is nil if
	// there are none.
	Other []byte
	// StackID is the member sf and StackNames the member stack, as JSON. Only a Parser sets them: who makes an event of
	// the trace gives it the stack, or adds them to Other.
	StackID, StackNames []byte
	// TopLevel means that this is not an event but a member of the outermost object of the file, such as metadata or
	// otherData: Name is its name and Args its value.
	TopLevel bool
}

// An IDKind says which member an ID is, and hence what it is unique in.
type IDKind uint8

const (
	NoID     IDKind = iota
	PlainID         // id, bind_id
	LocalID         // id2.local: unique in the process
	GlobalID        // id2.global
)

// An ID is the ID of an asynchronous slice, a flow or an object.
type ID struct {
	Kind IDKind
	// Number means that the ID is a number in JSON. Text is its text either way, without quotes.
	Number bool
	Text   []byte
}

// Attributes of the types of events that this package makes.
const (
	attrPhase    = "chrome.ph"     // phase; phaseField if it is a field
	attrLayout   = "chrome.layout" // what the fields are, see layout
	attrCategory = "chrome.cat"    // category, if it is not the provider
	attrName     = "chrome.name"   // name, if it is not that of the type
	attrAbsent   = "chrome.absent" // members that are absent: name, cat, ts
)

// Attributes of threads and processes whose number is not the text of the member pid or tid. Their values are JSON, ""
// if the member is absent.
const (
	AttrPID = "chrome.pid"
	AttrTID = "chrome.tid"
)

// phaseField is the phase of types whose events have it as a field.
const phaseField = "?"

// noProvider is the provider of events without a category.
const noProvider = "chrome"

// Of returns the phase of the events of a type, and whether they are events of Chrome's format, as an Encoder writes
// them. The phase is empty for parts of events, for events without a phase, for members of the outermost object, and
// for events whose phase the Decoder finds in the payload. Of searches the attributes of the type: keep the result by
// the pointer of the type.
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
