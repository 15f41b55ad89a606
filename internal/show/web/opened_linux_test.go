package web

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/sys/unix"
)

// A guard detects whether files in directories are opened, which includes running them.
type guard struct {
	fd   int
	dirs map[int32]string
}

func newGuard(t *testing.T, dirs ...string) *guard {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skipf("no inotify: %v", err)
	}
	g := &guard{fd: fd, dirs: map[int32]string{}}
	for _, dir := range dirs {
		wd, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_CREATE|unix.IN_MODIFY)
		if err != nil {
			t.Fatal(err)
		}
		g.dirs[int32(wd)] = dir
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return g
}

// opened reports whether something was opened or created since the last call.
func (g *guard) opened() bool {
	n, err := unix.Read(g.fd, make([]byte, 1<<16))
	return err == nil && n > 0
}

// naming returns a profile that names files in a directory.
func naming(named string) *profile.Profile {
	p := shop()
	p.Mapping[0].File, p.Mapping[0].BuildID = filepath.Join(named, "prog"), "abcdef"
	p.Mapping = append(p.Mapping, &profile.Mapping{ID: 2, Start: 0x10000, Limit: 0x20000, File: "prog", BuildID: "../named"})
	for i, name := range []string{filepath.Join(named, "main.go"), "main.go", "named/main.go"} {
		p.Function[i].Filename = name
		p.Location[i].Line[0].Line = 1
	}
	p.DocURL = "http://127.0.0.1:1/"
	return p
}

// No page and no report opens a file that a profile names, looks into pprof's directories, or runs a tool.
func TestOpensNothing(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	home, binaries, tools, named := at("home"), at("binaries"), at("tools"), at("named")
	write(t, filepath.Join(home, ".config", "pprof", "settings.json"), `{"configs":[{"name":"saved","focus":"x"}]}`)
	write(t, filepath.Join(home, "pprof", "binaries", "prog"), "")
	write(t, filepath.Join(binaries, "prog"), "")
	write(t, filepath.Join(binaries, "abcdef", "prog"), "")
	write(t, filepath.Join(named, "prog"), "\x7fELF")
	write(t, filepath.Join(named, "main.go"), "secret\n")
	for _, name := range []string{"objdump", "nm", "addr2line", "llvm-symbolizer", "llvm-objdump", "llvm-nm", "go", "dot", "perf_to_profile", "xdg-open", "sensible-browser"} {
		write(t, filepath.Join(tools, name), "#!/bin/sh\n")
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("PATH", tools)
	t.Setenv("PPROF_BINARY_PATH", binaries)
	t.Setenv("PPROF_TOOLS", tools)
	t.Setenv("PPROF_TMPDIR", at("tmp"))
	t.Chdir(named)
	watch := newGuard(t, home, filepath.Join(home, ".config", "pprof"), filepath.Join(home, "pprof", "binaries"), binaries, filepath.Join(binaries, "abcdef"), tools, named, dir)

	if _, _, err := Top(naming(named), &TopOptions{}); err != nil {
		t.Error(err)
	}
	s := newTestServer(t, naming(named), &ServerOptions{})
	cookie := enter(t, s)
	for _, path := range append(paths, "/source?f=main", "/disasm?f=main&g=addresses", "/weblist?f=main", "/top?g=addresses", "/flamegraph?g=files") {
		get(s, cookie, path)
	}
	if watch.opened() {
		t.Error("a file was opened")
	}
	if os.Getenv("HOME") != home || os.Getenv("XDG_CONFIG_HOME") != "" {
		t.Error("the environment has changed")
	}

	// The guard detects the same requests with permission.
	permitted := newTestServer(t, naming(named), &ServerOptions{Sources: []string{named}, Graph: true})
	watch.opened() // the directory
	for _, path := range []string{"/source", "/graph"} {
		get(permitted, enter(t, permitted), path)
		if !watch.opened() {
			t.Errorf("%s with permission opens nothing, so the test shows nothing", path)
		}
	}
}

// A named pipe among the sources is not opened, because that would block.
func TestSourcePipe(t *testing.T) {
	dir := t.TempDir()
	s, err := openSources([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := s.lines("pipe", map[int64]bool{1: true})
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a named pipe was read")
		}
	case <-time.After(10 * time.Second):
		t.Error("opening a named pipe blocks")
	}
}
