package speedscope

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/origin"
)

// What exporters/speedscope writes: the exporter, the names of profiles whose samples are those of other profiles, and
// the names of profiles of threads, "shop (4711) main (12): wall", where the parentheses are absent from "process 4711"
// and "thread 12".
const (
	ownExporter = "ntconv@"
	allThreads  = "all threads: "
)

var (
	ownName = onFirstUse(
		`^(?:process (\d+)|(.+?) \((\d+)\)) (?:thread (\d+)|(.*?) \((\d+)\)): (.+?)(?: \(([^()]+)\))?$`,
	)
	// ownTrack is the name of the profile of a track that is no thread.
	ownTrack = onFirstUse(`^(?:process (\d+)|(.+?) \((\d+)\))(?: (.+))?: slices$`)
)

// onFirstUse returns a function that compiles an expression when it is called first, because every start of a program
// would pay for it.
func onFirstUse(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// firstTrack is the ID of the first thread that is made for a track.
const firstTrack = 1 << 32

// ownThreads are the threads of a file that exporters/speedscope wrote.
type ownThreads struct {
	processes map[uint64]*ntconv.Process
	threads   map[ownThread]summary
}

type ownThread struct {
	pid, tid uint64
	name     string // of a track
}

func newOwnThreads() *ownThreads {
	return &ownThreads{map[uint64]*ntconv.Process{}, map[ownThread]summary{}}
}

// isOwn reports whether exporters/speedscope wrote the file, as far as is known yet.
func (f *file) isOwn() bool { return strings.HasPrefix(f.exporter, ownExporter) }

// isSum reports whether the samples of the profile are also in other profiles of the file.
func (p *profile) isSum() bool { return p.isOwn() && strings.HasPrefix(p.name, allThreads) }

// adopt makes the profile one of a thread that its name states, and of the sample type that it states. It returns false
// if it states none.
func (p *profile) adopt() (ok bool, err error) {
	if !p.isOwn() {
		return false, nil
	}
	if m := ownName().FindStringSubmatch(p.name); m != nil {
		pid, err1 := strconv.ParseUint(m[1]+m[3], 10, 32)
		tid, err2 := strconv.ParseUint(m[4]+m[6], 10, 32)
		if err1 != nil || err2 != nil {
			return false, nil
		}
		p.values = origin.ValueType{Type: m[7], Unit: p.unit.values.Unit}
		if m[8] != "" && p.unit.name == "none" {
			p.values.Unit = m[8]
		}
		return true, p.adoptThread(ownThread{pid: pid, tid: tid}, m[2], m[5])
	}
	m := ownTrack().FindStringSubmatch(p.name)
	if m == nil {
		return false, nil
	}
	pid, err := strconv.ParseUint(m[1]+m[3], 10, 32)
	if err != nil {
		return false, nil
	}
	return true, p.adoptThread(ownThread{pid: pid, name: m[4]}, m[2], m[4])
}

// adoptThread makes the profile one of a thread of ntconv.
func (p *profile) adoptThread(key ownThread, process, name string) (err error) {
	s, ok := p.own.threads[key]
	if !ok {
		owner := p.own.processes[key.pid]
		if owner == nil {
			owner = &ntconv.Process{PID: key.pid, Name: process, PointerSize: 8}
			p.own.processes[key.pid] = owner
		}
		s.thread = &ntconv.Thread{TID: key.tid, Name: name, Process: owner}
		if key.tid == 0 {
			s.thread.TID = firstTrack + uint64(len(p.own.threads))
		}
		if s.number, err = p.b.AddThread(s.thread, nil); err != nil {
			return p.Fail(p.Place(), err)
		}
		p.own.threads[key] = s
	}
	p.thread, p.number = s.thread, s.number
	return nil
}
