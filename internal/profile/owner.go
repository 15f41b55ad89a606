package profile

import (
	"github.com/ntconv/ntconv/internal/profile/meters"
)

import "github.com/ntconv/ntconv"

// owners holds the labels of a set's owners. Different threads may have equal labels, because thread IDs are reused.
type owners struct {
	ids    []uint32         // index into labels, by owner
	labels [][]ntconv.Label // distinct label lists
}

// An ownerName is the identity of an owner in the profile: owners with equal names are merged.
type ownerName struct {
	pid, tid              uint64
	host, process, thread string
	hasPID, hasTID        bool
}

func mergeOwners(p *Profile) owners {
	var all owners
	known := map[ownerName]uint32{}
	for _, o := range p.s.owners {
		n := p.b.nameOwner(o, len(p.Adopted) > 0 && !p.b.pool.labels.none)
		id, ok := known[n]
		if !ok {
			id = uint32(len(all.labels))
			known[n] = id
			all.labels = append(all.labels, n.labels())
		}
		all.ids = append(all.ids, id)
	}
	return all
}

// nameOwner returns the name of an owner without the dropped labels.
func (b *Builder) nameOwner(o owner, imported bool) (n ownerName) {
	drop := b.pool.Drop
	if imported { // the labels of imported samples identify their owner, if anything does
		return n
	}
	if p := o.process; p != nil {
		if !drop[meters.LabelHost] {
			n.host = p.Host
		}
		if !drop[meters.LabelProcess] {
			if n.process = b.namer.Process(p).Name; n.process == "" {
				n.process = p.Name
			}
		}
		if !drop[meters.LabelPID] {
			n.pid, n.hasPID = p.PID, true
		}
	}
	if t := o.thread; t != nil {
		if !drop[meters.LabelThread] {
			n.thread = b.namer.ThreadName(t)
		}
		if t.TID != ntconv.TIDUnknown && !drop[meters.LabelThreadID] {
			n.tid, n.hasTID = t.TID, true
		}
	}
	return n
}

func (n ownerName) labels() (list []ntconv.Label) {
	if n.host != "" {
		list = append(list, text(meters.LabelHost, n.host))
	}
	if n.process != "" {
		list = append(list, text(meters.LabelProcess, n.process))
	}
	if n.hasPID {
		list = append(list, number(meters.LabelPID, n.pid))
	}
	if n.thread != "" {
		list = append(list, text(meters.LabelThread, n.thread))
	}
	if n.hasTID {
		list = append(list, number(meters.LabelThreadID, n.tid))
	}
	return list
}
