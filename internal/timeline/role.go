package timeline

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/span/logs"
	"github.com/ntconv/ntconv/schema"
)

// A role states how the events of a type and version are converted. It is immutable.
type role struct {
	typ     *ntconv.Type
	version uint8
	title   uint32 // title of an instant

	sample    bool // samples
	weight    bool // events that state the weight of a sample
	counter   bool // events that may contain values of counters
	universal bool // values of counters of a machine-wide recorder
	describes bool // events that describe a process
	rundown   bool // events that only describe methods, modules, mappings or symbols

	log       bool // log records, and the beginnings and ends of scopes around them
	logRecord bool // log records

	exception  *schema.Projection // of the type of a thrown exception, or nil
	allocation *meters.Allocation // of the bytes of an allocation, or nil

	chrome      bool // events of Chrome's format
	chromeSlice bool // these begin or end a slice, or are complete slices
	threadSlice bool // these begin a slice of a thread
	hasFlow     bool // these may be ends of arrows
}

// roles caches the roles of events.
type roles struct {
	schemas  schema.Table
	byType   map[*ntconv.Type]*role
	others   map[*schema.Schema]*role // for events whose labels override the version of their type
	last     *role                    // role of the latest type
	recent   intern.Cache[*ntconv.Type, *role]
	counters *recording.CounterReader // determines which events contain counters
	titles   *titleTable
}

func newRoles(titles *titleTable, counters *recording.CounterReader) roles {
	return roles{
		titles: titles, counters: counters,
		byType: map[*ntconv.Type]*role{}, others: map[*schema.Schema]*role{}, recent: intern.NewCache[*ntconv.Type, *role](8),
	}
}

// of returns the role of an event, which must have a type.
func (t *roles) of(e *ntconv.Event) *role {
	r := t.last
	if r == nil || r.typ != e.Type {
		r = t.ofType(e)
		t.last = r
	}
	if v := e.Version(); r.version != v {
		s := t.schemas.Of(e)
		if r = t.others[s]; r == nil {
			r = t.new(e, s)
			t.others[s] = r
		}
	}
	return r
}

func (t *roles) ofType(e *ntconv.Event) *role {
	hash := uint64(e.Type.ID)<<8 ^ uint64(len(e.Type.Provider))
	if r := t.recent.Get(hash, &e.Type); r != nil {
		return *r
	}
	r := t.byType[e.Type]
	if r == nil {
		r = t.new(e, t.schemas.Of(e))
		t.byType[e.Type] = r
	}
	t.recent.Put(hash, &e.Type, r)
	return r
}

func (t *roles) new(e *ntconv.Event, s *schema.Schema) *role {
	class := clr.ClassOf(e.Type)
	r := &role{
		typ: e.Type, version: e.Version(), sample: isSample(e.Type), weight: recording.IsWeight(e.Type),
		describes: recording.Describes(e.Type), universal: class == clr.ClassUniversalOther && !meters.IsPageFault(s.Name),
	}
	r.counter = !r.sample && (r.universal || t.counters.Reads(e))
	r.rundown = r.weight || onlyDescribes(e.Type, class)
	name := s.Name
	if name == "" {
		name = "id=" + strconv.FormatUint(uint64(s.ID), 10)
	}
	r.title = t.titles.number(name, s.Provider)
	if s.Provider == clr.Runtime && s.Name == "ExceptionThrown" {
		r.exception, _ = s.Project("ExceptionType")
	}
	r.allocation = meters.NewAllocation(s)
	r.logRecord = logs.IsRecord(e.Type)
	r.log = r.logRecord || logs.IsScope(e.Type)
	r.describeChrome(s)
	return r
}

func isSample(t *ntconv.Type) bool { return meters.IsSample(t) || imported.ColumnsOf(t) != nil }

// describeChrome sets the members for events of Chrome's format.
func (r *role) describeChrome(s *schema.Schema) {
	var phase string
	if phase, r.chrome = chromeevent.Of(r.typ); !r.chrome {
		return
	}
	r.threadSlice = phase == chromeevent.PhaseComplete || phase == chromeevent.PhaseBegin
	switch chromeevent.RoleOf(phase) {
	case chromeevent.RoleComplete, chromeevent.RoleBegin, chromeevent.RoleEnd:
		r.chromeSlice = true
	}
	for i := range s.Fields {
		r.hasFlow = r.hasFlow || s.Fields[i].Name == "bind_id"
	}
}

// onlyDescribes reports whether events of a type describe what existed before the recording, instead of occurring in
// the recorded program.
func onlyDescribes(t *ntconv.Type, class clr.Class) bool {
	if t.Provider == clr.Rundown || t.Provider == "ntconv" {
		return true
	}
	switch class {
	case clr.ClassILMap, clr.ClassUniversalMapping, clr.ClassUniversalSymbol, clr.ClassUniversalMappingMetadata,
		clr.ClassProcessInfo:
		return true
	case clr.ClassUniversalProcess:
		return t.ID == 0 // the process already existed
	}
	return false
}

// spelling returns the name of a type, as profiles spell it.
func (t *Timeline) spelling(recorded []byte) string {
	name, known := t.spelled[string(recorded)]
	if !known {
		name = t.titles.share([]byte(meters.TypeNameOf(t.stacks.namer)(string(recorded))))
		if len(t.spelled) < maxTitles {
			t.spelled[string(recorded)] = name
		}
	}
	return name
}

// exceptionType returns the type of a thrown exception, or the name of the event if the payload does not contain it.
func (t *Timeline) exceptionType(e *ntconv.Event, r *role) string {
	var v [1]ntconv.Value
	r.exception.Read(e, v[:])
	if v[0].Kind() == ntconv.ValueString {
		if t.text = v[0].AppendString(t.text[:0]); len(t.text) > 0 {
			return t.spelling(t.text)
		}
	}
	return "ExceptionThrown"
}
