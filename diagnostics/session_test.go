//go:build unix

package diagnostics_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

func providers(p ...diagnostics.Provider) []diagnostics.Provider { return p }

// A session is requested with the oldest command that can express it, and with less if the runtime is older.
func TestCollect(t *testing.T) {
	plain := diagnostics.Provider{Name: "P", Keywords: 1 << 40, Level: 5, Arguments: `a="ü"`}
	only, but := plain, plain
	only.Events = []uint32{1, 70000}
	but.Events, but.ExcludeEvents = only.Events, true
	asked := fakeruntime.Provider{Name: "P", Keywords: 1 << 40, Level: 5, Arguments: `a="ü"`}
	askedOnly, askedBut := asked, asked
	askedOnly.Enable, askedOnly.Events = true, only.Events
	askedBut.Events = only.Events
	type flags struct{ unfiltered, rundown, stacks bool }
	for _, c := range []struct {
		name    string
		release int
		config  diagnostics.Config
		want    *fakeruntime.Session
		flags   flags
	}{
		{"plain", 10, diagnostics.Config{Providers: providers(plain)},
			&fakeruntime.Session{Command: 2, BufferMB: 256, Format: 1, Stacks: true, Providers: []fakeruntime.Provider{asked}}, flags{}},
		{"rundown", 10, diagnostics.Config{RundownKeywords: diagnostics.DefaultRundown, BufferMB: 7, Format: diagnostics.NetPerf, Providers: providers(plain)},
			&fakeruntime.Session{Command: 2, BufferMB: 7, Rundown: 1, Stacks: true, Providers: []fakeruntime.Provider{asked}}, flags{}},
		{"no stacks", 10, diagnostics.Config{NoStacks: true, Providers: providers(plain)},
			&fakeruntime.Session{Command: 3, BufferMB: 256, Format: 1, Providers: []fakeruntime.Provider{asked}}, flags{}},
		{"no stacks, old", 8, diagnostics.Config{NoStacks: true, Providers: providers(plain)},
			&fakeruntime.Session{Command: 2, BufferMB: 256, Format: 1, Stacks: true, Providers: []fakeruntime.Provider{asked}}, flags{stacks: true}},
		{"names", 9, diagnostics.Config{RundownKeywords: diagnostics.NamesRundown, NoStacks: true, Providers: providers(plain)},
			&fakeruntime.Session{Command: 4, BufferMB: 256, Format: 1, Rundown: 0x80000139, Providers: []fakeruntime.Provider{asked}}, flags{}},
		{"names, old", 8, diagnostics.Config{RundownKeywords: diagnostics.NamesRundown, Providers: providers(plain)},
			&fakeruntime.Session{Command: 2, BufferMB: 256, Format: 1, Rundown: 1, Stacks: true, Providers: []fakeruntime.Provider{asked}}, flags{rundown: true}},
		{"events", 10, diagnostics.Config{Providers: providers(only)},
			&fakeruntime.Session{Command: 5, BufferMB: 256, Format: 1, Stacks: true, Providers: []fakeruntime.Provider{askedOnly}}, flags{}},
		{"other events", 10, diagnostics.Config{Providers: providers(but), NoStacks: true},
			&fakeruntime.Session{Command: 5, BufferMB: 256, Format: 1, Providers: []fakeruntime.Provider{askedBut}}, flags{}},
		{"events, older", 9, diagnostics.Config{Providers: providers(only), NoStacks: true},
			&fakeruntime.Session{Command: 3, BufferMB: 256, Format: 1, Providers: []fakeruntime.Provider{asked}}, flags{unfiltered: true}},
		{"all, old", 8, diagnostics.Config{Providers: providers(only), NoStacks: true, RundownKeywords: 1},
			&fakeruntime.Session{Command: 2, BufferMB: 256, Format: 1, Rundown: 1, Stacks: true, Providers: []fakeruntime.Provider{asked}}, flags{true, true, true}},
		{"block", 11, diagnostics.Config{Block: true, Providers: providers(only)},
			&fakeruntime.Session{Command: 6, BufferMB: 256, Format: 1, Stacks: true, Block: true, Providers: []fakeruntime.Provider{askedOnly}}, flags{}},
	} {
		r := fakeruntime.New(t)
		r.Release = c.release
		s, err := listen(t, r).Collect(t.Context(), c.config)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := r.Sessions()[0]
		if s.Command() != c.want.Command || got.Command != c.want.Command || got.BufferMB != c.want.BufferMB || got.Format != c.want.Format ||
			got.Rundown != c.want.Rundown || got.Stacks != c.want.Stacks || got.Block != c.want.Block || !reflect.DeepEqual(got.Providers, c.want.Providers) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if f := (flags{s.Unfiltered, s.RundownChanged, s.StacksAdded}); f != c.flags {
			t.Errorf("%s: %+v, want %+v", c.name, f, c.flags)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	r := fakeruntime.New(t)
	if _, err := listen(t, r).Collect(t.Context(), diagnostics.Config{Block: true, Providers: providers(plain)}); !errors.Is(err, diagnostics.ErrUnknownCommand) {
		t.Error(err)
	}
	// A runtime that knows only the first command always writes a rundown.
	r = fakeruntime.New(t)
	r.Faults = map[string]fakeruntime.Fault{"CollectTracing2": fakeruntime.Fail(fakeruntime.UnknownCommand)}
	s, err := listen(t, r).Collect(t.Context(), diagnostics.Config{Providers: providers(plain)})
	if err != nil || s.Command() != 1 || !s.RundownChanged {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestInvalidConfigs(t *testing.T) {
	many := diagnostics.Config{}
	for i := range 1001 {
		many.Providers = append(many.Providers, diagnostics.Provider{Name: fmt.Sprint(i)})
	}
	large := diagnostics.Config{Providers: providers(diagnostics.Provider{Name: "P", Arguments: strings.Repeat("a", 33_000)}, diagnostics.Provider{Name: "Q"})}
	ids := diagnostics.Config{Providers: providers(diagnostics.Provider{Name: "P", Events: make([]uint32, 17_000)})}
	for _, c := range []struct {
		config diagnostics.Config
		is     error
		want   string
	}{
		{diagnostics.Config{}, diagnostics.ErrRequest, "needs a provider"},
		{diagnostics.Config{Providers: providers(diagnostics.Provider{})}, diagnostics.ErrRequest, "without a name"},
		{diagnostics.Config{Providers: providers(diagnostics.Provider{Name: "P", Level: 6})}, diagnostics.ErrRequest, "level 6"},
		{diagnostics.Config{BufferMB: -1, Providers: providers(sampler)}, diagnostics.ErrRequest, "buffer"},
		{diagnostics.Config{Format: 2, Providers: providers(sampler)}, diagnostics.ErrRequest, "format 2"},
		{diagnostics.Config{Providers: providers(diagnostics.Provider{Name: "P", Arguments: "a=1"}, diagnostics.Provider{Name: "P", Arguments: "a=2"})}, diagnostics.ErrRequest, "different arguments"},
		{many, diagnostics.ErrTooLarge, "1001 providers, limit 1000"},
		{large, diagnostics.ErrTooLarge, "the largest part is the arguments of provider P with 66006 bytes"},
		{ids, diagnostics.ErrTooLarge, "the largest part is the events of provider P"},
	} {
		r := fakeruntime.New(t)
		_, err := listen(t, r).Collect(t.Context(), c.config)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || len(r.Requests()) > 0 {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A merged provider selects what each of both selects.
func TestMergedProviders(t *testing.T) {
	sets := []diagnostics.Provider{
		{Name: "P"},
		{Name: "P", Events: []uint32{1, 2}}, {Name: "P", Events: []uint32{2, 3}},
		{Name: "P", Events: []uint32{1, 2}, ExcludeEvents: true}, {Name: "P", Events: []uint32{2, 3}, ExcludeEvents: true},
		{Name: "P", Events: []uint32{4}, ExcludeEvents: true},
	}
	selects := func(excluded bool, events []uint32, id uint32) bool { return slices.Contains(events, id) != excluded }
	for _, a := range sets {
		for _, b := range sets {
			a.Keywords, b.Keywords, a.Level, b.Level, b.Arguments = 1, 2, 3, 4, "x=1"
			r := fakeruntime.New(t)
			s, err := listen(t, r).Collect(t.Context(), diagnostics.Config{Providers: providers(a, diagnostics.Provider{Name: "Q"}, b)})
			if err != nil {
				t.Fatal(err)
			}
			got := r.Sessions()[0].Providers
			if len(got) != 2 || got[0].Keywords != 3 || got[0].Level != 4 || got[0].Arguments != "x=1" || got[1].Name != "Q" {
				t.Errorf("%+v", got)
			}
			for id := range uint32(6) {
				of := func(p diagnostics.Provider) bool { return len(p.Events) == 0 || selects(p.ExcludeEvents, p.Events, id) }
				if asked := selects(!got[0].Enable, got[0].Events, id); asked != (of(a) || of(b)) {
					t.Errorf("%+v and %+v: event %d is selected: %v; asked %+v", a, b, id, asked, got[0])
				}
			}
			_ = s.Close()
			r.Kill()
		}
	}
}

// start starts a session of a process whose stream is written when the session is stopped, and is larger than the
// buffers of a socket.
func start(t *testing.T) (*fakeruntime.Runtime, *diagnostics.Client, *diagnostics.Session) {
	t.Helper()
	r := fakeruntime.New(t)
	r.Trace, r.Head, r.Piece = bytes.Repeat([]byte("0123456789"), 200_000), 1001, 100_000
	c := listen(t, r)
	s, err := c.Collect(t.Context(), diagnostics.Config{Providers: providers(sampler)})
	if err != nil {
		t.Fatal(err)
	}
	return r, c, s
}

// Stop returns although the answer comes only after the stream has been read.
func TestStop(t *testing.T) {
	r, _, s := start(t)
	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := readAll(t, s); !bytes.Equal(got, r.Trace) {
		t.Errorf("%d bytes, want %d", len(got), len(r.Trace))
	}
	if err := s.StopAnswer(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Stop(t.Context()); err != nil || len(r.Stops()) != 1 || r.Stops()[0] != r.Sessions()[0].ID {
		t.Errorf("%v, %x", err, r.Stops())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, diagnostics.ErrGone) {
		t.Error(err)
	}
}

// Other clients wait while a session is being stopped and nobody reads its stream.
func TestStopBlocksOthers(t *testing.T) {
	r, c, s := start(t)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for len(r.Stops()) == 0 {
		time.Sleep(time.Millisecond)
	}
	c.Timeout = 50 * time.Millisecond
	if _, err := c.Info(t.Context()); !errors.Is(err, diagnostics.ErrTimeout) {
		t.Error(err)
	}
	c.Timeout = time.Minute
	readAll(t, s)
	if _, err := c.Info(t.Context()); err != nil {
		t.Error(err)
	}
}

// A session that has ended is not stopped again: its ID may be that of a session of another client.
func TestStopAfterEnd(t *testing.T) {
	r, c, s := start(t)
	r.Sessions()[0].End() // by another client
	readAll(t, s)
	other, err := c.Collect(t.Context(), diagnostics.Config{Providers: providers(sampler)})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r.Sessions()[0].ID, r.Sessions()[1].ID; a != b {
		t.Errorf("IDs 0x%x and 0x%x: the fake process does not reuse them", a, b)
	}
	if err := s.Stop(t.Context()); err != nil || len(r.Stops()) > 0 {
		t.Errorf("%v, %x", err, r.Stops())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Stop(t.Context()); err != nil || len(r.Stops()) > 0 {
		t.Errorf("%v, %x", err, r.Stops())
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// The end of the stream is also noticed before it has been read.
func TestStopAfterUnreadEnd(t *testing.T) {
	r := fakeruntime.New(t)
	r.Trace, r.Head = make([]byte, 2000), 1001
	s, err := listen(t, r).Collect(t.Context(), diagnostics.Config{Providers: providers(sampler)})
	if err != nil {
		t.Fatal(err)
	}
	r.Sessions()[0].End()
	<-r.Sessions()[0].Done()
	time.Sleep(10 * time.Millisecond)
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if isLinux && len(r.Stops()) > 0 {
		t.Errorf("%x", r.Stops())
	}
	if got := readAll(t, s); len(got) != len(r.Trace) {
		t.Errorf("%d bytes", len(got))
	}
}

func TestConcurrentStops(t *testing.T) {
	r, _, s := start(t)
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	readAll(t, s)
	wait.Wait()
	if len(r.Stops()) != 1 {
		t.Errorf("%x", r.Stops())
	}
}

// A process that ends by itself completes the stream, one that is killed does not.
func TestExit(t *testing.T) {
	r, _, s := start(t)
	go r.Exit()
	if got := readAll(t, s); len(got) != len(r.Trace) {
		t.Errorf("%d bytes", len(got))
	}
	r, _, s = start(t)
	if _, err := io.ReadFull(s, make([]byte, 1001)); err != nil {
		t.Fatal(err)
	}
	r.Kill()
	if err := s.Stop(t.Context()); err != nil && !errors.Is(err, diagnostics.ErrGone) {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, s); err != nil {
		t.Error(err)
	}
}

// A failed Stop can be repeated, and reports what the process answers later.
func TestStopErrors(t *testing.T) {
	r, c, s := start(t)
	go func() { _, _ = io.Copy(io.Discard, s) }()
	c.Timeout = time.Nanosecond
	if err := s.Stop(t.Context()); !errors.Is(err, diagnostics.ErrTimeout) {
		t.Error(err)
	}
	c.Timeout = time.Minute
	r.SetFault("StopTracing", fakeruntime.Fail(0x80004005))
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.StopAnswer(t.Context()); !errors.Is(err, diagnostics.ErrFailed) {
		t.Error(err)
	}
	for what, fault := range map[string]fakeruntime.Fault{
		"silence": fakeruntime.Cut(10, fakeruntime.Silence), "other session": fakeruntime.Payload(make([]byte, 8), fakeruntime.Close), "nothing": fakeruntime.Cut(0, fakeruntime.Close),
	} {
		r, c, s := start(t)
		r.SetFault("StopTracing", fault)
		c.Timeout = time.Second
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		readAll(t, s)
		if err := s.StopAnswer(t.Context()); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// Close ends a Read that waits.
func TestClose(t *testing.T) {
	_, _, s := start(t)
	time.AfterFunc(20*time.Millisecond, func() { _ = s.Close() })
	if n, err := io.Copy(io.Discard, s); n != 1001 || !errors.Is(err, diagnostics.ErrGone) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.StopAnswer(t.Context()); err != nil {
		t.Error(err)
	}
}
