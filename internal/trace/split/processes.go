package split

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// keptProcesses holds the processes with at least one selected event and the mappings that they refer to. If several
// processes map a file, a recorder describes the file only once, in events of any of these processes.
//
// Learn calls observe for each event and then finish, which sets refs. Only after that are contain and needs valid.
type keptProcesses struct {
	processes map[hostID]bool         // by PID
	mapped    map[hostID][]mappingRef // by PID; nil after finish
	refs      map[mappingRef]bool     // of the kept processes, set by finish
}

// A hostID is an ID that is unique on one host.
type hostID struct {
	host string
	id   uint64
}

// A mappingRef identifies the symbols or the metadata of a mapping.
type mappingRef struct {
	class clr.Class
	hostID
}

func newKeptProcesses() *keptProcesses {
	return &keptProcesses{
		processes: make(map[hostID]bool),
		mapped:    make(map[hostID][]mappingRef),
		refs:      make(map[mappingRef]bool),
	}
}

func filterProcess(t *ntconv.Thread) hostID {
	if t == nil || t.Process == nil {
		return hostID{id: ^uint64(0)}
	}
	return hostID{t.Process.Host, t.Process.PID}
}

// observe processes an event of the whole trace.
func (k *keptProcesses) observe(e *ntconv.Event, selected bool) {
	id := filterProcess(e.Thread)
	if selected {
		k.processes[id] = true
	}
	var m clr.Mapping
	if clr.ClassOf(e.Type) == clr.ClassUniversalMapping && clr.ParseMapping(e, &m) {
		k.mapped[id] = append(k.mapped[id],
			mappingRef{clr.ClassUniversalSymbol, hostID{id.host, m.ID}},
			mappingRef{clr.ClassUniversalMappingMetadata, hostID{id.host, m.MetadataID}})
	}
}

// finish computes refs. Call it after the last event.
func (k *keptProcesses) finish() {
	for p := range k.processes {
		for _, ref := range k.mapped[p] {
			k.refs[ref] = true
		}
	}
	k.mapped = nil
}

// contain reports whether the process of a thread is kept. A nil receiver contains all processes.
func (k *keptProcesses) contain(t *ntconv.Thread) bool {
	return k == nil || k.processes[filterProcess(t)]
}

// needs reports whether an event with symbols belongs to a kept process or to a mapping of one.
func (k *keptProcesses) needs(e *ntconv.Event) bool {
	if k.contain(e.Thread) {
		return true
	}
	ref, ok := filterRef(e)
	return ok && k.refs[ref]
}

// filterRef returns the mapping or metadata that an event describes and that events of other processes may refer to.
func filterRef(e *ntconv.Event) (ref mappingRef, ok bool) {
	class, host := clr.ClassOf(e.Type), filterProcess(e.Thread).host
	var symbol clr.Symbol
	var meta clr.MappingMetadata
	switch {
	case class == clr.ClassUniversalSymbol && clr.ParseSymbol(e, &symbol):
		return mappingRef{class, hostID{host, symbol.MappingID}}, true
	case class == clr.ClassUniversalMappingMetadata && clr.ParseMappingMetadata(e, &meta):
		return mappingRef{class, hostID{host, meta.ID}}, true
	}
	return mappingRef{}, false
}
