package chrome

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// The first byte of a record is its kind. A varint with the offset of its source in the input follows, then the data.
const (
	recordEvent    = iota // an event of the file, as JSON
	recordTopLevel        // a member of the outermost object: length of its name, name, value
	recordSample          // see loader.addSample
)

// beforeAll is the time of records that are delivered first.
const beforeAll = math.MinInt64

// A loader converts the parts of a file to records, which events sorts by time.
type loader struct {
	o        *Options
	events   *spool.Spool
	profiles *spool.Spool // events of V8's profiler; nil if there are none
	storage  error        // first error of a spool
	record   []byte       // scratch of add

	owners  chromeevent.Owners
	threads map[*ntconv.Thread]uint64 // index in list
	list    []*ntconv.Thread
	byTID   map[string]*ntconv.Thread // first thread with each TID

	parser chromeevent.Parser
	parsed chromeevent.Event
	last   int64 // time of the latest event with a ts
	first  int64 // earliest time; math.MaxInt64 if there is none
	epoch  epoch
	flows  flows

	names       *names
	frames      *tree                 // of the member stackFrames
	v8          map[string]*v8Profile // by PID and profile ID
	profileList []*v8Profile
	cpu         cpuProfile
	sampleTypes []sampleType
	cache       stackCache
	budget      imported.FrameBudget
}

func newLoader(o *Options) *loader {
	l := &loader{
		o: o, events: spool.New(&spool.Options{Dir: o.TempDir, Max: o.MaxTemp}), first: math.MaxInt64, threads: map[*ntconv.Thread]uint64{},
		parser: chromeevent.Parser{Valid: true}, byTID: map[string]*ntconv.Thread{}, names: newNames(o.Limits.Names), v8: map[string]*v8Profile{},
	}
	l.frames = l.names.tree()
	return l
}

func (l *loader) close() error {
	err := l.events.Close()
	if l.profiles != nil {
		err = errors.Join(err, l.profiles.Close())
	}
	return err
}

// add adds a record to a spool. It also stores an error in l.storage.
func (l *loader) add(to *spool.Spool, key spool.Key, kind byte, offset int64, data ...[]byte) error {
	l.record = binary.AppendUvarint(append(l.record[:0], kind), uint64(offset))
	for _, d := range data {
		l.record = append(l.record, d...)
	}
	err := to.Add(key, l.record)
	if err != nil {
		l.storage = err
	}
	return err
}

// A head holds the members that a loader needs of most events.
type head struct {
	phase, name, pid, tid []byte // as JSON
	time                  int64
	timed                 bool // time comes from the member ts
}

// headOf parses the head of an event. It must agree with chromeevent.Parser.
func headOf(value []byte) (h head) {
	members := jsonio.MembersOf(value)
	for {
		name, v, ok := members.Next()
		if !ok {
			return h
		}
		switch string(name) {
		case `"ph"`:
			h.phase = v
		case `"name"`:
			h.name = v
		case `"pid"`:
			h.pid = v
		case `"tid"`:
			h.tid = v
		case `"ts"`:
			if m, ok := chromeevent.ParseMicros(v); ok {
				h.time, _ = m.Round()
				h.timed = true
			}
		}
	}
}

// needsParser reports whether the head is not enough: the event has names or may contain a profile or mark one, or its head
// may have escapes.
func (h *head) needsParser() bool {
	return len(h.phase) != len(`"X"`) || h.phase[1] == 'M' || h.phase[1] == 'P' || string(h.name) == `"CpuProfile"` ||
		string(h.name) == `"`+chromeevent.SampleMark+`"` || !jsonio.IsPlain(h.name)
}

// event adds an event of the file.
func (l *loader) event(value []byte, offset int64) error {
	if !utf8.Valid(value) {
		value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
		l.o.Report.Note(ntconv.CodeRepaired, 1, offset, "events with text that is not UTF-8")
	}
	h := headOf(value)
	if h.needsParser() {
		if taken, err := l.special(value, offset); taken || err != nil {
			return err
		}
	}
	at := l.last
	if h.timed {
		at, l.last = h.time, h.time
	} else {
		l.o.Report.Note(ntconv.CodeRepaired, 1, offset, "events without ts; they got the ts of the previous event")
	}
	l.thread(h.pid, h.tid)
	l.first = min(l.first, at)
	key := spool.Key{Time: at}
	if isFlow(h.phase) {
		l.parser.Parse(value, &l.parsed)
		key.Rank = l.flows.rank(&l.parsed, at)
	}
	return l.add(l.events, key, recordEvent, offset, value)
}

// special adds an event if it is metadata or contains a profile, and skips marks of samples. taken is false for other
// events.
func (l *loader) special(value []byte, offset int64) (taken bool, err error) {
	e := &l.parsed
	l.parser.Parse(value, e)
	switch {
	case e.Phase == chromeevent.PhaseMetadata:
		l.setNames(e)
		l.thread(e.PID, e.TID)
		return true, l.add(l.events, spool.Key{Time: beforeAll}, recordEvent, offset, value)
	case e.IsSampleMark():
		l.thread(e.PID, e.TID)
		return true, nil
	case isV8(e):
		if l.profiles == nil {
			l.profiles = spool.New(&spool.Options{Dir: l.o.TempDir, Max: l.o.MaxTemp})
		}
		if e.Has&chromeevent.HasTime != 0 {
			l.last = e.Time
		}
		return true, l.add(l.profiles, spool.Key{Time: l.last}, recordEvent, offset, value)
	}
	return false, nil
}

// thread returns the thread for the members pid and tid.
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

// unquoted returns the contents of a JSON string, and any other value unchanged.
func unquoted(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' {
		text, _ := jsonio.AppendUnquoted(nil, value)
		return text
	}
	return value
}

// setNames sets the name of a process or thread from a metadata event.
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

// member returns the last member of an object with this quoted name, or nil if there is none.
func member(object []byte, quoted string) (value []byte) {
	members := jsonio.MembersOf(object)
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

// topLevel adds a member of the outermost object that is not a list of events, frames or samples.
func (l *loader) topLevel(name string, value []byte, offset int64) error {
	if l.cpu.take(name, value) {
		return nil
	}
	l.epoch.learn(name, value)
	return l.addTopLevel(name, value, offset)
}

func (l *loader) addTopLevel(name string, value []byte, offset int64) error {
	if !utf8.Valid(value) {
		value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
		l.o.Report.Note(ntconv.CodeRepaired, 1, offset, "members with text that is not UTF-8")
	}
	size := binary.AppendUvarint(nil, uint64(len(name)))
	return l.add(l.events, spool.Key{Time: beforeAll}, recordTopLevel, offset, size, []byte(name), value)
}

// finish adds the samples of V8 profiles. The whole file must have been read.
func (l *loader) finish() error {
	err := l.readProfiles()
	if err == nil {
		err = l.finishCPUProfile()
	}
	if n := l.owners.Merged; n > 0 {
		l.o.Report.Note(ntconv.CodeNotCarried, uint64(n), -1, "events assigned to other processes or threads, because there are too many")
	}
	return err
}
