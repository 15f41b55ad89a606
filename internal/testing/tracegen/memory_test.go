package tracegen_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

var big = flag.Bool("big", false, "TestPeak converts traces of more than 4 GiB")

// forms are the trace forms to measure.
var forms = []tracegen.Options{
	{Version: wire.V4}, {Version: wire.V4, Unsorted: true}, {Version: wire.V6}, {Version: wire.V6, Unsorted: true},
}

func nameOf(o tracegen.Options) string {
	if o.Unsorted {
		return fmt.Sprintf("v%d unsorted", o.Version)
	}
	return fmt.Sprintf("v%d", o.Version)
}

// TestMemory: the memory of a conversion to pprof depends on the number of distinct objects in a trace, not on its
// length.
func TestMemory(t *testing.T) {
	for _, o := range forms {
		t.Run(nameOf(o), func(t *testing.T) {
			o.Bytes = 16 << 20
			held(t, o) // objects allocated once per process do not count
			small := held(t, o)
			o.Bytes *= 4
			if large := held(t, o); large > small+small/50 {
				t.Errorf("%d KiB in use after 16 MiB, %d KiB after 64 MiB", small>>10, large>>10)
			}
		})
	}
}

// held returns the memory in use at the end of a conversion, before the profile is written.
func held(t *testing.T, o tracegen.Options) int64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection frees the contents of pools
	runtime.ReadMemStats(&before)
	in, out := io.Pipe()
	go func() {
		_, err := tracegen.Write(out, o)
		out.CloseWithError(err)
	}()
	src, err := reader.New(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	sink := pprof.New(io.Discard, src.Info(), names, nil)
	if _, err := ntconv.Copy(sink, symbol.Watch(src, names)); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(src)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// TestPeak compares the peak memory of the whole command for traces of 512 MiB and of more than 4 GiB on standard
// input. With shorter traces the garbage collector runs too rarely to reach its peak. The peak varies from run to run,
// so the medians of three runs are compared.
func TestPeak(t *testing.T) {
	if !*big {
		t.Skip("-big converts traces of more than 4 GiB")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the peak memory of a process is unknown on this system")
	}
	generator, command := build(t, "./tracegen"), build(t, "../../../cmd/ntconv")
	for _, format := range []string{"pprof", "nettrace"} {
		for _, o := range forms {
			t.Run(format+"/"+nameOf(o), func(t *testing.T) {
				var median [2]int64
				for i, size := range []int64{512 << 20, 9 << 29} {
					var peaks []int64
					for range 3 {
						o.Bytes = size
						peaks = append(peaks, convert(t, generator, []string{command, "to", format}, o))
					}
					slices.Sort(peaks)
					median[i] = peaks[1]
				}
				if median[1] > median[0]+median[0]/20 {
					t.Errorf("peak of 512 MiB: %d KiB, of 4.5 GiB: %d KiB", median[0], median[1])
				}
			})
		}
	}
}

// TestPeakOfSpans shows that the command sends spans from a pipe to a file within 64 MiB, regardless of their number,
// which is 1,000,000 with -big.
func TestPeakOfSpans(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("short mode, or the peak memory of a process is unknown on this system")
	}
	spans := "200000"
	if *big {
		spans = "1000000"
	}
	generator, command := build(t, "./tracegen"), build(t, "../../../cmd/ntconv")
	forms := []string{"json"} // its batches are the largest
	if *big || corpus.Nightly() {
		forms = append(forms, "proto", "delimited")
	}
	for _, form := range forms {
		if peak := peakOf(t, generator, "-spans", spans, "-starts", "4", command, "to", "otlp", "--form", form, "-q", "-f", "-", "-o", os.DevNull); peak > 64<<10 {
			t.Errorf("%s: peak of %d KiB, want at most 64 MiB", form, peak)
		}
	}
}

// build compiles a command of this module.
func build(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(dir))
	cmd := exec.Command("go", "build", "-o", path, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return path
}

// convert pipes a trace to the command, discards its output, and returns its peak memory in KiB.
func convert(t *testing.T, generator string, command []string, o tracegen.Options) int64 {
	t.Helper()
	args := []string{"-version", fmt.Sprint(uint8(o.Version)), "-bytes", fmt.Sprint(o.Bytes), fmt.Sprintf("-unsorted=%v", o.Unsorted)}
	return peakOf(t, generator, slices.Concat(args, command, []string{"-q", "-f", "-", "-o", os.DevNull})...)
}

// peakOf runs the generator with a command and returns the peak memory of the command in KiB.
func peakOf(t *testing.T, generator string, args ...string) (peak int64) {
	t.Helper()
	cmd := exec.Command(generator, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	text := string(out)
	if _, err := fmt.Sscanf(text[strings.LastIndex(text, "peak"):], "peak %d KiB", &peak); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	return peak
}
