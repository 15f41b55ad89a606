package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

type allocTruth struct {
	Objects []struct {
		Type          string
		BytesMeasured float64
	}
	Induced      []struct{ What string }
	TotalPauseUS float64
}

// ticksOf returns the allocations of a recording as TraceEvent reads them.
func ticksOf(t *testing.T, q question) []*line {
	t.Helper()
	list := eventsOf(t, q.traces[0], "GC/AllocationTick")
	if len(list) < 50 {
		t.Fatalf("only %d allocations", len(list))
	}
	return list
}

func bytesOf(t *testing.T, l *line) float64 {
	return float64(number(l.fields(t)["AllocationAmount64"]))
}
func typeOf(t *testing.T, l *line) string { return text(l.fields(t)["TypeName"]) }

// 6: TraceEvent reads the same sums. The program allocated as much of each type, within the accuracy of one sample per
// 100 KB.
func checkAllocations(t *testing.T, q question, rows []row) {
	want := map[string]float64{}
	for _, e := range ticksOf(t, q) {
		want[typeOf(t, e)] += bytesOf(t, e)
	}
	measured := map[string]float64{}
	for _, o := range truthOf[allocTruth](t, q.traces[0]).Objects {
		name, _, _ := strings.Cut(o.Type, " (")
		if _, boxed, ok := strings.Cut(o.Type, "(boxed "); ok {
			name = strings.TrimSuffix(boxed, ")")
		}
		measured[name] += o.BytesMeasured
	}
	found := 0
	for _, r := range rows {
		name, bytes := r.text(t, "type"), r.number(t, "bytes")
		near(t, name, bytes, want[name], 0)
		if m, ok := measured[name]; ok && name != "System.String" { // the runtime also allocates strings
			found++
			const interval = 102_400
			near(t, name+", measured", bytes, m, interval+2*math.Sqrt(m*interval))
		}
	}
	if found < 5 {
		t.Errorf("only %d types that the program measured", found)
	}
}

// start returns the tick at the start of a recording, as ntconv info prints it.
func start(t *testing.T, name string) int64 {
	t.Helper()
	r := run(t, command, "info", "--json", find(t, name).path)
	var info struct {
		Clock struct {
			Ticks int64 `json:"sync_ticks"`
		} `json:"clock"`
	}
	decode(t, r.stdout, &info)
	return info.Clock.Ticks
}

// 7: TraceEvent reads the same bytes in each interval.
func checkAllocationsOverTime(t *testing.T, q question, rows []row) {
	begin := start(t, q.traces[0])
	want := map[float64]float64{}
	for _, e := range ticksOf(t, q) {
		want[float64((e.Ticks-begin)/10_000_000*10)] += bytesOf(t, e)
	}
	if len(rows) != len(want) {
		t.Errorf("%d intervals, want %d", len(rows), len(want))
	}
	for _, r := range rows {
		from := r.number(t, "from_ms")
		near(t, fmt.Sprint(from, " ms"), r.number(t, "bytes"), want[from], 0)
	}
}

// 8: types that only one function of the program allocates have all bytes that TraceEvent reads.
func checkAllocators(t *testing.T, q question, rows []row) {
	want := map[string]float64{}
	for _, e := range ticksOf(t, q) {
		want[typeOf(t, e)] += bytesOf(t, e)
	}
	found := 0
	for _, r := range rows {
		if name := r.text(t, "largest_type"); strings.HasPrefix(name, "Shop.") {
			found++
			near(t, r.text(t, "function")+": "+name, r.number(t, "bytes"), want[name], 0)
		}
	}
	if found < 3 {
		t.Errorf("only %d types of the program", found)
	}
}

// 9: the program counted its collections, and the runtime measured their pauses.
func checkPauses(t *testing.T, q question, rows []row) {
	truth := truthOf[allocTruth](t, q.traces[0])
	near(t, "pauses", rows[0].number(t, "pauses"), float64(len(truth.Induced)), 0)
	near(t, "sum", rows[0].number(t, "sum_ms"), truth.TotalPauseUS/1e3, 0.05*truth.TotalPauseUS/1e3)
}

// 10: TraceEvent reads the same allocations before the longest suspension.
func checkBeforePause(t *testing.T, q question, rows []row) {
	var from, at, longest int64
	for _, e := range eventsOf(t, q.traces[0], "GC/SuspendEEStart", "GC/RestartEEStop") {
		if e.Name == "GC/SuspendEEStart" {
			from = e.Ticks
		} else if d := e.Ticks - from; d > longest {
			longest, at = d, from
		}
	}
	want := map[string]float64{}
	for _, e := range ticksOf(t, q) {
		if at-100_000_000 <= e.Ticks && e.Ticks <= at {
			want[typeOf(t, e)] += bytesOf(t, e)
		}
	}
	for _, r := range rows {
		near(t, r.text(t, "type"), r.number(t, "bytes"), want[r.text(t, "type")], 0)
	}
	if len(rows) == 0 {
		t.Error("no allocation")
	}
}

type exceptionsTruth struct {
	MainStartUTC time.Time
	Cases        []struct {
		Type   string
		Events float64
	}
}

// 11: the program threw as many exceptions of each type.
func checkExceptions(t *testing.T, q question, rows []row) {
	truth := truthOf[exceptionsTruth](t, q.traces[0])
	want := map[string]float64{}
	for _, c := range truth.Cases {
		types := strings.Split(strings.TrimSuffix(c.Type, " (has inner)"), " then ")
		for _, name := range types {
			want[name] += c.Events / float64(len(types))
		}
	}
	got := map[string]float64{}
	for _, r := range rows {
		got[r.text(t, "type")] += r.number(t, "thrown")
		if minute := truth.MainStartUTC.Truncate(time.Minute).Format("2006-01-02 15:04:05+00"); r.text(t, "minute") != minute {
			t.Errorf("minute %v, want %s", r["minute"], minute)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, thrown %v", got, want)
	}
}

// 12: TraceEvent's stacks have the same functions, with as many exceptions of each type.
func checkThrowers(t *testing.T, q question, rows []row) {
	stacks := readStacks(t, find(t, q.traces[0]).stacks)
	count := map[[2]string]float64{}
	for _, e := range eventsOf(t, q.traces[0], "Exception/Start") {
		id := stacks.events[stackKey{ticks: e.Ticks, tid: e.TID, provider: e.Provider}]
		if len(id) != 1 {
			t.Fatalf("%d stacks of an exception", len(id))
		}
		for _, f := range stacks.frames[id[0]] {
			if strings.HasPrefix(f[2], "Shop.") || strings.HasPrefix(f[2], "Shop::") || strings.Contains(f[1], "shop") {
				count[[2]string{f[2], text(e.fields(t)["ExceptionType"])}]++
				break
			}
		}
	}
	want := slices.SortedFunc(maps.Values(count), func(a, b float64) int { return cmp.Compare(b, a) })
	for i, r := range rows {
		if got := r.number(t, "thrown"); i >= len(want) || got != want[i] {
			t.Errorf("row %d: %v exceptions, want %v", i, got, want)
		}
		if !strings.HasPrefix(r.text(t, "function"), "Shop.") {
			t.Errorf("row %d: %s", i, r["function"])
		}
	}
}

// 13: the program's thread waited for its lock as often and about as long.
func checkContention(t *testing.T, q question, rows []row) {
	c := truthOf[waitsTruth](t, q.traces[0]).Contentions
	near(t, "waits", rows[0].number(t, "waits"), float64(c.Count), 0)
	near(t, "threads", rows[0].number(t, "threads"), 1, 0)
	near(t, "sum", rows[0].number(t, "sum_ms"), float64(c.Count)*c.EachMSAbout, 0.1*float64(c.Count)*c.EachMSAbout)
}

// 14: TraceEvent reads the same waits; those of a thread are nested.
func checkWaits(t *testing.T, q question, rows []row) {
	waits, sum, open := map[float64]float64{}, map[float64]float64{}, map[float64][]int64{}
	for _, e := range eventsOf(t, q.traces[0], "WaitHandleWait/Start", "WaitHandleWait/Stop") {
		tid := float64(e.TID)
		if e.Name == "WaitHandleWait/Start" {
			waits[tid]++
			open[tid] = append(open[tid], e.Ticks)
		} else if n := len(open[tid]) - 1; n >= 0 {
			sum[tid] += float64(e.Ticks-open[tid][n]) / 1e6
			open[tid] = open[tid][:n]
		}
	}
	for _, r := range rows {
		tid := r.number(t, "tid")
		near(t, fmt.Sprint("waits of ", tid), r.number(t, "waits"), waits[tid], 0)
		if r["sum_ms"] != nil {
			near(t, fmt.Sprint("time of ", tid), r.number(t, "sum_ms"), sum[tid], rounded)
		}
	}
	if len(rows) < 6 {
		t.Errorf("only %d threads", len(rows))
	}
}

// durations returns the durations in milliseconds of the spans that the programs measured, by display name, and the
// number of errors.
func durations(t *testing.T, traces ...string) (ms map[string][]float64, errors map[string]float64) {
	t.Helper()
	ms, errors = map[string][]float64{}, map[string]float64{}
	for _, name := range traces {
		for _, s := range truthOf[busyTruth](t, name).Spans {
			if s.Recorded && s.Stopped {
				ms[s.DisplayName] = append(ms[s.DisplayName], float64(s.DurationTicks)/1e4)
				if s.Status == "Error" {
					errors[s.DisplayName]++
				}
			}
		}
	}
	for _, list := range ms {
		slices.Sort(list)
	}
	return ms, errors
}

// quantile interpolates between the neighbors, like quantile_cont.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// 16: the program measured the durations of its spans. Samples cannot exceed them.
func checkSlowest(t *testing.T, q question, rows []row) {
	truth := truthOf[busyTruth](t, q.traces[0])
	var baskets []truthSpan
	for _, s := range truth.Spans {
		if s.Name == "basket" {
			baskets = append(baskets, s)
		}
	}
	slices.SortFunc(baskets, func(a, b truthSpan) int { return cmp.Compare(b.DurationTicks, a.DurationTicks) })
	var order []string
	spent := map[string]float64{}
	for _, r := range rows {
		id := r.text(t, "span_id")
		if !slices.Contains(order, id) {
			order = append(order, id)
		}
		near(t, id, r.number(t, "span_ms"), float64(baskets[len(order)-1].DurationTicks)/1e4, rounded)
		if spent[id] += r.number(t, "ms"); spent[id] > r.number(t, "span_ms")+25 {
			t.Errorf("%s: %v ms in a span of %v ms", id, spent[id], r["span_ms"])
		}
	}
	for i, id := range order {
		if baskets[i].SpanID != id {
			t.Errorf("basket %d is %s, want %s", i, id, baskets[i].SpanID)
		}
	}
	if len(order) != 3 {
		t.Errorf("%d baskets", len(order))
	}
}

// 17: the program measured the durations of its spans, and counted the failed ones.
func checkOperations(t *testing.T, q question, rows []row) {
	ms, errors := durations(t, q.traces...)
	for _, r := range rows {
		name := r.text(t, "name")
		list := ms[name]
		if float64(len(list)) != r.number(t, "spans") {
			t.Fatalf("%s: %v spans, want %d", name, r["spans"], len(list))
		}
		near(t, name+": median", r.number(t, "p50_ms"), quantile(list, 0.5), 0.0005001)
		near(t, name+": p95", r.number(t, "p95_ms"), quantile(list, 0.95), 0.0005001)
		near(t, name+": max", r.number(t, "max_ms"), list[len(list)-1], 0.0005001)
		near(t, name+": errors", r.number(t, "errors"), errors[name], 0)
	}
}

// 20: the same for two recordings. The program did not measure spans of libraries.
func checkFleet(t *testing.T, q question, rows []row) {
	ms, _ := durations(t, q.traces...)
	found := 0
	for _, r := range rows {
		name := r.text(t, "route")
		list := ms[name]
		if len(list) == 0 {
			continue
		}
		found++
		near(t, name+": spans", r.number(t, "spans"), float64(len(list)), 0)
		near(t, name+": p95", r.number(t, "p95_ms"), quantile(list, 0.95), 0.0005001)
		near(t, name+": max", r.number(t, "max_ms"), list[len(list)-1], 0.0005001)
	}
	if found < 4 {
		t.Errorf("only %d routes of the program", found)
	}
}

// 18: TraceEvent reads the same compilations.
func checkJIT(t *testing.T, q question, rows []row) {
	type method struct{ name, signature string }
	begun := map[[2]uint64]int64{}
	size := map[[2]uint64]float64{}
	ms, il := map[method]float64{}, map[method]float64{}
	for _, e := range eventsOf(t, q.traces[0], "Method/JittingStarted", "Method/LoadVerbose") {
		f := e.fields(t)
		key := [2]uint64{e.TID, number(f["MethodID"])}
		if e.Name == "Method/JittingStarted" {
			begun[key], size[key] = e.Ticks, float64(number(f["MethodILSize"]))
		} else if from, ok := begun[key]; ok {
			m := method{text(f["MethodNamespace"]) + "." + text(f["MethodName"]), text(f["MethodSignature"])}
			ms[m] += float64(e.Ticks-from) / 1e6
			il[m] += size[key]
			delete(begun, key)
		}
	}
	most := slices.SortedFunc(maps.Keys(ms), func(a, b method) int { return cmp.Compare(ms[b], ms[a]) })
	for i, r := range rows {
		near(t, r.text(t, "method")+" "+most[i].name, r.number(t, "ms"), ms[most[i]], 0.00501)
		near(t, r.text(t, "method")+" "+most[i].name+": IL", r.number(t, "il_bytes"), il[most[i]], 0)
	}
}
