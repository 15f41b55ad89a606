package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// baseMiB is what a process of the command has in addition to what --max-memory limits: its program file and the
// runtime, 25 MiB in "ntconv version", and what is allocated until the watch gets a core.
const baseMiB = 40

// A phase is a run of the command in which something other than reading takes the memory, or reading takes it in one
// call. IN in args represents the input, OUT for an output in an empty directory.
type phase struct {
	in   string // name of the function in memoryInputs
	args string
	code int // 5, or 0 where the memory suffices
}

// memoryLimit is the limit of the runs in TestMemoryOfPhases, in MiB.
const memoryLimit = 64

var phases = []phase{
	// Closing a sink: all names and tables of the output.
	{"names", "to pprof IN -o OUT.pb.gz", exitLimit},
	{"names", "to chrome IN -o OUT.trace.json", exitLimit},
	{"names", "to parquet IN -o OUT.d/", exitLimit},
	{"stacks", "to parquet IN -o OUT.d/", exitLimit},
	// Parsing a profile and making pprof's report.
	{"stacks", "top IN", exitLimit},
	{"functions", "top IN", exitLimit},
	{"functions", "view IN", exitLimit},
	// Importing.
	{"functions", "to nettrace IN -o OUT.nettrace", exitLimit},
	{"folded", "to pprof IN -o OUT.pb.gz", exitLimit},
	{"chromeOpen", "to nettrace IN -o OUT.nettrace", exitOK},
	{"chromeFrames", "to nettrace IN -o OUT.nettrace", exitLimit},
	{"chromeValue", "to nettrace IN -o OUT.nettrace", exitLimit},
	{"speedscopeOpen", "to nettrace IN -o OUT.nettrace", exitLimit},
	{"firefox", "to nettrace IN -o OUT.nettrace", exitLimit},
	// Windows and sorting.
	{"endless", "print IN", exitOK},
	{"endless", "info IN", exitOK},
	{"endless", "to nettrace --order time IN -o OUT.nettrace", exitOK},
	{"endless", "filter --order time --provider * IN -o OUT.nettrace", exitOK},
	{"endless", "to chrome IN -o OUT.trace.json", exitOK},
	{"endless", "verify --order time IN IN", exitLimit},
	// Spans.
	{"spans", "to otlp --form json IN -o OUT.otlp.json", exitOK},
	{"spans", "to parquet IN -o OUT.d/", exitLimit},
}

// nightlyPhases take their memory as some of phases do, for another output.
var nightlyPhases = []phase{
	{"names", "to perfetto IN -o OUT.perfetto-trace", exitLimit},
	{"names", "to firefox IN -o OUT.firefox.json", exitLimit},
	{"names", "to speedscope IN -o OUT.speedscope.json", exitLimit},
	{"names", "to folded IN -o OUT.folded", exitLimit},
	{"names", "convert IN OUT.pb.gz --report json", exitLimit},
}

// Regardless of the user of memory, a process has at most 25% more than its limit: it ends with 5 and leaves nothing at
// the destination or among the temporary files.
func TestMemoryOfPhases(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: the race detector multiplies memory")
	}
	dir := t.TempDir()
	for name, write := range memoryInputs {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			write(f)
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	list := phases
	if corpus.Nightly() {
		list = slices.Concat(phases, nightlyPhases)
	}
	for i, p := range list {
		if corpus.IsOmitted(i, 4) {
			continue
		}
		t.Run(p.in+"/"+strings.ReplaceAll(p.args, "/", ""), func(t *testing.T) { p.run(t, filepath.Join(dir, p.in)) })
	}
}

func (p *phase) run(t *testing.T, in string) {
	work := t.TempDir()
	args := []string{"--max-memory", fmt.Sprint(memoryLimit, "MiB")}
	for arg := range strings.FieldsSeq(p.args) {
		if arg == "IN" {
			arg = in
		}
		args = append(args, strings.Replace(arg, "OUT", filepath.Join(work, "out"), 1))
	}
	args = append(args[2:3:3], append(args[:2:2], args[3:]...)...) // the command first
	cmd := command(t, work, args...)
	peakOf := prepareMeter(t, cmd)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // view ends with its limit only
	code := exitCode(t, cmd.Wait())
	stop.Stop()
	if code != p.code {
		t.Errorf("exit code %d, want %d: %s", code, p.code, errs.String())
	}
	peak := peakOf()
	if most := int64(memoryLimit*5/4 + baseMiB); peak > most {
		t.Errorf("%d MiB of memory, want at most %d: %s", peak, most, errs.String())
	}
	if p.code == exitLimit {
		if text := errs.String(); !strings.Contains(text, in+": ") || !strings.Contains(text, "raise --max-memory") {
			t.Errorf("the message lacks the input or the flag: %s", text)
		}
		if left := files(t, work); len(left) > 0 {
			t.Errorf("left %q", left)
		}
	}
	t.Logf("exit code %d, %d MiB, %v of CPU time: %s", code, peak, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), errs.String())
}

// memoryInputs make inputs of a few MB that need more memory than the limit of the runs, or a stream that does.
var memoryInputs = map[string]func(w io.Writer){
	"functions":      func(w io.Writer) { functions(w, 300_000) },
	"names":          func(w io.Writer) { functions(w, 130_000) },
	"stacks":         manyStacks,
	"endless":        endlessWindow,
	"spans":          openSpans,
	"folded":         manyFolded,
	"chromeOpen":     chromeOpen,
	"chromeFrames":   chromeFrames,
	"chromeValue":    chromeValue,
	"speedscopeOpen": speedscopeOpen,
	"firefox":        firefoxTables,
}

// functions writes a profile with n functions, and a location and a sample for each.
func functions(w io.Writer, n int) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
	for i := range n {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("f%x", i)}
		l := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{1}})
	}
	mustWrite(p.WriteUncompressed(w))
}

func manyStacks(w io.Writer) {
	_, err := tracegen.Write(w, tracegen.Options{Version: wire.V4, Bytes: 40 << 20, Stacks: 100_000, Unsorted: true})
	mustWrite(err)
}

// endlessWindow writes a stream of unsorted events without sequence points.
func endlessWindow(w io.Writer) {
	_, err := tracegen.Write(w, tracegen.Options{Version: wire.V4, Bytes: 100 << 20, Window: -1, Unsorted: true})
	mustWrite(err)
}

func openSpans(w io.Writer) {
	_, err := tracegen.WriteSpans(w, tracegen.SpanOptions{Spans: 60_000, Starts: 1})
	mustWrite(err)
}

func manyFolded(w io.Writer) {
	for i := range 200_000 {
		mustPrint(w, "main;f%d;g%d %d\n", i, i, i)
	}
}

// chromeOpen writes events that begin and do not end.
func chromeOpen(w io.Writer) {
	mustPrint(w, `{"traceEvents":[{"ph":"B","name":"first","pid":1,"tid":1,"ts":0}`)
	for i := range 300_000 {
		mustPrint(w, ",\n"+`{"ph":"B","name":"n%d","pid":1,"tid":%d,"ts":%d}`, i, i%1000, i)
	}
	mustPrint(w, "]}")
}

func chromeFrames(w io.Writer) {
	mustPrint(w, `{"stackFrames":{"x":{"name":"first"}`)
	for i := range 400_000 {
		mustPrint(w, `,"%d":{"name":"f%d","category":"c"}`, i, i)
	}
	mustPrint(w, `},"samples":[{"cpu":0,"tid":1,"ts":1,"name":"s","sf":"1","weight":1}],"traceEvents":[]}`)
}

// chromeValue writes one event of 40 MB.
func chromeValue(w io.Writer) {
	mustPrint(w, `{"traceEvents":[{"ph":"X","name":"n","pid":1,"tid":1,"ts":1,"dur":5,"args":{"a":"%s"}}]}`, strings.Repeat("x", 40_000_000))
}

// speedscopeOpen writes a profile of frames that are opened in each other and not closed.
func speedscopeOpen(w io.Writer) {
	mustPrint(w, `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"f"},{"name":"g"}]},`+
		`"profiles":[{"type":"evented","name":"x","unit":"milliseconds","startValue":0,"endValue":900000,"events":[{"type":"O","frame":0,"at":0}`)
	for i := range 400_000 {
		mustPrint(w, `,{"type":"O","frame":%d,"at":%d}`, i%2, i)
	}
	mustPrint(w, "]}]}")
}

// firefoxTables writes a profile with a row of each table per sample.
func firefoxTables(w io.Writer) {
	const n = 300_000
	column := func(value func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(value(i))
		}
		return "[" + b.String() + "]"
	}
	number := column(func(i int) string { return fmt.Sprint(i) })
	same := func(text string) string { return column(func(int) string { return text }) }
	mustPrint(w, `{"meta":{"version":30,"interval":1,"startTime":0,"product":"x","preprocessedProfileVersion":50,`+
		`"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"markerSchema":[]},"libs":[],"threads":[{"name":"m","pid":1,"tid":1,`+
		`"stringArray":%s,"funcTable":{"name":%s,"resource":%s,"length":%d},"frameTable":{"address":%[3]s,"func":%[2]s,"category":%[5]s,"length":%[4]d},`+
		`"stackTable":{"frame":%[2]s,"prefix":%[6]s,"length":%[4]d},"samples":{"stack":%[2]s,"time":%[2]s,"length":%[4]d},`+
		`"markers":{"data":[],"name":[],"startTime":[],"endTime":[],"phase":[],"category":[],"length":0}}]}`,
		column(func(i int) string { return fmt.Sprintf(`"f%d"`, i) }), number, same("-1"), n, same("0"), same("null"))
}

func mustPrint(w io.Writer, format string, args ...any) {
	_, err := fmt.Fprintf(w, format, args...)
	mustWrite(err)
}

// mustWrite is for errors of the disk, without which a test cannot go on.
func mustWrite(err error) {
	if err != nil {
		panic(err)
	}
}
