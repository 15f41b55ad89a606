package pprof_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	rpprof "runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	export "github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
)

// work keeps CPUs and locks busy.
func work(d time.Duration) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	mu.Lock() // with any number of CPUs, some goroutines wait for it
	time.AfterFunc(d/10, mu.Unlock)
	end := time.Now().Add(d)
	for i := range 4 {
		wg.Go(func() {
			rpprof.Do(context.Background(), rpprof.Labels("worker", string(rune('a'+i)), "kind", "test"), func(context.Context) {
				n := 0
				for time.Now().Before(end) {
					mu.Lock()
					for j := range 1000 {
						n += j ^ n
					}
					sink = append(sink[:0:0], make([]byte, 1024+n&1)...)
					mu.Unlock()
				}
			})
		})
	}
	wg.Wait()
}

var sink []byte

// goProfiles returns one profile of each kind that the Go runtime has.
func goProfiles(t *testing.T) map[string][]byte {
	t.Helper()
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 512
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	profiles := map[string][]byte{}
	// A busy machine may give the program no time, so the test repeats.
	for range 50 {
		var cpu bytes.Buffer
		if err := rpprof.StartCPUProfile(&cpu); err != nil {
			t.Fatal(err)
		}
		work(200 * time.Millisecond)
		rpprof.StopCPUProfile()
		profiles["cpu"] = cpu.Bytes()
		if p, err := profile.ParseData(cpu.Bytes()); err == nil && len(p.Sample) > 0 {
			break
		}
	}
	runtime.GC()
	for _, name := range []string{"heap", "allocs", "mutex", "block", "goroutine", "threadcreate"} {
		var b bytes.Buffer
		if err := rpprof.Lookup(name).WriteTo(&b, 0); err != nil {
			t.Fatal(err)
		}
		profiles[name] = b.Bytes()
	}
	return profiles
}

func TestGoRuntimeProfilesComeBack(t *testing.T) {
	for name, data := range goProfiles(t) {
		t.Run(name, func(t *testing.T) {
			p, err := profile.ParseData(data)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Sample) == 0 {
				t.Fatal("the runtime gave no sample")
			}
			checkRoundTrip(t, data)
		})
	}
}

// Profiles that ntconv builds from .NET traces also round-trip.
func TestExportedTracesComeBack(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		t.Run(f.Name, func(t *testing.T) { checkExported(t, f) })
	}
}

func TestSharedTracesComeBack(t *testing.T) {
	for _, f := range corpus.SharedTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			if testing.Short() && len(f.Data) > 8<<20 {
				t.Skip("large traces are left out in short mode")
			}
			checkExported(t, f)
		})
	}
}

func checkExported(t *testing.T, f corpus.File) {
	t.Helper()
	r, err := reader.New(bytes.NewReader(f.Data), nil)
	if errors.Is(err, ntconv.ErrUnsupported) {
		return // the format of a preview
	}
	if err != nil {
		t.Fatal(err)
	}
	table := symbol.New(nil)
	var out bytes.Buffer
	s := export.New(&out, r.Info(), table, &export.Options{Options: sample.Options{Comments: []string{"a comment"}}})
	_, _ = ntconv.Copy(s, symbol.Watch(r, table)) // truncated traces have samples before their end
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, out.Bytes())
}
