package pprof_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
)

// pprof's own symbolizer, which processes every profile, must not change the names of overloads and generic
// instantiations, although they look like C++ parameters and template arguments.
func TestNamesSurviveSymbolizer(t *testing.T) {
	names := []string{
		"Shop.Main(string[])", "Shop.Main(string[], int)", "List<int>.Add(int)", "List<string>.Add(string)", "System::Odd(int)",
		"System::Odd(long)", "Shop+<Run>d__1.MoveNext()", "Array[].Get(int[])", "Array[].Get(long[])",
	}
	for _, system := range []bool{false, true} {
		namer := &table{}
		var events []*ntconv.Event
		for i, name := range names {
			namer.name(uint64(i+1), name)
			if system {
				namer.frames[uint64(i+1)][0].Func.SystemName = name
			}
			events = append(events, sampled(till, ntconv.Ticks(i*10000), &ntconv.Stack{PCs: []uint64{uint64(i + 1)}}))
		}
		top := report(t, export(t, testInfo(), namer, nil, append(events, ended(1_000_000))...), "-top", "-nodecount=50")
		for _, name := range names {
			if !strings.Contains(top, " "+name+"\n") {
				t.Errorf("pprof does not show %q:\n%s", name, top)
			}
		}
	}
}

// report returns pprof's report on a profile, with its default symbolizer.
func report(t *testing.T, p *profile.Profile, args ...string) string {
	t.Helper()
	var out memory
	err := driver.PProf(&driver.Options{
		Flagset: &flags{FlagSet: flag.NewFlagSet("pprof", flag.ContinueOnError), args: append(args, "-output=memory", "test")},
		Fetch:   fetcher{p}, UI: silent{}, Writer: &out,
	})
	if err != nil {
		t.Fatalf("pprof: %v", err)
	}
	return out.String()
}

type memory struct{ bytes.Buffer }

func (m *memory) Open(string) (io.WriteCloser, error) { return m, nil }
func (m *memory) Close() error                        { return nil }

type fetcher struct{ p *profile.Profile }

func (f fetcher) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

type flags struct {
	*flag.FlagSet
	args []string
}

func (f *flags) StringList(name, def, usage string) *[]*string {
	return &[]*string{f.String(name, def, usage)}
}
func (f *flags) ExtraUsage() string   { return "" }
func (f *flags) AddExtraUsage(string) {}
func (f *flags) Parse(func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		panic(fmt.Sprint("flags of the test: ", err))
	}
	return f.Args()
}

type silent struct{}

func (silent) ReadLine(string) (string, error)     { return "", io.EOF }
func (silent) Print(...any)                        {}
func (silent) PrintErr(...any)                     {}
func (silent) IsTerminal() bool                    { return false }
func (silent) WantBrowser() bool                   { return false }
func (silent) SetAutoComplete(func(string) string) {}
