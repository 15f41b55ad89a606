package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
)

// phrases are file names with words that occur in messages about limits, previews and next steps.
var phrases = []string{"block of flats", "threads in use", "label lists; too many fields", "name length", "preview", "a; record it again", "limit exceeded --max-ratio"}

// Advice follows from what failed, not from words in the name of the input.
func TestAdviceIgnoresNames(t *testing.T) {
	cpu := unpacked(t, "cpu-env")
	netperf2 := bytes.Clone(unpacked(t, "sources-netperf3"))
	netperf2[27] = 2 // the version of the Trace object: netperf of .NET Core 2.0
	version := bytes.Clone(cpu)
	version[35] = 68
	for i, c := range []struct {
		data []byte
		args string
		code int
		last string
	}{
		{cpu, "info --max-types 1", exitLimit, ": metadata: too many event types: limit 1, got 2; raise --max-types\n"},
		{cpu, "to pprof -o x --max-name 20", exitLimit, ": name length too large: limit 20 UTF-16 units, got 31; raise --max-name\n"},
		{storedTrace(t, "cpu-env"), "print --max-ratio 1 --max-decompressed 1KiB", exitLimit, "; raise --max-decompressed\n"},
		{netperf2, "info --from netperf", exitInput, ": not supported: this format of .NET Core 2.0 is not read; record with .NET Core 2.1 or later\n"},
		{version, "info", exitInput, "; a newer release of ntconv may read it\n"},
		{large(t), "to nettrace -o x", exitLimit, ": payload too large: limit 65535 bytes, got 70000 bytes; TraceEvent cannot read it, --allow-large writes it for other readers\n"},
		{large(t), "filter -o x", exitLimit, "; TraceEvent cannot read it, --allow-large writes it for other readers\n"},
	} {
		for j, name := range phrases {
			if corpus.IsOmitted(i+j, 4) {
				continue
			}
			dir := t.TempDir()
			write(t, dir, name+".nettrace", c.data)
			r := invoke(t, dir, nil, append(strings.Fields(c.args), name+".nettrace")...)
			text := r.stderr[:strings.Index(r.stderr+"\n", "\n")] + "\n"
			if r.code != c.code || !strings.HasSuffix(": "+strings.TrimPrefix(text, "ntconv: "), c.last) || strings.Count(text, "; raise") > 1 {
				t.Errorf("%s %q: code %d: %swant %s", c.args, name, r.code, r.stderr, c.last)
			}
		}
	}
}

// large returns a trace with an event that TraceEvent cannot read.
func large(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	s := wirestream.New(&b, wire.V4)
	s.Types(wirestream.Type{ID: 1, Provider: "P", Name: "E"})
	e := s.Events()
	payload := make([]byte, 70_000)
	e.Add(&wire.EventHeader{MetadataID: 1, Sequence: 1, Thread: 1, CaptureThread: 1, Time: 1e9, PayloadSize: uint32(len(payload))}, payload)
	e.Flush()
	s.End()
	must(t, s.Err())
	return b.Bytes()
}

// Files of a preview are rejected with two next steps, and the flag is the one that reads them.
func TestAdviceForPreviews(t *testing.T) {
	f := corpus.SharedTrace(t, "nettrace/perfview-prerelease-v4")
	dir := t.TempDir()
	write(t, dir, "a.nettrace", f.Data)
	r := invoke(t, dir, nil, "info", "a.nettrace")
	if r.code != exitInput || !strings.HasSuffix(r.stderr, "; record again with a released runtime; or try --allow-prerelease\n") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	r = invoke(t, dir, nil, "to", "parquet", "--dataset", "fleet", "a.nettrace")
	if r.code != exitInput || !strings.Contains(r.stderr, "a.nettrace: nettrace 4: byte 15992: ") || !strings.Contains(r.stderr, "; or try --allow-prerelease\n") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	succeed(t, dir, "info", "--allow-prerelease", "a.nettrace")
}

// The next step depends on the error's type and sentinels. Words of other errors in the message change nothing.
func TestNextStepOfTypes(t *testing.T) {
	words := "preview; record again, block of 5 bytes, threads in use"
	for _, c := range []struct {
		err    error
		strict bool
		want   string
	}{
		{fmt.Errorf("%s: %w", words, ntconv.ErrUnsupported), false, "a newer release of ntconv may read it"},
		{fmt.Errorf("%s: %w: %w", words, ntconv.ErrUnsupported, reader.ErrPrerelease), false, "or try --allow-prerelease"},
		{&ntconv.AdviceError{Err: ntconv.ErrUnsupported, Advice: "wait"}, false, ""},
		{fmt.Errorf("%s: %w", words, ntconv.ErrCorrupt), true, "without --strict the valid part is read"},
		{fmt.Errorf("%s: %w", words, fs.ErrNotExist), false, ""},
		{errors.New(words), false, ""},
	} {
		if got := nextStep(c.err, c.strict); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// The limit on memory comes with its advice, to which the command adds none. The name of the file has the other one.
func TestMemoryLimitError(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off") // the limit is not for the test process
	m := pass.MemoryLimit{Max: 1, Advice: "raise it"}
	m.Start()
	runtime.GC()
	err := m.Check()
	shown := inputFailure(&input.Error{Name: "--max-block; raise.nettrace", Err: err}, false)
	if text := shown.Error(); codeOf(shown) != exitLimit || !strings.HasSuffix(text, "; raise it") || strings.Count(text, "; raise") != 2 {
		t.Errorf("code %d: %s", codeOf(shown), text)
	}
}
