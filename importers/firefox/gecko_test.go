package firefox_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
)

// geckoThread returns a thread as Firefox records it, with one sample per location: the sample at i ms has only this
// frame.
func geckoThread(markers string, locations ...string) string {
	var frames, stacks, samples, texts []string
	for i, l := range locations {
		frames = append(frames, fmt.Sprintf("[%d,null,%d]", i, 7+i))
		stacks = append(stacks, fmt.Sprintf("[null,%d]", i))
		samples = append(samples, fmt.Sprintf("[%d,%d,0.5]", i, i))
		texts = append(texts, strconv.Quote(l))
	}
	return fmt.Sprintf(`{"name":"GeckoMain","processType":"default","tid":2,"pid":1,
		"samples":{"schema":{"stack":0,"time":1,"responsiveness":2},"data":[%s]},
		"markers":{"schema":{"name":0,"time":1,"data":2},"data":[%s]},
		"stackTable":{"schema":{"prefix":0,"frame":1},"data":[%s]},
		"frameTable":{"schema":{"location":0,"implementation":1,"line":2,"category":3},"data":[%s]},
		"stringTable":[%s]}`, strings.Join(samples, ","), markers, strings.Join(stacks, ","), strings.Join(frames, ","), strings.Join(texts, ","))
}

// TestGeckoLocations divides the texts of frames as the Firefox Profiler does.
func TestGeckoLocations(t *testing.T) {
	locations := [][4]string{ // text, name, file and line of the function, library
		{"(root)", "(root)", ":0", ""},
		{"Startup::XRE_Main", "Startup::XRE_Main", ":0", ""},
		{"0x100000f84", "0x100000f84", ":0", "/bin/firefox"},
		{"0x90", "0x90", ":0", ""},
		{"frobnicate (chrome://blargh:34)", "frobnicate", "chrome://blargh:34", ""},
		{"emit (resource://a.js -> resource://b.js:254:6)", "emit", "resource://b.js:254", ""},
		{"https://a.org/x.js:1:0", "https://a.org/x.js", "https://a.org/x.js:1", ""},
		{"get url (resource://a.js:199)", "get url", "resource://a.js:199", ""},
		{"wmain (in firefox)", "wmain", ":0", "/bin/firefox"},
		{"RtlUserThreadStart (in ntdll.dll) + 12", "RtlUserThreadStart", ":0", "ntdll.dll"},
		{"JS_Call(JSContext *, JS::Value const &)", "JS_Call(JSContext *, JS::Value const &)", ":0", ""},
		{"defineProperty (self-hosted:4507:0)", "defineProperty", "self-hosted:4507", ""},
	}
	var texts []string
	for _, l := range locations {
		texts = append(texts, l[0])
	}
	src := open(t, []byte(`{"meta":{"version":9,"interval":1,"startTime":1},"libs":[{"name":"firefox","path":"/bin/firefox","breakpadId":"F1","start":4294967296,"end":4295000000}],
		"threads":[`+geckoThread("", texts...)+`],"processes":[]}`), nil)
	i := 0
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		f, want := e.Stack.Frames[0], locations[i]
		library := ""
		if f.Mapping != nil {
			library = f.Mapping.File
		}
		if got := [4]string{want[0], f.Func.Name, fmt.Sprintf("%s:%d", f.Func.File, f.Func.StartLine), library}; got != want || f.Line != int32(7+i) {
			t.Errorf("%q, line %d; want %q", got, f.Line, want)
		}
		i++
	}
	if i != len(locations) {
		t.Errorf("%d samples, want %d", i, len(locations))
	}
}

// TestGeckoProcesses reads the processes of a recording, in the list of processes or as strings in the list of threads.
// Their times count from their own start. The performance panel saves all of it as a member.
func TestGeckoProcesses(t *testing.T) {
	const markers = `[0,3,{"type":"tracing","interval":"start"}],[0,5,{"type":"tracing","interval":"end","n":1}],[0,4],[0,6,{"startTime":6,"endTime":8,"stack":{"samples":{"schema":{"stack":0,"time":1},"data":[[0,6]]}}}]`
	child := `{"meta":{"version":9,"startTime":11,"interval":1},"threads":[` + strings.Replace(geckoThread(markers, "g"), `"pid":1`, `"pid":9`, 1) + `],"processes":[]}`
	want := []string{ // the child starts 10 ms after its parent; thread ID 2 is in use
		`0 1/2 cpu Value=1 samples=1 time=1000000 < f:7:0 :0 0`,
		`10000000 9/3 cpu Value=1 samples=1 time=1000000 < g:7:0 :0 0`,
		`13000000 9/3 g X firefox g 2000000 {"interval":"end","n":1,"type":"tracing"}`,
		`14000000 9/3 g i firefox g 0 `,
		`16000000 9/3 g X firefox g 2000000 {"endTime":8,"startTime":6} < g:7:0 :0 0`,
	}
	for name, text := range map[string]string{
		"processes": `{"meta":{"version":9,"startTime":1,"interval":1},"libs":[],"threads":[` + geckoThread("", "f") + `],"processes":[` + child + `]}`,
		"string":    `{"meta":{"version":3,"startTime":1,"interval":1},"libs":"[]","threads":[` + geckoThread("", "f") + `,` + strconv.Quote(child) + `]}`,
		"panel":     `{"label":"","profile":{"libs":[],"meta":{"version":9,"startTime":1,"interval":1},"threads":[` + geckoThread("", "f") + `],"processes":[` + child + `]}}`,
	} {
		if got := lines(t, open(t, []byte(text), nil)); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	deep := strings.Repeat(`{"meta":{"version":9},"threads":[],"processes":[`, 20) + strings.Repeat(`]}`, 20)
	if _, err := firefox.New(strings.NewReader(deep), nil); err == nil || !strings.Contains(err.Error(), "nested more than 8 levels deep") {
		t.Error(err)
	}
}

// TestSparseTables: old processed profiles have columns of resources that end early, and rows beyond the length of the
// table.
func TestSparseTables(t *testing.T) {
	text := `{"meta":{"preprocessedProfileVersion":7,"interval":1,"startTime":1},"threads":[{"pid":1,"tid":1,"libs":[{"name":"a","path":"/a"}],"stringArray":["f","a","url"],
		"resourceTable":{"length":2,"type":[1,3],"name":[1,2],"lib":[0]},"funcTable":{"length":2,"name":[0,0],"resource":[0,1]},
		"frameTable":{"length":2,"func":[0,1]},"stackTable":{"length":1,"frame":[0],"prefix":[null]},
		"samples":{"length":1,"stack":[0,5],"time":[3,4]}}]}`
	report := &ntconv.Report{}
	src, err := firefox.New(strings.NewReader(text), &firefox.Options{Report: report})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	n := 0
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			n++
			if m := e.Stack.Frames[0].Mapping; m == nil || m.File != "/a" {
				t.Errorf("mapping %v", m)
			}
		}
	}
	if n != 1 || report.Count(ntconv.CodeRepaired) != 2 {
		t.Errorf("%d samples, %v", n, report.Entries())
	}
}
