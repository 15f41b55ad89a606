package command

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/agreement"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A trace says the same in all outputs, except for the differences that docs/agreement.md lists.
func TestAgreement(t *testing.T) {
	page := agreementPage(t)
	paths, err := filepath.Glob(corpus.Path("*.nettrace.zst"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	checkAgreement(t, page, paths)
}

// The reference data includes traces of other programs, versions and machines. A process of its own runs the commands,
// because a table of cobra keeps the flags of all of them, and so their state, and the limit on memory of the other
// tests counts what their process uses.
func TestAgreementReference(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: all outputs of all traces")
	}
	t.Parallel()
	paths := corpus.SharedPaths(t)
	const own = "NTCONV_TEST_AGREEMENT"
	if os.Getenv(own) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=0")
		child.Env = append(os.Environ(), own+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	checkAgreement(t, agreementPage(t), paths)
}

func agreementPage(t *testing.T) *agreement.Page {
	t.Helper()
	text, err := os.ReadFile("../../../docs/agreement.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := agreement.ParsePage(text)
	if err != nil {
		t.Fatalf("docs/agreement.md: %v", err)
	}
	return page
}

func checkAgreement(t *testing.T, page *agreement.Page, paths []string) {
	compared := map[string]bool{}
	for _, path := range paths {
		name, _, _ := strings.Cut(filepath.Base(path), ".net")
		t.Run(name, func(t *testing.T) {
			if code := run([]string{"info", "-q", "--max-memory", "0", path}, io.Discard, io.Discard); code == exitInput {
				return // of a preview of .NET, which no command reads
			}
			answers := answersOf(t, path)
			compared[name] = true
			for _, line := range agreement.Compare(name, answers, page) {
				t.Error(line)
			}
		})
	}
	for _, line := range page.Obsolete(compared) {
		t.Errorf("docs/agreement.md, %s", line)
	}
}

// answersOf makes each output of a trace once and returns what it states.
func answersOf(t *testing.T, path string) (answers []*agreement.Answer) {
	t.Helper()
	r := outputRun{t: t, in: path, dir: t.TempDir()}
	defer func() {
		if err := os.RemoveAll(r.dir); err != nil {
			t.Error(err)
		}
	}()
	add := func(a *agreement.Answer, err error) {
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		answers = append(answers, a)
	}
	add(agreement.Info(r.stdout("info", "--json", "--all")))
	if data := r.stdout("diff", "--json", "-n", "0", path); data != nil {
		add(agreement.Diff(data))
	}
	add(agreement.Profiles(r.files("pprof", "to", "pprof", "--kind", "all", "--type-as", "label")))
	add(agreement.Folded(r.files("folded", "to", "folded", "--kind", "all")))
	add(agreement.Stats(r.file("events.json", "print", "--stats", "--json", "-n", "0"),
		r.file("exceptions.json", "print", "--stats", "--json", "-n", "0", "--event", "ExceptionThrown", "--by", "ExceptionType")))
	add(agreement.Events(r.file("events.jsonl", "print", "--json", "--order", "time", "--event", agreement.EventNames)))
	reports := map[string][]byte{}
	for _, expression := range agreement.DuringExpressions() {
		reports[expression] = r.report("print", "--stats", "-f", "-o", filepath.Join(r.dir, "during"), "--during", expression, "--report", "json")
	}
	add(agreement.During(reports))
	if r.made("parquet", "to", "parquet", "--kind", "all") {
		tables, err := agreement.Parquet(filepath.Join(r.dir, "parquet"))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		answers = append(answers, tables...)
	}
	// Without a limit of its size, a page leaves nothing out.
	if data := r.file("page.html", "to", "html", "--native", "full", "--max-bytes", "1099511627776"); data != nil {
		parts, err := agreement.HTML(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		answers = append(answers, parts...)
	}
	for _, format := range []struct {
		read  func([]byte) (*agreement.Answer, error)
		name  string
		flags []string
	}{
		{agreement.OTLP, "spans.otlp", []string{"otlp", "--spans", "all,suspensions", "--unfinished", "close", "--form", "proto"}},
		{agreement.Chrome, "chrome.json", []string{"chrome"}},
		{agreement.Perfetto, "trace.perfetto-trace", []string{"perfetto"}},
		{agreement.Firefox, "firefox.json", []string{"firefox"}},
		{agreement.Speedscope, "speedscope.json", []string{"speedscope"}},
	} {
		if data := r.file(format.name, append([]string{"to"}, format.flags...)...); data != nil {
			add(format.read(data))
		}
	}
	return answers
}

// An outputRun runs the command on one trace.
type outputRun struct {
	t       *testing.T
	in, dir string
}

// run runs the command in this process and returns its outputs. It returns false if the trace has nothing of what was
// asked for.
func (r *outputRun) run(args ...string) (stdout, stderr []byte, ok bool) {
	r.t.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--max-memory", "0", r.in) // the limit counts what this process uses for all of them
	switch code := run(args, &out, &errs); code {
	case exitOK, exitIncomplete:
		return out.Bytes(), errs.Bytes(), true
	case exitEmpty:
		return nil, errs.Bytes(), false
	default:
		r.t.Fatalf("ntconv %s: code %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return nil, nil, false
}

// stdout returns what the command writes to standard output, nil if there is nothing to write.
func (r *outputRun) stdout(args ...string) []byte {
	r.t.Helper()
	out, _, ok := r.run(append(args, "-q")...)
	if !ok {
		return nil
	}
	return out
}

// file returns the file that the command writes, nil if there is nothing to write.
func (r *outputRun) file(name string, args ...string) []byte {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if _, _, ok := r.run(append(args, "-q", "-o", path)...); !ok {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// report returns the summary as JSON.
func (r *outputRun) report(args ...string) []byte {
	r.t.Helper()
	_, errs, _ := r.run(args...)
	return errs
}

// made writes a directory and reports whether there is something in it.
func (r *outputRun) made(name string, args ...string) bool {
	r.t.Helper()
	_, _, ok := r.run(append(args, "-q", "-o", filepath.Join(r.dir, name)+"/")...)
	return ok
}

// files writes a directory and returns the contents of its files by the kind of profile in their names.
func (r *outputRun) files(name string, args ...string) map[string][]byte {
	r.t.Helper()
	contents := map[string][]byte{}
	if !r.made(name, args...) {
		return contents
	}
	dir := filepath.Join(r.dir, name)
	for _, file := range files(r.t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			r.t.Fatal(err)
		}
		kind, _, _ := strings.Cut(file, ".")
		contents[kind] = data
	}
	return contents
}

// Whatever timelines show on a track of its own can be asked for as spans by the same name.
func TestAgreementTracks(t *testing.T) {
	for _, name := range []string{"gc", "jit", "contention", "waits", "requests", "exceptions"} {
		var errs bytes.Buffer
		path := trace(t, "waits")
		code := run([]string{"to", "otlp", "-q", "--max-memory", "0", "--spans", name, path, "-o", filepath.Join(t.TempDir(), "spans.otlp")}, &errs, &errs)
		if code != exitOK && code != exitEmpty {
			t.Errorf("--tracks has %s, --spans has not: code %d: %s", name, code, errs.String())
		}
	}
}
