package html

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/rows"
)

// A recording holds what a page shows. It receives the rows of tables: each part from the goroutine of one table, and
// samples and the heap from the goroutine of the sink.
type recording struct {
	info      tables.TraceInfo
	processes []tables.Process
	threads   []tables.Thread
	modules   []string // paths by module_id - 1
	samples   *samples
	tree      *tree
	frames    frames
	spans     *activities
	intervals *activities
	counters  *series
	heap      *series
	losses    losses
	clock     ntconv.Clock
	long      rounds.Long   // of wall samples; known in finish
	links     active.Counts // known in finish
}

func newRecording() *recording {
	return &recording{
		samples: newSamples(), tree: newTree(), spans: newActivities(), intervals: newActivities(), counters: newSeries(), heap: newSeries(),
	}
}

// Open implements rows.Receiver.
func (r *recording) Open(t tables.Table) (rows.Writer, error) {
	switch t.Name {
	case "trace_info":
		return each(func(row *tables.TraceInfo) { r.info = *row }), nil
	case "processes":
		return each(func(row *tables.Process) { r.processes = append(r.processes, *row) }), nil
	case "threads":
		return each(func(row *tables.Thread) { r.threads = append(r.threads, *row) }), nil
	case "modules":
		return each(func(row *tables.Module) { r.modules = append(r.modules, row.Path) }), nil
	case "losses":
		return each(r.losses.add), nil
	case "stacks":
		return each(func(row *tables.Stack) {
			if r.tree.leaves == nil { // the last sample precedes the first stack
				r.tree.want(r.samples.stacks())
			}
			r.tree.addStack(row)
		}), nil
	case "frames":
		return each(r.frames.addFrame), nil
	case "spans":
		return each(r.spans.addSpan), nil
	case "intervals":
		return each(r.intervals.addInterval), nil
	case "counters":
		return each(r.counters.addCounter), nil
	}
	return nil, fmt.Errorf("unknown table %s", t.Name)
}

// A receiver is a rows.Writer that calls a function for each row. The function must copy what it keeps of strings that
// are built for the row.
type receiver[T any] func(*T)

func each[T any](add func(*T)) rows.Writer { return receiver[T](add) }

func (r receiver[T]) Write(rows any, _ int) error {
	list := rows.([]T)
	for i := range list {
		r(&list[i])
	}
	return nil
}

func (receiver[T]) EndGroup() error { return nil }
func (receiver[T]) Unsorted()       {}
func (receiver[T]) Finish() error   { return nil }
func (receiver[T]) Close() error    { return nil }

// stacks returns the stacks of samples, by stack_id.
func (s *samples) stacks() map[int64]int32 {
	ids := make(map[int64]int32)
	for _, k := range s.byKind {
		if k != nil {
			for i := range k.rows {
				if id := k.rows[i].stack; id != 0 {
					ids[id] = -1
				}
			}
		}
	}
	return ids
}

// finish brings all parts into the form in which they are written. Call it after the last row.
func (r *recording) finish() {
	r.samples.finish()
	r.spans.finish()
	r.intervals.finish()
	known := make(map[int32]int32)
	r.tree.renumber(func(id int32) int32 {
		n, ok := known[id]
		if !ok {
			n = r.frames.page(id, r.path)
			known[id] = n
		}
		return n
	})
}

// path returns the path of a module.
func (r *recording) path(moduleID int32) string {
	if i := int(moduleID) - 1; i >= 0 && i < len(r.modules) {
		return r.modules[i]
	}
	return ""
}

// main returns the process with the most events, and an empty one if there is none.
func (r *recording) main() tables.Process {
	most := tables.Process{EventCount: -1}
	for i := range r.processes {
		if r.processes[i].EventCount > most.EventCount {
			most = r.processes[i]
		}
	}
	return most
}

// title returns the title of the page.
func (r *recording) title() string {
	if name := cmp.Or(r.info.SourceFile, r.main().Name); name != "" {
		return name + " - ntconv"
	}
	return "ntconv"
}

// runtime returns the name and version of a process's runtime.
func runtime(p *tables.Process) string {
	if p.RuntimeName != "" && p.RuntimeVersion != "" {
		return p.RuntimeName + " " + p.RuntimeVersion
	}
	return p.RuntimeName + p.RuntimeVersion
}

// appendUint32s appends numbers with 4 bytes each.
func appendUint32s(b []byte, list ...uint32) []byte {
	for _, n := range list {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}
