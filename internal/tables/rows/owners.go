package rows

import (
	"cmp"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/tables"
)

// A processRow is a process and the number of its events.
type processRow struct {
	process *ntconv.Process
	id      int32
	events  int64
}

// A threadRow is a thread, the number of its events and their time range.
type threadRow struct {
	thread      *ntconv.Thread
	process     *processRow // nil if unknown
	id          int32
	pid, tid    int64
	events      int64
	first, last ntconv.Ticks // of its events; first > last if there are none
}

// An ownerTable numbers processes and threads in the order of first use. Their rows are written at the end, when their
// events are counted and their names known.
type ownerTable struct {
	modules   *moduleTable
	processes []*processRow
	byProcess map[*ntconv.Process]*processRow
	threads   []*threadRow
	byThread  map[*ntconv.Thread]*threadRow
	recent    [recentThreads]*threadRow // cache by TID, because threads alternate
	infos     map[*ntconv.Process]*recording.Process
	reader    recording.ProcessReader
}

// recentThreads must be a power of 2.
const recentThreads = 256

func newOwnerTable(modules *moduleTable) *ownerTable {
	return &ownerTable{
		modules: modules, byProcess: make(map[*ntconv.Process]*processRow), byThread: make(map[*ntconv.Thread]*threadRow),
		infos: make(map[*ntconv.Process]*recording.Process),
	}
}

// process returns the row of a process, or nil for nil. A new process gets the next number.
func (t *ownerTable) process(p *ntconv.Process) *processRow {
	if p == nil {
		return nil
	}
	row := t.byProcess[p]
	if row == nil {
		row = &processRow{process: p, id: int32(len(t.processes) + 1)}
		t.byProcess[p] = row
		t.processes = append(t.processes, row)
		t.modules.record(row.id, p.Mappings)
	}
	return row
}

// thread returns the row of a thread, or nil for nil. A new thread gets the next number.
func (t *ownerTable) thread(p *ntconv.Thread) *threadRow {
	if p == nil {
		return nil
	}
	slot := &t.recent[p.TID%recentThreads]
	if row := *slot; row != nil && row.thread == p {
		return row
	}
	row := t.byThread[p]
	if row == nil {
		row = &threadRow{
			thread: p, process: t.process(p.Process), id: int32(len(t.threads) + 1), tid: int64(p.TID),
			first: math.MaxInt64, last: math.MinInt64,
		}
		if p.Process != nil {
			row.pid = int64(p.Process.PID)
		}
		t.byThread[p] = row
		t.threads = append(t.threads, row)
	}
	*slot = row
	return row
}

// processID returns the process_id of a thread, or 0 if its process is unknown.
func (r *threadRow) processID() int32 {
	if r.process == nil {
		return 0
	}
	return r.process.id
}

// count counts an event of the thread.
func (r *threadRow) count(at ntconv.Ticks) {
	r.events++
	r.first, r.last = min(r.first, at), max(r.last, at)
	if r.process != nil {
		r.process.events++
	}
}

// learn keeps what an event reports about its process. It ignores all other events.
func (t *ownerTable) learn(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent || e.Type == nil || e.Thread == nil || e.Thread.Process == nil ||
		!recording.Describes(e.Type) {
		return
	}
	info := t.infos[e.Thread.Process]
	if info == nil {
		info = new(recording.Process)
		t.infos[e.Thread.Process] = info
	}
	t.reader.Learn(info, e)
}

// info returns what events reported about a process, completed by the namer.
func (t *ownerTable) info(p *ntconv.Process, namer ntconv.Namer) recording.Process {
	var info recording.Process
	if known := t.infos[p]; known != nil {
		info = *known
	}
	n := namer.Process(p)
	info.Name = cmp.Or(n.Name, info.Name, p.Name)
	info.Command = cmp.Or(info.Command, n.CommandLine)
	return info
}

// main returns the process with the most events, or nil if there is none.
func (t *ownerTable) main() (main *ntconv.Process) {
	most := int64(-1)
	for _, r := range t.processes {
		if r.events > most {
			main, most = r.process, r.events
		}
	}
	return main
}

// writeProcesses writes the rows of all processes.
func (t *ownerTable) writeProcesses(rows *table[tables.Process], namer ntconv.Namer, c *clock) {
	for _, r := range t.processes {
		p, info, times, row := r.process, t.info(r.process, namer), namer.Process(r.process), rows.row()
		row.ProcessID, row.PID, row.Host, row.PointerSize = r.id, int64(p.PID), valid(p.Host), int32(p.PointerSize)
		row.Name, row.RecordedName, row.CommandLine = valid(info.Name), valid(p.Name), valid(info.Command)
		row.RuntimeName, row.RuntimeVersion, row.EventCount = valid(info.Runtime), valid(info.Version), r.events
		if times.Start != 0 {
			row.StartTS = micros(c, times.Start)
		}
		if times.End != 0 {
			row.EndTS = micros(c, times.End)
		}
	}
}

// writeThreads writes the rows of all threads.
func (t *ownerTable) writeThreads(rows *table[tables.Thread], namer ntconv.Namer, c *clock) {
	for _, r := range t.threads {
		row := rows.row()
		row.ThreadID, row.ProcessID, row.TID, row.EventCount = r.id, r.processID(), r.tid, r.events
		row.Name, row.RecordedName = valid(namer.ThreadName(r.thread)), valid(r.thread.Name)
		if r.events > 0 {
			row.FirstTS, row.LastTS = micros(c, r.first), micros(c, r.last)
		}
	}
}

// micros returns a time in microseconds for a column that may be NULL.
func micros(c *clock, t ntconv.Ticks) *int64 {
	m, _ := c.at(t)
	return &m
}
