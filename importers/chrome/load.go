package chrome

import (
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/chromeevent"
	"github.com/ntconv/ntconv/internal/jsonscan"
	"github.com/ntconv/ntconv/internal/spool"
)

// Kinds of records, their first byte. The offset of what they come from in the input follows, as a varint, then the data.
const (
	recordEvent    = iota // an event of the file, as JSON
	recordTopLevel        // a member of the outermost object: length of its name, name, value
	recordSample          // see loader.addSample
)

// beforeAll is the time of records that are delivered first.
const beforeAll = math.MinInt64

// A loader takes what a file holds and makes records of it.
type loader struct {
	o        *Options
	events   *spool.Spool
	profiles *spool.Spool // events of V8's profiler, nil if there are none
	storage  error        // of a spool
	record   []byte

	owners  chromeevent.Owners
	threads map[*ntconv.Thread]uint64 // numbers in threadList
	list    []*ntconv.Thread
	byTID   map[string]*ntconv.Thread // the first thread with a TID

	parser chromeevent.Parser
	parsed chromeevent.Event
	last   int64 // time of the latest event that has one
	first  int64 // earliest time, math.MaxInt64 if there is none
	epoch  epoch

	names       *names
	frames      *tree // of the member stackFrames
	v8          map[string]*v8Profile
	profileList []*v8Profile
	cpu         cpuProfile
	sampleTypes []sampleType
	cache       stackCache
}

func newLoader(o *Options) *loader {
	l := &loader{
		o: o, events: spool.New(&spool.Options{Dir: o.Dir}), first: math.MaxInt64, threads: map[*ntconv.Thread]uint64{},
		byTID: map[string]*ntconv.Thread{}, names: newNames(o.Limits.Names), v8: map[string]*v8Profile{},
	}
	l.frames = l.names.tree()
	return l
}

func (l *loader) close() error {
	err := l.events.Close()
	if l.profiles != nil {
		err = cmpOr(err, l.profiles.Close())
	}
	return err
}

func cmpOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// add adds a record to a spool. The first error is also kept in l.storage.
func (l *loader) add(to *spool.Spool, time int64, kind byte, offset int64, data ...[]byte) error {
	l.record = binary.AppendUvarint(append(l.record[:0], kind), uint64(offset))
	for _, d := range data {
		l.record = append(l.record, d...)
	}
	err := to.Add(spool.Key{Time: time}, l.record)
	if err != nil {
		l.storage = err
	}
	return err
}

// event takes an event of the file.
func (l *loader) event(value []byte, offset int64) error {
	e := &l.parsed
	l.parser.Parse(value, e)
	if e.Phase == chromeevent.PhaseMetadata {
		l.setNames(e)
		l.thread(e.PID, e.TID)
		return l.add(l.events, beforeAll, recordEvent, offset, value)
	}
	at := l.last
	if e.Has&chromeevent.HasTime != 0 {
		at, l.last = e.Time, e.Time
	} else {
		l.o.Report.Note(ntconv.CodeRepaired, 1, offset, "events without ts got that of the event before them")
	}
	if isV8(e) {
		if l.profiles == nil {
			l.profiles = spool.New(&spool.Options{Dir: l.o.Dir})
		}
		return l.add(l.profiles, at, recordEvent, offset, value)
	}
	l.thread(e.PID, e.TID)
	l.first = min(l.first, at)
	return l.add(l.events, at, recordEvent, offset, value)
}

// thread returns the thread of members pid and tid.
func (l *loader) thread(pid, tid []byte) *ntconv.Thread {
	t := l.owners.Thread(pid, tid)
	if _, ok := l.threads[t]; !ok {
		l.threads[t] = uint64(len(l.list))
		l.list = append(l.list, t)
		if text := string(unquoted(tid)); l.byTID[text] == nil {
			l.byTID[text] = t
		}
	}
	return t
}

// unquoted returns a string in JSON without quotes, and other values as they are.
func unquoted(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' {
		text, _ := jsonscan.AppendUnquoted(nil, value)
		return text
	}
	return value
}

// setNames takes the name of a process or a thread from metadata.
func (l *loader) setNames(e *chromeevent.Event) {
	if e.Name != "process_name" && e.Name != "thread_name" {
		return
	}
	name := member(e.Args, `"name"`)
	if len(name) == 0 || name[0] != '"' {
		return
	}
	if e.Name == "process_name" {
		l.owners.SetProcessName(e.PID, string(unquoted(name)))
	} else {
		l.owners.SetThreadName(e.PID, e.TID, string(unquoted(name)))
	}
}

// member returns the last member of an object with a name in quotes, nil if there is none.
func member(object []byte, quoted string) (value []byte) {
	members := jsonscan.MembersOf(object)
	for {
		name, v, ok := members.Next()
		if !ok {
			return value
		}
		if string(name) == quoted {
			value = v
		}
	}
}

// topLevel takes a member of the outermost object that is not a list of events, frames or samples.
func (l *loader) topLevel(name string, value []byte, offset int64) error {
	if l.cpu.take(name, value) {
		return nil
	}
	l.epoch.learn(name, value)
	return l.addTopLevel(name, value, offset)
}

func (l *loader) addTopLevel(name string, value []byte, offset int64) error {
	size := binary.AppendUvarint(nil, uint64(len(name)))
	return l.add(l.events, beforeAll, recordTopLevel, offset, size, []byte(name), value)
}

// finish makes samples of profiles when the whole file is known.
func (l *loader) finish() error {
	if err := l.readProfiles(); err != nil {
		return err
	}
	return l.finishCPUProfile()
}
