package chrome_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/track"
)

// TestArray: the array form has the events of the object form.
func TestArray(t *testing.T) {
	data := corpus.Trace(t, "activities").Data
	object, _ := exported(t, data, chrome.Options{})
	array, _ := exported(t, data, chrome.Options{Array: true})
	want := parse(t, object)
	got := parse(t, []byte(`{"traceEvents":`+string(array)+`}`))
	check(t, got)
	a, _ := json.Marshal(got.TraceEvents)
	b, _ := json.Marshal(want.TraceEvents)
	if string(a) != string(b) {
		t.Errorf("array: %s\nobject: %s", a, b)
	}
}

// TestStackFrames: the members samples and stackFrames hold every sample with its weight, and IDs of frames that exist
// and are not 0.
func TestStackFrames(t *testing.T) {
	timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
		v8, _ := exported(t, file.Data, chrome.Options{})
		out, s := exported(t, file.Data, chrome.Options{Samples: chrome.StackFrames, Stacks: true})
		d, whole := parse(t, out), parse(t, v8)
		f := check(t, d)
		compare(t, f, s)
		if int64(len(d.Samples)) != s.Samples || f.samples != 0 {
			t.Errorf("%d samples, summary %+v", len(d.Samples), s)
		}
		for id := range d.StackFrames {
			if id == "0" {
				t.Error("speedscope takes frame 0 for none")
			}
			(&checker{t: t, frames: d.StackFrames}).frame(id)
		}
		functions := map[string]int64{}
		for _, x := range d.Samples {
			if _, ok := d.StackFrames[x.SF]; !ok {
				t.Fatalf("sample without a frame: %+v", x)
			}
			functions[d.StackFrames[x.SF].Name] += int64(x.Weight*1000 + 0.5)
		}
		for name := range functions {
			if !strings.Contains(string(v8), mustQuote(t, name)) {
				t.Errorf("the form of V8 has no function %s", name)
			}
		}
		check(t, whole)
	})
}

func mustQuote(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// TestSampleSlices: the slices of samples last as long as the functions of the V8 profile, on threads of their own that
// have a name.
func TestSampleSlices(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	v8, _ := exported(t, data, chrome.Options{})
	out, s := exported(t, data, chrome.Options{Samples: chrome.Slices})
	want := check(t, parse(t, v8))
	d := parse(t, out)
	check(t, d)
	total, threads, n := map[string]int64{}, map[string]string{}, 0
	type open struct {
		name string
		from int64
	}
	stacks := map[string][]open{}
	for i := range d.TraceEvents {
		e := &d.TraceEvents[i]
		tid := e.TID.String()
		switch e.Ph {
		case "M":
			var args struct{ Name string }
			if json.Unmarshal(e.Args, &args); e.Name == "thread_name" {
				threads[tid] = args.Name
			}
		case "B":
			if !strings.HasSuffix(threads[tid], "samples") {
				t.Fatalf("samples are on thread %s, which is %q", tid, threads[tid])
			}
			stacks[tid] = append(stacks[tid], open{e.Name, at(t, e.TS)})
			n++
		case "E":
			stack := stacks[tid]
			top := stack[len(stack)-1]
			stacks[tid] = stack[:len(stack)-1]
			recursive := false
			for _, o := range stacks[tid] {
				recursive = recursive || o.name == top.name
			}
			if !recursive {
				total[top.name] += at(t, e.TS) - top.from
			}
		}
	}
	sum := map[string]int64{}
	for key, w := range want.weights {
		_, name, _ := strings.Cut(key, " ")
		sum[name] += w
	}
	for name, got := range total {
		if diff := got - sum[name]; diff > s.Samples*1000 || -diff > s.Samples*1000 {
			t.Errorf("%s: %d ns in slices, %d ns in the profile", name, got, sum[name])
		}
	}
	if n == 0 || n > int(s.Samples)*3 {
		t.Errorf("%d slices of %d samples: equal frames are not merged", n, s.Samples)
	}
}

// TestOptions: the output does not contain what options omit.
func TestOptions(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	for _, c := range []struct {
		o    chrome.Options
		has  string
		want bool
	}{
		{chrome.Options{}, `"args":{"Type`, false},
		{chrome.Options{NoArgs: true}, `"ph":"i"`, true},
		{chrome.Options{NoArgs: true}, `"s":"t","args"`, false},
		{chrome.Options{Samples: chrome.NoSamples}, `"ph":"P"`, false},
		{chrome.Options{Options: track.Options{Tracks: track.GC}}, `"ph":"i"`, false},
		{chrome.Options{Options: track.Options{Tracks: track.Events}}, `"ph":"X"`, false},
	} {
		out, _ := exported(t, data, c.o)
		if got := strings.Contains(string(out), c.has); got != c.want {
			t.Errorf("%+v: has %s: %t", c.o, c.has, got)
		}
	}
}
