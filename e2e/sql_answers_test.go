package e2e

import (
	"cmp"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// answers checks the answers in docs/sql.md, by the title of the question: against the measurements of the recorded
// programs (truth), against the events that TraceEvent reads, or against the profile of ntconv to pprof, which pprof's
// library reads.
var answers = map[string]func(*testing.T, question, []row){
	"Which functions take the time?":                         checkMethods,
	"What does one thread do?":                               checkThread,
	"Which threads run, and which wait?":                     checkThreads,
	"What calls a function?":                                 checkCallers,
	"What runs in each request?":                             checkRequests,
	"Which types are allocated most?":                        checkAllocations,
	"How do allocations change over time?":                   checkAllocationsOverTime,
	"Which code allocates?":                                  checkAllocators,
	"How long are the pauses of the garbage collector?":      checkPauses,
	"Who allocated before the worst pause?":                  checkBeforePause,
	"How many exceptions are thrown per minute?":             checkExceptions,
	"Where are exceptions thrown?":                           checkThrowers,
	"Which locks do threads wait for?":                       checkContention,
	"What else do threads wait for?":                         checkWaits,
	"Is the thread pool starved?":                            checkThreadPool,
	"What did the slowest requests do?":                      checkSlowest,
	"How long do operations take?":                           checkOperations,
	"Which methods does the JIT compiler spend its time on?": checkJIT,
	"What became slower from one build to the next?":         checkRegression,
	"Which operation is slowest in the whole fleet?":         checkFleet,
}

// near fails unless two numbers differ by at most limit.
func near(t *testing.T, what string, got, want, limit float64) {
	t.Helper()
	if !(math.Abs(got-want) <= limit) {
		t.Errorf("%s: got %v, want %v with a tolerance of %v", what, got, want, limit)
	}
}

// rounded is the tolerance for numbers that a query rounds to a tenth, and for sums of weights that are rounded to
// nanoseconds.
const rounded = 0.0501

// profileOf converts the first recording of a question to a profile.
func profileOf(t *testing.T, q question, flags ...string) *profile.Profile {
	t.Helper()
	p, _ := convert(t, find(t, q.traces[0]), 1, flags...)
	return p
}

// names returns the functions of a sample, innermost first.
func names(s *profile.Sample) (list []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			list = append(list, line.Function.Name)
		}
	}
	return list
}

// wallMS returns the wall-clock time of a sample.
func wallMS(s *profile.Sample) float64 { return float64(s.Value[1]) / 1e6 }

// truthOf reads the measurements of a recorded program.
func truthOf[T any](t *testing.T, name string) (v T) {
	t.Helper()
	readTruth(t, filepath.Join("..", "testdata", name+".truth.json"), &v)
	return v
}

// eventsOf returns the events of a recording with the given TraceEvent name.
func eventsOf(t *testing.T, trace string, names ...string) []*line {
	t.Helper()
	return slices.DeleteFunc(readLines(t, unzstd(t, find(t, trace).events)), func(l *line) bool { return !slices.Contains(names, l.Name) })
}

// 1: pprof adds up the same samples.
func checkMethods(t *testing.T, q question, rows []row) {
	self, total := map[string]float64{}, map[string]float64{}
	for _, s := range profileOf(t, q).Sample {
		stack := names(s)
		self[stack[0]] += wallMS(s)
		slices.Sort(stack)
		for _, name := range slices.Compact(stack) {
			total[name] += wallMS(s)
		}
	}
	most := slices.SortedFunc(maps.Keys(self), func(a, b string) int { return cmp.Compare(self[b], self[a]) })
	for i, r := range rows {
		name := r.text(t, "name")
		if name != most[i] {
			t.Errorf("row %d: got %s, want %s", i, name, most[i])
		}
		near(t, name+": self", r.number(t, "self_ms"), self[name], rounded)
		near(t, name+": total", r.number(t, "total_ms"), total[name], rounded)
	}
}

// timedShares returns the shares that the thread of the timed methods measured, in percent, and the tolerance of
// samples in percentage points.
func timedShares(t *testing.T, name string) (want share, limit float64) {
	t.Helper()
	truth := truthOf[cpuTruth](t, name)
	for _, th := range truth.Threads {
		if th.Name == "till-1" {
			for i, method := range timed {
				want[i] = float64(number(th.Detail[method]))
			}
			_, limit = wallShare(timedSamples(readStacks(t, find(t, name).stacks), thread{truth.PID, th.TID}), 0)
		}
	}
	return want.percent(), max(2, limit)
}

// shareOf returns the shares of the timed methods in a column.
func shareOf(t *testing.T, rows []row, column string) (s share) {
	t.Helper()
	for _, r := range rows {
		for i, method := range timed {
			if strings.HasPrefix(r.text(t, "name"), method+"(") {
				s[i] += r.number(t, column)
			}
		}
	}
	return s.percent()
}

// 2: the program measured the time of the thread in each of the timed methods.
func checkThread(t *testing.T, q question, rows []row) {
	want, limit := timedShares(t, q.traces[0])
	if d := shareOf(t, rows, "total_ms").distance(want); !(d <= limit) {
		t.Errorf("shares %.1f, measured %.1f, which is more than %.1f points off", shareOf(t, rows, "total_ms"), want, limit)
	}
}

// 3: the program reports the activity of each thread and its duration.
func checkThreads(t *testing.T, q question, rows []row) {
	in := map[string]string{"Thread.Sleep": "Thread.Sleep(", "cpu": "Shop.Cpu.Spin(", "Thread.Join": "Thread.Join(", "Monitor.Wait": "Monitor.Wait(", "WaitHandle.WaitOne": "WaitHandle.WaitOne"}
	truth := truthOf[waitsTruth](t, q.traces[0])
	found := 0
	for _, r := range rows {
		for _, th := range truth.Threads {
			if float64(th.TID) != r.number(t, "tid") {
				continue
			}
			near(t, th.Name+": time", r.number(t, "ms"), float64(th.EndQpc-th.StartQpc)/1e6, 6)
			if want, ok := in[th.How]; ok {
				found++
				if !strings.Contains(r.text(t, "mostly_in"), want) {
					t.Errorf("%s: mostly in %s, which is not %s", th.Name, r["mostly_in"], want)
				}
				if busy := r.number(t, "managed_percent") > 90; busy != (th.How == "cpu") {
					t.Errorf("%s: %v%% managed", th.Name, r["managed_percent"])
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d threads of the program", found)
	}
}

type waitsTruth struct {
	Threads []struct {
		Name, How        string
		TID              int64
		StartQpc, EndQpc int64
	}
	Contentions struct {
		Count       int
		EachMSAbout float64
	}
}

// 4: the profile has the same callers.
func checkCallers(t *testing.T, q question, rows []row) {
	want := map[string]float64{}
	for _, s := range profileOf(t, q).Sample {
		stack := names(s)
		for i, name := range stack[:len(stack)-1] {
			if strings.HasPrefix(name, "Shop.Cpu.Spin(") {
				want[stack[i+1]] += wallMS(s)
			}
		}
	}
	if len(rows) != len(want) {
		t.Errorf("%d callers, want %d", len(rows), len(want))
	}
	for _, r := range rows {
		near(t, r.text(t, "caller"), r.number(t, "ms"), want[r.text(t, "caller")], rounded)
	}
}

// 5: the profile has the same samples with the same spans. The program measured the time of both functions: samples
// cover all of it, and divide it as accurately as pauses of the sample profiler of up to 25 ms permit.
func checkRequests(t *testing.T, q question, rows []row) {
	want := map[[2]string]float64{}
	for _, s := range profileOf(t, q, "--span-name").Sample {
		if span := s.Label["span_name"]; len(span) > 0 {
			stack := names(s)
			slices.Sort(stack)
			for _, name := range slices.Compact(stack) {
				want[[2]string{span[0], name}] += wallMS(s)
			}
		}
	}
	var scan, pay, measuredScan, measuredPay float64
	for _, b := range truthOf[busyTruth](t, q.traces[0]).Busy {
		measuredScan += float64(b.PayStartQpc-b.ScanStartQpc) / 1e6
		measuredPay += float64(b.EndQpc-b.PayStartQpc) / 1e6
	}
	for _, r := range rows {
		key := [2]string{r.text(t, "span"), r.text(t, "function")}
		near(t, key[0]+" "+key[1], r.number(t, "total_ms"), want[key], rounded)
		switch key {
		case [2]string{"scan", "Shop.Busy.Scan(double)"}:
			scan = r.number(t, "total_ms")
		case [2]string{"pay", "Shop.Busy.Pay(double)"}:
			pay = r.number(t, "total_ms")
		}
	}
	near(t, "both", scan+pay, measuredScan+measuredPay, 0.05*(measuredScan+measuredPay))
	// The methods change 15 times, at any point of intervals of 3 to 31 ms between samples. Twice the deviation of the sum
	// is 38 ms.
	near(t, "Scan in scan", scan, measuredScan, 38)
	near(t, "Pay in pay", pay, measuredPay, 38)
}

type busyTruth struct {
	Busy []struct {
		SpanID                            string
		ScanStartQpc, PayStartQpc, EndQpc int64
	}
	Spans []truthSpan
}

type truthSpan struct {
	Name, DisplayName, SpanID, Status string
	DurationTicks                     int64
	Recorded, Stopped                 bool
}

// 15: pprof adds up the same samples, and TraceEvent reads the same adjustments.
func checkThreadPool(t *testing.T, q question, rows []row) {
	var got, want, workers, starved float64
	for _, s := range profileOf(t, q).Sample {
		if slices.ContainsFunc(names(s), func(name string) bool {
			return strings.Contains(name, "PortableThreadPool.WorkerThread.WorkerThreadStart(")
		}) {
			want += wallMS(s)
		}
	}
	for _, e := range eventsOf(t, q.traces[0], "ThreadPoolWorkerThreadAdjustment/Adjustment") {
		f := e.fields(t)
		workers = max(workers, float64(number(f["NewWorkerThreadCount"])))
		if text(f["Reason"]) == "Starvation" || number(f["Reason"]) == 6 {
			starved++
		}
	}
	for _, r := range rows {
		got += r.number(t, "ms")
		near(t, "max_workers", r.number(t, "max_workers"), workers, 0)
		near(t, "starvations", r.number(t, "starvations"), starved, 0)
	}
	if workers == 0 {
		t.Error("TraceEvent shows no adjustment")
	}
	near(t, "time", got, want, rounded*float64(len(rows)))
}

// 19: in both recordings the program measured the shares of the timed methods.
func checkRegression(t *testing.T, q question, rows []row) {
	for i, column := range []string{"before", "after"} {
		want, limit := timedShares(t, q.traces[i])
		if d := shareOf(t, rows, column).distance(want); !(d <= limit) {
			t.Errorf("%s: shares %.1f, measured %.1f, which is more than %.1f points off", q.traces[i], shareOf(t, rows, column), want, limit)
		}
	}
}
