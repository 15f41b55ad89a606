package agreement

// A measure states which fact a column of a kind of profile is.
type measure struct {
	kind, column string // name of the sample type
	fact         string
	// keys are the labels by which the fact is restricted, too.
	keys map[string]string
}

var (
	byThread     = map[string]string{"thread": threadLabel}
	byType       = map[string]string{"type": "type"}
	byCollection = map[string]string{"generation": attrGeneration, "reason": attrReason}
	bySource     = map[string]string{"source": attrWaitSource}
	byMethod     = map[string]string{"method": attrMethod}
	bySide       = map[string]string{"side": "side"}
)

// threadLabel is the key of the process ID and thread ID of a sample among its labels.
const threadLabel = "\x00thread"

// measures lists the columns of all kinds of profiles.
var measures = []measure{
	{"wall", "wall", "thread time", byThread},
	{"cpu", "cpu", "CPU time", byThread},
	{"alloc", "alloc_objects", "allocated objects", byType},
	{"alloc", "alloc_space", "allocated bytes", byType},
	{"exceptions", "exceptions", "exceptions", map[string]string{"type": attrException}},
	{"contention", "contentions", "contentions", nil},
	{"contention", "delay", "contention time", nil},
	{"wait", "waits", "waits", bySource},
	{"wait", "delay", "wait time", bySource},
	{"gc", "collections", "collections", byCollection},
	{"gc", "pause", "gc pause time", byCollection},
	{"jit", "methods", "compilations", byMethod},
	{"jit", "jit", "compilation time", byMethod},
	{"typeload", "loads", "type loads", byType},
	{"typeload", "load", "type load time", byType},
	{"threadpool", "items", "queued", nil},
	{"threadpool", "wait", "time in queues", nil},
	{"tasks", "tasks", "tasks", nil},
	{"tasks", "wait", "task queue time", nil},
	{"tasks", "run", "task run time", nil},
	{"off-cpu", "switches", "context switches", nil},
	{"off-cpu", "off_cpu", "time without CPU", nil},
	{"page-faults", "faults", "page faults", nil},
	{"requests", "requests", "requests", bySide},
	{"requests", "duration", "request time", bySide},
}

func measureOf(kind, column string) *measure {
	for i := range measures {
		if m := &measures[i]; m.kind == kind && m.column == column {
			return m
		}
	}
	return nil
}

// counterOf returns the measure that counts the samples of a kind, nil if there is none.
func counterOf(kind string) *measure {
	for i := range measures {
		if m := &measures[i]; m.kind == kind && m.fact == kindCounts[kind] {
			return m
		}
	}
	return nil
}

// stateMeasures states the facts of all columns, by all labels if byLabel is set.
func (a *Answer) stateMeasures(byLabel bool) {
	for _, m := range measures {
		a.stated[m.fact] = true
		for by := range m.keys {
			a.stated[m.fact+" by "+by] = byLabel
		}
	}
}

// sample adds a value of a sample to the fact that it measures.
func (a *Answer) sample(m *measure, n int64, labels map[string]string) {
	keys := map[string]string{}
	for by, label := range m.keys {
		keys[by] = labels[label]
	}
	a.total(m.fact, n, keys)
	if m.kind == "wall" || m.kind == "cpu" {
		a.total("thread and CPU time", n, keys)
	}
}
