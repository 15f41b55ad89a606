package fileio

import "github.com/ntconv/ntconv"

// Names of the limits in ntconv.LimitError.Limit.
const (
	LimitRatio  = "decompression ratio" // Limits.Ratio
	LimitOutput = "decompressed data"   // Limits.Output, in bytes
	LimitWindow = "zstd window"         // Limits.Window, in bytes
	// LimitDecoder is the limit of 2 GiB on a zstd window, which no member of Limits raises.
	LimitDecoder = "zstd window for the decoder"
)

// Limits bound the resources that compressed input may use. They do not apply to uncompressed input. In every field 0
// means no limit. Pass nil for the defaults.
type Limits struct {
	// Ratio bounds the decompressed bytes to Ratio times the compressed bytes consumed so far. If the decompressed data
	// is compressed again, the compressed bytes are those of the outermost level. DEFLATE can reach 1032, zstd tens of
	// thousands; real traces stay below 10.
	Ratio int64
	// Floor is the number of decompressed bytes below which Ratio does not apply: small outputs are harmless.
	Floor int64
	// Output is the maximum number of decompressed bytes.
	Output int64
	// Window is the maximum zstd window in bytes. A frame header of 9 bytes makes the decoder allocate this much.
	// Without a limit the maximum is 2 GiB.
	Window int64
}

// DefaultLimits returns new limits: a ratio of 200 beyond 64 MiB, 16 GiB in total, and zstd windows of 128 MiB, the
// default maximum of zstd -d.
func DefaultLimits() *Limits {
	return &Limits{Ratio: 200, Floor: 64 << 20, Output: 16 << 30, Window: 128 << 20}
}

// LimitsOf converts the limits of a library user, with defaults for members that are 0 and no limit for negative ones.
// It returns nil if d is the zero value, so that InputOptions.Limits selects the limits of the layer below.
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

// allowed returns the maximum number of decompressed bytes after in compressed bytes were consumed, and the name of the
// limit; -1 means no limit.
func (l *Limits) allowed(in int64) (n int64, limit string) {
	n = -1
	if l.Ratio > 0 {
		n, limit = l.Floor, LimitRatio
		// Divide, because multiplying a ratio from the command line may overflow.
		if in > l.Floor/l.Ratio {
			n = min(in, (1<<63-1)/l.Ratio) * l.Ratio
		}
	}
	if l.Output > 0 && (n < 0 || l.Output <= n) {
		n, limit = l.Output, LimitOutput
	}
	return n, limit
}

// exceeded returns the error for the limit that allowed returned, after in compressed bytes gave out decompressed ones.
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

// windowExceeded returns the error for a zstd frame that needs a window of asked bytes.
func (l *Limits) windowExceeded(asked int64) *ntconv.LimitError {
	e := &ntconv.LimitError{Limit: LimitWindow, Value: l.Window, Unit: "bytes"}
	if l.Window <= 0 || l.Window > maxWindow {
		e.Limit, e.Value = LimitDecoder, maxWindow
	}
	e.Asked = max(asked, e.Value+1)
	return e
}
