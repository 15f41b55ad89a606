package imported

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// EndLocation completes the frames of a location as in profile.proto, which are frames[first:], innermost first: they have
// the mapping, the address and flags of the location, and all but the outermost one are inlined. A location without a line
// gets a frame with a placeholder name. m may be nil.
func EndLocation(frames []ntconv.Frame, first int, m *ntconv.Mapping, address uint64, flags ntconv.FrameFlags) []ntconv.Frame {
	if len(frames) == first {
		var of ntconv.Mapping
		if m != nil {
			of = *m
		}
		name := dotnet.Placeholder(of.File, of.Start, of.Offset, address)
		frames = append(frames, ntconv.Frame{Func: &ntconv.Function{Name: name}, Flags: ntconv.FrameUnresolved})
	}
	own := frames[first:]
	for n := range own {
		own[n].Mapping, own[n].PC = m, address
		if own[n].Flags |= flags; n < len(own)-1 {
			own[n].Flags |= ntconv.FrameInlined
		}
	}
	return frames
}
