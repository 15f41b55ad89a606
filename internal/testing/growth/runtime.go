package growth

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// runtimeInputs have many collections, type loads, tasks and requests.
func runtimeInputs() []Input {
	tasks := func(t *trace, n int, ids ...uint32) {
		id := []wire.Field{field("Scheduler", wire.TypeInt32), field("Task", wire.TypeInt32), field("TaskID", wire.TypeInt32)}
		for _, event := range ids {
			typ := t.typ("System.Threading.Tasks.TplEventSource", event, "", 0, id...)
			for i := range n {
				t.event(typ, bin.AppendU32(make([]byte, 8), uint32(i)))
			}
		}
	}
	return []Input{
		traceInput("suspensions-threads", 500, func(t *trace, n int) { // each thread waits until it can suspend the others
			begin := t.typ(clrProvider, 9, "", 1)
			for i := range n {
				t.thread(uint64(10+i), process1, uint64(2000+i), "")
				t.add(wire.EventHeader{MetadataID: begin, Thread: uint64(10 + i)}, append(bin.AppendU32(nil, 1), make([]byte, 6)...))
			}
		}),
		traceInput("suspensions-collections", 500, func(t *trace, n int) { // one pause of many collections
			begin, end, start := t.typ(clrProvider, 9, "", 1), t.typ(clrProvider, 3, "", 1), t.typ(clrProvider, 1, "", 2)
			t.event(begin, append(bin.AppendU32(nil, 1), make([]byte, 6)...))
			for i := range n {
				t.event(start, append(bin.AppendU32(nil, uint32(i)), make([]byte, 22)...))
			}
			t.event(end, make([]byte, 2))
		}),
		traceInput("type-loads-nested", 500, func(t *trace, n int) {
			start, stop := t.typ(clrProvider, 73, "", 0), t.typ(clrProvider, 74, "", 0)
			for i := range n {
				t.event(start, append(bin.AppendU32(nil, uint32(i)), 0, 0))
			}
			for i := range n {
				b := append(bin.AppendU32(nil, uint32(n-1-i)), make([]byte, 12)...)
				t.event(stop, bin.AppendUTF16Z(b, fmt.Sprint("N.T", i)))
			}
		}),
		traceInput("tasks", 500, func(t *trace, n int) { tasks(t, n, 7, 8, 9) }),
		traceInput("tasks-open", 500, func(t *trace, n int) { tasks(t, n, 7, 8) }),
		traceInput("requests-open", 500, func(t *trace, n int) { requests(t, n, "RequestStart") }),
		traceInput("requests-nested", 2400, func(t *trace, n int) { // large, because the search for a begin is bounded
			requests(t, n, "RequestStart", "RequestStop")
		}),
	}
}

// requests writes requests without activity IDs on four threads: all events of a name, then those of the next one.
func requests(t *trace, n int, names ...string) {
	for id, name := range names {
		path := []wire.Field{field("method", wire.TypeUTF16String), field("path", wire.TypeUTF16String)}
		host := t.typ("Microsoft.AspNetCore.Hosting", uint32(3+id), name, 0, path...)
		kestrel := t.typ("Microsoft-AspNetCore-Server-Kestrel", uint32(3+id), name, 0, path...)
		for i := range n {
			thread := thread1 + uint64(i%4)
			b := bin.AppendUTF16Z(bin.AppendUTF16Z(nil, "GET"), fmt.Sprint("/", i))
			t.add(wire.EventHeader{MetadataID: host, Thread: thread}, b)
			t.add(wire.EventHeader{MetadataID: kestrel, Thread: thread}, b)
		}
	}
}
