package chrome

import (
	"bytes"

	"github.com/ntconv/ntconv"
)

// A cpuProfile collects the members of a file that consists of one profile (.cpuprofile).
type cpuProfile struct {
	data    v8Data
	samples []byte // a JSON array without the closing bracket
}

// take stores a member of the outermost object if a profile has a member of that name.
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

// sample adds the node ID of a sample, in JSON.
func (c *cpuProfile) sample(id []byte, limit int) error {
	if len(c.samples)+len(id) > limit {
		return &ntconv.LimitError{Limit: LimitValue, Value: int64(limit), Asked: int64(len(c.samples) + len(id)), Unit: "bytes"}
	}
	open := byte(',')
	if len(c.samples) == 0 {
		open = '['
	}
	c.samples = append(append(c.samples, open), id...)
	return nil
}

// finishCPUProfile adds the samples of a file that is one profile. For any other file it keeps the stored members as
// they are.
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
	p := &v8Profile{number: len(l.profileList) + 1, whole: true, tree: l.names.tree(), name: v8Name, thread: l.threads[l.thread([]byte("1"), []byte("1"))]}
	l.profileList = append(l.profileList, p)
	p.now, _ = nanos(d.start)
	if err := l.profileData(p, &d, 0); err != nil {
		return err
	}
	return l.flushProfile(p)
}

// keepMembers adds the members that take stored, because the file is not a profile.
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
