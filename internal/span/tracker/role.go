package tracker

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/schema"
)

// A role states how the tracker treats the events of a type and version. It is immutable.
type role struct {
	typ     *ntconv.Type
	version uint8
	use     use
	schema  *schema.Schema
	after   bool        // recording.IsAfter: the times are not in the recording
	sample  bool        // samples of a profiler, which are never events of a span
	thrown  bool        // thrown exceptions
	label   string      // provider/event
	scope   *span.Scope // never nil

	runtime *interval.Role // in intervals of the runtime, or nil
	// http is the name of the field with the path of a request that an HTTP client sends, or "".
	http string
	kind span.Kind
}

// A use states what an event without labels can become.
type use uint8

const (
	useNone     use = iota
	useInner        // an event of an open span
	usePair         // the Start or Stop of a pair, or else an event of an open span
	useRuntime      // the begin or end of an interval of the runtime
	useActivity     // a part of an Activity
	useImported     // a part of an imported span
	useChrome       // an event of Chrome's format
	useNever        // nothing, even with labels
)

// Providers whose events describe the work of the runtime or of task libraries, or are values of counters. Their events
// are neither spans nor events of spans.
const (
	metricsProvider = "System.Diagnostics.Metrics"
	ownProvider     = "ntconv"
)

// Providers of HTTP requests.
const (
	hostingProvider = "Microsoft.AspNetCore.Hosting"
	kestrelProvider = "Microsoft-AspNetCore-Server-Kestrel"
	httpProvider    = "System.Net.Http"
	requestTask     = "Request"
)

// roleOf returns the role of an event's type, which it caches.
func (t *Tracker) roleOf(e *ntconv.Event) *role {
	hash := uint64(e.Type.ID)<<8 ^ uint64(len(e.Type.Provider))
	if r := t.recent.Get(hash, &e.Type); r != nil {
		return *r
	}
	r := t.roles[e.Type]
	if r == nil {
		r = t.newRole(e.Type, e)
		t.roles[e.Type] = r
	}
	t.recent.Put(hash, &e.Type, r)
	return r
}

// otherVersion returns the role of an event whose labels override the version of its type.
func (t *Tracker) otherVersion(e *ntconv.Event) *role {
	s := t.table.Of(e)
	r := t.others[s]
	if r == nil {
		r = t.newRole(e.Type, e)
		t.others[s] = r
	}
	return r
}

// newRole returns the role of the events with a type and the version of e.
func (t *Tracker) newRole(typ *ntconv.Type, e *ntconv.Event) *role {
	s := t.table.Of(e)
	r := &role{typ: typ, after: recording.IsAfter(typ), version: e.Version(), schema: s, scope: t.scopeOf(s.Provider), kind: span.KindInternal}
	if r.label = typ.Provider + "/" + s.Name; s.Name == "" {
		r.label += strconv.FormatUint(uint64(typ.ID), 10)
	}
	switch class := clr.ClassOf(typ); class {
	case clr.ClassSample, clr.ClassUniversalCPU, clr.ClassUniversalCSwitch, clr.ClassUniversalOther:
		r.sample = true
	}
	r.thrown = s.Provider == clr.Runtime && s.Name == "ExceptionThrown"
	r.runtime = t.matcher.RoleOf(s)
	r.use = t.useOf(r)
	return r
}

func (t *Tracker) useOf(r *role) use {
	sources, provider := t.opts.Sources, r.schema.Provider
	if phase, ok := chromeevent.Of(r.typ); ok {
		return t.chromeUse(phase)
	}
	switch {
	case stored.Spans.Has(r.typ):
		return useIf(sources&operation.Imported != 0, useImported, useNever)
	case provider == ownProvider, provider == stored.Provider: // other signals have the labels of spans, too
		return useNever
	case provider == diagsource.Provider:
		return useIf(sources&operation.Activities != 0, useActivity, useNone)
	case r.runtime != nil:
		return useRuntime
	case r.thrown:
		return useIf(sources&(operation.Pairs|operation.Requests) != 0, useInner, useNone)
	case isInfrastructure(provider) || r.sample || isCounter(r.schema.Name):
		return useNone
	}
	t.describeHTTP(r)
	if sources&operation.Pairs == 0 && (sources&operation.Requests == 0 || !isRequest(r)) {
		return useNone
	}
	return usePair
}

func useIf(ok bool, u, otherwise use) use {
	if ok {
		return u
	}
	return otherwise
}

// isInfrastructure reports whether events of a provider are neither spans nor events of spans.
func isInfrastructure(provider string) bool {
	switch provider {
	case operation.TPL,
		operation.PLINQ,
		operation.Framework,
		metricsProvider,
		clr.Logging,
		clr.EventPipe,
		clr.UniversalSystem,
		clr.UniversalEvents:
		return true
	}
	return clr.IsRuntime(provider)
}

// isCounter reports whether name is the name under which event sources write their counters.
func isCounter(name string) bool { return name == "EventCounters" }

func isRequest(r *role) bool { return isRequestProvider(r.schema.Provider) }

// isRequestProvider reports whether an event source with this name reports HTTP requests of the program.
func isRequestProvider(provider string) bool {
	switch provider {
	case hostingProvider, kestrelProvider, httpProvider:
		return true
	}
	return false
}

// describeHTTP sets kind and http for requests that event sources of .NET report.
func (t *Tracker) describeHTTP(r *role) {
	if r.schema.Task != requestTask {
		return
	}
	switch r.schema.Provider {
	case hostingProvider:
		r.kind = span.KindServer
	case httpProvider:
		r.kind, r.http = span.KindClient, "pathAndQuery"
	}
}

// exportPaths lists the ends of the paths of requests that send spans.
var exportPaths = [...]string{"/v1/traces", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"}

// isExport reports whether a request sends spans. field is the key of the attribute with its path.
func isExport(field string, attributes []span.Attribute) bool {
	for i := range attributes {
		if attributes[i].Key != field {
			continue
		}
		path, _, _ := strings.Cut(attributes[i].Value.Str(), "?")
		for _, suffix := range exportPaths {
			if strings.HasSuffix(path, suffix) {
				return true
			}
		}
	}
	return false
}

// scopeOf returns the shared scope of a provider.
func (t *Tracker) scopeOf(provider string) *span.Scope {
	s := t.scopes[provider]
	if s == nil {
		s = &span.Scope{Name: provider}
		t.scopes[provider] = s
	}
	return s
}

// A phase states whether an event begins or ends a span.
type phase uint8

const (
	phaseNone phase = iota
	phaseStart
	phaseStop
)

// phase returns the pair of an event source that an event begins or ends. An opcode in its labels overrides the opcode
// of the type.
func (t *Tracker) phase(e *ntconv.Event, r *role) (*schema.Pair, phase) {
	if !t.label.hasOpcode || r.schema.Opcode == e.Opcode() {
		switch s := r.schema; {
		case len(s.EndedBy()) > 0 && s.EndedBy()[0].Key == schema.KeyActivity:
			return s.EndedBy()[0], phaseStart
		case len(s.Ends()) > 0 && s.Ends()[0].Key == schema.KeyActivity:
			return s.Ends()[0], phaseStop
		}
		return nil, phaseNone
	}
	switch e.Opcode() {
	case clr.OpcodeStart:
		return t.taskPair(r), phaseStart
	case clr.OpcodeStop:
		return t.taskPair(r), phaseStop
	}
	return nil, phaseNone
}

// taskPair returns the pair of events whose labels contain the opcode. Start and Stop may then have the same type.
func (t *Tracker) taskPair(r *role) *schema.Pair {
	s := r.schema
	for _, pairs := range [...][]*schema.Pair{s.EndedBy(), s.Ends()} {
		if len(pairs) > 0 && pairs[0].Key == schema.KeyActivity {
			return pairs[0]
		}
	}
	key := schema.Pair{
		Provider: s.Provider,
		Name:     s.Task,
		Begin:    s.Task + "Start",
		End:      [2]string{s.Task + "Stop"},
		Key:      schema.KeyActivity,
	}
	p := t.tasks[key]
	if p == nil {
		p = &key
		t.tasks[key] = p
	}
	return p
}

// isBare reports whether the names of a pair's events do not reveal the task: only their opcodes distinguish begin and
// end.
func isBare(p *schema.Pair) bool { return p.Begin == p.Name }
