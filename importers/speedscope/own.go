package speedscope

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/origin"
)

// What exporters/speedscope writes: the exporter, the names of profiles whose samples are those of other profiles, and the names of profiles of
// threads, "shop (4711) main (12): wall", where the parentheses are absent from "process 4711" and "thread 12".
const (
	ownExporter = "ntconv@"
	allThreads  = "all threads: "
)

var ownName = regexp.MustCompile(`^(?:process (\d+)|(.+?) \((\d+)\)) (?:thread (\d+)|(.*?) \((\d+)\)): (.+?)(?: \(([^()]+)\))?$`)

// ownThreads are the threads of a file that exporters/speedscope wrote.
type ownThreads struct {
	processes map[uint64]*ntconv.Process
	threads   map[ownThread]summary
}

type ownThread struct{ pid, tid uint64 }

func newOwnThreads() *ownThreads {
	return &ownThreads{map[uint64]*ntconv.Process{}, map[ownThread]summary{}}
}

// isOwn reports whether exporters/speedscope wrote the file, as far as is known yet.
func (f *file) isOwn() bool { return strings.HasPrefix(f.exporter, ownExporter) }

// isSum reports whether the samples of the profile are also in other profiles of the file.
func (p *profile) isSum() bool { return p.isOwn() && strings.HasPrefix(p.name, allThreads) }

// adopt makes the profile one of a thread that its name states, and of the sample type that it states. It returns false if it states none.
func (p *profile) adopt() (ok bool, err error) {
	m := ownName.FindStringSubmatch(p.name)
	if m == nil || !p.isOwn() {
		return false, nil
	}
	pid, err1 := strconv.ParseUint(m[1]+m[3], 10, 32)
	tid, err2 := strconv.ParseUint(m[4]+m[6], 10, 32)
	if err1 != nil || err2 != nil {
		return false, nil
	}
	p.values = origin.ValueType{Type: m[7], Unit: p.unit.values.Unit}
	if m[8] != "" && p.unit.name == "none" {
		p.values.Unit = m[8]
	}
	key := ownThread{pid, tid}
	s, ok := p.own.threads[key]
	if !ok {
		process := p.own.processes[pid]
		if process == nil {
			process = &ntconv.Process{PID: pid, Name: m[2], PointerSize: 8}
			p.own.processes[pid] = process
		}
		s.thread = &ntconv.Thread{TID: tid, Name: m[5], Process: process}
		if s.number, err = p.b.AddThread(s.thread, nil); err != nil {
			return false, p.Fail(p.Place(), err)
		}
		p.own.threads[key] = s
	}
	p.thread, p.number = s.thread, s.number
	return true, nil
}
