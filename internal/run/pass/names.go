package pass

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/select/selection"
)

// attrProcess is the attribute of a trace with the ID of its only process. A machine-wide trace does not have it.
const attrProcess = "ProcessId"

// SelectNames completes a selection that needs the names of processes: it sets sel.Names, and returns what must be
// known ahead, for Plan.Lookaheads. It returns nil if the selection needs no names. The events of a process may precede
// the event that names it, so the trace is read ahead: of one process until its name is known, and of several to the
// end. An input whose source names the processes itself (Process.Name) is read ahead up to its first event.
func SelectNames(sel *selection.Options) *Lookahead {
	if !sel.NeedsNames() {
		return nil
	}
	names, enough := new(recording.Names), false
	sel.Names = names
	return &Lookahead{Lookahead: formats.Lookahead{
		Learn: func(info *ntconv.Info) (see func(*ntconv.Event), end func()) {
			only, _ := info.Attrs.Get(attrProcess)
			return func(e *ntconv.Event) {
				names.Observe(e)
				if e.Thread != nil && names.Known(e.Thread.Process) {
					p := e.Thread.Process
					enough = enough || p.Name != "" || strconv.FormatUint(p.PID, 10) == only
				}
			}, func() {}
		},
		AnyOrder: true,
		Enough:   func() bool { return enough },
	}}
}
