package reader_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
)

var errStopped = errors.New("stopped by the test")

// A file that grows in small pieces yields the same events as the whole file, each piece while the file is still
// written; the end of the context ends the wait.
func TestFollow(t *testing.T) {
	data := traceBytes(t)
	want := countEvents(t, bytes.NewReader(data))
	name := filepath.Join(t.TempDir(), "growing.nettrace")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	go func() {
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+len(data)/3)
			_, _ = out.Write(rest[:n])
			rest = rest[n:]
			time.Sleep(20 * time.Millisecond)
		}
	}()
	src, err := reader.New(reader.Follow(ctx, in), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		_, err := src.Next()
		if err != nil {
			if !errors.Is(err, errStopped) {
				t.Fatalf("after %d events: %v, want the cause of the context", n, err)
			}
			break
		}
		if n++; n == want { // all events arrive before the context ends
			stop(errStopped)
		}
	}
	if n != want {
		t.Errorf("got %d events, want %d", n, want)
	}
}

// A read that waits for data ends with the context.
func TestFollowBlocked(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { stop(errStopped) })
	if _, err := reader.New(reader.Follow(ctx, r), nil); !errors.Is(err, errStopped) {
		t.Fatalf("got %v, want %v", err, errStopped)
	}
}

func traceBytes(t *testing.T) []byte {
	t.Helper()
	in, err := fileio.Open("../testdata/cpu-default.nettrace.zst", fileio.InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := in.Stream()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func countEvents(t *testing.T, r io.Reader) (n int) {
	t.Helper()
	src, err := reader.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
