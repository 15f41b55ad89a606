package fileio

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

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

// childTree writes newFiles to a directory and is killed before its n-th system call.
func childTree(dest string) {
	n, err := strconv.Atoi(os.Getenv("IOX_CHILD_CALL"))
	if err != nil {
		panic(err)
	}
	sys := &faultFS{n: n, kill: true, noSync: true, aside: os.Getenv("IOX_CHILD_ASIDE") != ""}
	fmt.Println(produceTree(dest, newFiles(), OutputsOptions{OutputOptions: OutputOptions{Force: true, fs: sys}}))
}

// A run is killed before its first system call, before the second, and so on, until one completes. The destination
// is the old directory or the whole new one, and what is left is removed by a run an hour later. Where the system
// cannot exchange two names, the old directory may be aside, but it is never gone.
func TestKilledWhileWritingDirectory(t *testing.T) {
	files := newFiles()
	for _, c := range []struct {
		name  string
		old   map[string]string
		aside string
	}{
		{"new", nil, ""}, {"replace", map[string]string{"old": "tree"}, ""}, {"replace in two steps", map[string]string{"old": "tree"}, "yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			outcomes := map[string]int{}
			step := 1
			if testing.Short() {
				step = 7
			}
			for n := 1; ; n += step {
				if n > 200 {
					t.Fatal("no end")
				}
				dir := t.TempDir()
				dest := filepath.Join(dir, "out")
				if c.old != nil {
					writeTree(t, dest, c.old)
				}
				cmd := child("tree", dest)
				cmd.Env = append(cmd.Env, "IOX_CHILD_CALL="+strconv.Itoa(n), "IOX_CHILD_ASIDE="+c.aside)
				out, err := cmd.Output()
				got, left := treeOf(t, dest), temps(t, dir)
				if err == nil {
					if string(out) != "<nil>\n" || !maps.Equal(got, files) || len(left) > 0 {
						t.Fatalf("the run that was not killed said %q; left %q", out, left)
					}
					break
				}
				if len(out) > 0 {
					t.Fatalf("call %d: the child said %q", n, out)
				}
				outcome := killedTree(t, dir, got, c.old, files)
				outcomes[outcome]++
				if outcome == "neither" {
					t.Fatalf("killed before call %d: %d files at the destination, left %q", n, len(got), left)
				}
				removedLater(t, dest, left)
			}
			if step == 1 && (outcomes["old"] < 10 || outcomes["new"] == 0 || (outcomes["aside"] > 0) != (c.aside != "")) {
				t.Errorf("outcomes %v", outcomes)
			}
		})
	}
}

// killedTree returns what a killed run left at the destination.
func killedTree(t *testing.T, dir string, got, old, files map[string]string) string {
	t.Helper()
	aside, _ := filepath.Glob(filepath.Join(dir, ".ntconv-*"+asideSuffix))
	switch {
	case maps.Equal(got, files):
		return "new"
	case (got == nil) == (old == nil) && maps.Equal(got, old):
		return "old"
	case got == nil && len(aside) == 1 && maps.Equal(treeOf(t, aside[0]), old):
		return "aside"
	}
	return "neither"
}

// removedLater lets an hour pass and checks that the next run removes what is left, but not before.
func removedLater(t *testing.T, dest string, left []string) {
	t.Helper()
	abort := func() []string {
		opts := OutputsOptions{OutputOptions: OutputOptions{Force: true}, Dir: true}
		if err := createOutputs(t, dest, opts).Abort(); err != nil {
			t.Fatal(err)
		}
		return temps(t, filepath.Dir(dest))
	}
	if now := abort(); strings.Join(now, "") != strings.Join(left, "") {
		t.Errorf("a fresh temporary directory was removed: %q, now %q", left, now)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, dir := range left {
		err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
			if err == nil {
				err = os.Chtimes(p, old, old)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if now := abort(); len(now) > 0 {
		t.Errorf("left after an hour: %q", now)
	}
}
