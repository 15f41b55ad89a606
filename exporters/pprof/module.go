package pprof

import (
	"cmp"
	"path"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/procinfo"
	"github.com/ntconv/ntconv/internal/profile"
)

// mainModule finds the mapping to put first, which pprof shows as the file that was profiled.
type mainModule struct {
	processes map[*ntconv.Process]int64
	order     []*ntconv.Process         // as met
	roots     map[*ntconv.Mapping]int64 // assemblies that the managed part of a stack begins in
	leaves    map[*ntconv.Mapping]int64
}

// count takes a sample into account with one of its values.
func (m *mainModule) count(s *profile.Sample, value int) {
	if m.processes == nil {
		m.processes, m.roots, m.leaves = map[*ntconv.Process]int64{}, map[*ntconv.Mapping]int64{}, map[*ntconv.Mapping]int64{}
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
		if p := s.Frames[i].Mapping; p != nil && isAssembly(p.File) {
			if !isCoreLib(p.File) {
				m.roots[p] += s.Values[value]
			}
			break
		}
	}
}

// choose returns the number of the mapping in the tables, or 0 if there is none at all. It is the module that the
// process with most of the profile is named after, or else a program that its command line names. If the trace has no
// such module, it is a mapping without addresses that has the name of the process, because a library would be mistaken
// for the program. If the process has no name, it is the assembly that most of its managed stacks begin in, which is
// where Main is (other threads begin in the runtime's library), or else the module that most of it ends in.
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

// program returns the module of the program that a process runs. It is a mapping with nothing but the name of the
// process if there is no such module, and nil if the process has no name.
func program(p *ntconv.Process, namer ntconv.Namer) *ntconv.Mapping {
	info, modules := namer.Process(p), namer.Mappings(p)
	names := programs(p, info)
	about := procinfo.Process{Name: cmp.Or(info.Name, p.Name), Command: info.CommandLine}
	name := about.Service()
	if name == procinfo.UnknownService {
		name = "" // dotnet runs programs of other names, but nothing says which
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

// heaviest returns the number of the mapping with the greatest weight, the first in the tables if there are several, or
// 0. It ignores mappings that the tables do not have: an inlined frame may have a mapping that differs from that of its
// location.
func heaviest(weights map[*ntconv.Mapping]int64, t *tables) (best uint32) {
	sums := make([]int64, len(t.mappings)+1)
	for p, n := range weights {
		if id, ok := t.findMapping(p); ok {
			sums[id] += n + 1 // that of a sample may be nothing
		}
	}
	for id := range uint32(len(sums)) {
		if sums[id] > sums[best] {
			best = id
		}
	}
	return best
}

func isCoreLib(file string) bool { return strings.HasPrefix(baseName(file), "System.Private.CoreLib") }

// isAssembly reports whether a file holds managed code, going by its name.
func isAssembly(file string) bool {
	switch strings.ToLower(path.Ext(baseName(file))) {
	case ".dll", ".exe":
		return true
	}
	return false
}

// programs returns names that the main module may have, the best first.
func programs(p *ntconv.Process, info ntconv.ProcessInfo) []string {
	var list []string
	for _, name := range append([]string{info.Name, p.Name}, strings.Fields(info.CommandLine)...) {
		name = baseName(strings.Trim(name, `"`))
		switch strings.TrimSuffix(name, ".exe") {
		case "", host:
			continue
		}
		list = append(list, name)
	}
	return list
}

// isProgram reports whether a module is the program of that name: with the same file name, or as an assembly.
func isProgram(file, name string) bool {
	base := baseName(file)
	return base == name || base == name+".dll" || base == name+".exe" ||
		path.Ext(name) == ".exe" && base == strings.TrimSuffix(name, ".exe")+".dll"
}

// baseName returns the last element of a path of any system.
func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }
