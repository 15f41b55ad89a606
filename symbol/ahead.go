package symbol

import (
	"runtime"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// A spelling holds the spelled names of a managed method.
type spelling struct{ raw, display string } // display is empty with NamesRaw

// A speller spells the names of methods. Several spellers may work on one table concurrently as long as nothing changes
// the table.
type speller struct {
	t       *Table
	names   *dotnet.Speller
	scratch []byte

	namespace stringID // of the previous method
	typ       string   // the same as a string
}

func newSpeller(t *Table) speller { return speller{t: t, names: dotnet.NewSpeller()} }

// utf16 returns recorded UTF-16 as a string.
func (s *speller) utf16(b []byte) string {
	s.scratch = bin.DecodeUTF16(s.scratch[:0], b)
	return string(s.scratch)
}

func (s *speller) method(m *method) (n spelling) {
	table := s.t.strings
	if m.namespace != s.namespace { // consecutive methods are mostly of one type
		s.namespace, s.typ = m.namespace, s.utf16(table.get(m.namespace))
	}
	d := dotnet.Method{Namespace: s.typ, Name: s.utf16(table.get(m.name)), Signature: s.utf16(table.get(m.param))}
	n.raw = d.Raw()
	switch s.t.names {
	case NamesPretty:
		n.display = s.names.Pretty(d)
	case NamesShort:
		n.display = s.names.Short(d)
	}
	return n
}

// worthAhead is the number of names that justifies starting a goroutine.
const worthAhead = 256

// nameAhead spells the names of the methods that contain wanted addresses, on all cores. Spelling dominates
// AppendFrames if most methods are resolved only once or twice.
func (t *Table) nameAhead(p *process) {
	list := p.wantedMethods()
	workers := min(runtime.GOMAXPROCS(0), len(list)/worthAhead)
	if workers < 2 {
		return
	}
	names := make([]spelling, len(list))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			s := newSpeller(t)
			for i := w * len(list) / workers; i < (w+1)*len(list)/workers; i++ {
				names[i] = s.method(&p.methods.list[list[i]])
			}
		})
	}
	wait.Wait()
	if len(p.memo) == 0 {
		p.memo = make(map[memoKey]resolvedName, len(list))
	}
	if len(t.funcs) == 0 {
		t.funcs = make(map[ntconv.Function]*ntconv.Function, len(list))
	}
	for i, entry := range list {
		p.memo[memoKey{entry: entry}] = t.nameMethod(p, &p.methods.list[entry], names[i])
	}
}

// wantedMethods returns the newest methods at the wanted addresses that have a name and are not in the memo.
func (p *process) wantedMethods() (list []uint32) {
	p.wanted.sort()
	for pcs := p.wanted.pcs; len(pcs) > 0; {
		s := p.methods.when.now.find(pcs[0])
		if s == nil {
			pcs = pcs[1:]
			continue
		}
		if _, ok := p.memo[memoKey{entry: s.owner}]; !ok && p.methods.list[s.owner].hasName() {
			list = append(list, s.owner)
		}
		for len(pcs) > 0 && pcs[0] <= s.last {
			pcs = pcs[1:]
		}
	}
	return list
}
