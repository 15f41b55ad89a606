package iox

import "github.com/ntconv/ntconv"

// Names of the limits in ntconv.LimitError.Limit.
const (
	LimitRatio  = "decompression ratio" // Limits.Ratio
	LimitOutput = "decompressed data"   // Limits.Output, in bytes
	LimitWindow = "zstd window"         // Limits.Window, in bytes
	// LimitDecoder is a zstd window of at most 2 GiB, which no member of Limits raises.
	LimitDecoder = "zstd window for the decoder"
)

// Limits bound what compressed input may cost. They do not apply to plain input, which cannot be larger than it
// is. In every field 0 means no limit; a caller who wants the defaults passes no Limits at all.
type Limits struct {
	// Ratio bounds the decompressed bytes to Ratio times the compressed bytes consumed so far. If decompressed data are
	// compressed again, the compressed bytes are those of the outermost level. DEFLATE reaches 1032, zstd tens of
	// thousands; real traces stay below 10.
	Ratio int64
	// Floor is the number of decompressed bytes below which Ratio does not apply: a small bomb is harmless.
	Floor int64
	// Output bounds the decompressed bytes absolutely.
	Output int64
	// Window bounds the zstd window in bytes. A frame header of 9 bytes makes the decoder reserve this much, so
	// without a limit 2 GiB is the most.
	Window int64
}

// DefaultLimits returns 200 times the input beyond 64 MiB, 16 GiB in all and zstd windows of 128 MiB, which zstd -d
// accepts without an option, too.
func DefaultLimits() *Limits {
	return &Limits{Ratio: 200, Floor: 64 << 20, Output: 16 << 30, Window: 128 << 20}
}

// LimitsOf returns the limits that a library user has set, with the defaults for the others. It returns nil if the user
// has set none, so that InputOptions.Limits leaves the choice to what is below.
func LimitsOf(d ntconv.DecompressionLimits) *Limits {
	if d == (ntconv.DecompressionLimits{}) {
		return nil
	}
	l := DefaultLimits()
	for _, m := range []struct {
		to  *int64
		set int64
	}{{&l.Ratio, d.Ratio}, {&l.Output, d.Bytes}, {&l.Window, d.Window}} {
		if m.set != 0 {
			*m.to = max(m.set, 0)
		}
	}
	return l
}

// allowed returns how many decompressed bytes may have been delivered once in compressed bytes were consumed,
// and the name of the limit that says so; -1 if there is none.
func (l *Limits) allowed(in int64) (n int64, limit string) {
	n = -1
	if l.Ratio > 0 {
		n, limit = l.Floor, LimitRatio
		// Divide rather than multiply: a ratio from the command line may be anything.
		if in > l.Floor/l.Ratio {
			n = min(in, (1<<63-1)/l.Ratio) * l.Ratio
		}
	}
	if l.Output > 0 && (n < 0 || l.Output <= n) {
		n, limit = l.Output, LimitOutput
	}
	return n, limit
}

// exceeded returns the error of a limit that allowed has named, once out decompressed bytes came of in compressed ones.
func (l *Limits) exceeded(limit string, in, out int64) *ntconv.LimitError {
	if limit == LimitOutput {
		return &ntconv.LimitError{Limit: LimitOutput, Value: l.Output, Asked: out, Unit: "bytes"}
	}
	in = max(in, 1)
	ratio := out / in
	if out%in != 0 {
		ratio++
	}
	return &ntconv.LimitError{Limit: LimitRatio, Value: l.Ratio, Asked: ratio, Unit: "to 1"}
}

// windowExceeded returns the error of a zstd frame that needs a window of asked bytes.
func (l *Limits) windowExceeded(asked int64) *ntconv.LimitError {
	e := &ntconv.LimitError{Limit: LimitWindow, Value: l.Window, Unit: "bytes"}
	if l.Window <= 0 || l.Window > maxWindow {
		e.Limit, e.Value = LimitDecoder, maxWindow
	}
	e.Asked = max(asked, e.Value+1)
	return e
}
