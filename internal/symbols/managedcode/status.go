package managedcode

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
)

// Status implements symbolfiles.Assemblies. It searches the assembly, as for an address in the mapping.
func (r *Resolver) Status(mapping *ntconv.Mapping) symbolfiles.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prepare()
	m := r.module(mapping.File, mapping.BuildID)
	code := m.code(mapping)
	s := symbolfiles.Status{Refused: m.refused}
	if m.imageAt != "" {
		s.Used = []string{m.imageAt}
	}
	if code != nil {
		s.Functions, s.Symbols = code.Methods(), true
	}
	if r.opts.Lines && m.findPDB() != nil {
		s.Lines = true
		if !slices.Contains(s.Used, m.pdbAt) {
			s.Used = append(s.Used, m.pdbAt)
		}
	}
	s.Problem, s.Next = m.problem()
	return s
}

// PDB implements symbolfiles.Assemblies. It searches the PDB, as for an instruction of the module.
func (r *Resolver) PDB(mapping *ntconv.Mapping) symbolfiles.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prepare()
	m := r.module(mapping.File, mapping.BuildID)
	pdb := m.findPDB()
	s := symbolfiles.Status{Refused: m.refused}
	const byID = "use --symbols DIR with the PDB of this build"
	switch {
	case pdb != nil:
		s.Used, s.Lines = []string{m.pdbAt}, true
		s.Problem = "the trace does not map its code to the source"
		s.Next = "record the events MethodILToNativeMap (keyword 0x20000 of the runtime and of its rundown)"
	case m.pdbErr == errRefused:
		s.Problem, s.Next = "only PDBs of another build were found", byID
	default:
		s.Problem, s.Next = "no PDB found", byID
	}
	return s
}

// problem returns why addresses of an assembly may have no symbol, and the next step.
func (m *module) problem() (problem, next string) {
	const byID = "use --symbols DIR with the assembly of this build, or record with rundown enabled"
	switch {
	case m.imageErr == errRefused:
		return "only assemblies of another build were found", byID
	case m.imageErr != nil && m.id == "":
		return "not found, and without an identity only files below --symbols are used", byID
	case m.imageErr != nil:
		return "not found", byID
	case m.codeErr != nil:
		return m.codeErr.Error(), ""
	}
	return "", ""
}

// Refused implements symbolfiles.Assemblies.
func (r *Resolver) Refused() (list []symbolfiles.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.order {
		list = append(list, m.refused...)
	}
	return list
}

// Used implements symbolfiles.Assemblies.
func (r *Resolver) Used() (files int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.order {
		if m.named > 0 {
			files++
		}
		if m.located > 0 && (m.pdbAt != m.imageAt || m.named == 0) {
			files++
		}
	}
	return files
}
