package e2e

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// moduleReasons explain why the module of a frame differs from the reference. The method is always the same.
var moduleReasons = []struct{ id, text string }{
	{"no-module-event", "The trace has no event about the module of this method, as in recordings without rundown or with lost rundown events. TraceEvent shows the placeholder ManagedModule, ntconv shows no module."},
	{"generated-code", "The code is a stub, not a method, and its symbol contains no module. TraceEvent shows the placeholder unknown, ntconv shows no module."},
	{"module-of-symbol", "The method is in memory that is not mapped from a file, and its symbol contains the module: `[Module] Type::Method`. ntconv shows this module, TraceEvent shows none."},
}

// A moduleProof contains the modules and methods of a trace, from the reference's list of its events.
type moduleProof struct {
	t        *testing.T
	events   func() []*line
	loaded   bool
	modules  map[string]bool // IDs of modules with an event in the trace
	methods  []method
	symbols  []symbolEvent
	nameless map[string]bool            // IDs of mappings without a file
	known    map[frameDifference]string // known differences of a frame without its method
}

type method struct {
	start, end uint64
	module     string
}

type symbolEvent struct {
	start, last   uint64
	mapping, name string
}

func newModuleProof(t *testing.T, tr trace) *moduleProof {
	return &moduleProof{t: t, events: func() []*line { return readLines(t, unzstd(t, tr.events)) }}
}

// load reads the events when the first difference occurs, because few traces have any.
func (p *moduleProof) load() {
	if p.loaded {
		return
	}
	p.loaded, p.modules, p.nameless, p.known = true, map[string]bool{}, map[string]bool{}, map[frameDifference]string{}
	for _, l := range p.events() {
		switch {
		case isRuntime(l.Provider):
			p.learnRuntime(l.fields(p.t))
		case l.Provider == "Universal.System" && l.Name == "ProcessMapping":
			if f := l.fields(p.t); f["FileName"] == "" {
				p.nameless[text(f["Id"])] = true
			}
		case l.Provider == "Universal.System" && l.Name == "ProcessSymbol":
			f := l.fields(p.t)
			name, _ := f["Name"].(string)
			p.symbols = append(p.symbols, symbolEvent{number(f["StartAddress"]), number(f["EndAddress"]), text(f["MappingId"]), name})
		}
	}
}

func (p *moduleProof) learnRuntime(f map[string]any) {
	module := text(f["ModuleID"])
	if _, ok := f["ModuleILPath"]; ok {
		p.modules[module] = true
	}
	if start := number(f["MethodStartAddress"]); start > 0 {
		p.methods = append(p.methods, method{start, start + number(f["MethodSize"]), module})
	}
}

// explain returns the reason why the module of a frame differs, or "".
func (p *moduleProof) explain(d frameDifference) string {
	if bare(d.theirs[2]) != bare(d.ours[2]) {
		return ""
	}
	p.load()
	d.theirs[2], d.ours[2] = "", ""
	id, ok := p.known[d]
	if !ok {
		id = p.search(d)
		p.known[d] = id
	}
	return id
}

func (p *moduleProof) search(d frameDifference) string {
	pc, err := strconv.ParseUint(d.theirs[0], 16, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	switch theirs, ours := d.theirs[1], d.ours[1]; {
	case theirs == "ManagedModule" && ours == "" && p.hasUndeclaredMethod(pc):
		return "no-module-event"
	case theirs == "unknown" && ours == "" && p.hasSymbol(pc, func(s symbolEvent) bool { return !strings.ContainsAny(s.name, "[:") }):
		return "generated-code"
	case theirs == "" && ours != "" && p.hasSymbol(pc, func(s symbolEvent) bool {
		return p.nameless[s.mapping] && strings.Contains(s.name, "["+ours+"] ")
	}):
		return "module-of-symbol"
	}
	return ""
}

func (p *moduleProof) hasUndeclaredMethod(pc uint64) bool {
	return slices.ContainsFunc(p.methods, func(m method) bool { return m.start <= pc && pc < m.end && !p.modules[m.module] })
}

func (p *moduleProof) hasSymbol(pc uint64, is func(symbolEvent) bool) bool {
	return slices.ContainsFunc(p.symbols, func(s symbolEvent) bool { return s.start <= pc && pc <= s.last && is(s) })
}

// number returns an unsigned integer that the reference shows as a JSON number.
func number(v any) uint64 {
	n, _ := v.(json.Number)
	u, _ := strconv.ParseUint(n.String(), 0, 64)
	return u
}

func text(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}
