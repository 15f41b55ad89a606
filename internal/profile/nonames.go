package profile

import (
	"strconv"

	"github.com/ntconv/ntconv"
)

// noNames is a Namer for sources that carry their names themselves. Addresses get stand-ins.
type noNames map[uint64]*ntconv.Function

func (n noNames) AppendFrames(dst []ntconv.Frame, _ *ntconv.Process, s *ntconv.Stack, _ ntconv.Ticks) []ntconv.Frame {
	if len(s.Frames) > 0 {
		return append(dst, s.Frames...)
	}
	for _, pc := range s.PCs {
		f := n[pc]
		if f == nil {
			f = &ntconv.Function{Name: "0x" + strconv.FormatUint(pc, 16)}
			n[pc] = f
		}
		dst = append(dst, ntconv.Frame{Func: f, PC: pc, Flags: ntconv.FrameUnresolved})
	}
	return dst
}

func (noNames) Epoch(*ntconv.Process, *ntconv.Stack, ntconv.Ticks) uint32 { return 0 }
func (noNames) Mappings(*ntconv.Process) []*ntconv.Mapping                { return nil }
func (noNames) Process(p *ntconv.Process) (info ntconv.ProcessInfo)       { return info }
func (noNames) ThreadName(t *ntconv.Thread) string                        { return t.Name }
