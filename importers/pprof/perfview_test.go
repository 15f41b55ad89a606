package pprof_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// A written is a written trace with what PerfView's rules refer to.
type written struct {
	info    *ntconv.Info
	events  []*ntconv.Event
	report  *ntconv.Report
	kinds   []wire.Kind
	blocks  []wire.EventBlockHeader
	entries map[*ntconv.Process]*entry
}

// An entry is what the events contain about a process.
type entry struct {
	name     string
	mappings map[uint64]mapped
	symbols  []clr.Symbol
	names    [][]byte
	metadata map[uint64]bool
}

type mapped struct {
	clr.Mapping
	file string
	at   ntconv.Ticks
}

// readWritten decodes a file.
func readWritten(t *testing.T, file []byte) *written {
	t.Helper()
	w := &written{report: new(ntconv.Report), entries: map[*ntconv.Process]*entry{}}
	r, err := reader.New(bytes.NewReader(file), &reader.Options{Strict: true, Order: reader.FileOrder, Report: w.report})
	if err != nil {
		t.Fatal(err)
	}
	w.info = r.Info()
	for e, err := range ntconv.Events(r) {
		if err != nil {
			t.Fatal(err)
		}
		w.events = append(w.events, e.Clone())
	}
	c := bin.New(file, 0)
	if _, err := wire.ParseStreamHeader(&c); err != nil {
		t.Fatal(err)
	}
	for c.Len() > 0 {
		h := wire.ParseBlockHeader(c.Bytes(wire.BlockHeaderSize))
		w.kinds = append(w.kinds, h.Kind)
		body := c.Sub(h.Size)
		if h.Kind == wire.KindEvent {
			head, err := wire.ParseEventBlockHeader(&body)
			if err != nil {
				t.Fatal(err)
			}
			w.blocks = append(w.blocks, head)
		}
	}
	return w
}

// of returns the entry of an event's process.
func (w *written) of(e *ntconv.Event) *entry {
	p := w.entries[e.Thread.Process]
	if p == nil {
		p = &entry{mappings: map[uint64]mapped{}, metadata: map[uint64]bool{}}
		w.entries[e.Thread.Process] = p
	}
	return p
}

// base is the name that PerfView shows for a file.
func base(file string) string {
	file = file[strings.LastIndexAny(file, `/\`)+1:]
	for _, ext := range []string{".dll", ".exe"} {
		file = strings.TrimSuffix(file, ext)
	}
	return file
}

// A perfViewRule is a requirement of PerfView and the consequence of breaking it. check returns the violation.
type perfViewRule struct {
	name, without string
	check         func(w *written) error
}

// each checks all events.
func each(check func(w *written, e *ntconv.Event) error) func(*written) error {
	return func(w *written) error {
		for i, e := range w.events {
			if e.Kind != ntconv.KindEvent {
				continue
			}
			if err := check(w, e); err != nil {
				return fmt.Errorf("event %d (%s/%s): %w", i, e.Type.Provider, e.Type.Name, err)
			}
		}
		return nil
	}
}

func no(bad bool, format string, args ...any) error {
	if bad {
		return fmt.Errorf(format, args...)
	}
	return nil
}

// perfViewRules are in the order in which a reader encounters them. The strict reader checks that threads, types and
// label lists are defined once and before their use.
var perfViewRules = []perfViewRule{
	{"blocks are of known kinds", "they are skipped", func(w *written) error {
		for _, k := range w.kinds {
			if !k.Known() {
				return fmt.Errorf("block of kind %d", k)
			}
		}
		return nil
	}},
	{"types are those that recorders write", "dotnet-trace refuses the file", func(w *written) error {
		for i, e := range w.events {
			if e.Type == nil {
				continue
			}
			for _, f := range e.Type.Fields {
				// Universal.System uses the first two. Signed numbers, which values can be, were added to the format
				// together with the unsigned ones.
				text := f.Type.Code == ntconv.TypeArray && f.Type.Elem.Code == ntconv.TypeUTF8Unit
				if f.Type.Code != ntconv.TypeVarUint && !text && f.Type.Code != ntconv.TypeVarInt {
					return fmt.Errorf("event %d (%s/%s): field %s is %v", i, e.Type.Provider, e.Type.Name, f.Name, f.Type.Code)
				}
			}
		}
		return nil
	}},
	{"event headers are compressed", "the bit that says sorted means the opposite", func(w *written) error {
		for i := range w.blocks {
			if !w.blocks[i].Compressed() {
				return fmt.Errorf("event block %d", i)
			}
		}
		return no(len(w.blocks) == 0, "no event blocks")
	}},
	{"the clock does not begin at zero", "times cannot be distinguished from missing ones", func(w *written) error {
		return no(w.info.Clock.Tick <= 0 || w.info.Clock.Freq != 1e9, "clock %+v", w.info.Clock)
	}},
	{"the number of processors is known", "views of threads read beyond an array", func(w *written) error {
		n, err := strconv.Atoi(attr(w.info.Attrs, "HardwareThreadCount"))
		if err != nil || n < 1 {
			return fmt.Errorf("HardwareThreadCount %q", attr(w.info.Attrs, "HardwareThreadCount"))
		}
		return each(func(_ *written, e *ntconv.Event) error {
			return no(e.CPU < 0 || int(e.CPU) >= n || e.CPU > 255, "processor %d of %d", e.CPU, n)
		})(w)
	}},
	{"no event is before the start", "its time is negative", each(func(w *written, e *ntconv.Event) error {
		return no(e.Time < w.info.Clock.Tick, "%d is before %d", e.Time, w.info.Clock.Tick)
	})},
	{"all events are marked as sorted, and are", "they appear in file order", func(w *written) error {
		last := ntconv.Ticks(0)
		return each(func(_ *written, e *ntconv.Event) error {
			err := no(e.Flags&ntconv.FlagSorted == 0 || e.Time < last, "at %d after %d, flags %d", e.Time, last, e.Flags)
			last = e.Time
			return err
		})(w)
	}},
	{"sequence numbers count on", "a huge number of losses", func(w *written) error {
		return no(w.report.Count(ntconv.CodeEventsLost)+w.report.Count(ntconv.CodeSequenceBack) > 0, "%v", w.report.Entries())
	}},
	{"stacks are defined", "the event has none", func(w *written) error {
		return no(w.report.Count(ntconv.CodeUnknownStack) > 0, "%v", w.report.Entries())
	}},
	{"payloads and stacks have less than 64 KiB", "they cannot be represented", each(func(_ *written, e *ntconv.Event) error {
		return no(len(e.Payload) > 65535 || e.Stack != nil && len(e.Stack.PCs) > 8190, "%d bytes", len(e.Payload))
	})},
	{"Universal.Events have an id from 1 to 65,535 for each name", "an exception, or they are taken for others", func(w *written) error {
		ids, names := map[uint32]string{}, map[string]uint32{}
		return each(func(_ *written, e *ntconv.Event) error {
			t := e.Type
			if t.Provider != clr.UniversalEvents {
				return nil
			}
			if ids[t.ID] == "" && names[t.Name] == 0 {
				ids[t.ID], names[t.Name] = t.Name, t.ID
			}
			return no(t.ID == 0 || t.ID > 65535 || ids[t.ID] != t.Name || names[t.Name] != t.ID, "id %d", t.ID)
		})(w)
	}},
	{"nothing is called cswitch", "the view of thread times opens without anything to show", each(func(_ *written, e *ntconv.Event) error {
		return no(strings.HasPrefix(e.Type.Name, "cswitch"), "%s", e.Type.Name)
	})},
	{"samples are called cpu and begin with their weight", "the view of processor stacks does not show them", each(func(_ *written, e *ntconv.Event) error {
		if e.Type.Provider != clr.UniversalEvents {
			return nil
		}
		f := e.Type.Fields[0]
		return no(e.Type.Name != "cpu" || f.Name != "Value" || f.Type.Code != ntconv.TypeVarUint, "%s, field %+v", e.Type.Name, f)
	})},
	{"a process is introduced before anything is said about it", "it has no name", each(func(w *written, e *ntconv.Event) error {
		p := w.of(e)
		var v clr.Process
		if clr.ClassOf(e.Type) == clr.ClassUniversalProcess {
			if !clr.ParseProcess(e, &v) || len(v.Name) == 0 {
				return fmt.Errorf("name %q", v.Name)
			}
			p.name = string(v.Name)
		}
		return no(p.name == "", "process %d has no name yet", e.Thread.Process.PID)
	})},
	{"what is known of a file comes before its mapping", "it is not attached, and symbols cannot be looked up", each(func(w *written, e *ntconv.Event) error {
		p := w.of(e)
		var m clr.MappingMetadata
		var v clr.Mapping
		switch clr.ClassOf(e.Type) {
		case clr.ClassUniversalMappingMetadata:
			if !clr.ParseMappingMetadata(e, &m) || m.ID == 0 {
				return fmt.Errorf("id %d", m.ID)
			}
			p.metadata[m.ID] = true
			for f, v := range e.Fields() {
				if f.Name == "SymbolMetadata" && !json.Valid([]byte(v.String())) {
					return fmt.Errorf("no JSON: %s", v)
				}
			}
		case clr.ClassUniversalMapping:
			if !clr.ParseMapping(e, &v) || v.End <= v.Start || v.MetadataID != 0 && !p.metadata[v.MetadataID] {
				return fmt.Errorf("%+v", v)
			}
			if _, twice := p.mappings[v.ID]; twice {
				return fmt.Errorf("mapping %d is there twice", v.ID)
			}
			p.mappings[v.ID] = mapped{v, string(v.File), e.Time}
		}
		return nil
	})},
	{"mappings of a process do not overlap", "an address is in the wrong module", func(w *written) error {
		for _, p := range w.entries {
			for i, a := range p.mappings {
				for j, b := range p.mappings {
					if i != j && a.Start <= b.End && b.Start <= a.End {
						return fmt.Errorf("%+v and %+v", a, b)
					}
				}
			}
		}
		return nil
	}},
	{"a symbol lies inside its mapping, which came before it", "it is lost", each(func(w *written, e *ntconv.Event) error {
		var v clr.Symbol
		if clr.ClassOf(e.Type) != clr.ClassUniversalSymbol {
			return nil
		}
		p := w.of(e)
		ok := clr.ParseSymbol(e, &v)
		m, there := p.mappings[v.MappingID]
		p.symbols, p.names = append(p.symbols, v), append(p.names, bytes.Clone(v.Name))
		// PerfView treats the last byte of a mapping as outside the module.
		return no(!ok || !there || m.at > e.Time || v.End < v.Start || v.Start < m.Start || v.Start >= m.End, "%+v in %+v", v, m)
	})},
	{"a symbol has two bytes at least", "dotnet-trace finds none of its addresses", func(w *written) error {
		for _, p := range w.entries {
			for i, s := range p.symbols {
				if s.End <= s.Start {
					return fmt.Errorf("%s at %#x to %#x", p.names[i], s.Start, s.End)
				}
			}
		}
		return nil
	}},
	{"an address has one name", "the first one counts", func(w *written) error {
		for _, p := range w.entries {
			named := map[uint64]bool{}
			for _, s := range p.symbols {
				for pc := s.Start; pc <= s.End; pc++ {
					if named[pc] {
						return fmt.Errorf("two names for %#x", pc)
					}
					named[pc] = true
				}
			}
		}
		return nil
	}},
	{"an address of a stack is in a mapping", "it is shown as ?", each(func(w *written, e *ntconv.Event) error {
		if e.Stack == nil {
			return nil
		}
		for _, pc := range e.Stack.PCs {
			if w.of(e).module(pc) == "" {
				return fmt.Errorf("%#x", pc)
			}
		}
		return nil
	})},
	{"stacks begin in the module that the process is called after", "they are shown as BROKEN", each(func(w *written, e *ntconv.Event) error {
		if e.Stack == nil {
			return nil
		}
		p := w.of(e)
		root := p.module(e.Stack.PCs[len(e.Stack.PCs)-1])
		return no(!strings.EqualFold(root, base(p.name)), "%s in process %s", root, p.name)
	})},
}

// module returns PerfView's name of the module of an address.
func (p *entry) module(pc uint64) string {
	for _, m := range p.mappings {
		if m.Start <= pc && pc < m.End {
			return base(m.file)
		}
	}
	return ""
}

func attr(list ntconv.Attrs, key string) string {
	s, _ := list.Get(key)
	return s
}

// TestPerfViewRules checks a converted profile of a Go program, with and without labels as frames, and one without
// mappings.
func TestPerfViewRules(t *testing.T) {
	goProfile, err := os.ReadFile(corpus.Path("go-cpu.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"go": goProfile}
	for _, f := range googleProfiles(t) {
		if name := filepath.Base(f); name == "java.cpu" || name == "java.heap" {
			if files[name], err = os.ReadFile(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, data := range files {
		for _, frames := range [][]string{nil, {"endpoint"}} {
			for _, addresses := range []symbol.Addresses{symbol.AddressesMixed, symbol.AddressesReal, symbol.AddressesSynthetic} {
				t.Run(fmt.Sprintf("%s/%v/%d", name, frames, addresses), func(t *testing.T) {
					file := toNettrace(t, data, &pprof.Options{LabelFrames: frames}, &symbol.SynthesizeOptions{Addresses: addresses})
					if again := toNettrace(t, data, &pprof.Options{LabelFrames: frames}, &symbol.SynthesizeOptions{Addresses: addresses}); !bytes.Equal(again, file) {
						t.Error("the same profile gives two traces")
					}
					w := readWritten(t, file)
					for _, rule := range perfViewRules {
						if err := rule.check(w); err != nil {
							t.Errorf("%s (else %s): %v", rule.name, rule.without, err)
						}
					}
				})
			}
		}
	}
}

// TestPerfViewOfLabeledProcess checks that a process named by a label has complete stacks, with the label as a frame.
func TestPerfViewOfLabeledProcess(t *testing.T) {
	p := simple(1)
	p.Mapping[0].File = "/usr/share/dotnet/System.Private.CoreLib.dll"
	p.Sample[0].Label = map[string][]string{"process": {"shop"}}
	for _, frames := range [][]string{nil, {"process"}} {
		w := readWritten(t, toNettrace(t, raw(t, p), &pprof.Options{LabelFrames: frames}, nil))
		var err error
		for _, rule := range perfViewRules { // earlier rules collect what the last one, about stacks, examines
			err = rule.check(w)
		}
		if (err == nil) != (frames != nil) {
			t.Errorf("frames %q: %v", frames, err)
		}
	}
}
