package main

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/pass"
)

// An inventory is a sink that counts what a trace holds. Its memory is bounded by the trace's types and threads.
type inventory struct {
	types   map[*ntconv.Type]*typeCount
	threads map[*ntconv.Thread]*threadCount
	all     tally
	lost    uint64
	first   ntconv.Ticks
	last    ntconv.Ticks

	lastType   *typeCount
	lastThread *threadCount
}

// A tally counts events.
type tally struct {
	Events int64 `json:"events"`
	Bytes  int64 `json:"bytes"`  // of payloads
	Stacks int64 `json:"stacks"` // events that have one
}

func (t *tally) add(e *ntconv.Event) {
	t.Events++
	t.Bytes += int64(len(e.Payload))
	if e.Stack != nil {
		t.Stacks++
	}
}

func (t *tally) merge(u tally) {
	t.Events += u.Events
	t.Bytes += u.Bytes
	t.Stacks += u.Stacks
}

type typeCount struct {
	typ     *ntconv.Type
	name    string
	version uint8
	tally
}

type threadCount struct {
	thread *ntconv.Thread
	events int64
	lost   uint64
}

func newInventory() *inventory {
	return &inventory{types: make(map[*ntconv.Type]*typeCount), threads: make(map[*ntconv.Thread]*threadCount)}
}

// Write implements ntconv.Sink.
func (v *inventory) Write(e *ntconv.Event) error {
	switch e.Kind {
	case ntconv.KindEvent:
		if v.all.Events == 0 || e.Time < v.first {
			v.first = e.Time
		}
		if v.all.Events == 0 || e.Time > v.last {
			v.last = e.Time
		}
		v.all.add(e)
		v.typeOf(e).add(e)
		v.threadOf(e.Thread).events++
	case ntconv.KindLost:
		v.lost += uint64(e.Lost)
		if e.Capture != nil {
			v.threadOf(e.Capture).lost += uint64(e.Lost)
		}
	}
	return nil
}

// Close implements ntconv.Sink.
func (v *inventory) Close() error { return nil }

func (v *inventory) typeOf(e *ntconv.Event) *typeCount {
	if v.lastType != nil && v.lastType.typ == e.Type {
		return v.lastType
	}
	t := v.types[e.Type]
	if t == nil {
		t = &typeCount{typ: e.Type, name: clr.Name(e), version: e.Version()}
		v.types[e.Type] = t
	}
	v.lastType = t
	return t
}

func (v *inventory) threadOf(t *ntconv.Thread) *threadCount {
	if v.lastThread != nil && v.lastThread.thread == t {
		return v.lastThread
	}
	c := v.threads[t]
	if c == nil {
		c = &threadCount{thread: t}
		v.threads[t] = c
	}
	v.lastThread = c
	return c
}

// A description is what ntconv info --json prints.
type description struct {
	File       string         `json:"file"`
	Size       int64          `json:"size,omitempty"` // as stored; absent for a pipe
	Format     string         `json:"format"`
	Clock      clockInfo      `json:"clock"`
	Pointer    int            `json:"pointer_size"`
	Attributes map[string]any `json:"attributes"` // a key that occurs twice has a list
	Events     eventsInfo     `json:"events"`
	Processes  []processInfo  `json:"processes"`
	Threads    []threadInfo   `json:"threads"`
	Providers  []providerInfo `json:"providers"`
	Extract    []extractInfo  `json:"extract"`
	Lost       uint64         `json:"lost_events"`     // by the recorder
	Notes      []string       `json:"notes,omitempty"` // on the command line, in view of what the trace holds
	Report     []reportEntry  `json:"report"`
	attrs      ntconv.Attrs   // in order, for text
	clock      ntconv.Clock   // for text
}

type clockInfo struct {
	Frequency int64  `json:"frequency"` // ticks a second
	SyncTicks int64  `json:"sync_ticks"`
	SyncTime  string `json:"sync_time,omitempty"` // what the wall clock showed then
}

type eventsInfo struct {
	tally
	FirstTicks int64  `json:"first_ticks"`
	LastTicks  int64  `json:"last_ticks"`
	FirstTime  string `json:"first_time,omitempty"`
	LastTime   string `json:"last_time,omitempty"`
	Duration   int64  `json:"duration_ns"` // from the first to the last
}

type processInfo struct {
	PID         uint64 `json:"pid"`
	Host        string `json:"host,omitempty"`
	Name        string `json:"name,omitempty"`
	CommandLine string `json:"command_line,omitempty"`
	Threads     int    `json:"threads"`
	Events      int64  `json:"events"`
}

type threadInfo struct {
	PID    *uint64 `json:"pid,omitempty"`
	TID    *uint64 `json:"tid,omitempty"` // absent if not recorded
	Name   string  `json:"name,omitempty"`
	Events int64   `json:"events"`
	Lost   uint64  `json:"lost,omitempty"`
}

type providerInfo struct {
	Name string `json:"name"`
	tally
	Types []typeInfo `json:"types"`
}

type typeInfo struct {
	ID      uint32 `json:"id"`
	Version uint8  `json:"version"`
	Name    string `json:"name"`
	tally
}

type extractInfo struct {
	What    string `json:"what"`
	Events  int64  `json:"events"`
	Command string `json:"command"`
}

// describe makes the description of what was counted in a pass.
func (v *inventory) describe(p *pass.Pass) *description {
	c := p.Info.Clock
	d := &description{
		File:       p.Input.Name(),
		Size:       max(0, p.Input.Size()),
		Format:     p.Info.Format,
		Clock:      clockInfo{Frequency: c.Freq, SyncTicks: int64(c.Tick), SyncTime: timeText(c.Wall)},
		Pointer:    p.Info.PointerSize,
		Attributes: attributes(ofTrace(p.Info.Attrs)),
		Events: eventsInfo{
			tally: v.all, FirstTicks: int64(v.first), LastTicks: int64(v.last),
			Duration: int64(c.Since(v.first, v.last)),
		},
		Processes: v.processes(p.Namer),
		Threads:   v.threadList(p.Namer),
		Providers: v.providers(),
		Extract:   v.extract(p.Input.Name()),
		Lost:      v.lost,
		Notes:     p.Selector.Notes(),
		Report:    reportEntries(p.Report),
		attrs:     ofTrace(p.Info.Attrs),
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

// ofTrace returns the attributes that are about the trace: those of ntconv's own are about its reading and writing.
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

// processes returns the processes that events are about, those with most events first.
func (v *inventory) processes(namer ntconv.Namer) []processInfo {
	of := make(map[*ntconv.Process]*processInfo)
	for _, t := range v.threads {
		if t.thread == nil || t.thread.Process == nil {
			continue
		}
		p := of[t.thread.Process]
		if p == nil {
			is, said := t.thread.Process, namer.Process(t.thread.Process)
			p = &processInfo{PID: is.PID, Host: is.Host, Name: said.Name, CommandLine: said.CommandLine}
			of[t.thread.Process] = p
		}
		p.Events += t.events
		p.Threads++
	}
	list := make([]processInfo, 0, len(of))
	for _, p := range of {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b processInfo) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Host, b.Host), cmp.Compare(a.CommandLine, b.CommandLine))
	})
	return list
}

// threadList returns the threads that events are about or that lost some, those with most events first.
func (v *inventory) threadList(namer ntconv.Namer) []threadInfo {
	list := make([]threadInfo, 0, len(v.threads))
	for _, t := range v.threads {
		i := threadInfo{Events: t.events, Lost: t.lost}
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
	slices.SortFunc(list, func(a, b threadInfo) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), compareIDs(a.PID, b.PID), compareIDs(a.TID, b.TID), cmp.Compare(b.Lost, a.Lost))
	})
	return list
}

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

// providers returns the providers and their types, those with most events first. Types that differ in nothing that is shown
// are one.
func (v *inventory) providers() []providerInfo {
	type key struct {
		provider, name string
		id             uint32
		version        uint8
	}
	types := make(map[key]*typeInfo)
	of := make(map[string]*providerInfo)
	for _, t := range v.types {
		p := of[t.typ.Provider]
		if p == nil {
			p = &providerInfo{Name: t.typ.Provider}
			of[t.typ.Provider] = p
		}
		p.merge(t.tally)
		k := key{t.typ.Provider, t.name, t.typ.ID, t.version}
		if types[k] == nil {
			types[k] = &typeInfo{ID: k.id, Version: k.version, Name: k.name}
		}
		types[k].merge(t.tally)
	}
	for k, t := range types {
		of[k.provider].Types = append(of[k.provider].Types, *t)
	}
	list := make([]providerInfo, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		p := *of[name]
		slices.SortFunc(p.Types, func(a, b typeInfo) int {
			return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
		})
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b providerInfo) int { return cmp.Compare(b.Events, a.Events) })
	return list
}

func (d *description) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
