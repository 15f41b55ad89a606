package meters

import "github.com/ntconv/ntconv/internal/events/operation"

// Keys of the labels that samples get in addition to those of their events.
const (
	LabelHost       = "host"
	LabelProcess    = "process"
	LabelPID        = "pid"
	LabelThread     = "thread"
	LabelThreadID   = "tid"
	LabelActivity   = "activity_id"
	LabelRelated    = "related_activity_id"
	LabelTrace      = "trace_id"
	LabelSpan       = "span_id"
	LabelState      = "state"                 // of sample.Wall and sample.OffCPU
	LabelLock       = operation.AttrLock      // of sample.Contention
	LabelOwner      = operation.AttrLockOwner // of sample.Contention: ID of the thread that held the lock
	LabelWaitSource = operation.AttrWaitSource
	LabelGeneration = operation.AttrGeneration // "gen0" to "gen2": the oldest generation that was collected
	LabelGCReason   = operation.AttrGCReason
	LabelGCType     = operation.AttrGCType
	LabelFunction   = operation.AttrFunction // of sample.JIT: the compiled method
	LabelMethod     = "method"               // of sample.Requests
	LabelTier       = "tier"
	LabelType       = "type"  // the allocated or loaded type
	LabelHeap       = "heap"  // of sample.Alloc: small, large or pinned
	LabelEvent      = "event" // of sample.Events: provider and name
	LabelFault      = "fault" // of sample.PageFaults: name of the event, such as soft_page_fault
	// Labels of sample.Exceptions. The values of the last two are "yes", or the sample does not have the label.
	LabelExceptionType = operation.AttrExceptionType
	LabelRethrown      = "rethrown"
	LabelHandled       = "handled"   // a catch block of the thread began
	LabelLevel         = "level"     // of sample.TypeLoad: the runtime's number of the level, which depends on its version
	LabelQueue         = "queue"     // of sample.ThreadPool: "work" or "I/O"
	LabelScheduled     = "scheduled" // of sample.Tasks: "no" for a task that started without being scheduled
	LabelFaulted       = "faulted"   // of sample.Tasks: "yes" for a task that ended with an exception
	LabelSide          = "side"      // of sample.Requests: "server" or "client"
	LabelRoute         = "route"     // of sample.Requests: the path that a server received
	LabelStatus        = "status"
	LabelCategory      = "category" // of sample.Slices: category of a slice, or scope of a span
	LabelAsync         = "async"    // of sample.Slices: "yes" for what does not belong to a thread
	LabelRequest       = "request"  // of sample.Requests: method and route, or host
)
