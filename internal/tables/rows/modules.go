package rows

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
)

// A moduleTable numbers modules and writes their rows when it first sees them.
type moduleTable struct {
	rows *table[tables.Module]
	ids  map[moduleKey]int32
	last int32
}

// A moduleKey identifies a module by content, because sources and Namers may have several pointers to equal modules.
type moduleKey struct {
	process int32
	ntconv.Mapping
}

func newModuleTable(out *output) (*moduleTable, error) {
	rows, err := newTable[tables.Module](out)
	return &moduleTable{rows: rows, ids: make(map[moduleKey]int32)}, err
}

// record writes the modules of a process as the trace defines it. It writes duplicates, too, so that the list can be
// restored.
func (t *moduleTable) record(process int32, list []*ntconv.Mapping) {
	for _, m := range list {
		if m == nil {
			continue
		}
		id := t.add(process, m, true)
		if key := (moduleKey{process, *m}); t.ids[key] == 0 {
			t.ids[key] = id
		}
	}
}

// id returns the module_id of a mapping, or 0 for nil.
func (t *moduleTable) id(process int32, m *ntconv.Mapping) int32 {
	if m == nil {
		return 0
	}
	key := moduleKey{process, *m}
	id := t.ids[key]
	if id == 0 {
		id = t.add(process, m, false)
		t.ids[key] = id
	}
	return id
}

// add writes the row of a module and returns its module_id. recorded means that the process definition of the trace
// contains the module.
func (t *moduleTable) add(process int32, m *ntconv.Mapping, recorded bool) int32 {
	t.last++
	row := t.rows.row()
	row.ModuleID, row.ProcessID, row.Recorded = t.last, process, recorded
	row.Path, row.BuildID = valid(m.File), valid(m.BuildID)
	row.Name = baseName(row.Path)
	row.Start, row.Limit, row.FileOffset, row.Flags = int64(m.Start), int64(m.Limit), int64(m.Offset), int32(m.Flags)
	return t.last
}

// baseName returns the last element of a path of any operating system.
func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }
