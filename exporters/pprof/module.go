package pprof

import (
	"cmp"
	"path"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/dictionary"
)

// A mainModule determines the mapping to write first, which pprof shows as the profiled file.
type mainModule struct {
	processes map[*ntconv.Process]int64
	order     []*ntconv.Process         // in the order of their first samples
	roots     map[*ntconv.Mapping]int64 // assemblies in which the managed part of a stack begins
	leaves    map[*ntconv.Mapping]int64 // modules of the innermost frames
}

// count adds a sample with one of its values.
func (m *mainModule) count(s *profile.Sample, value int) {
	if m.processes == nil {
		m.processes = map[*ntconv.Process]int64{}
		m.roots, m.leaves = map[*ntconv.Mapping]int64{}, map[*ntconv.Mapping]int64{}
	}
	if s.Process != nil {
		if _, ok := m.processes[s.Process]; !ok {
			m.order = append(m.order, s.Process)
		}
		m.processes[s.Process] += s.Values[value]
	}
	if len(s.Frames) > 0 && s.Frames[0].Mapping != nil {
		m.leaves[s.Frames[0].Mapping] += s.Values[value]
	}
	for i := len(s.Frames) - 1; i >= 0; i-- {
		if p := s.Frames[i].Mapping; p != nil && dictionary.IsAssembly(p.File) {
			if !isCoreLib(p.File) {
				m.roots[p] += s.Values[value]
			}
			break
		}
	}
}

// choose returns the number of the first mapping in the tables, or 0 if there are no mappings. It is the module named
// like the process with the greatest weight, or else a program in its command line. If the trace has no such module,
// choose adds a mapping without addresses that has the name of the process, because pprof would show a library as the
// program. If the process has no name, it is the assembly in which most managed stacks begin, which contains Main
// (stacks of other threads begin in the runtime's library), or else the module of the most leaves.
func (m *mainModule) choose(namer ntconv.Namer, t *tables) uint32 {
	if p := m.process(); p != nil && namer != nil {
		if mod := program(p, namer); mod != nil {
			return t.addProgram(mod)
		}
	}
	if id := heaviest(m.roots, t); id != 0 {
		return id
	}
	return heaviest(m.leaves, t)
}

// program returns the module of the program that a process runs. Without such a module it returns a mapping with only
// the name of the process, or nil if the process has no name.
func program(p *ntconv.Process, namer ntconv.Namer) *ntconv.Mapping {
	info, modules := namer.Process(p), namer.Mappings(p)
	names := programs(p, info)
	about := recording.Process{Name: cmp.Or(info.Name, p.Name), Command: info.CommandLine}
	name := about.Service()
	if name == recording.UnknownService {
		name = "" // dotnet runs programs with other names, which are unknown here
		if about.Name != "" || about.Command != "" {
			name = host
			names = append(names, host)
		}
	}
	for _, candidate := range names {
		for _, mod := range modules {
			if isProgram(mod.File, candidate) {
				return mod
			}
		}
	}
	if name == "" {
		return nil
	}
	return &ntconv.Mapping{File: name}
}

// host is the name of the program that runs assemblies.
const host = "dotnet"

func (m *mainModule) process() (best *ntconv.Process) {
	for _, p := range m.order {
		if best == nil || m.processes[p] > m.processes[best] {
			best = p
		}
	}
	return best
}

// heaviest returns the number of the mapping with the greatest weight, the first one if several are equal, or 0. It
// ignores mappings that the tables do not contain: an inlined frame may have another mapping than its location.
func heaviest(weights map[*ntconv.Mapping]int64, t *tables) (best uint32) {
	sums := make([]int64, len(t.Mappings())+1)
	for p, n := range weights {
		if id, ok := t.FindMapping(p); ok {
			sums[id] += n + 1 // the value of a sample may be 0
		}
	}
	for id := range uint32(len(sums)) {
		if sums[id] > sums[best] {
			best = id
		}
	}
	return best
}

func isCoreLib(file string) bool {
	return strings.HasPrefix(dictionary.BaseName(file), "System.Private.CoreLib")
}

// programs returns possible names of the main module, the best first.
func programs(p *ntconv.Process, info ntconv.ProcessInfo) []string {
	var list []string
	for _, name := range append([]string{info.Name, p.Name}, strings.Fields(info.CommandLine)...) {
		name = dictionary.BaseName(strings.Trim(name, `"`))
		switch strings.TrimSuffix(name, ".exe") {
		case "", host:
			continue
		}
		list = append(list, name)
	}
	return list
}

// isProgram reports whether a file is the program with that name, either exactly or as its assembly.
func isProgram(file, name string) bool {
	base := dictionary.BaseName(file)
	return base == name || base == name+".dll" || base == name+".exe" ||
		path.Ext(name) == ".exe" && base == strings.TrimSuffix(name, ".exe")+".dll"
}
