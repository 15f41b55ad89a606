package pass

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

// The error contains its limit as data, and the advice once, at its end.
func TestCheck(t *testing.T) {
	l := started(t, 1)
	err := l.Check()
	var of *ntconv.LimitError
	if !errors.As(err, &of) || of.Limit != LimitMemory || of.Value != 1 || of.Asked < 1<<20 || of.Unit != "bytes" || !errors.Is(err, ntconv.ErrLimit) {
		t.Fatalf("%v", err)
	}
	if s := err.Error(); !strings.HasSuffix(s, "; raise it") || strings.Count(s, "raise it") != 1 {
		t.Error(s)
	}
	for _, max := range []int64{0, 1 << 50} {
		l.Max = max
		if err := l.Check(); err != nil {
			t.Errorf("limit %d: %v", max, err)
		}
	}
}

// started returns a limit whose metric has a value; the runtime sets it in the first garbage collection.
func started(t *testing.T, max int64) *MemoryLimit {
	t.Helper()
	t.Setenv("GOMEMLIMIT", "off") // otherwise Start would change the limit of the whole test process
	l := &MemoryLimit{Max: max, Advice: "raise it"}
	l.Start()
	runtime.GC()
	return l
}

// A source within the limit yields all its events. A source that exceeds it yields none, or those up to the next check.
func TestWatch(t *testing.T) {
	for _, tt := range []struct {
		first, later int64 // limits before and after the first event
		events       int
		failed       bool
	}{{0, 0, 3 * checkInterval, false}, {1, 1, 0, true}, {0, 1, checkInterval + 1, true}} {
		events := make([]*ntconv.Event, 3*checkInterval)
		for i := range events {
			events[i] = &ntconv.Event{Type: &ntconv.Type{}}
		}
		l := started(t, tt.first)
		src := l.Watch(ntconvtest.NewSource(&ntconv.Info{}, events...))
		n := 0
		_, err := src.Next()
		for ; err == nil; _, err = src.Next() {
			n++
			l.Max = tt.later
		}
		if n != tt.events || errors.Is(err, ntconv.ErrLimit) != tt.failed || !tt.failed && err != io.EOF {
			t.Errorf("%+v: %d events, %v", tt, n, err)
		}
	}
}

// The watch notices memory that no Check looks at. It calls End once, with the error of Check. Stop waits for that.
func TestEnd(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off")
	called := make(chan error, 2)
	l := &MemoryLimit{Max: 1 << 20, Advice: "raise it", End: func(err error) { called <- err }}
	l.Start()
	ballast := make([]byte, 4*l.last())
	runtime.GC()
	err := <-called
	l.Stop()
	runtime.KeepAlive(ballast)
	if MemoryCause(err) == nil || !strings.HasSuffix(err.Error(), "; raise it") || len(called) > 0 {
		t.Errorf("%v, and %d more", err, len(called))
	}
}

// After Stop the process is not ended, but Check still works.
func TestStop(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off")
	l := &MemoryLimit{Max: 1 << 20, Advice: "raise it", End: func(err error) { t.Error(err) }}
	l.Start()
	l.Stop()
	l.Stop()
	l.end(1 << 40) // the watch was about to do this
	ballast := make([]byte, 4<<20)
	runtime.GC()
	if l.Check() == nil {
		t.Error("no error of 4 MiB")
	}
	runtime.KeepAlive(ballast)
	unlimited := &MemoryLimit{}
	unlimited.Start()
	unlimited.Stop()
}

// Text that an exporter adds to the error is not part of its cause.
func TestWriter(t *testing.T) {
	var b bytes.Buffer
	l := started(t, 1<<50)
	w := l.Writer(&b)
	if _, err := w.Write(make([]byte, bytesInterval)); err != nil {
		t.Fatal(err)
	}
	l.Max = 1
	_, err := w.Write(make([]byte, bytesInterval+1))
	if wrapped := fmt.Errorf("exporter: %w", err); err == nil || b.Len() != bytesInterval || MemoryCause(wrapped) != err && MemoryCause(wrapped).Error() != err.Error() {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
	if err := MemoryCause(&ntconv.LimitError{Limit: "other"}); err != nil || MemoryCause(nil) != nil {
		t.Errorf("%v", err)
	}
}

// Reading the metrics is so cheap that the watch, with at most 1,000 reads per second, takes less than 1% of a CPU.
func BenchmarkWatch(b *testing.B) {
	samples := readMemory()
	for b.Loop() {
		metrics.Read(samples)
	}
}

// BenchmarkCheck measures a check within the limit.
func BenchmarkCheck(b *testing.B) {
	l := &MemoryLimit{Max: 1 << 50}
	for b.Loop() {
		if err := l.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
