package selection

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/select/where"
)

// owners caches which names of processes and threads match. last is the thread of the latest event; named is valid for
// it.
type owners struct {
	processes map[*recording.NameSet]bool
	threads   map[string]bool
	last      *ntconv.Thread
	named     bool
}

// thread reports whether events of a thread at a time are selected, as far as that depends on the thread and its
// process.
func (s *Selector) thread(t *ntconv.Thread, at ntconv.Ticks) bool {
	o := &s.opts
	switch {
	case !s.owned:
		return true
	case t == nil:
		return false
	case len(o.TIDs) > 0 && !s.tids.matchNumber(o.TIDs, t.TID):
		return false
	case len(o.ThreadNames) > 0 && !s.threadName(t):
		return false
	case len(o.PIDs)+len(o.Processes) == 0:
		return true
	case t.Process == nil || len(o.PIDs) > 0 && !s.pids.matchNumber(o.PIDs, t.Process.PID):
		return false
	}
	return len(o.Processes) == 0 || s.process(t.Process, at)
}

// threadName reports whether the name of a thread is selected.
func (s *Selector) threadName(t *ntconv.Thread) bool {
	if t == s.owners.last {
		return s.owners.named
	}
	ok, known := s.owners.threads[t.Name]
	if !known {
		if t.Name != "" {
			s.threadNames.see(t.Name)
		}
		ok = t.Name != "" && s.threadNames.match(func(p string) bool { return where.Match(p, t.Name) })
		if len(s.owners.threads) == maxNames {
			clear(s.owners.threads)
		}
		if s.owners.threads == nil {
			s.owners.threads = make(map[string]bool)
		}
		s.owners.threads[t.Name] = ok
	}
	s.owners.last, s.owners.named = t, ok
	return ok
}

// process reports whether a process has a selected name at a time.
func (s *Selector) process(p *ntconv.Process, at ntconv.Ticks) bool {
	set := s.opts.Names.At(p, at)
	ok, known := s.owners.processes[set]
	if !known {
		for _, name := range set.All() {
			s.processes.see(name)
		}
		ok = s.processes.match(func(pattern string) bool {
			return slices.ContainsFunc(set.All(), func(name string) bool { return where.Match(pattern, name) })
		})
		if s.owners.processes == nil {
			s.owners.processes = make(map[*recording.NameSet]bool)
		}
		s.owners.processes[set] = ok
	}
	return ok
}
