package profile_test

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// runtimeTruths are the checks of what the runtime did for a program.
func runtimeTruths() []func(*truthTable) {
	return []func(*truthTable){collectionTruth, waitTruth, compilationTruth, taskTruth, requestTruth}
}

// collectionTruth compares the collections that programs induced, the runtime's count of all collections, and its own
// measurement of the pauses, which begins a little later than the events do.
func collectionTruth(tt *truthTable) {
	for _, name := range []string{"alloc-verbose", "alloc-gccollect", "alloc-sampled"} {
		var truth struct {
			Induced      []struct{ What string }
			Collections  map[string]float64
			TotalPauseUs float64
		}
		p := tt.profile(name, sample.GC, &truth)
		r := truthRow{recording: name, kind: sample.GC}
		induced, all, old := 0.0, 0.0, 0.0
		pause := 0.0
		for s := range p.Samples() {
			n := float64(s.Values[0])
			if all += n; byLabel("dotnet.gc.heap.generation")(s) == "gen2" {
				old += n
			}
			if strings.HasPrefix(byLabel("dotnet.gc.reason")(s), "Induced") {
				induced += n
				if len(s.Frames) == 0 {
					tt.t.Errorf("%s: an induced collection has no stack", name)
				}
			}
			pause += float64(s.Values[1]) / 1000
		}
		r.what, r.truth, r.measured = "induced collections", float64(len(truth.Induced)), induced
		tt.exact(r)
		r.what, r.truth, r.measured = "collections", truth.Collections["gen0+"], all
		tt.exact(r)
		r.what, r.truth, r.measured = "collections of gen2", truth.Collections["gen2"], old
		tt.exact(r)
		r.what, r.truth, r.measured, r.unit = "total pause", truth.TotalPauseUs, pause, "µs"
		tt.within(r, 0.05*r.truth, "5%: the runtime measures from a little later")
	}
}

// waitTruth compares the waits of threads that waited once a round.
func waitTruth(tt *truthTable) {
	const name = "waits"
	var truth struct {
		Threads []struct {
			Name, How        string
			TID              uint64
			StartQPC, EndQPC float64
		}
		Rounds float64
	}
	p := tt.profile(name, sample.Wait, &truth)
	counts := valueBy(p, 0, byLabel("tid"))
	times := valueBy(p, 1, byLabel("tid"))
	for _, th := range truth.Threads {
		r := truthRow{recording: name, kind: sample.Wait, what: "waits of thread " + th.Name, truth: truth.Rounds}
		r.measured = float64(counts[fmt.Sprint(th.TID)])
		life := (th.EndQPC - th.StartQPC) / 1e6
		switch th.Name {
		case "event-wait", "joiner", "waiter", "task-wait":
			tt.add(r, r.truth, r.truth+1, "equal, or one more for the lock of the monitor")
		case "spinner", "sleeper", "holder":
			r.truth = 0
			tt.exact(r)
		}
		if th.Name == "event-wait" || th.Name == "waiter" {
			r.what, r.unit, r.truth = "delay of thread "+th.Name, "ms", life
			r.measured = float64(times[fmt.Sprint(th.TID)]) / 1e6
			tt.within(r, 0.01*life, "1%: the thread does nothing else")
		}
	}
}

// compilationTruth compares the methods that a program compiled on purpose, with their tiers.
func compilationTruth(tt *truthTable) {
	for _, name := range []string{"jit", "jit-maps"} {
		var truth struct {
			Tiered, OSR, Optimised, NoOpt struct{ Method, Expect string }
			DynamicMethods, Reuse         []struct{ Name string }
			Collectible                   []struct{ Emitted string }
		}
		p := tt.profile(name, sample.JIT, &truth)
		methods := map[string]float64{}
		for s := range p.Samples() {
			method, _, _ := strings.Cut(byLabel("code.function.name")(s), "(")
			methods[method+" "+byLabel("tier")(s)] += float64(s.Values[0])
			methods[method] += float64(s.Values[0])
		}
		r := truthRow{recording: name, kind: sample.JIT}
		hot := truth.Tiered.Method // instrumented or optimized after 600 calls, as the program's account says
		r.what, r.truth, r.measured = hot+" after QuickJitted", 1, methods[hot]-methods[hot+" QuickJitted"]
		tt.exact(r)
		for _, m := range []struct{ Method, Expect string }{truth.OSR, truth.Optimised, truth.NoOpt} {
			tier, _, _ := strings.Cut(m.Expect, " ")
			r.what, r.truth, r.measured = m.Method+" as "+tier, 1, methods[m.Method+" "+tier]
			tt.exact(r)
		}
		r.what, r.truth, r.measured = "dynamic methods", float64(len(truth.DynamicMethods)+len(truth.Reuse)), 0
		for _, m := range append(truth.DynamicMethods, truth.Reuse...) {
			for method, n := range methods {
				if strings.HasSuffix(method, "."+m.Name) {
					r.measured += n
				}
			}
		}
		tt.exact(r)
		r.what, r.truth, r.measured = "methods of collectible types", float64(len(truth.Collectible)), 0
		for _, m := range truth.Collectible {
			r.measured += methods[m.Emitted]
		}
		tt.exact(r)
	}
}

// taskTruth compares the tasks of each step of a program. The window is the time of the step.
func taskTruth(tt *truthTable) {
	const name = "async-tpl"
	var truth struct {
		Steps []struct {
			What             string
			Count            float64
			StartQPC, EndQPC ntconv.Ticks
		}
	}
	tt.own(name, &truth)
	for _, step := range truth.Steps {
		src, namer := tt.own(name, &truth)
		inStep := func(at ntconv.Ticks) bool { return at >= step.StartQPC && at <= step.EndQPC }
		b := profile.New(src.Info(), namer, &profile.Options{Kind: sample.Tasks, Window: inStep})
		for e := range ntconv.Events(src) {
			b.Watch(e)
			if e.Kind != ntconv.KindEvent || inStep(e.Time) {
				b.Add(e)
			}
		}
		p := b.Finish()
		faulted := float64(valueBy(p, 0, byLabel("faulted"))["yes"])
		run := 0.0
		r := truthRow{recording: name, kind: sample.Tasks, what: "tasks of step " + step.What, truth: step.Count}
		for s := range p.Samples() {
			r.measured += float64(s.Values[0])
			run += float64(s.Values[2]) / 1e6
		}
		switch step.What {
		case "nested attached children":
			r.truth++ // their parent
			tt.exact(r)
		case "sequential chain of awaits":
			r.truth = 0 // only continuations of awaits, which are no tasks in the queue
			tt.exact(r)
		case "Parallel.For iterations":
			tt.add(r, 1, r.truth, "at most: a task runs several iterations")
		case "cancelled task":
			r.truth = 0 // it is a delay
			tt.exact(r)
		case "faulted task":
			tt.exact(r)
			r.what, r.measured = "tasks that ended with an exception", faulted
			tt.exact(r)
		default:
			tt.exact(r)
		}
	}
}

// requestTruth compares the requests that a program sent with their status, and those that it served.
func requestTruth(tt *truthTable) {
	const name = "net-http"
	var truth struct {
		Served   []struct{ ID int }
		Requests []struct {
			Status int
			Error  string
		}
	}
	p := tt.profile(name, sample.Requests, &truth)
	sides := valueBy(p, 0, byLabel("side"))
	statuses := valueBy(p, 0, byLabel("status"))
	r := truthRow{recording: name, kind: sample.Requests}
	r.what, r.truth, r.measured = "sent requests", float64(len(truth.Requests)), float64(sides["client"])
	tt.exact(r)
	r.what, r.truth, r.measured = "served requests", float64(len(truth.Served)), float64(sides["server"])
	tt.exact(r)
	want := map[string]float64{}
	for _, q := range truth.Requests {
		if q.Error != "" {
			want["failed"]++
		} else {
			want[fmt.Sprint(q.Status)]++
		}
	}
	for _, status := range []string{"200", "503", "failed"} {
		r.what, r.truth, r.measured = "sent requests with status "+status, want[status], float64(statuses[status])
		tt.exact(r)
	}
}
