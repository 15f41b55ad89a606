package symbol

import (
	"hash/maphash"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/schema"
)

// Names selects the spelling of .NET method names.
type Names uint8

const (
	// NamesPretty spells names for display, as in C#. Function.SystemName holds the module and the spelling of
	// NamesRaw.
	NamesPretty Names = iota
	// NamesRaw spells names as Microsoft's tools do: Namespace.Type.Method(parameters), or Type::Method(parameters) if
	// the name comes from a perf map. Function.SystemName is empty.
	NamesRaw
	// NamesShort omits the namespace and the type arguments from the names of NamesPretty, as in List.Add(int).
	// Different methods may have the same name. Function.SystemName is that of NamesPretty.
	NamesShort
)

// Options configure a Table. The zero value selects the defaults.
type Options struct {
	Names  Names
	Report *ntconv.Report // receives notes about events that cannot be decoded; may be nil
	// Native, if not nil, resolves addresses that no event of the trace describes.
	Native Native
	// Lines, if not nil, finds the source lines of managed code. The Table then also keeps how the code of methods maps
	// to their intermediate language, 2 to 3 bytes for each recorded point.
	Lines Lines
}

// A Table learns symbols from the events of a trace and resolves addresses with them. It implements ntconv.Namer.
//
// Observe must see the events in stream order. Addresses can be resolved at any time, but .NET traces usually write
// symbols last, so only a Table that has seen the whole trace resolves all of them. A Table keeps no event and no
// payload. Its memory grows with the number of symbols in the trace, not with the number of samples, and by 11 to 21
// bytes for each distinct address without a symbol that it was asked to resolve.
//
// A Table is not safe for concurrent use.
//
// Some results are cached, and these events and calls invalidate the caches:
//
//	state               set by                   invalidated by
//	skipTypes           Observe, unrelated type  never: a type is related or not
//	cache               AppendFrames             version, which every related event increments
//	process.memo        AppendFrames, nameAhead  new module or mapping (all entries), late name of a method (its entry)
//	process.assemblies  assembly                 new mapping
//	mapping.shown       show                     growth of the mapping, its definition
//	timeline.levels     order                    never: new past spans form further levels
//	positions           located                  never: a method, an offset and its map do not change
//	natives             fromNative               never: answers depend on files and the mapping, which are in the key
type Table struct {
	names  Names
	report *ntconv.Report

	skipTypes [4]*ntconv.Type // recent types that define nothing: most events are skipped here
	nextSkip  uint
	roles     map[*ntconv.Type]role
	usedType  *ntconv.Type // the latest type whose role is a threadUse
	used      threadUse    // of usedType
	schemas   schema.Table
	version   uint32 // number of related events so far

	processes map[processKey]*process
	threads   threads
	recent    *ntconv.Process // process of found
	found     *process

	strings   *stringTable
	symbols   map[symbolsKey]*symbols
	first     map[mappingKey]*symbols // per ID, also for symbols recorded before their mapping
	entries   int                     // symbols in all mappings
	indexed   int                     // symbols in the indexes of processes, see outsideSymbols
	metadata  map[mappingKey]string
	epochs    uint32 // number of the last change of owner in any process
	symbolsAt uint32 // value of epochs at the last change of a symbol; 0 if none

	missed     int  // addresses announced after their methods were skipped
	omitted    int  // addresses with inlined functions that are not in all stacks
	outOfOrder bool // a module followed a newer one
	rundown    bool // some type describes methods at the end of the recording

	funcs      map[ntconv.Function]*ntconv.Function
	unresolved intern.Cache[unresolvedKey, *ntconv.Function] // recent placeholders: few addresses make up most stacks
	nameless   unresolvedSet
	named      unresolvedSet // resolved by native
	native     Native        // nil if only events are used
	natives    map[nativeKey][]ntconv.Frame
	scratch    []NativeFrame
	lines      Lines // nil if no lines are wanted
	positions  map[lineKey]SourceLine
	points     []clr.ILPoint                        // scratch
	cache      intern.Cache[cacheKey, ntconv.Frame] // few addresses make up most frames

	method  clr.Method // scratch
	speller speller
}

// A learner adds the content of an event to the table.
type learner func(*Table, *ntconv.Event)

// A role is what the events of a type contribute to the table. A type with a thread use is not learned otherwise.
type role struct {
	learn  learner // nil if they define nothing
	thread threadUse
}

// New returns an empty Table. opts may be nil.
func New(opts *Options) *Table {
	if opts == nil {
		opts = &Options{}
	}
	t := &Table{
		names:      opts.Names,
		report:     opts.Report,
		roles:      make(map[*ntconv.Type]role),
		processes:  make(map[processKey]*process),
		strings:    newStringTable(),
		cache:      intern.NewCache[cacheKey, ntconv.Frame](cacheBits),
		symbols:    make(map[symbolsKey]*symbols),
		first:      make(map[mappingKey]*symbols),
		metadata:   make(map[mappingKey]string),
		funcs:      make(map[ntconv.Function]*ntconv.Function),
		unresolved: intern.NewCache[unresolvedKey, *ntconv.Function](cacheBits),
		nameless:   unresolvedSet{seed: maphash.MakeSeed()},
		named:      unresolvedSet{seed: maphash.MakeSeed()},
		native:     opts.Native,
	}
	if opts.Lines != nil && opts.Lines.HasLines() {
		t.lines = opts.Lines
	}
	t.speller = newSpeller(t)
	return t
}

// Watch returns a source that shows each event of src to t before returning it.
func Watch(src ntconv.Source, t *Table) ntconv.Source { return ntconv.Observe(src, t.Observe) }

// Scan shows the remaining events of src to t. It returns nil at the end of src, or else the error of src; the table
// keeps what it has learned.
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

// Observe learns from e, which it borrows. For an event that defines nothing it costs a few comparisons.
func (t *Table) Observe(e *ntconv.Event) {
	if e.Type == t.skipTypes[0] || e.Type == t.skipTypes[1] || e.Type == t.skipTypes[2] || e.Type == t.skipTypes[3] ||
		e.Kind != ntconv.KindEvent {
		return
	}
	if e.Type == t.usedType {
		t.observeThread(e, t.used)
		return
	}
	r, ok := t.roles[e.Type]
	if !ok {
		r = role{t.learnerOf(e.Type), threadUseOf(e.Type)}
		t.roles[e.Type] = r
		t.rundown = t.rundown || clr.IsMethodRundownEnd(e.Type)
	}
	if r.thread != threadNothing {
		t.usedType, t.used = e.Type, r.thread
		t.observeThread(e, r.thread)
		return
	}
	if r.learn == nil {
		t.skipTypes[t.nextSkip%uint(len(t.skipTypes))] = e.Type
		t.nextSkip++
		return
	}
	t.version++
	r.learn(t, e)
}

// HasRundown reports whether the events so far include a type that describes methods at the end of the recording. It
// implements ntconv.Namer.
func (t *Table) HasRundown() bool { return t.rundown }

// TypeName returns the name of a type in the spelling of Options.Names. It implements ntconv.Namer.
func (t *Table) TypeName(recorded string) string {
	if t.names == NamesRaw {
		return recorded
	}
	return dotnet.TypeName(recorded, t.names == NamesShort)
}

// MethodName returns the name of a method in the spelling of Options.Names. It implements ntconv.Namer.
func (t *Table) MethodName(namespace, name, signature string) string {
	m := dotnet.Method{Namespace: namespace, Name: name, Signature: signature}
	switch t.names {
	case NamesRaw:
		return m.Raw()
	case NamesShort:
		return m.Short()
	}
	return m.Pretty()
}

func (t *Table) learnerOf(typ *ntconv.Type) learner {
	switch clr.ClassOf(typ) {
	case clr.ClassILMap:
		if t.lines != nil {
			return (*Table).learnILMap
		}
		return nil
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

// unreadable counts an event that defines something but cannot be decoded.
func (t *Table) unreadable(e *ntconv.Event, why string) {
	t.report.Note(ntconv.CodePayload, 1, e.Offset, why)
}

// processKey identifies a process. It is not a pointer, so a table filled from one reader of a file can serve another
// reader of it.
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

// process returns the state of p, which may be nil. It creates the state if necessary.
func (t *Table) process(p *ntconv.Process) *process {
	if t.found != nil && t.recent == p {
		return t.found
	}
	key := keyOf(p)
	s := t.processes[key]
	if s == nil {
		s = newProcess(key)
		t.processes[key] = s
	}
	t.recent, t.found = p, s
	return s
}

// processOf returns the state of the process of e.
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
		p.ilMaps.drop(m.MethodID)
		return
	}
	if !clr.ParseMethod(e, m) {
		t.unreadable(e, "method event is truncated")
		return
	}
	if m.Size == 0 || m.Start > ^uint64(0)-uint64(m.Size) {
		return // no code, for example only the signature was loaded
	}
	n := method{start: m.Start, size: m.Size, token: m.Token, id: m.MethodID, module: m.ModuleID}
	if m.Verbose {
		n.namespace, n.name, n.param = t.strings.add(m.Namespace), t.strings.add(m.Name), t.strings.add(m.Signature)
	}
	if owner, ok := p.methods.learn(n, m.Action, e.Time, &t.epochs); ok {
		delete(p.memo, memoKey{entry: owner})
	}
	if t.lines != nil && m.Action != clr.MethodUnloaded {
		p.ilMaps.method(&p.methods, m)
	}
}

func (t *Table) learnModule(e *ntconv.Event) {
	var m clr.Module
	if !clr.ParseModule(e, &m) {
		t.unreadable(e, "module event is truncated")
		return
	}
	file := m.ILPath // only a name for dynamic modules, and empty for some precompiled ones
	if len(file) == 0 {
		file = m.NativePath
	}
	n := module{file: t.speller.utf16(file), buildID: pdbID(m.Signature, m.Age), from: e.Time}
	p := t.processOf(e)
	changed, outOfOrder := p.modules.learn(m.ModuleID, n)
	if t.outOfOrder = t.outOfOrder || outOfOrder; changed {
		p.forget()
	}
}
