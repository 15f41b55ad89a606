package command

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/faultinject"
)

// allFaults makes TestFaults inject every fault. Else it injects about faultSample of each kind in each run.
var allFaults = flag.Bool("faults", false, "inject a fault at every system call")

const faultSample = 1

// A faulty is a run of the command of which one system call after the other fails. IN represents an input, OUT for the
// destination.
type faulty struct {
	args  string
	in    string // trace of testdata, or the args of a run that makes it
	dest  string // name of the destination, "" if only standard output is written
	dir   bool   // the destination is a directory
	old   string // file in it before
	piped bool   // the input is a pipe

	sampled int // where the sample of the calls begins
}

var faultyRuns = []*faulty{
	{args: "to pprof -f -o OUT IN", in: "waits", dest: "x.pb.gz"},
	{args: "to pprof -o - IN", in: "waits"},
	{args: "to folded -f -o OUT IN", in: "waits", dest: "x.folded"},
	{args: "to nettrace -f -o OUT IN", in: "waits", dest: "x.nettrace"},
	{args: "to otlp -f -o OUT IN", in: "activities", dest: "x.jsonl"},
	{args: "to parquet -f -o OUT IN", in: "activities", dest: "x", dir: true, old: "events.parquet"},
	{args: "to chrome -f -o OUT IN", in: "waits", dest: "x.json"},
	{args: "to chrome -f --split 64KiB -o OUT IN", in: "waits", dest: "x", dir: true, old: "part-0001.json.gz"},
	{args: "to perfetto -f -o OUT IN", in: "waits", dest: "x.pftrace"},
	{args: "to firefox -f -o OUT IN", in: "waits", dest: "x.firefox.json"},
	{args: "to speedscope -f -o OUT IN", in: "waits", dest: "x.speedscope.json"},
	{args: "to nettrace -f -o OUT IN", in: "to pprof -o OUT.pb.gz IN", dest: "x.nettrace"},
	{args: "to nettrace -f -o OUT IN", in: "to chrome -o OUT.json IN", dest: "x.nettrace"},
	{args: "to nettrace -f -o OUT IN", in: "to speedscope -o OUT.speedscope.json IN", dest: "x.nettrace"},
	{args: "to nettrace -f -o OUT IN", in: "to firefox -o OUT.firefox.json IN", dest: "x.nettrace"},
	{args: "to nettrace -f -o OUT IN", in: "to parquet -o OUT.dir/ IN", dest: "x.nettrace"},
	{args: "convert -f IN OUT", in: "waits", dest: "x.pb.gz"},
	{args: "filter -f --to-time 1s -o OUT IN", in: "waits", dest: "x.nettrace"},
	{args: "split -f --every 50ms IN OUT", in: "waits", dest: "x", dir: true, old: "waits-001.nettrace"},
	{args: "merge -f IN OUT", in: "waits", dest: "x.nettrace"},
	{args: "print --json -f -o OUT IN", in: "activities", dest: "x.jsonl"},
	{args: "to nettrace -f --from-time -1s -o OUT -", in: "waits", dest: "x.nettrace", piped: true},
	{args: "info IN", in: "waits"},
	{args: "top IN", in: "waits"},
	{args: "verify IN IN", in: "activities"},
	{args: "to parquet --dataset OUT IN", in: "activities", dest: "x", dir: true},
}

// faultKinds are the faults that each call gets.
var faultKinds = []struct {
	name  string
	fault faultinject.Fault
	only  string // names of calls, all if it is empty
}{
	{"disk full", faultinject.Fault{Err: syscall.ENOSPC}, "write pwrite64 fsync openat mkdirat renameat renameat2 linkat ftruncate"},
	{"disk full from now on", faultinject.Fault{Err: syscall.ENOSPC, Persist: true}, "write pwrite64 fsync openat mkdirat renameat renameat2"},
	{"i/o error", faultinject.Fault{Err: syscall.EIO}, ""},
	{"i/o error from now on", faultinject.Fault{Err: syscall.EIO, Persist: true}, ""},
	{"short", faultinject.Fault{Short: true}, "read pread64 write pwrite64"},
	{"interrupted", faultinject.Fault{Err: syscall.EINTR}, "read pread64 write pwrite64 openat fsync flock"},
	{"again", faultinject.Fault{Err: syscall.EAGAIN}, "read pread64 write pwrite64"},
	{"killed", faultinject.Fault{Kill: true}, ""},
}

// ignoredFaults are the calls that a run may do without, and why.
var ignoredFaults = map[string]string{
	"openat":     "a run opens the directory of the destination to look for what killed runs have left, and its temporary file to lock it",
	"getdents64": "the same",
	"flock":      "the same: the time stamp of a temporary file is renewed, too",
	"newfstatat": "the same: what cannot be examined stays",
	"statx":      "the same",
	"fstat":      "package os asks for the size of a file to read it at once, and reads it without",
	"lseek":      "an input that cannot seek is read like a pipe",
	"readlinkat": "a name that is not a link is used as it is",
	"close":      "nothing was written to the file, or it was synced before",
	"read":       "an interrupted call is made again, and a short one goes on",
	"pread64":    "the same",
	"write":      "the same",
	"pwrite64":   "the same",
	"fsync":      "an interrupted call is made again",
	"unlinkat":   "a temporary file that has lost its name is not removed again",
	"mkdirat":    "the directory exists",
}

// Whichever system call fails, for a moment or for good, and wherever the process is killed: a run that cannot do its
// work says so with the right exit code and names the file. The destination is as before or complete, and nothing else
// is left. Nothing panics or hangs.
func TestFaults(t *testing.T) {
	t.Parallel() // the work is done by other processes
	injected := map[string]int{}
	var total []int
	for i, run := range faultyRuns {
		name := run.args
		if strings.Contains(run.in, " ") {
			name = "from " + strings.Fields(run.in)[1]
		}
		if testing.Short() && run.dest != "x.pb.gz" {
			continue // the race detector makes many more calls
		}
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			run.prepare(t, root)
			clean := run.run(t, root, faultinject.Fault{})
			if code := clean.Status.ExitStatus(); code != 0 {
				t.Fatalf("exit code %d without a fault: %s", code, clean.stderr)
			}
			for j, k := range faultKinds {
				if !corpus.Nightly() && !*allFaults && (i+j)%run.fraction() > 0 {
					continue
				}
				run.sampled = len(name) + len(total)
				n := run.injectAll(t, clean, k.fault, strings.Fields(k.only))
				injected[k.name] += n
				total = append(total, n)
			}
		})
	}
	sum := 0
	for _, k := range slices.Sorted(maps.Keys(injected)) {
		t.Logf("%s: %d", k, injected[k])
		sum += injected[k]
	}
	t.Logf("%d faults in %d commands at most", sum, len(faultyRuns))
}

// A faultRun is one run with a fault.
type faultRun struct {
	faultinject.Result
	root, stdout, stderr string
	state                string // of the destination
}

// injectAll injects a fault at one call after the other until a run completes without, and returns the number of
// faults.
func (r *faulty) injectAll(t *testing.T, clean *faultRun, f faultinject.Fault, only []string) (injected int) {
	root := clean.root
	var all []int // calls of the clean run that get the fault
	for i, c := range clean.Calls {
		if len(only) == 0 || slices.Contains(only, c.Name) {
			all = append(all, i+1)
		}
	}
	if !*allFaults && len(all) > faultSample {
		r.sampled += 7 // other calls in each run
		for i := range faultSample {
			all[i] = all[(r.sampled+i*len(all)/faultSample)%len(all)]
		}
		all = all[:faultSample]
	}
	for i := 0; ; i++ {
		switch {
		case i < len(all):
			f.At = all[i]
		case *allFaults: // a run may make more calls than another one
			f.At = max(f.At, len(clean.Calls)) + 1
		default:
			return injected
		}
		got := r.run(t, root, f)
		if got.Hit == nil {
			return injected
		}
		if f.At > 10*len(clean.Calls)+100 {
			t.Fatalf("no end after %d calls", f.At)
		}
		injected++
		if err := r.check(clean, got, f); err != nil {
			t.Errorf("call %d, %s, %+v: %v\n%s", f.At, got.Hit, f, err, cmp.Or(got.stderr, "no message"))
		}
	}
}

// fraction is n if every n-th kind of fault is injected outside of nightly checks: a dataset has hundreds of directories.
func (r *faulty) fraction() int {
	if r.isDataset() {
		return 4
	}
	return 2
}

// prepare makes the input.
func (r *faulty) prepare(t *testing.T, root string) {
	t.Helper()
	in := filepath.Join(root, "in")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.in, " ") {
		write(t, in, "x.nettrace", unpacked(t, r.in))
		return
	}
	args := strings.NewReplacer("OUT", filepath.Join(in, "x"), "IN", trace(t, "waits")).Replace(r.in)
	if got := invoke(t, root, nil, strings.Fields(args)...); got.code != 0 {
		t.Fatalf("%s: %s", args, got.stderr)
	}
}

// run makes a run with a fault in a new destination.
func (r *faulty) run(t *testing.T, root string, f faultinject.Fault) *faultRun {
	t.Helper()
	out, tmp, in := filepath.Join(root, "out"), filepath.Join(root, "tmp"), filepath.Join(root, "in")
	for _, dir := range []string{out, tmp} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if dest := filepath.Join(out, r.dest); r.dir && !r.isDataset() {
		if err := os.Mkdir(dest, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, dest, r.old, []byte("old"))
	} else if r.dest != "" && !r.dir {
		write(t, out, r.dest, []byte("old"))
	}
	input := filepath.Join(in, files(t, in)[0])
	var args []string
	for _, arg := range strings.Fields(r.args) {
		switch arg {
		case "IN":
			arg = input
		case "OUT":
			arg = filepath.Join(out, r.dest)
		}
		args = append(args, arg)
	}
	got := &faultRun{root: root}
	result, err := r.trace(t, got, input, args, f)
	if err != nil {
		if f == (faultinject.Fault{}) {
			t.Skipf("system calls cannot be traced here: %v", err)
		}
		t.Fatal(err)
	}
	if got.Result = *result; !r.isDataset() {
		got.state = stateOf(t, filepath.Join(out, r.dest))
	} else if f == (faultinject.Fault{}) {
		got.state = datasetState(filepath.Join(out, r.dest))
	}
	return got
}

// trace runs the command.
func (r *faulty) trace(t *testing.T, got *faultRun, input string, args []string, f faultinject.Fault) (*faultinject.Result, error) {
	stdin, err := os.Open(os.DevNull)
	if r.piped {
		var w *os.File
		stdin, w, err = os.Pipe()
		if err == nil {
			go func() {
				b, _ := os.ReadFile(input)
				_, _ = w.Write(b) // the reader may have ended
				w.Close()
			}()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var streams [2]*os.File
	for i := range streams {
		if streams[i], err = os.Create(filepath.Join(got.root, fmt.Sprint("stream", i))); err != nil {
			t.Fatal(err)
		}
		defer streams[i].Close()
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	result, err := faultinject.Run(&faultinject.Command{
		Path: self, Args: args, Dir: got.root, Stdin: stdin, Stdout: streams[0], Stderr: streams[1],
		Env:   append(os.Environ(), asCommand+"=1", "TMPDIR="+filepath.Join(got.root, "tmp")),
		Files: []string{filepath.Join(got.root, "out"), filepath.Join(got.root, "tmp"), filepath.Join(got.root, "in")},
	}, f)
	for i, text := range []*string{&got.stdout, &got.stderr} {
		b, rerr := os.ReadFile(streams[i].Name())
		if rerr != nil {
			t.Fatal(rerr)
		}
		*text = string(b)
	}
	return result, err
}

// stateOf returns what a destination holds: "old", or a hash of all names and contents that do not change with the
// time.
func stateOf(t *testing.T, dest string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dest, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dest, path)
		b := []byte{}
		if !d.IsDir() && !strings.HasPrefix(d.Name(), "_") {
			if b, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		if string(b) == "old" {
			return errOld
		}
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(b))
		return nil
	})
	switch {
	case err == errOld:
		return "old"
	case err != nil:
		return "absent"
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

var errOld = fmt.Errorf("old")

// leftTemp are the names that a run which is killed may leave.
var leftTemp = regexp.MustCompile(`^\.ntconv-.*\.[0-9a-f]{16}\.tmp$`)

// check compares a run with one that had no fault.
func (r *faulty) check(clean, got *faultRun, f faultinject.Fault) error {
	left := r.left(got.root)
	if r.isDataset() { // the next run finishes what is decided, and finds each trace whole or not at all
		got.state = datasetState(filepath.Join(got.root, "out", r.dest))
	}
	if f.Kill {
		switch {
		case !got.Status.Signaled():
			return fmt.Errorf("not killed")
		case r.changed(clean, got) && got.state != clean.state:
			return fmt.Errorf("the destination is neither as before nor complete")
		}
		left = slices.DeleteFunc(left, func(name string) bool {
			return leftTemp.MatchString(name) || strings.HasPrefix(name, "tmp/ntconv-") || strings.HasPrefix(name, "x/_staging/")
		})
	}
	// A lock that could not be taken may be that of another run, so its file stays. It is empty, and the next run
	// removes it.
	left = slices.DeleteFunc(left, func(name string) bool {
		return strings.HasPrefix(name, "x/_staging/") && strings.HasSuffix(name, ".lock")
	})
	// Removing a directory opens and reads it first.
	unremovable := got.Hit.Name == "unlinkat" || f.Persist && (got.Hit.Name == "openat" || got.Hit.Name == "getdents64")
	if len(left) > 0 && (!unremovable || f.Kill) {
		return fmt.Errorf("left: %q", left)
	}
	if f.Kill {
		return nil
	}
	code := got.Status.ExitStatus()
	switch {
	case got.Status.Signaled() || strings.Contains(got.stderr, "goroutine ") || code == exitUsage:
		return fmt.Errorf("status %v", got.Status)
	case code == 0:
		if got.state != clean.state || got.stdout != clean.stdout {
			return fmt.Errorf("exit code 0, but the output is not complete")
		}
		if ignoredFaults[got.Hit.Name] == "" {
			return fmt.Errorf("exit code 0")
		}
		return nil
	}
	return r.checkFailure(clean, got, f, code)
}

// changed reports whether the destination is not as before.
func (r *faulty) changed(clean, got *faultRun) bool {
	switch {
	case r.isDataset():
		return got.state != "absent" && got.state != "0 traces"
	case r.dest == "":
		return got.state != clean.state && strings.Contains(got.stdout, "trace=")
	}
	return got.state != "old"
}

func (r *faulty) isDataset() bool { return strings.Contains(r.args, "--dataset") }

// datasetState returns the number of traces of a dataset after another run has opened it, what is wrong with it, or that there is
// none.
func datasetState(dir string) string {
	d, err := dataset.Open(dir)
	if errors.Is(err, dataset.ErrNotDataset) || errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	if err == nil {
		_, err = d.Clean()
	}
	if err != nil {
		return err.Error()
	}
	v, err := d.Verify(&dataset.Check{})
	if err != nil || len(v.Problems) > 0 {
		return fmt.Sprint(err, v)
	}
	return fmt.Sprint(v.Traces, " traces")
}

// checkFailure checks a run that has failed.
func (r *faulty) checkFailure(clean, got *faultRun, f faultinject.Fault, code int) error {
	input := strings.HasPrefix(got.Hit.Path, filepath.Join(got.root, "in")) || got.Hit.Path == "stdin"
	copied := strings.HasPrefix(got.Hit.Path, filepath.Join(got.root, "tmp")) && !got.Hit.Write // the input's copy
	switch {
	case (f.Persist || copied) && (code == exitInput || code == exitIncomplete || code == exitOutput): // a later call may have been the one
	case input && code != exitInput && code != exitIncomplete, !input && code != exitOutput:
		return fmt.Errorf("exit code %d", code)
	}
	switch {
	case r.changed(clean, got) && code != exitIncomplete && !(got.state == clean.state && got.Hit.Name != "write"):
		return fmt.Errorf("exit code %d, and the destination is not as before", code)
	}
	under, _ := filepath.Rel(filepath.Join(got.root, "in"), got.Hit.Path)
	under, _, _ = strings.Cut(under, "/") // an input that is a directory is named, not its files
	names := []string{filepath.Base(got.Hit.Path), under, r.dest, "standard output", "standard input", "copy of the input", "temporary file"}
	if f.Persist {
		names = append(names, "x.") // or an input: a later call may have been the one
	}
	named := slices.ContainsFunc(names, func(name string) bool { return name != "" && strings.Contains(got.stderr, name) })
	if !named || !f.Short && !f.Persist && !strings.Contains(got.stderr, f.Err.Error()) {
		return fmt.Errorf("the message does not name file and cause")
	}
	return nil
}

// left returns the files that a run has left next to the destination.
func (r *faulty) left(root string) (names []string) {
	for _, dir := range []string{"out", "tmp"} {
		_ = filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(filepath.Join(root, dir), path)
			if name == "." {
				return nil
			}
			if dir == "tmp" {
				names = append(names, "tmp/"+name)
				return nil
			}
			if staging := r.dest + "/_staging/"; strings.HasPrefix(name, staging) || !strings.HasPrefix(name, r.dest) {
				names = append(names, name)
			}
			if d.IsDir() && leftTemp.MatchString(d.Name()) {
				return fs.SkipDir
			}
			return nil
		})
	}
	return names
}
