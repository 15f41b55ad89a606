package speedscope

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// The output of exporters/speedscope: the exporter, the prefix of profiles whose samples other profiles contain, too,
// and the names of thread profiles, such as "shop (4711) main (12): wall". The names "process 4711" and "thread 12"
// have no parentheses.
const (
	ownExporter = "ntconv@"
	allThreads  = "all threads: "
)

var (
	ownName = onFirstUse(`^(?:process (\d+)|(.+?) \((\d+)\)) (?:thread (\d+)|(.*?) \((\d+)\)): (.+?)(?: \(([^()]+)\))?$`)
	// ownTrack matches the name of a profile for a track that is not a thread.
	ownTrack = onFirstUse(`^(?:process (\d+)|(.+?) \((\d+)\))(?: (.+))?: slices$`)
)

// onFirstUse returns a function that compiles an expression on its first call, because every start of a program would
// pay for it.
func onFirstUse(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// firstTrack is the ID of the first synthetic thread for a track.
const firstTrack = 1 << 32

// ownThreads holds the threads of a file that exporters/speedscope wrote.
type ownThreads struct {
	processes map[uint64]*ntconv.Process
	threads   map[ownThread]summary
}

// An ownThread identifies a thread, or a track that is not a thread.
type ownThread struct {
	pid, tid uint64
	name     string // name of a track
}

func newOwnThreads() *ownThreads {
	return &ownThreads{map[uint64]*ntconv.Process{}, map[ownThread]summary{}}
}

// isOwn reports whether exporters/speedscope wrote the file, as far as it is known yet.
func (f *file) isOwn() bool { return strings.HasPrefix(f.exporter, ownExporter) }

// isSum reports whether other profiles of the file also contain the samples of this profile.
func (p *profile) isSum() bool { return p.isOwn() && strings.HasPrefix(p.name, allThreads) }

// adopt assigns the profile to the thread and sample type that its name states. It returns false if the name states
// none.
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
		p.values = imported.ValueType{Type: m[7], Unit: p.unit.values.Unit}
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

// adoptThread assigns the profile to a thread of a file that ntconv wrote. It creates the thread if necessary.
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
