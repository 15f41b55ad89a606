package e2e

import (
	"bytes"
	"cmp"
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
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p, err = profile.Parse(f); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	return p, path
}

// Every trace converts with the expected exit code to a profile that contains every sample of the trace and the whole
// time of each thread.
func TestProfiles(t *testing.T) {
	for _, tr := range ownTraces(t) {
		// .NET's clock on Linux, see ../testdata/README.md.
		t.Run(tr.name, func(t *testing.T) { checkProfile(t, tr, 1e9) })
	}
}

func TestProfilesOfAllTraces(t *testing.T) {
	for _, tr := range sharedTraces(t) {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			var summary struct{ QpcFreq float64 }
			readTruth(t, shared(t, "oracle", "summary", tr.name+".json"), &summary)
			checkProfile(t, tr, summary.QpcFreq)
		})
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
		checkWall(t, tr, samples, freq, count, nanos)
	case "cpu":
		checkCPU(t, p.Period, samples, count, nanos)
	default:
		t.Errorf("the profile has the kind %s", kind)
	}
}

// A thread is identified by the IDs of the operating system.
type thread struct{ pid, tid int64 }

// checkWall checks that the time of each thread is in the range that the reference's samples permit.
func checkWall(t *testing.T, tr trace, samples []*line, freq float64, count map[thread]int64, nanos map[thread]float64) {
	t.Helper()
	slices.SortStableFunc(samples, func(a, b *line) int { return cmp.Compare(a.Ticks, b.Ticks) })
	byProcess, threads := map[int64][]sighting{}, map[thread]int64{}
	for _, l := range samples {
		id := thread{int64(l.PID), int64(l.TID)}
		byProcess[id.pid] = append(byProcess[id.pid], sighting{id, float64(l.Ticks) * 1e9 / freq})
		threads[id]++
	}
	rounds := !strings.Contains(tr.path, "netperf") // there each thread records its own samples, in an unknown order
	for _, list := range byProcess {
		for id, allowed := range allowedTimes(list, rounds) {
			if tr.name == "threads-reused" { // threads with the same ID do not overlap in time
				allowed = span{0, list[len(list)-1].at - list[0].at + 1e9}
			}
			slack := 1e9 / freq * float64(threads[id]+1) // clocks of 3 MHz round
			if nanos[id] < allowed.low-slack || nanos[id] > allowed.high+slack {
				t.Errorf("thread %v has %.0f ns, want %.0f to %.0f", id, nanos[id], allowed.low, allowed.high)
			}
		}
	}
	for id, n := range threads {
		if count[id] != n {
			t.Errorf("thread %v has %d samples, want %d", id, count[id], n)
		}
	}
	if len(count) != len(threads) {
		t.Errorf("%d threads, want %d", len(count), len(threads))
	}
}

// A sighting is a sample of a thread at a time in nanoseconds.
type sighting struct {
	thread
	at float64
}

// A span is a range of times in nanoseconds.
type span struct{ low, high float64 }

// allowedTimes returns the permitted range of each thread's time. A sample lasts until the next sample of its thread.
// If the profiler sampled another thread three times in between, at least one whole round did not include this thread,
// and the sample ends at the first sample after a pause of the profiler. If it sampled another thread twice, both ends
// are possible, because the trace does not contain the start of a round. The last sample lasts at most for the median
// interval, or ends in the same way.
func allowedTimes(all []sighting, rounds bool) map[thread]span {
	sums, first, last := map[thread]span{}, map[thread]int{}, map[thread]int{}
	gaps, every := map[thread][]float64{}, []float64{}
	for i := len(all) - 1; i >= 0; i-- {
		id := all[i].thread
		next, ok := first[id]
		first[id] = i
		if !ok {
			last[id] = i
			continue
		}
		s, whole := sums[id], all[next].at-all[i].at
		pause, seen := meanwhile(all, i, next)
		low, high := whole, whole
		if rounds && seen >= 2 {
			low = pause
		}
		if rounds && seen >= 3 {
			high = pause
		}
		sums[id] = span{s.low + low, s.high + high}
		gaps[id], every = append(gaps[id], high), append(every, high)
	}
	slices.Sort(every)
	for id := range last {
		list := gaps[id]
		if len(list) == 0 {
			list = every
		}
		slices.Sort(list)
		longest := 1e6
		if len(list) > 0 {
			longest = 1.02 * list[len(list)/2] // medians of many intervals may be rounded
		}
		final := span{0, longest}
		if pause, seen := meanwhile(all, last[id], len(all)); rounds && seen >= 3 {
			final = span{pause, pause}
		} else if rounds && seen == 2 {
			final.high = max(longest, pause)
		}
		s := sums[id]
		sums[id] = span{s.low + final.low, s.high + final.high}
	}
	return sums
}

// meanwhile returns the time from sample i to the first sample after a pause of the profiler, and the largest number of
// samples that any thread has between the samples i and next.
func meanwhile(list []sighting, i, next int) (pause float64, count int) {
	pause = list[min(next, len(list)-1)].at - list[i].at
	seen, found := map[thread]int{}, false
	for k := i + 1; k < next; k++ {
		if list[k].at-list[k-1].at >= 5e5 && !found {
			pause, found = list[k].at-list[i].at, true
		}
		seen[list[k].thread]++
		count = max(count, seen[list[k].thread])
	}
	return pause, count
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

// Overloads appear as separate lines.
func TestTopTellsOverloadsApart(t *testing.T) {
	p, _ := convert(t, find(t, "roslyn-compile-net10"), 1)
	parameters := map[string]map[string]bool{}
	for _, f := range p.Function {
		name, rest, ok := strings.Cut(f.Name, "(")
		if ok && parameters[name] == nil {
			parameters[name] = map[string]bool{}
		}
		if ok {
			parameters[name][rest] = true
		}
	}
	overloaded := 0
	for _, lists := range parameters {
		if len(lists) > 1 {
			overloaded++
		}
	}
	if overloaded < 50 {
		t.Errorf("%d of %d names have overloads", overloaded, len(parameters))
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
