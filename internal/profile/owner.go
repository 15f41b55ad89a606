package profile

import "github.com/ntconv/ntconv"

// owners are the labels of a set's owners. Different threads may have the same labels: ids are used again.
type owners struct {
	ids    []uint32         // canonical id by owner
	labels [][]ntconv.Label // by canonical id
}

// ownerName is what makes owners equal for a reader of the profile.
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

// nameOwner asks for names, leaving out what is dropped.
func (b *Builder) nameOwner(o owner, imported bool) (n ownerName) {
	drop := b.pool.drop
	if imported { // its labels say whose it is, if anything does
		return n
	}
	if p := o.process; p != nil {
		if !drop[LabelHost] {
			n.host = p.Host
		}
		if !drop[LabelProcess] {
			if n.process = b.namer.Process(p).Name; n.process == "" {
				n.process = p.Name
			}
		}
		if !drop[LabelPID] {
			n.pid, n.hasPID = p.PID, true
		}
	}
	if t := o.thread; t != nil {
		if !drop[LabelThread] {
			n.thread = b.namer.ThreadName(t)
		}
		if t.TID != ntconv.TIDUnknown && !drop[LabelThreadID] {
			n.tid, n.hasTID = t.TID, true
		}
	}
	return n
}

func (n ownerName) labels() (list []ntconv.Label) {
	if n.host != "" {
		list = append(list, text(LabelHost, n.host))
	}
	if n.process != "" {
		list = append(list, text(LabelProcess, n.process))
	}
	if n.hasPID {
		list = append(list, number(LabelPID, n.pid))
	}
	if n.thread != "" {
		list = append(list, text(LabelThread, n.thread))
	}
	if n.hasTID {
		list = append(list, number(LabelThreadID, n.tid))
	}
	return list
}
