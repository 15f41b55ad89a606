package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

// recordable returns a fake .NET process with the PID of this one, whose sessions stream a trace of testdata. head is how much of
// it is sent before the session is stopped, from 0 to 1.
func recordable(t *testing.T, trace string, head float64) (dir string, r *fakeruntime.Runtime, data []byte) {
	t.Helper()
	dir, data = psDir(t), corpus.Trace(t, trace).Data
	r = fakeruntime.New(t)
	r.PID, r.Trace, r.Head, r.Assembly = uint64(os.Getpid()), data, int(head*float64(len(data))), "unlike-any"
	r.Piece = 4096
	r.Listen(t, dir, startTime(t))
	return dir, r, data
}

// A recording has the bytes that the process wrote, and every other format what converting these bytes gives.
func TestRecordFormats(t *testing.T) {
	for _, trace := range []string{"cpu-default", "alloc-verbose"} {
		dir, r, data := recordable(t, trace, 0.9)
		pid := fmt.Sprint(os.Getpid())
		succeed(t, dir, "collect", "-p", pid, "--duration", "200ms", "-o", "a.nettrace")
		if got, err := os.ReadFile(filepath.Join(dir, "a.nettrace")); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s: %v, %d bytes, want %d", trace, err, len(got), len(data))
		}
		if got := succeed(t, dir, "collect", "-n", "UNLIKE-any.dll", "--duration", "0:00:01", "-o", "-").stdout; got != string(data) {
			t.Errorf("%s: standard output has %d bytes, want %d", trace, len(got), len(data))
		}
		for _, out := range []string{"x.pb.gz", "x.folded", "x.json", "x.speedscope.json"} {
			succeed(t, dir, "collect", "-p", pid, "--duration", "100ms", "-o", "live-"+out)
			succeed(t, dir, "convert", "a.nettrace", "file-"+out)
			live, file := readable(t, dir, "live-"+out), readable(t, dir, "file-"+out)
			if live != file {
				t.Errorf("%s: %s of a process differs from that of its trace:\n%.300s\n%.300s", trace, out, live, file)
			}
		}
		for i, s := range r.Sessions() {
			select {
			case <-s.Done():
			case <-time.After(10 * time.Second):
				t.Errorf("%s: session %d was not ended", trace, i)
			}
		}
	}
}

// readable returns an output in a form that does not state the name of its input.
func readable(t *testing.T, dir, name string) string {
	t.Helper()
	if strings.HasSuffix(name, ".pb.gz") {
		return succeed(t, dir, "print", "--json", name).stdout
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	text := string(b)
	for _, input := range []string{fmt.Sprintf("process %d (unlike-any)", os.Getpid()), "a.nettrace"} {
		text = strings.ReplaceAll(text, input, "INPUT")
	}
	return text
}

// What is asked for follows from the flags.
func TestRecordRequests(t *testing.T) {
	dir, r, _ := recordable(t, "empty", 1)
	pid := fmt.Sprint(os.Getpid())
	for _, c := range []struct {
		flags   string
		command int
		rundown uint64
		want    string // providers
	}{
		{"", 2, 1, "Microsoft-Windows-DotNETRuntime:0x100003801d:4 Microsoft-DotNETCore-SampleProfiler:0x0:4"},
		{"--profile gc-collect", 4, 1, "Microsoft-Windows-DotNETRuntime:0x1:4 Microsoft-Windows-DotNETRuntimePrivate:0x1:4"},
		{"--kind contention", 5, 0x80000139, "Microsoft-Windows-DotNETRuntime:0x4018:4[81 91 141 142 143 144 151 152 153]"},
		{"--providers A:5:2 --rundown false", 2, 0, "A:0x5:2"},
		{"--profile gc-verbose --providers A:5:2", 2, 1, "Microsoft-Windows-DotNETRuntime:0x8003:5 A:0x5:2"},
		{"--to prometheus --rundown 0x80000139", 4, 0x80000139, "System.Diagnostics.Metrics:0x2:4 System.Runtime:0x0:4"},
		{"--to otlp --signals traces", 2, 0, "Microsoft-Diagnostics-DiagnosticSource:0x3:5"},
	} {
		before := len(r.Sessions())
		invoke(t, dir, nil, slices.Concat([]string{"collect", "-p", pid, "--duration", "10ms", "-f", "-o", "out", "--to", "nettrace"}, strings.Fields(c.flags))...)
		sessions := r.Sessions()
		if len(sessions) != before+1 {
			t.Errorf("%s: %d sessions", c.flags, len(sessions)-before)
			continue
		}
		s, got := sessions[before], ""
		for _, p := range s.Providers {
			got += fmt.Sprintf(" %s:%#x:%d", p.Name, p.Keywords, p.Level)
			if len(p.Events) > 0 {
				got += fmt.Sprint(p.Events)
			}
		}
		if s.Command != c.command || s.Rundown != c.rundown || strings.TrimSpace(got) != c.want {
			t.Errorf("%q: command %d rundown %#x:%s, want %d %#x: %s", c.flags, s.Command, s.Rundown, got, c.command, c.rundown, c.want)
		}
	}
}

// A process that is killed leaves a readable file, and one that exits a complete one.
func TestRecordEnds(t *testing.T) {
	for _, c := range []struct {
		end  func(*fakeruntime.Runtime)
		code int
	}{{(*fakeruntime.Runtime).Kill, exitIncomplete}, {(*fakeruntime.Runtime).Exit, exitOK}} {
		dir, r, data := recordable(t, "cpu-default", 0.7)
		go func() {
			for len(r.Sessions()) == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(100 * time.Millisecond)
			c.end(r)
		}()
		got := invoke(t, dir, nil, "collect", "-p", fmt.Sprint(os.Getpid()), "-o", "a.nettrace")
		file, err := os.ReadFile(filepath.Join(dir, "a.nettrace"))
		if err != nil || got.code != c.code || !bytes.HasPrefix(data, file) || len(file) < r.Head || c.code == exitOK && len(file) < len(data) {
			t.Errorf("code %d, want %d: %v, %d of %d bytes: %s", got.code, c.code, err, len(file), len(data), got.stderr)
		}
		if info := invoke(t, dir, nil, "info", "a.nettrace"); info.code != c.code {
			t.Errorf("info: code %d: %s", info.code, info.stderr)
		}
	}
}

// --stop-on ends a recording with an event, before the rest is asked for.
func TestRecordStopOn(t *testing.T) {
	for _, event := range []string{"ThreadSample", `$event == "ThreadSample" && $tid > 0`} {
		dir, r, data := recordable(t, "cpu-default", 0.8)
		succeed(t, dir, "collect", "-p", fmt.Sprint(os.Getpid()), "-o", "a.nettrace", "--stop-on", event)
		if file, err := os.ReadFile(filepath.Join(dir, "a.nettrace")); err != nil || !bytes.Equal(file, data) || len(r.Stops()) != 1 {
			t.Errorf("%s: %v, %d bytes, %d stops", event, err, len(file), len(r.Stops()))
		}
	}
}

// Nothing is recorded if the request cannot be fulfilled; the message states the next step.
func TestRecordRefusals(t *testing.T) {
	dir, r, _ := recordable(t, "empty", 1)
	pid := fmt.Sprint(os.Getpid())
	must(t, os.WriteFile(filepath.Join(dir, "there.nettrace"), nil, 0o666))
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"", "ntconv ps lists them", exitUsage},
		{"-p " + pid + " -n unlike-any", "want one process", exitUsage},
		{"-p " + pid + " trace.nettrace", "collect takes no inputs", exitUsage},
		{"-p " + pid + " --profile cpu", "no profile is called", exitUsage},
		{"-p " + pid + " --kind off-cpu", "can be recorded: wall, alloc", exitUsage},
		{"-p " + pid + " --providers A:1:9", "level", exitUsage},
		{"-p " + pid + " --duration 0", "want more than 0", exitUsage},
		{"-p " + pid + " --keep 1h", "needs --every", exitUsage},
		{"-p " + pid + " --every 10s", "name a directory", exitUsage},
		{"-p " + pid + " --every 10s --stop-on X --to pprof -o out/", "omit --stop-on", exitUsage},
		{"--every 10s --to pprof -o out/ -- true", "name it with --name", exitUsage},
		{"-p " + pid + " --event GC*", "select some with ntconv filter", exitUsage},
		{"-p " + pid + " -o there.nettrace", "-f overwrites it", exitOutput},
		{"-p 999999", "ntconv ps lists", exitInput},
		{"-n nobody", "ntconv ps lists", exitInput},
		{"-o x.unknown -p " + pid, "does not state a format", exitUsage},
	} {
		got := invoke(t, dir, nil, append([]string{"collect"}, strings.Fields(c.args)...)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: code %d, want %d and %q: %s", c.args, got.code, c.code, c.want, got.stderr)
		}
	}
	if n := len(r.Sessions()); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// The flags of every format can be combined with those of a recording.
func TestRecordFlags(t *testing.T) {
	for _, name := range formats.NamesOf(formats.Writable()) {
		if got := invoke(t, t.TempDir(), nil, "collect", "--to", name, "--help"); got.code != exitOK || !strings.Contains(got.stdout, "--stop-on") {
			t.Errorf("%s: code %d: %s", name, got.code, got.stderr)
		}
	}
}
