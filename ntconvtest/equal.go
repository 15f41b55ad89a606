package ntconvtest

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/streameq"
)

// Options say what EqualStreams overlooks. Everything is compared where an option does not say otherwise, but for
//
//   - Event.Offset and Info.Format,
//   - the placement of KindDefine events (see EqualStreams),
//   - the difference between a stack or label list that is missing and one that is empty,
//   - sequence numbers that one of the streams does not know,
//   - the time of marks that end threads, which formats do not record,
//   - FlagPlaceholder and FlagLate, which tell about the reading, not about the trace.
type Options = streameq.Options

// A Difference is the error of Equal and EqualStreams where two streams part.
type Difference = streameq.Difference

// Equal returns nil if two events are equal in everything they refer to, and an error that says what differs.
// Pointers are followed, not compared.
func Equal(a, b *ntconv.Event) error { return streameq.Events(a, b) }

// EqualStreams returns nil if two sources yield the same trace, and an error that says where they part: a *Difference, or an
// error of a source. opts may be nil.
//
// Types, threads and processes are compared by content and by identity: what is one pointer in one stream must be one in
// the other, so two threads with equal rows stay two. KindDefine events may stand elsewhere or be missing if the type or
// thread is used, since writers put definitions where their format wants them; but what is only declared in one stream must
// be declared or used in the other. Attributes of the trace with the prefix "ntconv." are not compared.
func EqualStreams(a, b ntconv.Source, opts *Options) error {
	_, err := streameq.Streams(a, b, opts)
	return err
}
