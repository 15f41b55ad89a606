package symbol_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// trace returns the bytes of a real trace by name.
func trace(tb testing.TB, name string) []byte {
	tb.Helper()
	found, err := filepath.Glob(filepath.Join(corpus.Shared(tb, "data"), "*", name+".net*.zst"))
	if err != nil || len(found) != 1 {
		tb.Fatalf("%s: %d traces of that name, %v", name, len(found), err)
	}
	return corpus.Read(tb, found[0])
}

func open(tb testing.TB, b []byte) *reader.Reader {
	tb.Helper()
	r, err := reader.New(bytes.NewReader(b), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// scanned returns a table that has seen all of a trace.
func scanned(tb testing.TB, b []byte, opts *symbol.Options) *symbol.Table {
	tb.Helper()
	t := symbol.New(opts)
	if err := t.Scan(open(tb, b)); err != nil && !isTruncated(err) {
		tb.Fatal(err)
	}
	return t
}

// A refFrame is a frame as TraceEvent resolves it.
type refFrame struct {
	pc             uint64
	module, method string
}

type refKey struct {
	ticks    ntconv.Ticks
	tid      uint64
	provider string
}

// A reference is what TraceEvent reports about the stacks of a trace.
type reference struct {
	stacks [][]refFrame
	events map[refKey][]int
}

func readReference(tb testing.TB, name string) *reference {
	tb.Helper()
	r := &reference{events: map[refKey][]int{}}
	lines := bufio.NewReaderSize(bytes.NewReader(corpus.Read(tb, corpus.Shared(tb, "oracle", "stacks", name+".jsonl.zst"))), 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return r
		}
		if line[0] == '[' {
			var at struct {
				ticks ntconv.Ticks
				tid   uint64
				prov  string
				id    int
			}
			row := []any{&at.ticks, new(uint64), &at.tid, &at.prov, new(string), &at.id}
			if err := json.Unmarshal(line, &row); err != nil {
				tb.Fatal(err)
			}
			k := refKey{at.ticks, at.tid, at.prov}
			r.events[k] = append(r.events[k], at.id)
			continue
		}
		var row struct {
			Stack  *int
			Frames [][3]string
		}
		if err := json.Unmarshal(line, &row); err != nil {
			tb.Fatal(err)
		}
		if row.Stack == nil {
			continue
		}
		var frames []refFrame
		for _, f := range row.Frames {
			pc, err := strconv.ParseUint(f[0], 16, 64)
			if err != nil {
				tb.Fatal(err)
			}
			frames = append(frames, refFrame{pc, f[1], f[2]})
		}
		if *row.Stack != len(r.stacks) {
			tb.Fatalf("stack %d out of order", *row.Stack)
		}
		r.stacks = append(r.stacks, frames)
	}
}

// take removes and returns the reference's frames for an event with these addresses, or nil.
func (r *reference) take(e *ntconv.Event) []refFrame {
	k := refKey{e.Time, e.Thread.TID & 0xffffffff, e.Type.Provider}
	for i, id := range r.events[k] {
		if slices.EqualFunc(r.stacks[id], e.Stack.PCs, func(f refFrame, pc uint64) bool { return f.pc == pc }) {
			r.events[k] = slices.Delete(r.events[k], i, i+1)
			return r.stacks[id]
		}
	}
	return nil
}

// bare returns a method's name without parameters, which is what the reference is compared by.
func bare(name string) string {
	if !strings.HasPrefix(name, "(") {
		name, _, _ = strings.Cut(name, "(")
	}
	return strings.ReplaceAll(name, " ", "")
}

func moduleOf(f *ntconv.Frame) string {
	if f.Mapping == nil {
		return ""
	}
	return dotnet.ShortModule(f.Mapping.File)
}

// sameModule compares modules. The reference has no module in three cases, under names of its own:
//
//	ManagedModule  the trace has no event about the module: it was recorded without rundown
//	UNKNOWN        generated code that is not a method's
//	(empty)        generated code in a mapping without a name, even if the symbol names the module, which ntconv uses then
func sameModule(want string, f *ntconv.Frame) bool {
	switch have := moduleOf(f); strings.ToLower(want) {
	case "managedmodule", "unknown":
		return have == ""
	case "":
		return have == "" || f.Flags&ntconv.FrameManaged != 0
	default:
		return strings.EqualFold(want, have)
	}
}

// TestNamesAsReference compares the name of every address of every stack with TraceEvent.
func TestNamesAsReference(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(corpus.Shared(t, "oracle", "stacks"), "*.jsonl.zst"))
	if err != nil || len(found) == 0 {
		t.Fatal("no reference stacks", err)
	}
	for _, path := range found {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl.zst")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareNames(t, name)
		})
	}
}

func compareNames(t *testing.T, name string) {
	b := trace(t, name)
	table := scanned(t, b, &symbol.Options{Names: symbol.NamesRaw})
	ref := readReference(t, name)
	src := open(t, b)
	var frames []ntconv.Frame
	stacks, named, differ, better := 0, 0, map[string]int{}, 0
	for e, err := range ntconv.Events(src) {
		if err != nil && !isTruncated(err) {
			t.Fatal(err)
		}
		if err != nil || e.Kind != ntconv.KindEvent || e.Stack == nil {
			continue
		}
		want := ref.take(e)
		if want == nil {
			continue
		}
		stacks++
		frames = table.AppendFrames(frames[:0], e.Thread.Process, e.Stack, e.Time)
		if len(frames) != len(want) {
			t.Fatalf("%d frames for %d addresses", len(frames), len(want))
		}
		for i := range want {
			w, f := want[i], &frames[i]
			if f.PC != w.pc || f.Func == nil || f.Func.Name == "" {
				t.Fatalf("frame %+v for address %x", f, w.pc)
			}
			if w.method == "" {
				if f.Flags&ntconv.FrameUnresolved == 0 {
					better++
				}
				continue
			}
			named++
			if bare(w.method) != bare(f.Func.Name) || !sameModule(w.module, f) {
				differ[fmt.Sprintf("%x: %s!%s, reference %s!%s", w.pc, moduleOf(f), f.Func.Name, w.module, w.method)]++
			}
		}
	}
	missing := 0
	for _, ids := range ref.events {
		missing += len(ids)
	}
	t.Logf("%d stacks, %d names compared, %d more than the reference", stacks, named, better)
	for d, count := range differ {
		t.Errorf("%d x %s", count, d)
	}
	if missing > 0 {
		t.Errorf("%d stacks of the reference not found", missing)
	}
}

func isTruncated(err error) bool { return errors.Is(err, ntconv.ErrTruncated) }

// TestMemory checks that a rundown of 20,000 methods takes a few megabytes.
func TestMemory(t *testing.T) {
	b := trace(t, "roslyn-compile-net10")
	table, heap := heapOf(func() *symbol.Table { return scanned(t, b, nil) })
	if heap < 1<<20 || heap > 12<<20 {
		t.Errorf("%d bytes for the names of a trace of %d", heap, len(b))
	}
	runtime.KeepAlive(b)
	runtime.KeepAlive(table)
}
