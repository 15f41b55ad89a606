package otlp

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Names of limits in errors (ntconv.LimitError.Limit), whose unit is bytes.
const (
	LimitMessage    = "ResourceSpans"          // Limits.Message
	LimitDictionary = "dictionary of profiles" // Limits.Dictionary
)

// Limits bounds the memory that a source uses for one input. Zero selects the default, which each member states.
type Limits struct {
	// Message is the maximum size of the spans of one resource in one request (ResourceSpans), in bytes: 128 MiB, at
	// most 160 MiB. A larger message ends the source with an error that has an *ntconv.LimitError in its chain and
	// wraps ntconv.ErrLimit. OTLP recommends at most 64 MiB per request.
	Message int
	// Depth is the maximum nesting of arrays and key-value lists in a value: 64, at most 1,000. Deeper values become
	// empty, and the report counts them (CodeNotCarried).
	Depth int
	// Elements is the maximum total number of attributes, events, links and array elements per span, resource or scope:
	// 262,144. Further elements are dropped, and the report counts them (CodeNotCarried). An empty element needs 2
	// bytes of input and 50 times as much memory.
	Elements int
	// Stack is the maximum number of frames of a stack: ntconv.DefaultStackDepth. Deeper stacks lose their outermost frames
	// (CodeStackCut).
	Stack int
	// Dictionary is the maximum size in memory of the tables that the profiles of a message share, in bytes: 1 GiB. A larger one
	// ends the source with an error as for Message. The whole message, which a source holds, may have Message bytes.
	Dictionary int64
}

// Defaults returns the limits with defaults for the members that are zero or negative, and with the maximum for members
// that exceed it.
func (l Limits) Defaults() Limits {
	set := func(v *int, n, largest int) {
		if *v <= 0 {
			*v = n
		}
		*v = min(*v, largest)
	}
	set(&l.Message, 128<<20, maxMessage)
	set(&l.Depth, 64, span.MaxDepth)
	set(&l.Elements, 1<<18, math.MaxInt32)
	set(&l.Stack, ntconv.DefaultStackDepth, math.MaxInt32)
	if l.Dictionary <= 0 {
		l.Dictionary = 1 << 30
	}
	return l
}

// maxMessage makes delimited input unambiguous: the big-endian 4-byte form of a length up to maxMessage never begins
// with the tag of field 1, with which every message begins.
const maxMessage = 10<<24 - 1

// Sizes of tables that grow with the input. Exceeding one is not an error, because the payloads of the events contain
// everything.
const (
	maxLanes = 256 // capture threads per process

	// Minimum number and payload bytes of events between two sequence points; the maximum is twice as many. Sequence
	// points let readers and writers discard labels, and let the source sort.
	windowEvents = 1 << 16
	windowBytes  = 32 << 20
)
