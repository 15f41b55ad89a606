package profile

import (
	"strconv"

	"github.com/ntconv/ntconv"
)

// noNames is a Namer for sources that carry their names themselves.
type noNames struct{}

func (noNames) AppendFrames(dst []ntconv.Frame, _ *ntconv.Process, s *ntconv.Stack, _ ntconv.Ticks) []ntconv.Frame {
	if len(s.Frames) > 0 {
		return append(dst, s.Frames...)
	}
	for _, pc := range s.PCs {
		name := "0x" + strconv.FormatUint(pc, 16)
		dst = append(dst, ntconv.Frame{Func: &ntconv.Function{Name: name}, PC: pc, Flags: ntconv.FrameUnresolved})
	}
	return dst
}

func (noNames) Epoch(*ntconv.Process, *ntconv.Stack) uint32         { return 0 }
func (noNames) Mappings(*ntconv.Process) []*ntconv.Mapping          { return nil }
func (noNames) Process(p *ntconv.Process) (info ntconv.ProcessInfo) { return info }
func (noNames) ThreadName(t *ntconv.Thread) string                  { return t.Name }
