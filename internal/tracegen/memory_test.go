//go:build unix

package tracegen_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/tracegen"
	"github.com/ntconv/ntconv/internal/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

var big = flag.Bool("big", false, "TestPeak converts traces of more than 4 GiB")

// forms are the traces that are measured.
var forms = []tracegen.Options{
	{Version: wire.V4}, {Version: wire.V4, Unsorted: true}, {Version: wire.V6}, {Version: wire.V6, Unsorted: true},
}

func nameOf(o tracegen.Options) string {
	if o.Unsorted {
		return fmt.Sprintf("v%d unsorted", o.Version)
	}
	return fmt.Sprintf("v%d", o.Version)
}

// TestMemory: what a conversion to pprof holds is a matter of what is distinct in a trace, not of its length.
func TestMemory(t *testing.T) {
	for _, o := range forms {
		t.Run(nameOf(o), func(t *testing.T) {
			o.Bytes = 16 << 20
			small := held(t, o)
			o.Bytes *= 4
			if large := held(t, o); large > small+small/20 {
				t.Errorf("%d KiB are held at the end of 16 MiB, %d KiB at the end of 64 MiB", small>>10, large>>10)
			}
		})
	}
}

// held returns how much memory is in use at the end of a conversion, before the profile is written.
func held(t *testing.T, o tracegen.Options) int64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
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
	runtime.ReadMemStats(&after)
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(src)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// TestPeak shows the same of the whole command and of what it takes from the system, with traces of 512 MiB and of more than
// 4 GiB on standard input. Shorter ones end before the garbage collector has run often enough to know its highest peak, which
// varies from run to run: the medians of three are compared.
func TestPeak(t *testing.T) {
	if !*big {
		t.Skip("-big converts traces of more than 4 GiB")
	}
	command := build(t)
	for _, o := range forms {
		t.Run(nameOf(o), func(t *testing.T) {
			var median [2]int64
			for i, size := range []int64{512 << 20, 9 << 29} {
				var peaks []int64
				for range 3 {
					o.Bytes = size
					peaks = append(peaks, convert(t, command, o))
				}
				slices.Sort(peaks)
				median[i] = peaks[1]
			}
			if median[1] > median[0]+median[0]/20 {
				t.Errorf("peak of 512 MiB: %d KiB, of 4.5 GiB: %d KiB", median[0]>>10, median[1]>>10)
			}
		})
	}
}

// build compiles the command.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ntconv")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/ntconv")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return path
}

// convert feeds a trace to the command and returns the most memory that it had, in bytes.
func convert(t *testing.T, command string, o tracegen.Options) int64 {
	t.Helper()
	cmd := exec.Command(command, "to", "pprof", "-", "-o", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(in, 1<<20)
	stats, err := tracegen.Write(w, o)
	if err == nil {
		err = w.Flush()
	}
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	if werr := cmd.Wait(); werr != nil || err != nil {
		t.Fatalf("%v: %v, %v\n%s", cmd.Args, err, werr, errs.Bytes())
	}
	if out.Len() < 1000 {
		t.Fatalf("a profile of %d bytes", out.Len())
	}
	took := time.Since(begin).Seconds()
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak <<= 10 // only there it is in bytes
	}
	t.Logf("%d bytes, %d events, %.2f s, %.0f MB/s, %.1f s of processor time, peak %d KiB", stats.Bytes, stats.Events, took,
		float64(stats.Bytes)/1e6/took, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peak>>10)
	return peak
}
