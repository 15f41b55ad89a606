package formats

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A failing sink keeps events until it has n.
type failing struct {
	n      int
	events []*ntconv.Event
	closed int
}

var errFull = errors.New("full")

func (s *failing) Write(e *ntconv.Event) error {
	if len(s.events) == s.n {
		return errFull
	}
	s.events = append(s.events, e.Clone())
	return nil
}

func (s *failing) Close() error { s.closed++; return nil }

// numbered returns events, some of which have large payloads or none.
func numbered(n int) []*ntconv.Event {
	typ := &ntconv.Type{Provider: "Test", ID: 1}
	thread := &ntconv.Thread{Process: &ntconv.Process{PID: 1}}
	var list []*ntconv.Event
	for i := range n {
		payload := []byte(fmt.Sprint(i))
		switch i % 100 {
		case 7:
			payload = nil
		case 50:
			payload = make([]byte, asyncBytes/3)
			payload[i%len(payload)] = 1
		}
		list = append(list, &ntconv.Event{Kind: ntconv.KindEvent, Type: typ, Thread: thread, Capture: thread, Seq: uint32(i), Payload: payload})
	}
	return list
}

// TestAsync: the sink gets all events unchanged and in order, although the caller overwrites each after Write.
func TestAsync(t *testing.T) {
	for _, n := range []int{0, 1, asyncEvents - 1, asyncEvents, 10*asyncEvents + 3} {
		want := numbered(n)
		dst := &failing{n: -1}
		b := newAsyncSink(dst)
		info := &ntconv.Info{}
		if _, err := ntconv.Copy(b, ntconvtest.Poison(ntconvtest.NewSource(info, want...))); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil || dst.closed != 1 {
			t.Fatalf("closed %d times: %v", dst.closed, err)
		}
		if err := ntconvtest.EqualStreams(ntconvtest.NewSource(info, dst.events...), ntconvtest.NewSource(info, want...), nil); err != nil {
			t.Errorf("%d events: %v", n, err)
		}
	}
}

// TestAsyncFails: the error of any event is returned, and nothing is written or closed after it.
func TestAsyncFails(t *testing.T) {
	events := numbered(8 * asyncEvents)
	for _, n := range []int{0, 1, asyncEvents, 3 * asyncEvents, len(events) - 1} {
		dst := &failing{n: n}
		b := newAsyncSink(dst)
		_, err := ntconv.Copy(b, ntconvtest.NewSource(&ntconv.Info{}, events...))
		if err != nil {
			for range 3 * asyncEvents {
				if again := b.Write(events[0]); again != err {
					t.Fatalf("after %v: %v", err, again)
				}
			}
		}
		err = b.Close()
		if !errors.Is(err, errFull) || dst.closed != 0 || len(dst.events) != n {
			t.Errorf("failing at %d: %v, %d events, closed %d times", n, err, len(dst.events), dst.closed)
		}
	}
}
