package pprof

import "github.com/ntconv/ntconv/internal/iox"

// Names of the limits in ntconv.LimitError.Limit, one per member of Limits that can cause an error.
const (
	LimitBytes     = "profile"                // Limits.Bytes, in bytes, or 4 GiB - 1 if that is less
	LimitStrings   = "strings"                // Limits.Strings
	LimitSamples   = "samples"                // Limits.Samples
	LimitLocations = "locations"              // Limits.Locations
	LimitFunctions = "functions"              // Limits.Locations
	LimitLines     = "lines"                  // Limits.Lines
	LimitMappings  = "mappings"               // Limits.Mappings
	LimitTypes     = "sample types"           // Limits.Types
	LimitComments  = "comments"               // Limits.Comments
	LimitLabels    = "labels of a sample"     // Limits.Labels
	LimitLabelText = "label text of a sample" // Limits.LabelText, in bytes
	LimitFrames    = "frames in all stacks"   // Limits.Frames

	// LimitLookups limits the mappings of a profile in one of the older formats times its addresses, because each is
	// compared with each. No member of Limits changes it.
	LimitLookups = "mappings times addresses"

	// The limits of compressed input are those of Options.Decompression.
	LimitRatio  = iox.LimitRatio  // DecompressionLimits.Ratio: "decompression ratio"
	LimitOutput = iox.LimitOutput // DecompressionLimits.Bytes, in bytes: "decompressed data"
	LimitWindow = iox.LimitWindow // DecompressionLimits.Window, in bytes: "zstd window"
)

// maxLookups is within two seconds. Profiles with 10,000 mappings and 100,000 addresses are within it.
const maxLookups = 1 << 30

// Limits bound what a profile can make the importer hold. Zero is the default of a field. If a profile exceeds a limit,
// New returns an error with an *ntconv.LimitError in its chain, whose Limit is the constant named after the member;
// stacks are truncated to Stack frames instead, and the report counts them.
type Limits struct {
	Bytes     int   // decompressed size: 1 GiB
	Strings   int   // entries of the string table: 4,000,000
	Samples   int   // 20,000,000
	Locations int   // 4,000,000, and as many functions
	Lines     int   // of all locations: 4,000,000
	Mappings  int   // 100,000
	Types     int   // types of values: 500
	Comments  int   // 10,000
	Labels    int   // of one sample: 10,000
	LabelText int   // bytes of keys and texts of one sample's labels: 1 MiB
	Stack     int   // frames of a stack; outer ones are cut: 10,000. Microsoft's reader of nettrace files takes 8,190
	Frames    int64 // of all stacks as they are cut: 1,048,576, and 2 for each byte of the decompressed profile
}

// Defaults returns the limits with the default where a field is zero, but for Frames, whose default goes by the
// profile.
func (l Limits) Defaults() Limits {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	set(&l.Bytes, 1<<30)
	set(&l.Strings, 4_000_000)
	set(&l.Samples, 20_000_000)
	set(&l.Locations, 4_000_000)
	set(&l.Lines, 4_000_000)
	set(&l.Mappings, 100_000)
	set(&l.Types, 500)
	set(&l.Comments, 10_000)
	set(&l.Labels, 10_000)
	set(&l.LabelText, 1<<20)
	set(&l.Stack, 10_000)
	return l
}

// frames returns how many frames all stacks of a profile of that many bytes may have. To name a location again costs a
// byte, whatever is inlined there, and those who read the source may keep every frame: internal/profile keeps 4 bytes
// of each. Real profiles have less than one for each byte.
func (l Limits) frames(size int) int64 {
	if l.Frames > 0 {
		return l.Frames
	}
	return 1<<20 + 2*int64(size)
}
