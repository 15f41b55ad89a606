package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// nameKeywords are the keywords (loader, JIT) of events that name methods and modules while they are loaded. Without them, a
// method that is unloaded before the rundown has no name.
const nameKeywords = 0x18

// undescribed are the events of kinds whose providers .NET does not describe, and what relates events to their requests.
var undescribed = map[sample.Kind][]diagnostics.Provider{
	sample.Requests: {
		{Name: hosting, Keywords: ^uint64(0), Level: levelInformational},
		{Name: operation.TPL, Keywords: 0x80, Level: levelInformational},
	},
}

// Recordable reports whether the events of a kind can be asked for.
func Recordable(k sample.Kind) bool {
	list := meters.Inputs(k)
	return len(undescribed[k]) > 0 || len(list) > 0 && !machineWide(list[0])
}

// machineWide reports whether an event is in recordings of the whole machine only.
func machineWide(l *clr.Layout) bool {
	return l.Provider == clr.UniversalEvents || l.Provider == clr.UniversalSystem
}

// Kinds adds exactly the events from which profiles of kinds are computed, and those that name the methods of stacks.
// runtime is the version of the process, "" if it is unknown. Errors wrap ErrRequest.
func (r *Request) Kinds(kinds []sample.Kind, runtime string) error {
	for _, k := range kinds {
		if !Recordable(k) {
			return fmt.Errorf("%w: no diagnostic port has the events of kind %v; these can be recorded: %s",
				ErrRequest, k, strings.Join(KindNames(), ", "))
		}
		list := meters.Inputs(k)
		if k == sample.Alloc {
			list = allocations(list, runtime)
		}
		for _, l := range list {
			r.Add(providerOf(l))
		}
		for _, p := range undescribed[k] {
			r.Add(p)
		}
	}
	for _, l := range clr.Layouts(clr.Runtime) {
		if namesCode(l) {
			p := providerOf(l)
			p.Keywords &= nameKeywords
			r.Add(p)
		}
	}
	r.Rundown |= diagnostics.NamesRundown
	return nil
}

// RecordableKinds returns the kinds whose events can be asked for.
func RecordableKinds() []sample.Kind {
	return slices.DeleteFunc(sample.All(), func(k sample.Kind) bool { return !Recordable(k) })
}

// KindNames returns the names of RecordableKinds.
func KindNames() (names []string) {
	for _, k := range RecordableKinds() {
		names = append(names, k.String())
	}
	return names
}

// namesCode reports whether an event describes a method or module.
func namesCode(l *clr.Layout) bool {
	switch clr.ClassOf(&ntconv.Type{Provider: l.Provider, ID: l.ID}) {
	case clr.ClassMethod, clr.ClassModule, clr.ClassDomainModule:
		return true
	}
	return false
}

// providerOf returns a request for one event. IDs of the events of managed sources differ between processes, so these are
// asked for by keywords only.
func providerOf(l *clr.Layout) diagnostics.Provider {
	p := diagnostics.Provider{Name: l.Provider, Keywords: l.Keywords, Level: l.Level}
	if l.Provider == clr.Runtime {
		p.Events = []uint32{l.ID}
	}
	return p
}

// IDs of the events that state allocations.
const (
	allocationTick    = 10
	allocationSampled = 303 // .NET 10
)

// allocations returns the event that samples allocations best in a version of the runtime; all have the older one. Both at once
// would cost twice and state the same.
func allocations(list []*clr.Layout, runtime string) []*clr.Layout {
	best := uint32(allocationTick)
	major, _, _ := strings.Cut(runtime, ".")
	if n, err := strconv.Atoi(major); err == nil && n >= 10 {
		best = allocationSampled
	}
	return slices.DeleteFunc(list, func(l *clr.Layout) bool { return l.Provider == clr.Runtime && l.ID != best })
}
