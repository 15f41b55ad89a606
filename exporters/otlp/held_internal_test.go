package otlp

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/reader"
)

// TestNameWait checks that the first spans wait until their process has a name, for a limited time and size, and that
// they leave in order.
func TestNameWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{t: t}
		s := newTestSink(t.Context(), r, &Options{BatchItems: 10, FlushEvery: time.Second, NameWait: 3 * time.Second})
		send(s, 25)
		time.Sleep(2900 * time.Millisecond)
		synctest.Wait()
		if got := r.sizes(); len(got) != 0 {
			t.Errorf("batches %v before the time", got)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{10, 10, 5}) {
			t.Errorf("batches %v after the time", got)
		}
		r.check(0, 25)
		s.add(numbered(1, &ntconv.Process{PID: 43})) // nothing waits again
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{10, 10, 5, 1}) {
			t.Errorf("batches %v of another process", got)
		}
		if err := s.Close(); err != nil || s.Summary().Sent != 26 {
			t.Errorf("%v, %+v", err, s.Summary())
		}
	})
	r := &receiver{t: t}
	s := newTestSink(t.Context(), r, &Options{NameWait: time.Hour, FlushEvery: time.Hour})
	n := 0
	for size := 0; !s.held.ended && size < 2*maxHeld; n++ { // the timer, which ends it too, has an hour
		sp := numbered(n, shop)
		sp.StatusMessage = strings.Repeat("x", 1<<16)
		size += len(sp.StatusMessage)
		s.add(sp)
	}
	if size := n << 16; size < maxHeld || size > maxHeld+maxHeld/2 {
		t.Errorf("%d bytes waited, want %d", size, maxHeld)
	}
	if err := s.Close(); err != nil || s.Summary().Sent != int64(n) {
		t.Errorf("%v, %+v", err, s.Summary())
	}
}

// TestNameOfStream sends traces as a stream, which names the program last: no span has an unknown service.
func TestNameOfStream(t *testing.T) {
	for _, name := range []string{"spans-stop", "activities"} {
		for _, file := range []bool{false, true} {
			src, err := reader.NewBytes(corpus.Trace(t, name).Data, &reader.Options{Order: reader.ByTime})
			if err != nil {
				t.Fatal(err)
			}
			r := &receiver{t: t}
			o := &Options{BatchItems: 4, FlushEvery: time.Hour, Concurrency: 2}
			if file {
				o = &Options{BatchItems: 4}
			}
			s := New(t.Context(), r, src.Info(), nil, o)
			_, err = ntconv.Copy(s, src)
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			if sum := s.Summary(); sum.Unnamed != 0 || sum.Batches < 4 {
				t.Errorf("%s: %+v", name, sum)
			}
			for _, data := range r.raw {
				for _, sp := range spangen.FromProto(data) {
					for _, a := range sp.Resource.Attributes {
						if a.Key == attrServiceName && strings.HasPrefix(a.Value.Str(), "unknown") {
							t.Errorf("%s: a span of %s", name, a.Value.Str())
						}
					}
				}
			}
		}
	}
}
