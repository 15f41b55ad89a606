package profile_test

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/ntconv/ntconv"
)

// The traces of these tests have a clock of 10 MHz: 100 ns per tick.
const freq = 10_000_000

func testInfo() *ntconv.Info {
	return &ntconv.Info{
		Format: "test 1",
		Clock:  ntconv.Clock{Freq: freq, Tick: 0, Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		Attrs:  ntconv.Attrs{{Key: "ExpectedCPUSamplingRate", Value: "1000000"}},
	}
}

var (
	threadSample = &ntconv.Type{Provider: "Microsoft-DotNETCore-SampleProfiler", ID: 0}
	cpuSample    = &ntconv.Type{Provider: "Universal.Events", Name: "cpu", ID: 1,
		Fields: []ntconv.Field{{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}}}
	otherType   = &ntconv.Type{Provider: "Other", ID: 7}
	rundownType = &ntconv.Type{Provider: "Microsoft-Windows-DotNETRuntimeRundown", ID: 144}
)

// States of a ThreadSample.
const (
	external = 1
	managed  = 2
)

func wallEvent(t *ntconv.Thread, at ntconv.Ticks, state uint32, s *ntconv.Stack) *ntconv.Event {
	return &ntconv.Event{Type: threadSample, Thread: t, Capture: t, Time: at, Stack: s, CPU: ntconv.CPUUnknown,
		Payload: binary.LittleEndian.AppendUint32(nil, state)}
}

func cpuEvent(t *ntconv.Thread, at ntconv.Ticks, value uint64, s *ntconv.Stack) *ntconv.Event {
	return &ntconv.Event{Type: cpuSample, Thread: t, Capture: t, Time: at, Stack: s, CPU: ntconv.CPUUnknown,
		Payload: binary.AppendUvarint(nil, value)}
}

func stack(pcs ...uint64) *ntconv.Stack { return &ntconv.Stack{PCs: pcs} }

// fakeNamer names an address after the address and the number of its redefinitions up to a time.
type fakeNamer struct {
	ntconv.NoNames
	versions map[uint64][]version
	threads  map[*ntconv.Thread]string
	modules  []*ntconv.Mapping
	process  ntconv.ProcessInfo
}

type version struct {
	from ntconv.Ticks
	name string
}

func (n *fakeNamer) define(pc uint64, at ntconv.Ticks, name string) {
	if n.versions == nil {
		n.versions = map[uint64][]version{}
	}
	n.versions[pc] = append(n.versions[pc], version{at, name})
}

func (n *fakeNamer) name(pc uint64, at ntconv.Ticks) string {
	name := fmt.Sprintf("f%x", pc)
	for _, v := range n.versions[pc] {
		if v.from <= at {
			name = v.name
		}
	}
	return name
}

func (n *fakeNamer) AppendFrames(dst []ntconv.Frame, _ *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) []ntconv.Frame {
	for _, pc := range s.PCs {
		f := ntconv.Frame{PC: pc, Func: &ntconv.Function{Name: n.name(pc, at)}}
		if pc >= 0xdead0000 {
			f.Flags |= ntconv.FrameUnresolved
		}
		for _, m := range n.modules {
			if m.Start <= pc && pc < m.Limit {
				f.Mapping = m
			}
		}
		dst = append(dst, f)
	}
	return dst
}

func (n *fakeNamer) Epoch(_ *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) (epoch uint32) {
	for _, pc := range s.PCs {
		for _, v := range n.versions[pc] {
			if v.from <= at {
				epoch++
			}
		}
	}
	return epoch
}

func (n *fakeNamer) Mappings(*ntconv.Process) []*ntconv.Mapping { return n.modules }

func (n *fakeNamer) Process(*ntconv.Process) ntconv.ProcessInfo { return n.process }

func (n *fakeNamer) ThreadName(t *ntconv.Thread) string {
	if name := n.threads[t]; name != "" {
		return name
	}
	return t.Name
}

// rundownNamer is a fakeNamer of a trace with a rundown.
type rundownNamer struct{ fakeNamer }

func (*rundownNamer) HasRundown() bool { return true }
