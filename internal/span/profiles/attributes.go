package profiles

import "github.com/ntconv/ntconv"

// Attributes of profiles, locations and mappings. Those in pprof restore a profile.proto; they, AttrFrameType and
// AttrBuildID are of OpenTelemetry's semantic conventions.
const (
	AttrComment    = "pprof.profile.comment" // an array of strings
	AttrDocURL     = "pprof.profile.doc_url"
	AttrDropFrames = "pprof.profile.drop_frames"
	AttrKeepFrames = "pprof.profile.keep_frames"
	AttrFolded     = "pprof.location.is_folded"
	AttrFrameType  = "profile.frame.type"
	AttrBuildID    = "process.executable.build_id.gnu"
	AttrPDBID      = "ntconv.pdb_id" // PDB signature and age of an assembly, for which there is no convention
)

// Values of AttrFrameType that a trace can store.
const (
	FrameNative  = "native"
	FrameManaged = "dotnet"
	FrameKernel  = "kernel"
)

// MappingFlags are the attributes for the flags of a mapping in profile.proto, in the order of its fields.
var MappingFlags = [...]struct {
	Attribute string
	Flag      ntconv.MappingFlags
}{
	{"pprof.mapping.has_functions", ntconv.MappingHasFunctions}, {"pprof.mapping.has_filenames", ntconv.MappingHasFiles},
	{"pprof.mapping.has_line_numbers", ntconv.MappingHasLines}, {"pprof.mapping.has_inline_frames", ntconv.MappingHasInlined},
}
