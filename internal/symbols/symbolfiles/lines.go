package symbolfiles

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
)

// A LineNeed is an assembly with frames of managed code, and how many of them have a source line.
type LineNeed struct {
	Assembly string `json:"assembly"` // as recorded
	PDB      string `json:"pdb_id,omitempty"`
	Frames   int64  `json:"frames"`  // of all stacks
	Located  int64  `json:"located"` // of Frames: with a source line
	Status   Status `json:"files"`

	mapping *ntconv.Mapping
}

// locate counts a frame of managed code if lines are wanted.
func (n *Needs) locate(f *ntconv.Frame) {
	if f.Flags&ntconv.FrameManaged == 0 || f.Mapping == nil || n.asked.assemblies == nil || !n.asked.assemblies.HasLines() {
		return
	}
	key := moduleKey{f.Mapping.File, f.Mapping.BuildID}
	row := n.lines[key]
	if row == nil {
		if len(n.lines) >= maxRows || !IsAssembly(key.file) {
			return
		}
		row = &LineNeed{Assembly: key.file, PDB: key.buildID, mapping: f.Mapping}
		n.lines[key] = row
	}
	if row.Frames++; f.Line != 0 {
		row.Located++
	}
}

// Lines returns the assemblies with managed frames, those with most frames without a line first. It is empty if lines
// are not wanted.
func (n *Needs) Lines() []*LineNeed {
	list := []*LineNeed{}
	for _, row := range n.lines {
		row.Status = n.asked.assemblies.PDB(row.mapping)
		if row.Located > 0 { // the others are in methods that the compiler generated
			row.Status.Problem, row.Status.Next = "", ""
		}
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b *LineNeed) int {
		return cmp.Or(cmp.Compare(b.Frames-b.Located, a.Frames-a.Located), cmp.Compare(b.Frames, a.Frames),
			cmp.Compare(a.Assembly, b.Assembly), cmp.Compare(a.PDB, b.PDB))
	})
	return list
}
