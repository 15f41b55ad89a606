package command

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// namesInTheMiddle returns a trace whose rundown follows its first samples instead of the last.
func namesInTheMiddle(t *testing.T) []byte {
	t.Helper()
	r, err := reader.New(bytes.NewReader(unpacked(t, "cpu-env")), nil)
	must(t, err)
	events, err := ntconvtest.Record(r)
	must(t, err)
	samples := 0
	place := func(e *ntconv.Event) int {
		switch {
		case e.Type == nil || e.Kind != ntconv.KindEvent || strings.HasSuffix(e.Type.Provider, "Rundown"):
			return 1
		case strings.HasSuffix(e.Type.Provider, "SampleProfiler"):
			if samples++; samples > 3 {
				return 2
			}
		}
		return 0
	}
	var parts [3][]*ntconv.Event
	for _, e := range events {
		i := place(e)
		if e.Kind == ntconv.KindEvent || e.Kind == ntconv.KindDefine {
			parts[i] = append(parts[i], e)
		}
	}
	var out bytes.Buffer
	w, err := writer.New(&out, r.Info(), &writer.Options{Renumber: true})
	must(t, err)
	at := ntconv.Ticks(0)
	for _, e := range slices.Concat(parts[0], parts[1], parts[2]) {
		at = max(at, e.Time)
		e.Time = at // later events have later times
		must(t, w.Write(e))
	}
	must(t, w.Close())
	return out.Bytes()
}

// TestNamesInTheMiddle: a trace with samples after its rundown gets all symbols, although the first pass skips most.
func TestNamesInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "in.nettrace", namesInTheMiddle(t))
	succeed(t, dir, "to", "pprof", "-o", "out.pb.gz", in)
	p := profileAt(t, dir+"/out.pb.gz")
	unnamed := 0
	for _, f := range p.Function {
		if strings.HasPrefix(f.Name, "0x") || strings.Contains(f.Name, "+0x") {
			unnamed++
		}
	}
	if unnamed > 0 || len(p.Function) < 20 {
		t.Errorf("%d of %d functions have no name", unnamed, len(p.Function))
	}
	// A pipe cannot be read again: the summary states what is missing, without advice to record with rundown, because
	// the trace has one.
	r := invoke(t, dir, namesInTheMiddle(t), "top", "-")
	if r.code != exitOK || !strings.Contains(r.stderr, "of frames are unresolved") || strings.Contains(r.stderr, "keep rundown") {
		t.Errorf("from a pipe: exit %d: %s", r.code, r.stderr)
	}
	if r := invoke(t, dir, nil, "top", in); r.code != exitOK || strings.Contains(r.stderr, "unresolved") {
		t.Errorf("top: exit %d: %s", r.code, r.stderr)
	}
}

// TestAnyOrder: a profile is the same whether the order of events is left to the command, which prefers that of the
// file, or not.
func TestAnyOrder(t *testing.T) {
	if checkAnyOrder(t, someTraces(t)) == 0 {
		t.Error("no trace has samples")
	}
	dir := t.TempDir()
	free, _ := bothOrders(t, write(t, dir, "in.nettrace", unpacked(t, "jit")))
	// Addresses are reused, in blocks that are not in file order.
	if byFile := invoke(t, dir, nil, "to", "pprof", "-q", "-o", "-", "--order", "file", "in.nettrace"); byFile.stdout == free.stdout {
		t.Error("the order makes no difference, which shows nothing")
	}
}

func TestAnyOrderOfReferenceData(t *testing.T) {
	if testing.Short() {
		t.Skip("150 MB are not converted in short mode")
	}
	files := corpus.SharedTraces(t)
	if !corpus.Nightly() { // recorders other than ours, and every third trace of ours
		files = slices.DeleteFunc(files, func(f corpus.File) bool { return strings.Contains(f.Path, "own") && len(f.Name)%3 > 0 })
	}
	checkAnyOrder(t, files)
}

// checkAnyOrder returns how many traces have samples.
func checkAnyOrder(t *testing.T, files []corpus.File) (profiles int) {
	for _, f := range files {
		t.Run(f.Name, func(t *testing.T) {
			free, byTime := bothOrders(t, write(t, t.TempDir(), "in.nettrace", f.Data))
			if free.stdout != byTime.stdout || free.code != byTime.code {
				t.Errorf("%d bytes, code %d; by time %d bytes, code %d", len(free.stdout), free.code, len(byTime.stdout), byTime.code)
			}
			if len(free.stdout) > 0 {
				profiles++
			}
		})
	}
	return profiles
}

// bothOrders makes profiles of a trace in the order that the command prefers and in time order.
func bothOrders(t *testing.T, in string) (free, byTime result) {
	t.Helper()
	args := []string{"to", "pprof", "-q", "--allow-prerelease", "-o", "-", in}
	return invoke(t, filepath.Dir(in), nil, args...), invoke(t, filepath.Dir(in), nil, append(args, "--order", "time")...)
}
