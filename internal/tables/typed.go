package tables

import (
	"strconv"
	"strings"
)

// TypedPrefix is the prefix of the names of typed tables, which have one column per field of an event.
const TypedPrefix = "event_"

// providerSlugs are short names of providers that queries often use. A slug that TypedName derives from another
// provider's name may be equal to one of them; Names makes the tables distinct.
var providerSlugs = map[string]string{
	"Microsoft-Windows-DotNETRuntime":                                "clr",
	"Microsoft-Windows-DotNETRuntimeRundown":                         "rundown",
	"Microsoft-Windows-DotNETRuntimePrivate":                         "clr_private",
	"Microsoft-Windows-DotNETRuntimeStress":                          "clr_stress",
	"Microsoft-DotNETRuntimeMonoProfiler":                            "mono",
	"Microsoft-DotNETCore-SampleProfiler":                            "sampler",
	"Microsoft-DotNETCore-EventPipe":                                 "eventpipe",
	"Microsoft-Diagnostics-DiagnosticSource":                         "diagnostic_source",
	"Microsoft-Extensions-DependencyInjection":                       "di",
	"Microsoft-Extensions-Logging":                                   "logging",
	"Microsoft.AspNetCore.Hosting":                                   "aspnetcore",
	"Microsoft-AspNetCore-Server-Kestrel":                            "kestrel",
	"Microsoft.EntityFrameworkCore":                                  "efcore",
	"System.Buffers.ArrayPoolEventSource":                            "array_pool",
	"System.Collections.Concurrent.ConcurrentCollectionsEventSource": "concurrent",
	"System.Diagnostics.Eventing.FrameworkEventSource":               "framework",
	"System.Diagnostics.Metrics":                                     "metrics",
	"System.Linq.Parallel.PlinqEventSource":                          "plinq",
	"System.Net.Http":                                                "http",
	"System.Net.NameResolution":                                      "dns",
	"System.Net.Security":                                            "tls",
	"System.Net.Sockets":                                             "sockets",
	"System.Runtime":                                                 "runtime",
	"System.Threading.Tasks.TplEventSource":                          "tpl",
	"Universal.Events":                                               "universal",
	"Universal.System":                                               "universal_system",
}

// ProviderSlugs returns the slugs that are not derived from the provider's name, by provider. The caller owns the map.
func ProviderSlugs() map[string]string {
	slugs := make(map[string]string, len(providerSlugs))
	for provider, slug := range providerSlugs {
		slugs[provider] = slug
	}
	return slugs
}

// TypedName returns the name of the typed table of an event, such as "event_clr_GCAllocationTick" for the event
// GCAllocationTick of Microsoft-Windows-DotNETRuntime. event is the name of the event, or its number if it has no name.
// The result contains only ASCII letters, digits and underscores. Several events may have the same result; an exporter
// makes the names unique with Names, in the order of provider and event.
func TypedName(provider, event string) string {
	slug, ok := providerSlugs[provider]
	if !ok {
		slug = slugOf(provider)
	}
	return TypedPrefix + slug + "_" + slugOf(event)
}

// maxSlug is the maximum size of a slug in bytes. All file systems accept a name with two slugs, a prefix, a suffix and
// an extension.
const maxSlug = 100

// slugOf replaces each run of characters other than ASCII letters and digits with an underscore.
func slugOf(name string) string {
	b := make([]byte, 0, min(len(name), maxSlug))
	for i := 0; i < len(name) && len(b) < maxSlug; i++ {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			b = append(b, c)
		case len(b) > 0 && b[len(b)-1] != '_':
			b = append(b, '_')
		}
	}
	if slug := strings.TrimRight(string(b), "_"); slug != "" {
		return slug
	}
	return "unnamed"
}

// Names makes names unique. It ignores case, because file systems and DuckDB do. The zero value is ready for use. A
// Names is not safe for concurrent use.
type Names struct{ next map[string]int } // the suffix to try next, by name in lower case

// Add returns name if it is new, and otherwise name with the first free suffix _2, _3, ....
func (n *Names) Add(name string) string {
	if n.next == nil {
		n.next = make(map[string]int)
	}
	key := strings.ToLower(name)
	i, taken := n.next[key]
	if !taken {
		n.next[key] = 2
		return name
	}
	for ; ; i++ {
		suffix := "_" + strconv.Itoa(i)
		if _, taken := n.next[key+suffix]; !taken {
			n.next[key], n.next[key+suffix] = i+1, 2
			return name + suffix
		}
	}
}
