package e2e

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

const sampler = "Microsoft-DotNETCore-SampleProfiler"

// isSample reports whether an event of the reference is a sample of a profile: of .NET's sample profiler, or of a
// machine-wide CPU profiler.
func isSample(l *line) bool {
	return l.Provider == sampler && l.ID == 0 || l.Provider == "Universal.Events" && l.Name == "cpu"
}

// samplesOf returns the samples of a dump. It first searches the text for their providers, because most lines are other
// events.
func samplesOf(t *testing.T, dump []byte) []*line {
	t.Helper()
	var few bytes.Buffer
	for text := range bytes.Lines(dump) {
		if bytes.Contains(text, []byte(`"`+sampler+`"`)) || bytes.Contains(text, []byte(`"Universal.Events"`)) {
			few.Write(text)
		}
	}
	return slices.DeleteFunc(readLines(t, few.Bytes()), func(l *line) bool { return !isSample(l) })
}

// convert converts a trace to a profile and reads it with pprof's own library. It returns nil if the trace has no
// samples.
func convert(t *testing.T, tr trace, samples int, flags ...string) (p *profile.Profile, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), tr.name+".pb.gz")
	if samples == 0 { // otherwise another kind of profile is written
		flags = append(flags, "--kind", "wall")
	}
	r := run(t, command, append([]string{"to", "pprof", tr.path, "-o", path}, flags...)...)
	want := exitCode(tr.name)
	if samples == 0 && want != unreadable {
		want = nothing
	}
	if r.code != want {
		t.Errorf("exit code %d, want %d: %s", r.code, want, r.stderr)
	}
	written := ifExists(path) != ""
	if written != (want == complete || want == incomplete) {
		t.Fatalf("output written: %v, with exit code %d: %s", written, want, r.stderr)
	}
	if !written {
		if len(r.stderr) == 0 {
			t.Error("no message")
		}
		return nil, ""
	}
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	p, err = profile.Parse(f)
	must(t, err)
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	return p, path
}

// Every trace converts with the expected exit code to a profile that contains every sample of the trace. TestShares
// checks the time of each.
func TestProfiles(t *testing.T) {
	for _, tr := range ownTraces(t) {
		// .NET's clock on Linux, see ../testdata/README.md.
		t.Run(tr.name, func(t *testing.T) { checkProfile(t, tr, 1e9) })
	}
}

// TestProfilesOfAllTraces compares the profiles of all traces of which there is a summary of TraceEvent.
func TestProfilesOfAllTraces(t *testing.T) {
	traces, _ := comparedTraces(t)
	compared := 0
	for _, tr := range traces {
		path := filepath.Join(shared(t, "oracle", "summary"), tr.name+".json")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		compared++
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			var summary struct{ QpcFreq float64 }
			readTruth(t, path, &summary)
			checkProfile(t, tr, summary.QpcFreq)
		})
	}
	if compared < len(traces)*9/10 {
		t.Errorf("%d of %d traces have a summary", compared, len(traces))
	}
}

func checkProfile(t *testing.T, tr trace, freq float64) {
	var samples []*line
	if tr.events != "" {
		samples = samplesOf(t, unzstd(t, tr.events))
	}
	if truncated[tr.name] && len(samples) > 0 { // the reference does not have all of them
		samples = samplesOf(t, printed(t, tr))
	}
	p, _ := convert(t, tr, len(samples))
	if p == nil {
		return
	}
	count, nanos := map[thread]int64{}, map[thread]float64{}
	for _, s := range p.Sample {
		id := thread{s.NumLabel["pid"][0], s.NumLabel["tid"][0]}
		count[id] += s.Value[0]
		nanos[id] += float64(s.Value[1])
	}
	checkNames(t, p)
	switch kind := p.SampleType[1].Type; kind {
	case "wall":
		checkWall(t, samples, freq, count, nanos)
	case "cpu":
		checkCPU(t, p.Period, samples, count, nanos)
	default:
		t.Errorf("the profile has the kind %s", kind)
	}
}

// A thread is identified by the IDs of the operating system.
type thread struct{ pid, tid int64 }

// checkWall checks that each thread has all samples of the reference, and no more time than from the first sample of its
// process to a second after the last one.
func checkWall(t *testing.T, samples []*line, freq float64, count map[thread]int64, nanos map[thread]float64) {
	t.Helper()
	first, last, threads := map[int64]int64{}, map[int64]int64{}, map[thread]int64{}
	for _, l := range samples {
		id := thread{int64(l.PID), int64(l.TID)}
		if threads[id]++; first[id.pid] == 0 || l.Ticks < first[id.pid] {
			first[id.pid] = l.Ticks
		}
		last[id.pid] = max(last[id.pid], l.Ticks)
	}
	for id, n := range threads {
		if longest := float64(last[id.pid]-first[id.pid])*1e9/freq + 1e9; count[id] != n || nanos[id] < 0 || nanos[id] > longest {
			t.Errorf("thread %v has %d samples, want %d, and %.0f ns of %.0f", id, count[id], n, nanos[id], longest)
		}
	}
	if len(count) != len(threads) {
		t.Errorf("%d threads, want %d", len(count), len(threads))
	}
}

// checkCPU compares the time of each thread with the number of its samples and the weights that the recorder assigned.
func checkCPU(t *testing.T, period int64, samples []*line, count map[thread]int64, nanos map[thread]float64) {
	t.Helper()
	want := map[thread]int64{}
	for _, l := range samples {
		// One event may represent several samples.
		want[thread{int64(l.PID), int64(l.TID)}] += int64(number(l.fields(t)["Value"]))
	}
	for id, n := range want {
		if count[id] != n || nanos[id] <= 0 {
			t.Errorf("thread %v has %d samples, want %d", id, count[id], n)
		}
		if math.Abs(nanos[id]-float64(n*period)) > 0.5 {
			t.Errorf("thread %v has %.0f ns for %d samples of %d ns", id, nanos[id], n, period)
		}
	}
	if len(count) != len(want) {
		t.Errorf("%d threads, want %d", len(count), len(want))
	}
}

var arity = regexp.MustCompile("`[0-9]")

// checkNames checks that names are display names: none is missing, and none is in the notation of metadata, which
// belongs into SystemName.
func checkNames(t *testing.T, p *profile.Profile) {
	t.Helper()
	for _, f := range p.Function {
		if f.Name == "" || strings.Contains(f.Name, "?!?") || arity.MatchString(f.Name) {
			t.Errorf("function %q, of system name %q", f.Name, f.SystemName)
		}
	}
}

// go tool pprof shows the names of the profile, including overloads and type arguments, although it treats the
// parameters in a name as those of C++ where possible.
func TestTopShowsNames(t *testing.T) {
	for name, expect := range map[string][]string{
		"cpu-env": {
			"Shop.Cpu.Spin(double)", "Shop.Cpu.Sort<T>(T[])", "Shop.Cpu.Generics.Local(int)", "Shop.Cpu.InnerAsync()",
			"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<int>.Start<T>(ref T)", "Shop.Program.Main(string[])",
		},
		"jit": {"Shop.Jit.Run(int)", "System.Buffers.SearchValues.Create(ReadOnlySpan<char>)", "System.Diagnostics.Tracing.NativeRuntimeEventSource..cctor()"},
		"roslyn-compile-net10": {
			"System.Threading.LowLevelLifoSemaphore.WaitNative(SafeWaitHandle, int)",
			"System.Collections.Immutable.ImmutableArray<T>.Builder.ToImmutable()",
			"Microsoft.CodeAnalysis.CSharp.BoundTreeRewriter.DoVisitList<T>(ImmutableArray<T>)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, path := convert(t, find(t, name), 1)
			top := run(t, "go", "tool", "pprof", "-symbolize=none", "-top", "-nodefraction=0", "-nodecount=1000000", path)
			if top.code != 0 {
				t.Fatalf("%s", top.stderr)
			}
			shown := topNames(t, string(top.stdout))
			for _, f := range p.Function {
				if !shown[f.Name] {
					t.Errorf("pprof does not show %q", f.Name)
				}
				delete(shown, f.Name)
			}
			for name := range shown {
				t.Errorf("pprof shows %q, which is not a function of the profile", name)
			}
			for _, name := range expect {
				if !slices.ContainsFunc(p.Function, func(f *profile.Function) bool { return f.Name == name }) {
					t.Errorf("no function %q", name)
				}
			}
		})
	}
}

var topRow = regexp.MustCompile(`^ *\S+ +\S+% +\S+% +\S+ +\S+%  (.*)$`)

// topNames returns the names in pprof's list of functions.
func topNames(t *testing.T, text string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	_, rows, ok := strings.Cut(text, " cum%\n")
	if !ok {
		t.Fatal("no list: ", text)
	}
	for row := range strings.Lines(rows) {
		m := topRow.FindStringSubmatch(strings.TrimSuffix(row, "\n"))
		if m == nil {
			t.Fatalf("row %q", row)
		}
		names[strings.TrimSuffix(strings.TrimSuffix(m[1], " (inline)"), " (partial-inline)")] = true
	}
	return names
}

func (th thread) String() string { return fmt.Sprintf("%d of process %d", th.tid, th.pid) }
