package grouping

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// A Namer applies Rules to the frames of another Namer and counts what it replaced. It passes everything else on: its
// epochs, mappings, processes and threads are those of the other Namer. It is not safe for concurrent use.
//
//	state      set by            cleared by
//	decisions  decide            decide, at maxDecisions
//	recent     decide            -  (entries are overwritten)
//	entries    entryFunction     entryFunction, at maxDecisions
//	modules    moduleFrame       -  (one per file)
//	files      isHost            -  (one set per process)
//	steps      AppendGrouped     AppendGrouped
type Namer struct {
	ntconv.Namer
	rules *Rules
	// nativeOnly means that Native is the only rule.
	nativeOnly bool

	decisions map[frameKey]*decision
	recent    intern.Cache[frameKey, *decision] // some of decisions: few frames make up most stacks
	entries   map[entryKey]*ntconv.Function
	modules   map[moduleKey]ntconv.Frame
	files     map[*ntconv.Process]map[string]bool // names of mapped files
	steps     []step
	recorded  []ntconv.Frame // scratch of AppendFrames
	count     counts
}

var _ ntconv.FrameGrouper = (*Namer)(nil)

// Namer returns a Namer that applies the rules to the frames of recorded. It uses r and recorded as long as it exists.
func (r *Rules) Namer(recorded ntconv.Namer) *Namer {
	return &Namer{
		Namer: recorded, rules: r, nativeOnly: !r.JustMyCode && len(r.folds)+len(r.groups) == 0,
		decisions: map[frameKey]*decision{}, entries: map[entryKey]*ntconv.Function{}, modules: map[moduleKey]ntconv.Frame{},
		files:  map[*ntconv.Process]map[string]bool{},
		recent: intern.NewCache[frameKey, *decision](recentBits),
		count:  counts{folds: make([]int64, len(r.folds)), groups: make([]int64, len(r.groups))},
	}
}

// Rules returns the rules that g applies.
func (g *Namer) Rules() *Rules { return g.rules }

// Recorded implements ntconv.FrameGrouper.
func (g *Namer) Recorded() ntconv.Namer { return g.Namer }

// AppendFrames implements ntconv.Namer. It counts the stack as that of one event.
func (g *Namer) AppendFrames(dst []ntconv.Frame, p *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) []ntconv.Frame {
	g.recorded = g.Namer.AppendFrames(g.recorded[:0], p, s, at)
	return g.AppendGrouped(dst, p, g.recorded, 1)
}

// A frameKey is what a decision depends on. Equal functions nearly always have one pointer; placeholders of unresolved
// frames may have several.
type frameKey struct {
	function *ntconv.Function
	mapping  *ntconv.Mapping
	flags    ntconv.FrameFlags
}

const recentBits = 12

// decisive are the flags that a decision depends on.
const decisive = ntconv.FrameUnresolved | ntconv.FrameKernel | ntconv.FrameManaged | ntconv.FrameLabel

// maxDecisions bounds the caches. Programs have fewer functions; a trace without symbols may have one placeholder per
// address, and a cache would keep all of them.
const maxDecisions = 1 << 16

// A decision is how a frame is shown.
type decision struct {
	label  bool         // represents a label: kept, and not part of the stack
	group  int          // index of the group, or -1
	name   string       // of the group
	shown  ntconv.Frame // replaces the frame if Func is not nil
	native bool         // shown represents a module
	fold   int          // index of the fold, or -1
	class  class        // program unless Rules.JustMyCode is set
}

// decide returns the decision for a frame, shared and read-only.
func (g *Namer) decide(p *ntconv.Process, f *ntconv.Frame) *decision {
	k := frameKey{f.Func, f.Mapping, f.Flags & decisive}
	hash := f.PC // frames without addresses share an entry
	if d := g.recent.Get(hash, &k); d != nil {
		return *d
	}
	d := g.decisions[k]
	if d == nil {
		if len(g.decisions) >= maxDecisions {
			clear(g.decisions)
		}
		d = g.newDecision(p, f)
		g.decisions[k] = d
	}
	g.recent.Put(hash, &k, d)
	return d
}

func (g *Namer) newDecision(p *ntconv.Process, f *ntconv.Frame) *decision {
	d := &decision{group: -1, fold: -1}
	if d.label = f.Flags&ntconv.FrameLabel != 0; d.label {
		return d
	}
	names := namesOf(f)
	switch {
	case g.assign(d, names):
		names = []string{d.name}
	case g.rules.Native && isUnnamedModule(*f):
		d.shown, d.native = g.moduleFrame(f), true
		names = append(names, d.shown.Func.Name)
	}
	for i := range g.rules.folds {
		if _, ok := match(g.rules.folds[i].re.MatchString, names); ok {
			d.fold = i
			return d
		}
	}
	if g.rules.JustMyCode && d.group < 0 {
		if d.class = classOf(f); d.class == program && g.isHost(p, f.Mapping) {
			d.class = framework
		}
	}
	return d
}

// isHost reports whether a module is the executable that .NET generates for an assembly: it only starts the runtime.
// The assembly has the same name with the extension .dll.
func (g *Namer) isHost(p *ntconv.Process, m *ntconv.Mapping) bool {
	if p == nil || m == nil || m.File == "" || strings.HasSuffix(m.File, ".dll") {
		return false
	}
	files := g.files[p]
	if files == nil {
		files = map[string]bool{}
		for _, m := range g.Mappings(p) {
			files[m.File] = true
		}
		g.files[p] = files
	}
	return files[strings.TrimSuffix(m.File, ".exe")+".dll"]
}

// namesOf returns what expressions are matched with: the displayed name, and MODULE!NAME if the module is known.
func namesOf(f *ntconv.Frame) []string {
	name := ""
	if f.Func != nil {
		name = f.Func.Name
	}
	if f.Mapping == nil || f.Mapping.File == "" {
		return []string{name}
	}
	return []string{name, dotnet.ShortModule(f.Mapping.File) + "!" + name}
}

// match returns the first of the names for which the function returns true.
func match(is func(string) bool, names []string) (string, bool) {
	for _, name := range names {
		if is(name) {
			return name, true
		}
	}
	return "", false
}

// assign sets the members of d for the first group that applies, and reports whether there is one.
func (g *Namer) assign(d *decision, names []string) bool {
	for i := range g.rules.groups {
		r := &g.rules.groups[i]
		for _, name := range names {
			m := r.re.FindStringSubmatchIndex(name)
			if m == nil {
				continue
			}
			if d.name = string(r.re.ExpandString(nil, r.name, name, m)); d.name == "" {
				continue
			}
			d.group = i
			d.shown = ntconv.Frame{Func: g.entryFunction(d.name, nil), Flags: ntconv.FrameFolded}
			return true
		}
	}
	return false
}

// An entryKey identifies a group frame. function is nil unless the name includes the function of entry.
type entryKey struct {
	name     string
	function *ntconv.Function
}

// entryFunction returns the function of a group frame that was entered through f, which is nil if the name does not
// include it.
func (g *Namer) entryFunction(name string, f *ntconv.Function) *ntconv.Function {
	k := entryKey{name, f}
	shown := g.entries[k]
	if shown == nil {
		if f != nil {
			name += " <<" + f.Name + ">>"
		}
		if len(g.entries) >= maxDecisions {
			clear(g.entries)
		}
		shown = &ntconv.Function{Name: name}
		g.entries[k] = shown
	}
	return shown
}

// isUnnamedModule reports whether Rules.Native applies to a frame. Managed code has the name of its metadata token,
// which identifies a method. An address outside all modules may be any code.
func isUnnamedModule(f ntconv.Frame) bool {
	return f.Flags&(ntconv.FrameUnresolved|ntconv.FrameManaged) == ntconv.FrameUnresolved &&
		(f.Mapping != nil || f.Flags&ntconv.FrameKernel != 0)
}

// A moduleKey identifies a file. A library has several mappings per process.
type moduleKey struct {
	file, buildID string
	flags         ntconv.FrameFlags
}

// moduleFrame returns the frame that represents the module of f. Its mapping is the first one with that file. It is not
// an unresolved frame: its name is complete, and no symbolizer could find a better one.
func (g *Namer) moduleFrame(f *ntconv.Frame) ntconv.Frame {
	k := moduleKey{flags: f.Flags & ntconv.FrameKernel}
	if f.Mapping != nil {
		k.file, k.buildID = f.Mapping.File, f.Mapping.BuildID
	}
	shown, ok := g.modules[k]
	if !ok {
		shown = ntconv.Frame{
			Func: &ntconv.Function{Name: moduleName(k)}, Mapping: f.Mapping, Flags: k.flags | ntconv.FrameFolded,
		}
		g.modules[k] = shown
	}
	return shown
}

// moduleName returns the name of a frame that represents a module, in the style of go tool pprof.
func moduleName(k moduleKey) string {
	name := k.file[strings.LastIndexAny(k.file, `/\`)+1:]
	switch {
	case name != "":
		return "[" + strings.Trim(name, "[]") + "]"
	case k.flags&ntconv.FrameKernel != 0:
		return "[kernel]"
	}
	return "[anon]" // memory without a file, as pmap shows it
}
