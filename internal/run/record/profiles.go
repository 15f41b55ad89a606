package record

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/operation"
)

// Names of providers that only recordings need.
const (
	runtimePrivate = "Microsoft-Windows-DotNETRuntimePrivate"
	hosting        = "Microsoft.AspNetCore.Hosting"
	metricsSource  = "System.Diagnostics.Metrics"
)

// filterSpecs is the argument of the DiagnosticSource that lists what it writes, one specification a line.
const filterSpecs = "FilterAndPayloadSpecs"

// Spans is the specification that makes each event of the end of an Activity contain the whole span: see docs/otlp.md.
const Spans = "[AS]*/Stop:-TraceId;SpanId;ParentSpanId;ActivityTraceFlags;TraceStateString;Kind;DisplayName;" +
	"StartTimeTicks=StartTimeUtc.Ticks;DurationTicks=Duration.Ticks;Status;StatusDescription;Tags=TagObjects.*Enumerate;" +
	"ActivitySourceVersion=Source.Version;HasRemoteParent;Events;Links;SchemaUrl=Source.TelemetrySchemaUrl;" +
	"SourceTags=Source.Tags.*Enumerate"

// databaseSpecs are the commands of SqlClient and Entity Framework Core as activities.
var databaseSpecs = []string{
	"SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandBefore@Activity1Start:-Command;Command.CommandText;ConnectionId;Operation;Command.Connection.ServerVersion;Command.CommandTimeout;Command.CommandType;Command.Connection.ConnectionString;Command.Connection.Database;Command.Connection.DataSource;Command.Connection.PacketSize",
	"SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandAfter@Activity1Stop:",
	"Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuting@Activity2Start:-Command;Command.CommandText;ConnectionId;IsAsync;Command.Connection.ClientConnectionId;Command.Connection.ServerVersion;Command.CommandTimeout;Command.CommandType;Command.Connection.ConnectionString;Command.Connection.Database;Command.Connection.DataSource;Command.Connection.PacketSize",
	"Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuted@Activity2Stop:",
}

// Keywords of rundowns.
const (
	DefaultRundown = diagnostics.DefaultRundown // names, code and IL maps of all methods
	rundownGC      = 1
)

// A Profile is a named set of providers.
type Profile struct {
	Name, Doc string
	// Rundown is the keywords of the rundown, if this is the only profile.
	Rundown   uint64
	Providers []diagnostics.Provider
}

// Profiles returns the named sets: those of dotnet-trace with its names and meanings, then those for signals of OTLP.
func Profiles() []Profile {
	return []Profile{
		{"dotnet-common", "collections, exceptions, loading, compilation and thread pool of the runtime", DefaultRundown, []diagnostics.Provider{
			{Name: clr.Runtime, Keywords: 0x100003801D, Level: levelInformational},
		}},
		{"dotnet-sampled-thread-time", "samples of the stacks of all managed threads, about 1,000 per second", DefaultRundown, []diagnostics.Provider{
			{Name: clr.SampleProfiler, Level: levelInformational},
		}},
		{"gc-verbose", "collections and sampled allocations", DefaultRundown, []diagnostics.Provider{
			{Name: clr.Runtime, Keywords: 0x8003, Level: levelVerbose},
		}},
		{"gc-collect", "collections only, at very low overhead", rundownGC, []diagnostics.Provider{
			{Name: clr.Runtime, Keywords: 1, Level: levelInformational},
			{Name: runtimePrivate, Keywords: 1, Level: levelInformational},
		}},
		{"database", "commands of SqlClient and Entity Framework Core", DefaultRundown, []diagnostics.Provider{
			{Name: operation.TPL, Keywords: 0x80, Level: levelInformational},
			{Name: clr.DiagnosticSource, Keywords: 3, Level: levelVerbose, Arguments: argument(filterSpecs, strings.Join(databaseSpecs, "\n"))},
		}},
		{"spans", "Activities of all sources, with everything that a span has", 0, []diagnostics.Provider{
			{Name: clr.DiagnosticSource, Keywords: 3, Level: levelVerbose, Arguments: argument(filterSpecs, Spans)},
		}},
		{"logs", "messages of ILogger", 0, []diagnostics.Provider{
			{Name: clr.Logging, Keywords: 4, Level: levelVerbose},
		}},
		{"metrics", "instruments of System.Runtime and ASP.NET Core, and the counters of older runtimes, each second", 0, counters(defaultMeters, []string{runtimeSource}, 1)},
	}
}

// ProfileNames returns the names of Profiles.
func ProfileNames() (names []string) {
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// argument returns a quoted argument.
func argument(key, value string) string { return key + `="` + value + `"` }

// defaultMeters are the meters of .NET itself; a meter that a program lacks costs nothing.
var defaultMeters = []string{
	"System.Runtime", "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Server.Kestrel", "System.Net.Http", "System.Net.NameResolution",
}

// session is the ID of the metrics of our recordings. Programs share one set of instruments among all recorders with it.
const session = "SHARED"

// client is what tells this process from other recorders of the same instruments: the one that stops must not end them for others.
var client = sync.OnceValue(func() string { return "ntconv-" + rand.Text()[:8] })

// counters returns the providers that write the instruments of meters and the counters of event sources, at an interval in
// seconds.
func counters(meters, sources []string, every int) []diagnostics.Provider {
	list := []diagnostics.Provider{{
		Name: metricsSource, Keywords: 2, Level: levelInformational,
		Arguments: fmt.Sprintf(`SessionId=%s;Metrics="%s";RefreshInterval=%d;MaxTimeSeries=1000;MaxHistograms=20;ClientId=%s`,
			session, strings.Join(meters, ","), every, client()),
	}}
	for _, name := range sources {
		if name != metricsSource && !strings.Contains(name, "*") { // * would be all events of all providers
			list = append(list, diagnostics.Provider{
				Name: name, Level: levelInformational, Arguments: fmt.Sprintf("EventCounterIntervalSec=%d", every),
			})
		}
	}
	return list
}

// runtimeSource is the event source with the counters of the runtime, and the meter with its instruments from .NET 9.
const runtimeSource = "System.Runtime"

// Counters adds the instruments of meters and the counters of event sources with names.
func (r *Request) Counters(names []string) { r.addCounters(counters(names, names, 1)) }

// CountersEvery adds the same at an interval of whole seconds, for a runtime with a version, "" if it is unknown. Without names,
// these are all instruments, or those of .NET itself if the runtime does not know patterns of names (.NET 10 does). Where the runtime has
// instruments, its event counters, which count the same, are omitted.
func (r *Request) CountersEvery(names []string, every time.Duration, runtime string) {
	meters, sources := names, names
	if names == nil {
		meters, sources = append([]string{"*"}, defaultMeters...), []string{runtimeSource}
	}
	if major, _, _ := strings.Cut(runtime, "."); len(major) > 1 || major == "9" {
		sources = slices.DeleteFunc(slices.Clone(sources), func(name string) bool { return name == runtimeSource })
	}
	r.addCounters(counters(meters, sources, int(every.Seconds())))
}

func (r *Request) addCounters(list []diagnostics.Provider) {
	for _, p := range list {
		r.Add(p)
	}
}

// cpuSampling is the name of older versions of dotnet-trace for what is now two profiles.
const cpuSampling = "cpu-sampling"

// DefaultProfiles are the profiles of dotnet-trace collect.
var DefaultProfiles = []string{"dotnet-common", "dotnet-sampled-thread-time"}

// ProfilesFor returns the profiles that an output of a format is about: those of dotnet-trace collect, and for OTLP one per
// signal, all but profiles if signals is nil.
func ProfilesFor(format string, signals []string) (names []string) {
	switch {
	case format == "prometheus":
		return []string{"metrics"}
	case format != "otlp":
		return DefaultProfiles
	case signals == nil:
		return []string{"spans", "logs", "metrics"}
	}
	for _, s := range signals {
		switch strings.TrimSpace(s) {
		case "profiles":
			names = append(names, DefaultProfiles...)
		case "traces":
			names = append(names, "spans")
		case "all":
			names = append(append(names, "spans", "logs", "metrics"), DefaultProfiles...)
		default:
			names = append(names, strings.TrimSpace(s))
		}
	}
	return names
}

// Profile adds the providers of a profile. Errors wrap ErrRequest.
func (r *Request) Profile(name string) error {
	if name == cpuSampling {
		for _, name := range DefaultProfiles {
			if err := r.Profile(name); err != nil {
				return err
			}
		}
		return nil
	}
	all := Profiles()
	i := slices.IndexFunc(all, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("%w: no profile is called %q; there are %s", ErrRequest, name, strings.Join(ProfileNames(), ", "))
	}
	for _, p := range all[i].Providers {
		r.Add(p)
	}
	r.Rundown |= all[i].Rundown
	return nil
}
