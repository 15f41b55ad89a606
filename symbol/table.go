package symbol

import (
	"hash/maphash"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/intern"
	"github.com/ntconv/ntconv/schema"
)

// Names says how names of .NET methods are spelled.
type Names uint8

const (
	// NamesPretty: for reading, as in C#. Function.SystemName holds the module and Microsoft's spelling.
	NamesPretty Names = iota
	// NamesRaw: as Microsoft's tools show them, Namespace.Type.Method(parameters), or Type::Method(parameters) where
	// they come from a perf map.
	NamesRaw
	// NamesShort means the names of NamesPretty without the namespace and without type arguments: List.Add(int).
	// Different methods may have the same name. Function.SystemName is as for NamesPretty.
	NamesShort
)

// Options of a Table. The zero value is the default.
type Options struct {
	Names  Names
	Report *ntconv.Report // of events that cannot be understood; may be nil
}

// A Table learns names of addresses from the events of a trace and answers for them. It is an ntconv.Namer.
//
// Observe must see the events in stream order. Answers may be asked for at any time and get better with every event;
// those that matter come from a table that has seen the whole trace. A table keeps no event and no payload. Its memory
// grows with the names in the trace, not with its samples; of an address without a symbol that was asked for, it keeps
// 11 to 21 bytes.
//
// A Table must not be used by several goroutines at once.
type Table struct {
	names  Names
	report *ntconv.Report

	dull     [4]*ntconv.Type // types of no interest that came last: most events stop there
	dulls    uint
	learners map[*ntconv.Type]learner
	schemas  schema.Table
	version  uint32 // counts what was learned

	processes map[processKey]*process
	recent    *ntconv.Process // whose entry is
	found     *process

	texts     *texts
	symbols   map[symbolsKey]*symbols
	first     map[mappingKey]*symbols // of each id; for symbols that come before their mapping
	entries   int                     // of all symbols
	indexed   int                     // of them, in the indexes of processes
	metadata  map[mappingKey]string
	epochs    uint32 // number of the last change of meaning in any process
	symbolsAt uint32 // the same for symbols alone

	missed  int  // addresses that were wanted too late
	omitted int  // addresses whose inlined functions are not in all stacks
	late    bool // a module came after one that is newer
	rundown bool // a type describes methods at the end of the recording

	funcs      map[ntconv.Function]*ntconv.Function
	unresolved intern.Cache[unresolvedKey, *ntconv.Function] // recent placeholders: few addresses make up most stacks
	nameless   unresolvedSet
	cache      intern.Cache[cacheKey, ntconv.Frame] // most frames have few addresses

	method  clr.Method // scratch
	speller speller
}

// A learner takes in an event of the types it is for.
type learner func(*Table, *ntconv.Event)

// New returns an empty table. opts may be nil.
func New(opts *Options) *Table {
	if opts == nil {
		opts = &Options{}
	}
	t := &Table{
		names:      opts.Names,
		report:     opts.Report,
		learners:   make(map[*ntconv.Type]learner),
		processes:  make(map[processKey]*process),
		texts:      newTexts(),
		cache:      intern.NewCache[cacheKey, ntconv.Frame](cacheBits),
		symbols:    make(map[symbolsKey]*symbols),
		first:      make(map[mappingKey]*symbols),
		metadata:   make(map[mappingKey]string),
		funcs:      make(map[ntconv.Function]*ntconv.Function),
		unresolved: intern.NewCache[unresolvedKey, *ntconv.Function](cacheBits),
		nameless:   unresolvedSet{seed: maphash.MakeSeed()},
	}
	t.speller = newSpeller(t)
	return t
}

// Watch returns src with every event shown to t before it is returned.
func Watch(src ntconv.Source, t *Table) ntconv.Source { return ntconv.Observe(src, t.Observe) }

// Scan shows t the rest of src. What was learned before an error stays.
func (t *Table) Scan(src ntconv.Source) error {
	for {
		e, err := src.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		t.Observe(e)
	}
}

// Observe learns from an event. It borrows the event and costs next to nothing for events without names.
func (t *Table) Observe(e *ntconv.Event) {
	if e.Type == t.dull[0] || e.Type == t.dull[1] || e.Type == t.dull[2] || e.Type == t.dull[3] ||
		e.Kind != ntconv.KindEvent {
		return
	}
	learn, ok := t.learners[e.Type]
	if !ok {
		learn = learnerOf(e.Type)
		t.learners[e.Type] = learn
		t.rundown = t.rundown || clr.IsMethodRundownEnd(e.Type)
	}
	if learn == nil {
		t.dull[t.dulls%uint(len(t.dull))] = e.Type
		t.dulls++
		return
	}
	t.version++
	learn(t, e)
}

// HasRundown implements ntconv.RundownReporter.
func (t *Table) HasRundown() bool { return t.rundown }

func learnerOf(typ *ntconv.Type) learner {
	switch clr.ClassOf(typ) {
	case clr.ClassMethod:
		return (*Table).learnMethod
	case clr.ClassModule:
		return (*Table).learnModule
	case clr.ClassRuntimeStart, clr.ClassProcessInfo:
		return (*Table).learnCommandLine
	case clr.ClassUniversalProcess:
		return (*Table).learnProcess
	case clr.ClassUniversalProcessExit:
		return (*Table).learnExit
	case clr.ClassUniversalMapping:
		return (*Table).learnMapping
	case clr.ClassUniversalMappingMetadata:
		return (*Table).learnMetadata
	case clr.ClassUniversalSymbol:
		return (*Table).learnSymbol
	}
	return definitionLearner(typ)
}

// unreadable counts an event that should have told something.
func (t *Table) unreadable(e *ntconv.Event, why string) {
	t.report.Note(ntconv.CodePayload, 1, e.Offset, why)
}

// processKey tells processes apart. It is no pointer, so that a table filled by one reader of a file answers for
// another.
type processKey struct {
	host string
	pid  uint64
}

func keyOf(p *ntconv.Process) processKey {
	if p == nil {
		return processKey{pid: ^uint64(0)}
	}
	return processKey{p.Host, p.PID}
}

// process returns what is known about a process, which may be nil.
func (t *Table) process(p *ntconv.Process) *process {
	if t.found != nil && t.recent == p {
		return t.found
	}
	key := keyOf(p)
	s := t.processes[key]
	if s == nil {
		s = newProcess(key.host)
		t.processes[key] = s
	}
	t.recent, t.found = p, s
	return s
}

// processOf returns what is known about an event's process.
func (t *Table) processOf(e *ntconv.Event) *process {
	if e.Thread == nil {
		return t.process(nil)
	}
	return t.process(e.Thread.Process)
}

func (t *Table) learnMethod(e *ntconv.Event) {
	m := &t.method
	p := t.processOf(e)
	if p.wanted.on && clr.ParseMethodCode(e, m) && p.wanted.drops(m) {
		return
	}
	if !clr.ParseMethod(e, m) {
		t.unreadable(e, "method event is cut off")
		return
	}
	if m.Size == 0 || m.Start > ^uint64(0)-uint64(m.Size) {
		return // no code, as for methods of which only the signature was loaded
	}
	n := method{start: m.Start, size: m.Size, token: m.Token, id: m.MethodID, module: m.ModuleID}
	if m.Verbose {
		n.namespace, n.name, n.param = t.texts.add(m.Namespace), t.texts.add(m.Name), t.texts.add(m.Signature)
	}
	if owner, ok := p.methods.learn(n, m.Action, e.Time, &t.epochs); ok {
		delete(p.memo, memoKey{entry: owner})
	}
}

func (t *Table) learnModule(e *ntconv.Event) {
	var m clr.Module
	if !clr.ParseModule(e, &m) {
		t.unreadable(e, "module event is cut off")
		return
	}
	file := m.ILPath // a mere name for dynamic modules, and empty for some precompiled ones
	if len(file) == 0 {
		file = m.NativePath
	}
	n := module{file: t.speller.utf16(file), buildID: pdbID(m.Signature, m.Age), from: e.Time}
	p := t.processOf(e)
	changed, late := p.modules.learn(m.ModuleID, n)
	if t.late = t.late || late; changed {
		p.forget()
	}
}
