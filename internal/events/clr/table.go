package clr

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Texts of the events of the runtime, of event sources of .NET, and of those that no manifest describes. The header of
// each file describes its lines.
var (
	//go:embed events/clr-events.txt
	runtimeEvents string
	//go:embed events/managed-events.txt
	managedEvents string
	//go:embed events/unlisted-events.txt
	unlistedEvents string
)

// A provider is the part of a text that describes a provider. Traces contain neither names nor fields of the events of
// native ones, and their IDs are fixed.
type provider struct {
	name, guid string
	native     bool
	text       string // after its first line

	parsed   sync.Once // text, see all
	keywords []keyword
	maps     map[string]valueMap
	events   []*entry // by ID and version
}

type keyword struct {
	name string
	mask uint64
}

// An entry is an event. Its layout is created on demand, because a trace uses a few dozen of them.
type entry struct {
	id      uint16
	version uint8
	symbol  string
	text    string // the rest of its line, see parseLayout
	layout  atomic.Pointer[Layout]
}

func (e *entry) key() uint32 { return uint32(e.id)<<8 | uint32(e.version) }

// A providerTable holds all providers, in the order of the texts.
type providerTable struct {
	list   []*provider
	byName map[string]*provider
}

// providers divides the texts by provider.
var providers = sync.OnceValue(func() *providerTable {
	t := &providerTable{byName: map[string]*provider{}}
	for i, text := range [...]string{runtimeEvents, managedEvents, unlistedEvents} {
		for _, part := range strings.Split(text, "\nprovider ")[1:] {
			line, rest, _ := strings.Cut(part, "\n")
			name, guid, _ := strings.Cut(line, " ")
			p := &provider{name: name, guid: guid, text: rest, native: i == 0 || name == SampleProfiler}
			t.list = append(t.list, p)
			t.byName[name] = p
		}
	}
	return t
})

// providerOf returns the provider with a name, or nil.
func providerOf(name string) *provider { return providers().byName[name] }

// all parses the text on the first call, and returns the events. p may be nil.
func (p *provider) all() []*entry {
	if p == nil {
		return nil
	}
	p.parsed.Do(p.parse)
	return p.events
}

func (p *provider) parse() {
	p.maps = map[string]valueMap{}
	for line := range strings.SplitSeq(p.text, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		name, rest, _ := strings.Cut(rest, " ")
		switch kind {
		case "keyword":
			mask, _ := strconv.ParseUint(rest, 0, 64)
			p.keywords = append(p.keywords, keyword{name, mask})
		case "map":
			form, list, _ := strings.Cut(rest, " ")
			p.maps[name] = newValueMap(form == "bits", list)
		case "event":
			id, version, _ := strings.Cut(name, "/")
			n, _ := strconv.ParseUint(id, 10, 16)
			e := &entry{id: uint16(n), version: number8(version)}
			e.symbol, e.text, _ = strings.Cut(rest, " ")
			p.events = append(p.events, e)
		}
	}
	slices.SortStableFunc(p.events, func(a, b *entry) int { return cmp.Compare(a.key(), b.key()) })
}

// mask returns the bits of a keyword.
func (p *provider) mask(name string) uint64 {
	for _, k := range p.keywords {
		if k.name == name {
			return k.mask
		}
	}
	return 0
}

// load returns the layout of an event. If two goroutines create the same layout, both use the first one stored.
func (p *provider) load(e *entry) *Layout {
	if e.layout.Load() == nil {
		e.layout.CompareAndSwap(nil, p.parseLayout(e))
	}
	return e.layout.Load()
}
