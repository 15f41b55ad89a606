package pprof

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

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

	// LimitLookups limits the product of mappings and addresses of a profile in one of the older formats, because the
	// library compares each address with each mapping. No member of Limits changes it.
	LimitLookups = "mappings times addresses"

	// The limits of compressed input are those of Options.Decompression.
	LimitRatio  = fileio.LimitRatio  // DecompressionLimits.Ratio: "decompression ratio"
	LimitOutput = fileio.LimitOutput // DecompressionLimits.Bytes, in bytes: "decompressed data"
	LimitWindow = fileio.LimitWindow // DecompressionLimits.Window, in bytes: "zstd window"
)

// maxLookups keeps the conversion below two seconds. Profiles with 10,000 mappings and 100,000 addresses are within it.
const maxLookups = 1 << 30

// Limits bound the memory of the importer. Zero selects the default that each member states. If a profile exceeds a
// limit, New returns an error that wraps an *ntconv.LimitError, whose Limit is the constant named after the member.
// Stacks are truncated to Stack frames instead, and the report counts them.
type Limits struct {
	Bytes     int   // decompressed size in bytes: 1 GiB
	Strings   int   // entries of the string table: 4,000,000
	Samples   int   // 20,000,000
	Locations int   // 4,000,000, and as many functions
	Lines     int   // of all locations: 4,000,000
	Mappings  int   // 100,000
	Types     int   // sample types: 500
	Comments  int   // 10,000
	Labels    int   // of one sample: 10,000
	LabelText int   // bytes of the keys and strings of one sample's labels: 1 MiB
	Stack     int   // frames of a stack; outer ones are dropped: ntconv.DefaultStackDepth
	Frames    int64 // of all truncated stacks: 1,048,576, plus 2 per byte of the decompressed profile
}

// Defaults returns the limits with the defaults in place of zeros, except for Frames, whose default depends on the
// profile.
func (l Limits) Defaults() Limits {
	imported.Default(&l.Bytes, 1<<30)
	imported.Default(&l.Strings, 4_000_000)
	imported.Default(&l.Samples, 20_000_000)
	imported.Default(&l.Locations, 4_000_000)
	imported.Default(&l.Lines, 4_000_000)
	imported.Default(&l.Mappings, 100_000)
	imported.Default(&l.Types, 500)
	imported.Default(&l.Comments, 10_000)
	imported.Default(&l.Labels, 10_000)
	imported.Default(&l.LabelText, 1<<20)
	imported.Default(&l.Stack, ntconv.DefaultStackDepth)
	return l
}

// frames returns the limit on the frames of all stacks of a profile of the given size in bytes. A reference to a
// location takes one byte regardless of the number of functions inlined there, and consumers may keep every frame:
// internal/profile keeps 4 bytes per frame. Real profiles have less than one frame per byte.
func (l Limits) frames(size int) int64 {
	if l.Frames > 0 {
		return l.Frames
	}
	return 1<<20 + 2*int64(size)
}
