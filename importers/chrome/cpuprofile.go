package chrome

import (
	"bytes"

	"github.com/ntconv/ntconv"
)

// A cpuProfile is a file that is one profile: .cpuprofile.
type cpuProfile struct {
	data    v8Data
	samples []byte // as JSON, without its end
}

// take takes a member of the outermost object if it is one of a profile.
func (c *cpuProfile) take(name string, value []byte) bool {
	var to *[]byte
	switch name {
	case "nodes":
		to = &c.data.nodes
	case "timeDeltas":
		to = &c.data.deltas
	case "startTime":
		to = &c.data.start
	case "endTime":
		to = &c.data.end
	default:
		return false
	}
	*to = bytes.Clone(value)
	return true
}

// sample takes the node of a sample.
func (c *cpuProfile) sample(id []byte, limit int) error {
	if len(c.samples)+len(id) > limit {
		return &ntconv.LimitError{
			Limit: LimitValue,
			Value: int64(limit),
			Asked: int64(len(c.samples) + len(id)),
			Unit:  "bytes",
		}
	}
	open := byte(',')
	if len(c.samples) == 0 {
		open = '['
	}
	c.samples = append(append(c.samples, open), id...)
	return nil
}

// finishCPUProfile makes samples of a file that is one profile.
func (l *loader) finishCPUProfile() error {
	d := l.cpu.data
	if d.nodes == nil || l.cpu.samples == nil {
		if l.cpu.samples != nil {
			l.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "numbers in the list of samples of a file without nodes")
		}
		return l.keepMembers()
	}
	d.samples = append(l.cpu.samples, ']')
	l.cpu = cpuProfile{}
	p := &v8Profile{
		number: len(l.profileList) + 1,
		tree:   l.names.tree(),
		thread: l.threads[l.thread([]byte("1"), []byte("1"))],
	}
	l.profileList = append(l.profileList, p)
	p.now, _ = nanos(d.start)
	if err := l.profileData(p, &d, 0); err != nil {
		return err
	}
	return l.flushProfile(p)
}

// keepMembers keeps members that might have been those of a profile as what they are in other files.
func (l *loader) keepMembers() error {
	for _, m := range [...]struct {
		name  string
		value []byte
	}{{"nodes", l.cpu.data.nodes}, {"timeDeltas", l.cpu.data.deltas}, {"startTime", l.cpu.data.start}, {"endTime", l.cpu.data.end}} {
		if m.value == nil {
			continue
		}
		if err := l.addTopLevel(m.name, m.value, 0); err != nil {
			return err
		}
	}
	return nil
}
