package formats

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/ntconv/ntconv/internal/testing/agreement"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/pagedata"
	"github.com/ntconv/ntconv/internal/testing/perfettocheck"
	"github.com/ntconv/ntconv/ntconvtest"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
	pq "github.com/parquet-go/parquet-go"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	names, exts := make(map[string]bool), make(map[string]string)
	for _, f := range All() {
		if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(f.Name) || names[f.Name] {
			t.Errorf("name %q is used twice or no word", f.Name)
		}
		names[f.Name] = true
		if len(f.Exts) == 0 || f.Doc == "" || strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: no extension or no phrase that says what it is", f.Name)
		}
		for _, e := range f.Exts {
			if !strings.HasPrefix(e, ".") || e != strings.ToLower(e) || exts[e] != "" {
				t.Errorf("%s: extension %q: no dot, upper case, or that of %s too", f.Name, e, exts[e])
			}
			exts[e] = f.Name
			if ByFile(All(), "dir.x/TRACE"+strings.ToUpper(e)) != ByName(All(), f.Name) && ByFile(All(), "TRACE"+e).Name != f.Name {
				t.Errorf("%s: not found by %s", f.Name, e)
			}
			if g, n := byExt(All(), e); g != nil && g.Name == f.Name && n == len(e) {
				t.Errorf("%s: a file without a name is not of the format", e)
			}
		}
		if f.In == nil && f.Out == nil {
			t.Errorf("%s: can neither be read nor written", f.Name)
		}
		if in := f.In; in != nil && (in.Sniff == nil && in.Hint == nil && in.SniffDir == nil || in.Bind == nil || in.NoEvents.Text == "") {
			t.Errorf("%s: inputs cannot be recognized or opened, or have no advice for one without events", f.Name)
		}
		if out := f.Out; out != nil && (len(out.Examples) == 0 || out.Advice == "" || out.Doc == "" || strings.HasSuffix(out.Doc, ".") || out.Bind == nil) {
			t.Errorf("%s: no example, no advice, or no phrase that says what becomes of an input", f.Name)
		}
	}
}

// A stream is an Input of which only the content can be had.
type stream struct {
	*fileio.Input
	r io.Reader
}

func (s stream) Stream() (io.Reader, error)   { return s.r, nil }
func (s stream) Member(string) (Input, error) { return nil, errors.ErrUnsupported }

func traces(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(corpus.Path("*.nettrace.zst"))
	if err != nil || len(list) == 0 {
		t.Fatal("no traces: ", err)
	}
	return list
}

// open opens a trace as the command does.
func open(t *testing.T, path string) ntconv.Source {
	t.Helper()
	in, err := fileio.Open(path, fileio.InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.Stream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); in.Close() })
	head := make([]byte, HeadSize)
	n, err := io.ReadFull(s, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	from, err := Detect(Readable(), in.Name(), head[:n])
	if err != nil {
		t.Fatal(err)
	}
	src, err := new(Openers).Open(from, stream{in, io.MultiReader(bytes.NewReader(head[:n]), s)}, &ReadOptions{Report: new(ntconv.Report)})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// written converts a source with flags and returns the content of the file. It returns the errors of the flags and of
// the output, but not that of a truncated source.
func written(t *testing.T, to *Format, src ntconv.Source, name string, target *Target, args ...string) ([]byte, Result, error) {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("output", "", "")
	settings := to.Out.Bind(flags)
	if err := flags.Parse(args); err != nil {
		return nil, nil, err
	}
	file := filepath.Join(t.TempDir(), name)
	out, err := fileio.CreateOutputs(file, fileio.OutputsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	sink, err := to.Output(settings, file, false).Create(out, src.Info(), target)
	if err != nil {
		return nil, nil, err
	}
	_, err = ntconv.Copy(sink, src)
	var of *ntconv.SourceError
	if errors.As(err, &of) && errors.Is(err, ntconv.ErrTruncated) {
		err = nil
	}
	if err := errors.Join(err, sink.Close()); err != nil {
		return nil, nil, err
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b, sink.Result(), nil
}

// Every format that can be written takes every trace that can be read: no panic, no error but those of the trace.
func TestEveryFormatTakesEveryTrace(t *testing.T) {
	for _, path := range traces(t) {
		for _, to := range Writable() {
			t.Run(to.Name+"/"+filepath.Base(path), func(t *testing.T) {
				table := symbol.New(nil)
				out, result, err := written(t, to, symbol.Watch(open(t, path), table), "out", &Target{Namer: table, Report: new(ntconv.Report)})
				if err != nil {
					t.Fatal(err)
				}
				checkOutput(t, to, out, result)
			})
		}
	}
}

// checkOutput lets an independent reader of the format look at an output.
func checkOutput(t *testing.T, f *Format, out []byte, result Result) {
	t.Helper()
	var r struct {
		Items int64
		Unit  string
	}
	if b, err := json.Marshal(result); err != nil || json.Unmarshal(b, &r) != nil || r.Unit == "" && r.Items > 0 {
		t.Errorf("%v: a result without a unit: %s", err, b)
	}
	if (r.Items == 0) != (result.Empty() != "") || result.Line(Read{Input: "x", Events: 3, Selected: 2}) == "" {
		t.Errorf("%d items: %q is missing", r.Items, result.Empty())
	}
	switch f.Name {
	case "pprof":
		p, err := profile.ParseData(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckValid(); err != nil || int64(len(p.Sample)) != r.Items {
			t.Errorf("%v; %d samples, %d were counted", err, len(p.Sample), r.Items)
		}
		raw := gunzip(t, out)
		for _, n := range []int{HeadSize, 100} {
			if f, err := Detect(Readable(), "a", raw[:min(len(raw), n)]); err != nil || f.Name != "pprof" {
				t.Errorf("not recognized as a profile by %d bytes: %v", n, err)
			}
		}
	case "nettrace":
		src, err := reader.New(bytes.NewReader(out), &reader.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == ntconv.KindEvent {
				n++
			}
		}
		if n != r.Items {
			t.Errorf("%d events, %d were counted", n, r.Items)
		}
	case "perfetto": // its items, and those of other timelines, are counted by the tests of the exporter
		if _, err := agreement.Perfetto(out); err != nil {
			t.Error(err)
		}
	case "callgrind": // own costs follow fn, and those of calls follow calls; both have as many numbers as there are events
		functions, call, own, total := int64(-1), false, int64(0), int64(0)
		for line := range strings.Lines(string(out)) {
			words := strings.Fields(line)
			switch {
			case strings.HasPrefix(line, "fn="):
				functions++
			case strings.HasPrefix(line, "calls="):
				call = true
			case strings.HasPrefix(line, "totals: "):
				total, _ = strconv.ParseInt(words[1], 10, 64)
			case len(words) > 1 && line[0] >= '0' && line[0] <= '9':
				v, err := strconv.ParseInt(words[1], 10, 64)
				if err != nil {
					t.Errorf("line %q: %v", line, err)
				}
				if !call {
					own += v
				}
				call = false
			}
		}
		if functions != r.Items || own != total {
			t.Errorf("%d functions, %d were counted; own costs %d of %d", functions, r.Items, own, total)
		}
	case "folded":
		n := int64(0)
		for line := range strings.Lines(string(out)) {
			stack, value, ok := strings.Cut(strings.TrimSuffix(line, "\n")[strings.LastIndexByte(line, ' ')-1:], " ")
			if v, err := strconv.ParseInt(value, 10, 64); !ok || stack == "" || err != nil || v <= 0 {
				t.Errorf("line %q: no stack and positive total", line)
			}
			n++
		}
		if n != r.Items {
			t.Errorf("%d lines, %d were counted", n, r.Items)
		}
	case "otlp":
		if n := checkJSONLines(t, out); n != r.Items {
			t.Errorf("%d spans, %d were counted", n, r.Items)
		}
	case "parquet":
		rows, err := pq.Read[struct {
			Event string `parquet:"event"`
		}](bytes.NewReader(out), int64(len(out)))
		if err != nil || int64(len(rows)) != r.Items {
			t.Errorf("%v; %d rows, %d were counted", err, len(rows), r.Items)
		}
	case "speedscope":
		var file struct{ Profiles []struct{ Name string } }
		if err := json.Unmarshal(out, &file); err != nil || int64(len(file.Profiles)) != r.Items {
			t.Errorf("%v; %d profiles, %d were counted", err, len(file.Profiles), r.Items)
		}
	case "html":
		if p, err := pagedata.Decode(out, "data"); err != nil || p.Header.Trace.Events != r.Items {
			t.Errorf("%v; %d events were counted", err, r.Items)
		}
	case "chrome":
		if found := perfettocheck.Check(bytes.NewReader(out)).Findings; len(found) > 0 {
			t.Errorf("%v", found)
		}
	case "firefox":
		if _, err := agreement.Firefox(out); err != nil {
			t.Error(err)
		}
	case "prometheus": // package e2e reads it with the parser of Prometheus
		n := int64(0)
		for line := range strings.Lines(string(out)) {
			if n++; strings.HasPrefix(line, "# ") {
				n--
			} else if !regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? [-+.0-9a-zA-Z]+ \d+\.\d{3}\n$`).MatchString(line) {
				t.Errorf("line %q", line)
			}
		}
		if n < r.Items || (n > 0) != (r.Items > 0) || !bytes.HasSuffix(out, []byte("# EOF\n")) {
			t.Errorf("%d lines, %d points were counted", n, r.Items)
		}
	default:
		t.Errorf("%s: no check of the output", f.Name)
	}
}

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDetect(t *testing.T) {
	gcdump := serialization + "\x05\x05\x01\x08\x00\x00\x00\x08\x00\x00\x00\x0a\x00\x00\x00GCHeapDump"
	netperf2 := serialization + "\x05\x05\x01\x02\x00\x00\x00\x00\x00\x00\x00\x26\x00\x00\x00Microsoft.DotNet.Runtime.EventPipeFile"
	netperf3 := serialization + "\x05\x05\x01\x03\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00Trace"
	etl := strings.Repeat("\x00\x10", 36) + "\x02\x00\x02\xc0" + strings.Repeat("\x01", 100)
	for _, c := range []struct{ name, head, want string }{
		{"a", "Nettrace\x14\x00\x00\x00", "nettrace"},
		{"a", "Nettrace", "nettrace"},
		{"a", netperf3, "netperf"},
		{"a", "", "--duration"},
		{"a.nettrace", "", "empty"},
		{"a.pb.gz", "", "empty"},
		{"A.PB.GZ", "", "programs write a profile when the recording ends"},
		{"a.pb", "", "programs write a profile when the recording ends"},
		{"a", "\x00\x00\x00", "zeros"},
		{"a", "Nettra", "truncated within"},
		{"a.pb.gz.zst", "\x1f\x8b\x08\x00\x00", "compressed twice, inside with gzip"},
		{"a.pb.gz.zst", "\x28\xb5\x2f\xfd\x04", "compressed twice, inside with zstd"},
		{"a", "PERFILE2xxxx", "perf.data"},
		{"a", "# callgrind format\nversion: 1\n", "got a profile of callgrind, which has no stacks; kcachegrind and callgrind_annotate show it"},
		{"a", "main;a 1\nmain;b 2\nno value\nmain;c 3\n", "got folded stacks, but line 3 does not end in a space and a number; remove the line, or skip it with --from folded"},
		{"a", `{"head":{"functionName":"(root)","children":[]},"startTime":1.5,"samples":[1]}`, "got a .cpuprofile of an old version of V8; open it in www.speedscope.app"},
		{"a", `{"version":1.2,"mode":"wall","interval":1000,"samples":5,"frames":{}}`, "got a profile of stackprof; open it in www.speedscope.app"},
		{"a", `{"dhatFileVersion":2,"mode":"rust-heap","verb":"Allocated"}`, "got a heap profile of DHAT; dh_view.html"},
		{"a", `{"projectId":"p","traceId":"6ef9","spans":[{"spanId":"1"}]}`, "got a trace of Google Cloud Trace; "},
		{"a", `{"projectId":"p","spans":3}`, "got JSON; "},
		{"a", "FLR\x00\x02\x00\x01\x00", "got a recording of Java Flight Recorder (JFR); "},
		{"a", "*version\n3\ndata-file-overflow=false\nclock=dual\n", "got a method trace of Android (ART); "},
		{"a", "v8-version,6,0,287,53,0\nshared-library,\"/usr/local/bin/node\",1,2,0\n", "got a log of V8 (--prof); node --prof-process shows it; "},
		{"a", "version: 1\ncreator: xdebug 3.0.2\ncmd: index.php\npositions: line\n\nevents: Time\n", "got a profile of callgrind"},
		{"a", "version: 1\nother: text\n", "got text; "},
		{"a", netperf2, "got netperf of .NET Core 2.0 (version 1 or 2); "},
		{"a", strings.Replace(netperf2, "\x01\x02", "\x01\x03", 1), "netperf"}, // a preview of version 3
		{"a", strings.Replace(netperf3, "\x05\x00\x00\x00Trace", "\x08\x00\x00\x00TraceLog", 1), "an .etlx file"},
		{"a.etlx", serialization + "\x05\x05", "an .etlx file"},
		{"a", "\xfd7zXZ\x00\x00\x04", "got an xz file; "},
		{"a", "\xfd7zXZ\x00\x00\x04", "; decompress it: xz -dc FILE | ntconv info -"},
		{"a", "\x04\x22\x4d\x18\x64", "lz4 -dc FILE |"},
		{"a", strings.Repeat("x", 257) + "ustar\x0000", "tar -xOf FILE MEMBER | ntconv info -"},
		{"a", " <!DOCTYPE HTML>", "an HTML page"},
		{"a", "\xff\xfea\x00;\x00b\x00 \x001\x00", "text in UTF-16"},
		{"a", "\xfe\xff\x00a\x00;\x00b", "iconv -f UTF-16 -t UTF-8 FILE | ntconv info -"},
		{"a", "version https://git-lfs.github.com/spec/v1\noid sha256:00", "; git lfs pull fetches the file"},
		{"a", "go 1.22 trace\x00\x00\x00", "; go tool trace shows it"},
		{"a", "go 1.9 trace\x00\x00\x00\x00", "a Go execution trace"},
		{"a", "\xc1\x1f\xfc\xc1", "LTTng"},
		{"a.pftrace", "\x0a\x04\x08\x01", "traceconv json"},
		{"a", "MDMP\x93\xa7", "dotnet-dump analyze reads it"},
		{"a", gcdump, "gcdump"},
		{"a.gcdump", serialization + "\x05\x05", "gcdump"},
		{"a", serialization + "\x05\x05", "FastSerialization"},
		{"a", "\x7fELF\x02\x01\x01\x00", "ELF"},
		{"a", "PK\x03\x04\x14", "zip"},
		{"a", etl, ".etl"},
		{"a", `{"$schema":"https://www.speedscope.app/file-format-schema.json","x":1}`, "speedscope"},
		{"a", ` [ {"ph":"X","ts":1}`, "chrome"},
		{"a", `{"traceEvents":[]}`, "chrome"},
		{"a", "\ufeff{\"metadata\":{\"source\":\"DevTools\"},\n\"traceEvents\": [", "chrome"},
		{"a", `{"metadata":{"source":"DevTools","modifications":{"a":`, "chrome"},
		{"a", `{"schemaVersion":1,"deviceProperties":[{"id":0},{"id":`, "chrome"},
		{"a", `{"schemaVersion":1,"deviceProperties":[],"distributedInfo":{"ranks":[0, 1`, "chrome"},
		{"a", `{"schemaVersion":1,"deviceProperties":[],"username":`, "chrome"},
		{"a", `{"schemaVersion":1,"deviceProperties":[{"id":0},`, "chrome"},
		{"a", `{"nodes":[{"id":1,"callFrame":{}}]`, "chrome"},
		{"a", `[{"id":1}]`, "JSON"},
		{"a", `{"nodes":[{"id":1}]}`, "JSON"},
		{"a", "\ufeff\n{\"version\":\"1.0\", \"profiles\": [ {\"name\":\"x\",\"type\":\"evented\"", "speedscope"},
		{"a", `{"shared":{"frames":[{"name":"main"},{"name":"x`, "speedscope"},
		{"a", "# cmdline : perf record\n#\n\n            bash 1617 [003] 7035.200000: 250000 cpu-clock: \n\tffffffff8103ce3b f ([kernel.kallsyms])\n", "perf"},
		{"a", "bash 1617 cycles: \n\tffffffff8103ce3b f\n", "perf"},
		{"a", "bash 1617 7035.200000: 250000 cpu-clock:  4005d0 main (/bin/shop)\n\n", "perf"},
		{"a", `{"meta":{"preprocessedProfileVersion":57`, "firefox"},
		{"a", `{"meta":{"version":31,"startTime":1,"interval":1}}`, "firefox"},                       // as recorded: the importer refuses it
		{"a", `{"meta":{"interval":1,"categories":[{"name":"speedscope"}],"product":"x"`, "firefox"}, // a word does not decide
		{"a", `{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":"https://www.speedscope.app/file-format-schema.json"}}]}}]}`, "otlp"},
		{"a", `{"meta":{"startTime":1,"author":"me","title":"x"}}`, "JSON"},
		{"a", `{"profiles":[{"type":"admin"}]}`, "JSON"},
		{"a", `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"`, "chrome"},
		{"a", `{"head":{"callFrame":{"functionName":"(root)"`, "heap profile of V8"},
		{"a", "\xdc\xdfJSLB\x01\x00\x00\x00", "JSLB"},
		{"a", `{"requests":[{"resourceSpans":[]}]}`, "OTLP"},
		{"a", `{"a":1}`, "JSON"},
		{"a", "\ufeff{}", "JSON"},
		{"a", "just some words\n", "text"},
		{"a", "caf\xc3", "text"},
		{"a", "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x07\x0a\x01\x01\x12\x02\x01\x02", "pprof"},
		{"a", "heap profile: 1: 2 [ 3: 4 ] @ heap/1\n", "pprof"},
		{"a.pb.gz", "goroutine profile: total 9\n", "pprof"},
		{"a", "--- threadz 1 ---\n", "pprof"},
		{"a", "\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10", "pprof"},
		{"a", "\x01\x02\xff\x00garbage", "01 02 ff 00"},
	} {
		f, err := Detect(Readable(), c.name, []byte(c.head))
		switch {
		case f != nil && f.Name != c.want:
			t.Errorf("%q: %s, want %s", c.head, f.Name, c.want)
		case f == nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%q: %v, want %s", c.head, err, c.want)
		case f == nil:
			checkHelp(t, err)
		}
	}
}

// checkHelp fails unless an error states the expected formats and the next step.
func checkHelp(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "the file is empty; ") {
		return
	}
	for _, part := range []string{"unknown format: want nettrace, netperf, pprof, folded, ", " or perf, got ", "; "} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: no %q", err, part)
		}
	}
	if !errors.Is(err, ntconv.ErrFormat) || !IsUnknown(err) {
		t.Errorf("%v: not an error of the format", err)
	}
}

// A trace is recognized by the first bytes, because a live trace may not have more.
func TestSniffQuickly(t *testing.T) {
	for _, path := range traces(t) {
		if strings.Contains(path, "netperf") {
			continue // no live stream: the runtime writes that format to files
		}
		head := corpus.Read(t, path)[:SniffSize]
		if f := Sniff(Readable(), head); f == nil || f.Name != "nettrace" {
			t.Errorf("%s: %v", path, f)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("x.etl", []byte("Nettrace"))
	f.Add("x.gcdump", []byte(serialization))
	f.Add("x", []byte("\x0a\x04\x08\x01\x10\x02"))
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		got, err := Detect(Readable(), name, head)
		if (got == nil) == (err == nil) {
			t.Errorf("%v and %v", got, err)
		}
		if err != nil {
			checkHelp(t, err)
		}
	})
}

func TestSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Min(1).Draw(t, "bytes")
		if got, err := parseSize(formatSize(n)); err != nil || got != n {
			t.Fatalf("%d: %s, read as %d, %v", n, formatSize(n), got, err)
		}
	})
	for text, want := range map[string]int64{"0": 0, "4096": 4096, "64MiB": 64 << 20, "64M": 64 << 20, "1kb": 1000, "200MB": 200e6, "3TB": 3e12, "7b": 7, "2g": 2 << 30, "1ki": 1024, "1TiB": 1 << 40} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5G", "1X", "9223372036854775807K", "1 M", "1BB", "1iB2", "9223372037GB"} {
		if n, err := parseSize(text); err == nil {
			t.Errorf("%s: %d", text, n)
		}
	}
}

func TestReadFlags(t *testing.T) {
	var o ReadOptions
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.BindRead(flags)
	o.BindLimits(flags)
	err := flags.Parse([]string{"--order=file", "--strict", "--max-block", "1MiB", "--max-threads", "5"})
	if err != nil || o.Order != reader.FileOrder || !o.Strict || o.Limits.BlockBytes != 1<<20 || o.Limits.Threads != 5 {
		t.Errorf("%v, %+v", err, o)
	}
	for _, bad := range []string{"--order=size", "--max-block=0", "--max-block=x", "--max-threads=0", "--max-threads=-1"} {
		if err := flags.Parse([]string{bad}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	if got := strings.Join(Choices(flags.Lookup("order")), " "); got != "time file" {
		t.Errorf("choices of --order: %s", got)
	}
	if Choices(flags.Lookup("strict")) != nil {
		t.Error("choices of a flag that has none")
	}
}

// Every flag of a limit whose excess is an error sets the limit that the error reports, and is found by it, whatever
// the error's text says.
func TestLimitFlag(t *testing.T) {
	shapes := map[string]string{
		"max-block": "no-barrier", "max-types": "types", "max-fields": "fields", "max-field-depth": "nested-100", "max-name": "types",
		"max-threads": "threads", "max-label-lists": "labels", "max-tables": "types",
	}
	for _, f := range limitFlags(new(reader.Limits)) {
		if (f.limit != "") != (shapes[f.name] != "") {
			t.Errorf("--%s: no shape, or one in vain", f.name)
			continue
		} else if f.limit == "" {
			continue
		}
		var o ReadOptions
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.BindLimits(flags)
		if err := flags.Parse([]string{"--" + f.name + "=2"}); err != nil {
			t.Fatal(err)
		}
		src, err := nettraceOpener{}.Open(stream{r: bytes.NewReader(shape(t, shapes[f.name]))}, &o)
		if err == nil {
			_, err = ntconv.Copy(discard{}, src)
		}
		checkLimit(t, err, f, ntconv.LimitError{Limit: f.limit, Value: 2})
	}
	if f := LimitFlag(fmt.Errorf("x: %w", spool.CheckSize(2, 1))); f != "--"+FlagSpool {
		t.Errorf("%q for a temporary file", f)
	}
	for _, err := range []error{errors.New("threads"), ntconv.ErrLimit, &ntconv.LimitError{Limit: "pages"}, &ntconv.LimitError{Limit: writer.LimitBlock}} {
		if f := LimitFlag(err); f != "" {
			t.Errorf("%s for %v", f, err)
		}
	}
}

// TestCompressionFlag is TestLimitFlag for the limits on compressed input.
func TestCompressionFlag(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	inputs := map[string][]byte{
		"max-ratio": packed.Bytes(), "max-decompressed": packed.Bytes(), "max-zstd-window": {0x28, 0xb5, 0x2f, 0xfd, 0, 0x81, 1, 0, 0},
	}
	for _, f := range compressionFlags(new(fileio.Limits)) {
		var l fileio.Limits
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		BindCompression(flags, &l)
		if err := flags.Parse([]string{"--" + f.name + "=2"}); err != nil {
			t.Fatal(err)
		}
		in, err := fileio.FromReader("x", bytes.NewReader(inputs[f.name]), fileio.InputOptions{Limits: &l})
		if err != nil {
			t.Fatal(err)
		}
		s, err := in.Stream()
		if err == nil {
			_, err = io.Copy(io.Discard, s)
		}
		checkLimit(t, err, f, ntconv.LimitError{Limit: f.limit, Value: 2})
	}
}

// TestQuotaFlag is TestLimitFlag for the limit on what is written.
func TestQuotaFlag(t *testing.T) {
	for text, max := range map[string]int64{"0": 0, "2": 2, "1MiB": 1 << 20} {
		var q fileio.Quota
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		BindQuota(flags, &q)
		if n, fixed := q.Max(); n != 0 || fixed {
			t.Errorf("%d, %v without the flag", n, fixed)
		}
		if err := flags.Parse([]string{"--max-output", text}); err != nil {
			t.Fatal(err)
		}
		if n, fixed := q.Max(); n != max || !fixed {
			t.Errorf("--max-output %s: %d, %v", text, n, fixed)
		}
		err := q.Spend(2 << 20)
		if max == 0 {
			if err != nil {
				t.Errorf("without a limit: %v", err)
			}
			continue
		}
		checkLimit(t, err, quotaFlags(&q)[0], ntconv.LimitError{Limit: fileio.LimitWritten, Value: max})
	}
}

// checkLimit checks an error that a flag has caused. want.Asked may be any larger number.
func checkLimit(t *testing.T, err error, f limitFlag, want ntconv.LimitError) {
	t.Helper()
	var l *ntconv.LimitError
	if !errors.As(err, &l) || l.Limit != want.Limit || l.Value != want.Value || l.Asked <= l.Value {
		t.Errorf("--%s: %v", f.name, err)
	}
	for _, other := range append(limitFlags(new(reader.Limits)), compressionFlags(new(fileio.Limits))...) {
		if got := LimitFlag(fmt.Errorf("block of %s, --%s, raises it: %w", other.limit, other.name, err)); got != "--"+f.name {
			t.Errorf("--%s: advice is %q", f.name, got)
		}
	}
}

// shape returns a stream that exceeds limits.
func shape(t *testing.T, name string) []byte {
	t.Helper()
	for _, s := range tracegen.Shapes() {
		if s.Name == name {
			var b bytes.Buffer
			if err := s.Write(&b, 5000); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
	}
	t.Fatalf("no shape %q", name)
	return nil
}

// Only the nettrace output advises --allow-large, and only for what the flag makes it accept.
func TestAllowLarge(t *testing.T) {
	large := func(change func(*ntconv.Event)) *ntconv.Event {
		e := &ntconv.Event{Kind: ntconv.KindEvent, Type: &ntconv.Type{Provider: "P", Name: "E"}, Capture: &ntconv.Thread{TID: 1}, Time: 1}
		e.Thread = e.Capture
		change(e)
		return e
	}
	for name, c := range map[string]struct {
		event *ntconv.Event
		limit string
		want  [2]string // advice without the flag and with it
	}{
		"payload":  {large(func(e *ntconv.Event) { e.Payload = make([]byte, 1<<16) }), writer.LimitPayload, [2]string{"--allow-large", "none"}},
		"stack":    {large(func(e *ntconv.Event) { e.Stack = &ntconv.Stack{PCs: make([]uint64, 8191)} }), writer.LimitStack, [2]string{"--allow-large", "none"}},
		"type":     {large(func(e *ntconv.Event) { e.Type.Name = strings.Repeat("n", 1<<16) }), writer.LimitType, [2]string{"", ""}},
		"a block":  {large(func(e *ntconv.Event) { e.Payload = make([]byte, 1<<24) }), writer.LimitPayload, [2]string{"--allow-large", ""}},
		"all fine": {large(func(*ntconv.Event) {}), "", [2]string{"none", "none"}},
	} {
		for i, args := range [][]string{nil, {"--allow-large"}} {
			info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1}, PointerSize: 8}
			_, _, err := written(t, Nettrace(), ntconvtest.NewSource(info, c.event), "out", &Target{Report: new(ntconv.Report)}, args...)
			var l *ntconv.LimitError
			var advice *ntconv.AdviceError
			switch want := c.want[i]; {
			case want == "none" && err != nil, want != "none" && !errors.As(err, &l), want != "none" && i == 0 && l.Limit != c.limit:
				t.Errorf("%s, %v: %v", name, args, err)
			case want == "none":
			case errors.As(err, &advice) != (want != "") || advice != nil && !strings.Contains(advice.Advice, want):
				t.Errorf("%s, %v: advice %v", name, args, advice)
			}
		}
	}
}

type discard struct{}

func (discard) Write(*ntconv.Event) error { return nil }
func (discard) Close() error              { return nil }

func TestPprofFlags(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	creator := bindPprof(flags, true, false)
	for _, bad := range []string{"--kind=heap", "--gzip-level=x"} {
		if err := flags.Parse([]string{bad}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	if err := flags.Parse([]string{"--gzip-level=12"}); err != nil {
		t.Fatal(err)
	}
	if _, err := creator.create(fileio.NoOutputs(nil), &ntconv.Info{Clock: ntconv.Clock{Freq: 1}}, &Target{}); err == nil || !strings.Contains(err.Error(), "--gzip-level 12") {
		t.Error("gzip level 12 was accepted: ", err)
	}
}

// A directory belongs to the first format that knows its members.
func TestSniffDir(t *testing.T) {
	table := append(Readable(), &Format{Name: "parts", In: &In{SniffDir: func(members []string) bool { return len(members) == 2 }}})
	if f := SniffDir(table, []string{"a", "b"}); f == nil || f.Name != "parts" {
		t.Errorf("%v", f)
	}
	if f := SniffDir(table, []string{"a"}); f != nil {
		t.Errorf("%s", f.Name)
	}
}

// Every exporter works without a Namer: what has no symbol has a placeholder.
func TestExportersWithoutNames(t *testing.T) {
	for _, to := range Writable() {
		trace := "cpu-env"
		if to.Name == "otlp" {
			trace = "spans-stop" // no samples, but spans
		}
		if to.Name == "prometheus" {
			trace = "counters"
		}
		out, result, err := written(t, to, open(t, corpus.Path(trace+".nettrace.zst")), "out", &Target{Report: new(ntconv.Report)})
		if err != nil || result.Empty() != "" {
			t.Fatalf("%s: %v, no %s", to.Name, err, result.Empty())
		}
		checkOutput(t, to, out, result)
	}
}
