package otlp

import (
	"math"

	"github.com/ntconv/ntconv/internal/span"
)

// LimitMessage is the name of the limit Limits.Message in errors, in bytes.
const LimitMessage = "ResourceSpans"

// Limits bound the memory that an input can make a source hold. Zero selects the default.
type Limits struct {
	// Message is the size in bytes of the spans of one resource in one request (ResourceSpans): 128 MiB, and at most
	// 160 MiB. A larger one ends the source with an error that has an *ntconv.LimitError in its chain. OTLP recommends
	// at most 64 MiB per request.
	Message int
	// Depth is the number of levels of arrays and key-value lists in a value: 64, and at most 1,000. Deeper values
	// become empty, and the report counts them (CodeNotCarried).
	Depth int
	// Elements is the number of attributes, events, links and elements of arrays that a span, a resource or a scope may
	// have in total: 262,144. Further ones are omitted, and the report counts them (CodeNotCarried), because an empty
	// one takes 2 bytes of the input and 50 times as many in memory.
	Elements int
}

// Defaults returns the limits with the default where a member is zero and the largest value where a member exceeds it.
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
	return l
}

// maxMessage makes delimited input certain to recognize: a length of up to maxMessage in 4 bytes, big-endian, does not
// begin with the tag of field 1, with which a message begins.
const maxMessage = 10<<24 - 1

// Sizes of tables that grow with the input. None of them is an error: the payloads of the events have everything.
const (
	maxProcesses = 10_000  // distinct resources that are processes; further ones share a process
	maxThreads   = 100_000 // threads that spans state; spans of further threads have none
	maxLanes     = 256     // capture threads of a process

	// Events and bytes of payloads between two sequence points, so that readers and writers can discard labels, and the
	// source can sort: the least, and half of the most.
	windowEvents = 1 << 16
	windowBytes  = 32 << 20
)
