//go:build unix

package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// part is the size of part.nettrace.
const part = 900_000

// followed returns a trace, and a directory with it and with a part of it.
func followed(t *testing.T) (data []byte, dir string) {
	t.Helper()
	data, dir = decompressed(t, corpus.Read(t, corpus.Path("otel-cpu.nettrace.zst"))), t.TempDir()
	write(t, dir, "whole.nettrace", data)
	write(t, dir, "part.nettrace", data[:part])
	return data, dir
}

// add appends to a file.
func add(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.Write(data)
	must(t, err)
	must(t, f.Close())
}

// A synced is a buffer that can be read while it is written.
type synced struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *synced) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *synced) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// --follow shows the events of a file while it grows, and ends with the trace: the output is that of the whole file.
func TestFollowGrowing(t *testing.T) {
	data, dir := followed(t)
	want := succeed(t, dir, "print", "--order", "file", "-q", "whole.nettrace").stdout
	name, out := filepath.Join(dir, "growing.nettrace"), new(synced)
	write(t, dir, "growing.nettrace", data[:500_000])
	cmd := command(t, dir, "print", "--order", "file", "-q", "--follow", name)
	cmd.Stdout = out
	must(t, cmd.Start())
	waitFor(t, "the first lines", func() bool { return len(out.String()) > 0 })
	n := len(out.String())
	add(t, name, data[500_000:part])
	waitFor(t, "more lines", func() bool { return len(out.String()) > n })
	if len(out.String()) >= len(want) {
		t.Error("the output is complete before the trace is")
	}
	add(t, name, data[part:])
	must(t, cmd.Wait())
	if out.String() != want {
		t.Errorf("%d bytes, want the %d of the whole file", len(out.String()), len(want))
	}
}

// After the first signal, the output equals that of the part that was read: of a file that grows, of a pipe that stays open,
// and in commands that read twice.
func TestFollowInterrupted(t *testing.T) {
	data, dir := followed(t)
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	for _, in := range []string{"part.nettrace", fifo} {
		for _, args := range [][]string{
			{"print", "--order", "file"}, {"to", "otlp", "--order", "file", "-o", "-"}, {"top", "-n", "5"}, {"print", "--from-time", "-1s"},
		} {
			t.Run(filepath.Base(in)+" "+strings.Join(args[:2], " "), func(t *testing.T) {
				want, _ := command(t, dir, append(args[:len(args):len(args)], "part.nettrace")...).Output() // fails, because the trace is truncated
				var out bytes.Buffer
				progress := new(synced)
				cmd := command(t, dir, append(args[:len(args):len(args)], "--follow", "--progress", "json", in)...)
				cmd.Stdout, cmd.Stderr = &out, progress
				must(t, cmd.Start())
				if in == fifo {
					w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
					must(t, err)
					defer w.Close()
					_, err = w.Write(data[:part])
					must(t, err)
				}
				waitFor(t, "the end of the file", func() bool { return strings.Contains(progress.String(), `bytes":900000,`) })
				must(t, cmd.Process.Signal(syscall.SIGINT))
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != exitIncomplete {
					t.Errorf("exit code %d, want that of a truncated trace: %s", code, progress)
				}
				if len(want) == 0 || out.String() != string(want) {
					t.Errorf("%d bytes, want the %d of the file", out.Len(), len(want))
				}
			})
		}
	}
}
