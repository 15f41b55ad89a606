package iox

import "fmt"

// Flags of the command that raise the limits of compressed input. Errors name them, so that the user of a
// refused file knows what to type; the command must define its flags by these names.
const (
	FlagRatio  = "--max-ratio"
	FlagOutput = "--max-decompressed"
	FlagWindow = "--max-zstd-window"
)

// Limits bound what compressed input may cost. They do not apply to plain input, which cannot be larger than it
// is. In every field 0 means no limit; a caller who wants the defaults passes no Limits at all.
type Limits struct {
	// Ratio bounds the decompressed bytes to Ratio times the compressed bytes consumed so far. DEFLATE reaches
	// 1032, zstd tens of thousands; real traces stay below 10.
	Ratio int64
	// Floor is the number of decompressed bytes below which Ratio does not apply: a small bomb is harmless.
	Floor int64
	// Output bounds the decompressed bytes absolutely.
	Output int64
	// Window bounds the zstd window in bytes. A frame header of 9 bytes makes the decoder reserve this much, so
	// without a limit 2 GiB is the most.
	Window int64
}

// DefaultLimits returns 200 times the input beyond 64 MiB, 16 GiB in all and zstd windows of 64 MiB.
func DefaultLimits() *Limits {
	return &Limits{Ratio: 200, Floor: 64 << 20, Output: 16 << 30, Window: 64 << 20}
}

// allowed returns how many decompressed bytes may have been delivered once in compressed bytes were consumed,
// and the limit that says so; -1 if there is none.
func (l *Limits) allowed(in int64) (n int64, limit, flag string, value int64) {
	n = -1
	if l.Ratio > 0 {
		n, limit, flag, value = l.Floor, "decompressed to compressed ratio", FlagRatio, l.Ratio
		// Divide rather than multiply: a ratio from the command line may be anything.
		if in > l.Floor/l.Ratio {
			n = min(in, (1<<63-1)/l.Ratio) * l.Ratio
		}
	}
	if l.Output > 0 && (n < 0 || l.Output <= n) {
		n, limit, flag, value = l.Output, "decompressed bytes", FlagOutput, l.Output
	}
	return n, limit, flag, value
}

// A LimitError tells which limit stopped the decompression, where, and how to raise it. It wraps [ErrLimit].
type LimitError struct {
	Name  string // the input
	Limit string // what is limited, in words
	Value int64  // the limit as set
	Flag  string // the command line flag that raises it
	In    int64  // offset in the compressed input
	Out   int64  // decompressed bytes delivered before
}

// Error says all of it in one line.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: limit reached: %s over %d at byte %d of the compressed input (%d decompressed); %s raises it",
		e.Name, e.Limit, e.Value, e.In, e.Out, e.Flag)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }
