package metrics

import "github.com/ntconv/ntconv/internal/span"

// A semantic is the metric of OpenTelemetry's semantic conventions (".NET common language runtime metrics") that an event
// counter of the runtime measures.
type semantic struct {
	name, unit string
	scale      float64 // factor from the unit of the counter; 0 means 1
	generation string  // value of the attribute gc.heap.generation, "" for none
	total      bool    // an absolute number that only grows: a cumulative sum
	state      bool    // a number that is a sum that may shrink
}

// runtimeCounters are the event counters of System.Runtime that have a metric of the conventions. gen-N-gc-count is none:
// it counts collections of higher generations, too, which dotnet.gc.collections does not.
var runtimeCounters = map[string]semantic{
	"alloc-rate":                       {name: "dotnet.gc.heap.total_allocated", unit: "By"},
	"gc-committed":                     {name: "dotnet.gc.last_collection.memory.committed_size", unit: "By", scale: 1e6, state: true},
	"gen-0-size":                       {name: "dotnet.gc.last_collection.heap.size", unit: "By", generation: "gen0", state: true},
	"gen-1-size":                       {name: "dotnet.gc.last_collection.heap.size", unit: "By", generation: "gen1", state: true},
	"gen-2-size":                       {name: "dotnet.gc.last_collection.heap.size", unit: "By", generation: "gen2", state: true},
	"loh-size":                         {name: "dotnet.gc.last_collection.heap.size", unit: "By", generation: "loh", state: true},
	"poh-size":                         {name: "dotnet.gc.last_collection.heap.size", unit: "By", generation: "poh", state: true},
	"il-bytes-jitted":                  {name: "dotnet.jit.compiled_il.size", unit: "By", total: true},
	"methods-jitted-count":             {name: "dotnet.jit.compiled_methods", unit: "{method}", total: true},
	"time-in-jit":                      {name: "dotnet.jit.compilation.time", unit: "s", scale: 1e-3},
	"threadpool-thread-count":          {name: "dotnet.thread_pool.thread.count", unit: "{thread}", state: true},
	"threadpool-queue-length":          {name: "dotnet.thread_pool.queue.length", unit: "{work_item}", state: true},
	"threadpool-completed-items-count": {name: "dotnet.thread_pool.work_item.count", unit: "{work_item}"},
	"monitor-lock-contention-count":    {name: "dotnet.monitor.lock_contentions", unit: "{contention}"},
	"active-timer-count":               {name: "dotnet.timer.count", unit: "{timer}", state: true},
	"assembly-count":                   {name: "dotnet.assembly.count", unit: "{assembly}", state: true},
	"exception-count":                  {name: "dotnet.exceptions", unit: "{exception}"},
	"working-set":                      {name: "dotnet.process.memory.working_set", unit: "By", scale: 1e6, state: true},
}

// RuntimeSource is the event source of the runtime's event counters. Its meter has the same name, and instruments that
// have the names of the conventions.
const RuntimeSource = "System.Runtime"

// rename gives a point of an event counter of the runtime the name, unit and kind of the conventions.
func rename(p *Point) {
	to, ok := runtimeCounters[p.Name]
	if !ok || p.Scope.Name != RuntimeSource || p.Kind == KindSummary {
		return
	}
	p.Name, p.Unit = to.name, to.unit
	switch {
	case to.total:
		p.Kind, p.Temporality, p.Monotonic = KindSum, TemporalityCumulative, true
	case to.state:
		p.Kind, p.Temporality = KindSum, TemporalityCumulative
	}
	if to.scale != 0 {
		if p.Integer {
			p.Float = float64(p.Int)
		}
		p.Float *= to.scale
		n := int64(p.Float)
		p.Integer, p.Int = to.scale > 1 && float64(n) == p.Float, n
	}
	if to.generation != "" {
		p.Attributes = append(p.Attributes, span.Attribute{Key: "gc.heap.generation", Value: span.String(to.generation)})
	}
}
