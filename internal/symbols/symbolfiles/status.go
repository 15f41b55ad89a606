package symbolfiles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ntconv/ntconv"
)

// A Status says what was found for a mapped file, for the generated code of a process, or for the kernel.
type Status struct {
	Used      []string  `json:"used,omitempty"`      // files
	Functions int       `json:"functions,omitempty"` // that the files name
	Symbols   bool      `json:"symbols"`             // the files have a full symbol table, not only exported functions
	Lines     bool      `json:"lines"`               // the files state source lines
	Refused   []Refusal `json:"refused,omitempty"`
	Errors    []string  `json:"errors,omitempty"`
	Problem   string    `json:"problem,omitempty"` // why addresses have no symbol; empty if nothing is missing
	Next      string    `json:"next,omitempty"`    // what the user can do about it
}

// Mapping searches the files of a mapping, as for an address in it, and returns what was found.
func (f *Finder) Mapping(m *ntconv.Mapping) Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prepare()
	s := f.module(m)
	if s == nil {
		return Status{Problem: "too many mapped files"}
	}
	return s.status()
}

func (m *module) status() Status {
	s := Status{Used: m.paths, Refused: m.refused, Errors: m.errs}
	if m.object != nil {
		s.Functions, s.Lines = m.object.Functions(), m.object.HasLines()
		if err := m.object.Err(); err != nil {
			s.Errors = append(slices.Clip(s.Errors), err.Error())
		}
		for _, f := range []*elfFile{m.program, m.debug} {
			s.Symbols = s.Symbols || f != nil && f.HasSymbols()
		}
	}
	s.Problem, s.Next = m.problem(s.Symbols)
	return s
}

// problem returns why addresses of a module may have no symbol, and the next step.
func (m *module) problem(symbols bool) (problem, next string) {
	const own = "copy the file from the recorded system and use --symbols DIR"
	const byID = "use --symbols DIR with a file of this build, or --debuginfod URL"
	switch {
	case m.disagrees:
		return "the program headers of the file do not agree with the mapping: another build", own
	case m.object == nil && len(m.refused) > 0 && m.buildID != "":
		return "only files of another build were found", byID
	case m.object == nil && m.buildID == "":
		return "not found, and without a build ID only files below --symbols are used", own
	case m.object == nil:
		return "not found", byID
	case m.program == nil && m.outside:
		return "only the debug file was found, and the mapping has another size than its code", byID
	case !symbols:
		return "it names exported functions only", "use --symbols DIR with its debug file, or --debuginfod URL"
	}
	return "", ""
}

// Kernel returns what was found for the kernel.
func (f *Finder) Kernel() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prepare()
	if f.kernel == nil {
		f.kernel = f.openKernel()
	}
	k := f.kernel
	if k.path == "" {
		return Status{Problem: "no copy of /proc/kallsyms", Next: "copy /proc/kallsyms and /proc/modules as root " +
			"before the recorded system restarts, and use --symbols DIR"}
	}
	s := Status{Used: []string{k.path}, Functions: len(k.entries), Symbols: true}
	if k.err != nil {
		s.Problem, s.Next = k.err.Error(), "copy it again as root"
	}
	return s
}

// Process returns what was found for the generated code of a process. namespace is its ID inside its own PID namespace,
// 0 if unknown.
func (f *Finder) Process(pid, namespace uint64) Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prepare()
	key := perfKey{pid, namespace}
	p := f.perf[key]
	if p == nil {
		if len(f.perf) >= maxPerfMaps || f.held >= maxHeld {
			return Status{Problem: "too many perf maps"}
		}
		p = f.openPerf(key)
		f.perf[key] = p
	}
	if p.path == "" {
		return Status{Problem: "no perf map", Next: fmt.Sprintf(
			"record with a perf map (.NET: DOTNET_PerfMapEnabled=1), copy /tmp/perf-%d.map and use --symbols DIR", pid)}
	}
	s := Status{Used: []string{p.path}, Functions: len(p.entries), Symbols: true}
	switch {
	case p.err != nil:
		s.Problem = p.err.Error()
	case len(p.text) == 0:
		s.Problem = "0 functions: the file is empty"
	case len(p.entries) == 0:
		s.Problem = "0 functions: no line is valid; want START SIZE NAME with hexadecimal numbers"
	case p.named == 0:
		s.Problem = "none contains these addresses; want the perf map of the recorded run"
	}
	return s
}

// Refused returns the files that were refused, sorted by name. With explicit, it returns only those that the user
// named: that the libraries of this machine are of other builds than those of the trace is usual.
func (f *Finder) Refused(explicit bool) (list []Refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Refusal
	for _, m := range f.modules {
		all = append(all, m.refused...)
	}
	if f.assemblies != nil {
		all = append(all, f.assemblies.Refused()...)
	}
	for _, r := range all {
		if r.Explicit || !explicit {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Want, b.Want), cmp.Compare(a.Mapping, b.Mapping))
	})
	return list
}

// ReportNative implements symbol.NativeReporter.
func (f *Finder) ReportNative(r *ntconv.Report) (files int) {
	refused := f.Refused(true)
	if len(refused) > 0 {
		r.Note(ntconv.CodeFileRefused, uint64(len(refused)), -1, refused[0].String())
	}
	if f.assemblies != nil {
		files = f.assemblies.Used()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.server != nil {
		for _, u := range slices.Sorted(maps.Keys(f.server.failed)) {
			r.Note(ntconv.CodeFileRefused, 1, -1, f.server.failed[u].Error())
		}
	}
	for _, m := range f.modules {
		if m.named > 0 {
			files += len(m.paths)
		}
	}
	for _, p := range f.perf {
		if p.named > 0 {
			files++
		}
	}
	if f.kernel != nil && f.kernel.named > 0 {
		files++
	}
	return files
}
