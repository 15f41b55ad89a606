package managedcode

import "github.com/ntconv/ntconv/internal/symbolfiles"

// A Status is what is known about one assembly of a trace.
type Status struct {
	Module   string                // path of the assembly, as recorded
	ID       string                // identity of its PDB as the trace states it, empty if unknown
	Assembly string                // path of the file that is used, empty if none was needed or found
	PDB      string                // path of the file whose lines are used; that of Assembly if it is embedded
	Refused  []symbolfiles.Refusal // files that were not used
	// Addresses of precompiled code without a recorded name, and how many of them got one.
	Asked, Named uint64
	// Instructions whose source line was asked for, and how many of them got one.
	Instructions, Located uint64
	// AssemblyProblem and PDBProblem state why there is no file; they are empty if there is one or none was needed.
	AssemblyProblem, PDBProblem string
}

// Status returns the state of all assemblies that were asked for, in that order.
func (r *Resolver) Status() []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Status, 0, len(r.order))
	for _, m := range r.order {
		s := Status{
			Module: m.path, ID: m.id, Assembly: m.imageAt, PDB: m.pdbAt, Refused: m.refused,
			Asked: m.asked, Named: m.named, Instructions: m.instructions, Located: m.located,
		}
		if m.imageErr != nil {
			s.AssemblyProblem = m.imageErr.Error()
		} else if m.codeErr != nil {
			s.AssemblyProblem = m.codeErr.Error()
		}
		if m.pdbErr != nil {
			s.PDBProblem = m.pdbErr.Error()
		}
		list = append(list, s)
	}
	return list
}
