package fileio

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// TestMain lets tests run this binary again as a process that may be killed.
func TestMain(m *testing.M) {
	if dest := os.Getenv("IOX_CHILD_DEST"); dest != "" {
		childMain(dest, os.Getenv("IOX_CHILD_CALL"))
		return
	}
	os.Exit(m.Run())
}

// childMain writes a file or directory and is killed before its n-th system call. For 0 it writes until the file size
// limit and reports the error.
func childMain(dest, call string) {
	n, err := strconv.Atoi(call)
	if err != nil {
		panic(err)
	}
	if n == 0 {
		signal.Ignore(syscall.Signal(25)) // SIGXFSZ; the write then fails with EFBIG
		limitFileSize(300 << 10)
	}
	files := newFile()
	if os.Getenv("IOX_CHILD_DIR") != "" {
		files = newFiles()
	}
	sys := &faultFS{n: n, kill: n > 0, noSync: true, aside: os.Getenv("IOX_CHILD_ASIDE") != ""}
	if n == 0 {
		sys.n = 1 << 20
	}
	fmt.Println(produce(dest, files, OutputOptions{Force: true, fs: sys}))
}

// child runs this test binary as a process that writes to dest; see childMain.
func child(dest string, call int, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "IOX_CHILD_DEST="+dest, "IOX_CHILD_CALL="+strconv.Itoa(call))
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// killSelf ends this process without a chance to clean up: SIGKILL on Unix.
func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Hour)
}

// A run is killed before its first system call, before the second, and so on, until one completes. The destination
// is the old file or directory or the whole new one, and what is left is removed by a run an hour later. Where the system
// cannot exchange two names, the old directory may be aside, but it is never gone.
func TestKilled(t *testing.T) {
	for _, c := range []struct {
		name       string
		old, files map[string]string
		env        []string
	}{
		{"file", oldFile, newFile(), nil},
		{"new", nil, newFiles(), []string{"IOX_CHILD_DIR=yes"}},
		{"replace", oldTree, newFiles(), []string{"IOX_CHILD_DIR=yes"}},
		{"replace in two steps", oldTree, newFiles(), []string{"IOX_CHILD_DIR=yes", "IOX_CHILD_ASIDE=yes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outcomes := map[string]int{}
			step := 5
			if corpus.Nightly() {
				step = 1
			}
			for n := 1; ; n += step {
				if n > 200 {
					t.Fatal("no end")
				}
				dir := t.TempDir()
				dest := filepath.Join(dir, "out")
				writeTree(t, dest, c.old)
				out, err := child(dest, n, c.env...).Output()
				got, left := treeOf(t, dest), temps(t, dir)
				if err == nil {
					if string(out) != "<nil>\n" || !sameTree(got, c.files) || len(left) > 0 {
						t.Fatalf("the run that was not killed said %q; left %q", out, left)
					}
					break
				}
				if len(out) > 0 {
					t.Fatalf("call %d: the child said %q", n, out)
				}
				outcome := killed(t, dir, got, c.old, c.files)
				outcomes[outcome]++
				if outcome == "neither" {
					t.Fatalf("killed before call %d: %d files at the destination, left %q", n, len(got), left)
				}
				removedLater(t, dest, left, needsDir(c.files))
			}
			if step == 1 && (outcomes["old"] < 10 || outcomes["new"] == 0 || (outcomes["aside"] > 0) != (len(c.env) == 2)) {
				t.Errorf("outcomes %v", outcomes)
			}
		})
	}
}

// killed returns what a killed run left at the destination.
func killed(t *testing.T, dir string, got, old, files map[string]string) string {
	t.Helper()
	aside, _ := filepath.Glob(filepath.Join(dir, ".ntconv-*"+asideSuffix))
	switch {
	case sameTree(got, files):
		return "new"
	case sameTree(got, old):
		return "old"
	case got == nil && len(aside) == 1 && sameTree(treeOf(t, aside[0]), old):
		return "aside"
	}
	return "neither"
}

// removedLater lets an hour pass and checks that the next run removes what is left, but not before.
func removedLater(t *testing.T, dest string, left []string, dir bool) {
	t.Helper()
	abort := func() []string {
		opts := OutputsOptions{OutputOptions: OutputOptions{Force: true}, Dir: dir}
		if err := createOutputs(t, dest, opts).Abort(); err != nil {
			t.Fatal(err)
		}
		return temps(t, filepath.Dir(dest))
	}
	if now := abort(); strings.Join(now, "") != strings.Join(left, "") {
		t.Errorf("a fresh temporary file or directory was removed: %q, now %q", left, now)
	}
	for _, name := range left {
		makeOld(t, name)
	}
	if now := abort(); len(now) > 0 {
		t.Errorf("left after an hour: %q", now)
	}
}

// The kernel stops the file in the middle of a buffer: the old file stays and the message says how far it got.
func TestFileSizeLimit(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("file size limits are set on linux and darwin only")
	}
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	writeTree(t, dest, oldFile)
	got, err := child(dest, 0).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := dest + ": write after 307200 bytes: file too large\n"
	if left := temps(t, dir); string(got) != want || !sameTree(treeOf(t, dest), oldFile) || len(left) != 0 {
		t.Errorf("child said %q, want %q; left %q", got, want, left)
	}
}
