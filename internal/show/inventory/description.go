package inventory

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
)

// A Description holds the counts of a Sink, in the form of the JSON of ntconv info.
type Description struct {
	Format     string         `json:"format"`
	Clock      Clock          `json:"clock"`
	Pointer    int            `json:"pointer_size"`
	Attributes map[string]any `json:"attributes"` // a string, or a list of strings for a key that occurs more than once
	Events     Events         `json:"events"`
	Processes  []Process      `json:"processes"`
	Threads    []Thread       `json:"threads"`
	Providers  []Provider     `json:"providers"`
	Extract    []Extractable  `json:"extract"`
	Lost       uint64         `json:"lost_events"` // by the recorder

	attrs ntconv.Attrs // the attributes, in order
	clock ntconv.Clock
}

// A Clock describes the clock of a trace.
type Clock struct {
	Frequency int64  `json:"frequency"` // ticks per second
	SyncTicks int64  `json:"sync_ticks"`
	SyncTime  string `json:"sync_time,omitempty"` // wall clock time at SyncTicks
}

// Events describes the events of a trace, with those of the rundown.
type Events struct {
	Tally
	FirstTicks int64  `json:"first_ticks"`
	LastTicks  int64  `json:"last_ticks"`
	FirstTime  string `json:"first_time,omitempty"`
	LastTime   string `json:"last_time,omitempty"`
}

// A Process is a process with at least one event.
type Process struct {
	PID         uint64 `json:"pid"`
	Host        string `json:"host,omitempty"`
	Name        string `json:"name,omitempty"`
	CommandLine string `json:"command_line,omitempty"`
	Threads     int    `json:"threads"`
	Events      int64  `json:"events"`
}

// A Thread is a thread with at least one event or lost event. The thread ID 0 represents the events of a process that
// belong to no thread.
type Thread struct {
	PID    *uint64 `json:"pid,omitempty"`
	TID    *uint64 `json:"tid,omitempty"` // nil if not recorded
	Name   string  `json:"name,omitempty"`
	Events int64   `json:"events"`
	Lost   uint64  `json:"lost,omitempty"`
}

// none reports whether the events of t belong to no thread.
func (t *Thread) none() bool { return t.TID != nil && *t.TID == 0 }

// A Provider is a provider with at least one event.
type Provider struct {
	Name string `json:"name"`
	Tally
	Types []Type `json:"types"`
}

// A Type is a type of events with at least one event.
type Type struct {
	ID      uint32 `json:"id"`
	Version uint8  `json:"version"`
	Name    string `json:"event"`
	Tally
}

// Describe returns the counts. namer resolves processes and threads. input is how commands refer to the trace: flags
// and a file name, quoted for a shell. Call it after Close.
func (v *Sink) Describe(info *ntconv.Info, namer ntconv.Namer, input string) *Description {
	c, attrs := info.Clock, ofTrace(info.Attrs)
	d := &Description{
		Format:     info.Format,
		Clock:      Clock{Frequency: c.Freq, SyncTicks: int64(c.Tick), SyncTime: timeText(c.Wall)},
		Pointer:    info.PointerSize,
		Attributes: attributes(attrs),
		Events: Events{
			Tally: v.all, FirstTicks: int64(v.first), LastTicks: int64(v.last),
		},
		Processes: v.processes(namer),
		Threads:   v.threadList(namer),
		Providers: v.Providers(),
		Extract:   v.Extract(input),
		Lost:      v.lost,
		attrs:     attrs,
		clock:     c,
	}
	if v.all.Events > 0 {
		d.Events.FirstTime, d.Events.LastTime = timeText(c.Time(v.first)), timeText(c.Time(v.last))
	}
	return d
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000000000Z")
}

// ofTrace returns the attributes of the trace itself, without those of ntconv about reading and writing it.
func ofTrace(list ntconv.Attrs) (out ntconv.Attrs) {
	for _, a := range list {
		if !strings.HasPrefix(a.Key, "ntconv.") {
			out = append(out, a)
		}
	}
	return out
}

func attributes(list ntconv.Attrs) map[string]any {
	m := make(map[string]any, len(list))
	for _, a := range list {
		switch v := m[a.Key].(type) {
		case nil:
			m[a.Key] = a.Value
		case string:
			m[a.Key] = []string{v, a.Value}
		case []string:
			m[a.Key] = append(v, a.Value)
		}
	}
	return m
}

// processes returns the processes, those with the most events first.
func (v *Sink) processes(namer ntconv.Namer) []Process {
	counts := make(map[*ntconv.Process]*Process)
	for _, t := range v.threads {
		if t.thread == nil || t.thread.Process == nil {
			continue
		}
		p := counts[t.thread.Process]
		if p == nil {
			proc, info := t.thread.Process, namer.Process(t.thread.Process)
			p = &Process{PID: proc.PID, Host: proc.Host, Name: info.Name, CommandLine: info.CommandLine}
			counts[proc] = p
		}
		p.Events += t.events
		if t.thread.TID != 0 {
			p.Threads++
		}
	}
	list := make([]Process, 0, len(counts))
	for _, p := range counts {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b Process) int {
		return cmp.Or(
			cmp.Compare(b.Events, a.Events),
			cmp.Compare(a.PID, b.PID),
			cmp.Compare(a.Host, b.Host),
			cmp.Compare(a.CommandLine, b.CommandLine),
			cmp.Compare(b.Threads, a.Threads),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return list
}

// threadList returns the threads, those with the most events first.
func (v *Sink) threadList(namer ntconv.Namer) []Thread {
	list := make([]Thread, 0, len(v.threads))
	for _, t := range v.threads {
		i := Thread{Events: t.events, Lost: t.lost}
		if t.thread != nil {
			i.Name = namer.ThreadName(t.thread)
			if t.thread.Process != nil {
				i.PID = &t.thread.Process.PID
			}
			if t.thread.TID != ntconv.TIDUnknown {
				i.TID = &t.thread.TID
			}
		}
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b Thread) int {
		return cmp.Or(
			cmp.Compare(b.Events, a.Events),
			compareIDs(a.PID, b.PID),
			compareIDs(a.TID, b.TID),
			cmp.Compare(b.Lost, a.Lost),
		)
	})
	return list
}

// compareIDs compares IDs; unknown IDs come last.
func compareIDs(a, b *uint64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

// Providers returns the providers and their types, those with the most events first. Types with equal Type members are
// merged.
func (v *Sink) Providers() []Provider {
	type key struct {
		provider, name string
		id             uint32
		version        uint8
	}
	types := make(map[key]*Type)
	byName := make(map[string]*Provider)
	for _, t := range v.types {
		p := byName[t.typ.Provider]
		if p == nil {
			p = &Provider{Name: t.typ.Provider}
			byName[t.typ.Provider] = p
		}
		p.Add(t.Tally)
		k := key{t.typ.Provider, t.name, t.typ.ID, t.version}
		if types[k] == nil {
			types[k] = &Type{ID: k.id, Version: k.version, Name: k.name}
		}
		types[k].Add(t.Tally)
	}
	for k, t := range types {
		byName[k.provider].Types = append(byName[k.provider].Types, *t)
	}
	list := make([]Provider, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		p := *byName[name]
		slices.SortFunc(p.Types, func(a, b Type) int {
			return cmp.Or(
				cmp.Compare(b.Events, a.Events),
				cmp.Compare(a.ID, b.ID),
				cmp.Compare(a.Version, b.Version),
				cmp.Compare(a.Name, b.Name),
			)
		})
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b Provider) int { return cmp.Compare(b.Events, a.Events) })
	return list
}
