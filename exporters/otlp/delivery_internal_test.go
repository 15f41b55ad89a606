package otlp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// A receiver is an Uploader that stores the spans it receives.
type receiver struct {
	t      testing.TB
	answer func(ctx context.Context, call, spans int) error // nil takes everything

	mu      sync.Mutex
	calls   int
	active  int
	highest int                   // number of calls at a time
	batches [][]string            // names of the spans of accepted requests
	raw     []*tracepb.TracesData // accepted requests
	kept    [][2][]byte           // all requests, and their copies
}

func (r *receiver) Upload(ctx context.Context, signal Signal, request []byte, spans int) error {
	if signal != Traces {
		return nil
	}
	data := decodeProto(r.t, request)
	var names []string
	for _, s := range spangen.FromProto(data) {
		names = append(names, s.Name)
	}
	if len(names) != spans {
		r.t.Errorf("%d spans in a request of %d", len(names), spans)
	}
	r.mu.Lock()
	r.kept = append(r.kept, [2][]byte{request, bytes.Clone(request)})
	r.calls++
	call := r.calls
	r.active++
	r.highest = max(r.highest, r.active)
	r.mu.Unlock()
	var err error
	if r.answer != nil {
		err = r.answer(ctx, call, len(names))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active--
	var partial *PartialSuccessError
	if err == nil || errors.As(err, &partial) {
		r.batches, r.raw = append(r.batches, names), append(r.raw, data)
	}
	return err
}

// sizes returns the number of spans of each accepted request.
func (r *receiver) sizes() (all []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.batches {
		all = append(all, len(b))
	}
	return all
}

// check fails if the spans with these numbers were not received once and in order, or if a request was changed later.
func (r *receiver) check(from, to int) {
	r.t.Helper()
	var want []string
	for i := from; i < to; i++ {
		want = append(want, fmt.Sprint(i))
	}
	if got := slices.Concat(r.batches...); !slices.Equal(got, want) {
		r.t.Errorf("got %d spans, want %d to %d: %v", len(got), from, to, got)
	}
	if slices.ContainsFunc(r.kept, func(k [2][]byte) bool { return !bytes.Equal(k[0], k[1]) }) {
		r.t.Error("a request was changed after it had been sent")
	}
}

// send adds spans 0 to n-1 to a sink.
func send(s *Sink, n int) {
	for i := range n {
		sp := numbered(i, shop)
		sp.Scope = scopes[0] // one scope: requests keep the order
		sp.Name = fmt.Sprint(i)
		s.add(sp)
	}
}

// newTestSink returns a sink of spans that does not wait for names, unless o states otherwise.
func newTestSink(ctx context.Context, u Uploader, o *Options) *Sink {
	var own Options
	if o != nil {
		own = *o
	}
	own.NameWait, own.Signals = cmp.Or(own.NameWait, -1), cmp.Or(own.Signals, SignalSet(Traces))
	o = &own
	return New(ctx, u, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}, nil, o)
}

// checkSummary checks that each span is counted exactly once.
func checkSummary(t *testing.T, s Summary) {
	t.Helper()
	if s.Items != s.Sent+s.Rejected+s.Unsent+s.Unconfirmed || min(s.Sent, s.Rejected, s.Unsent, s.Unconfirmed) < 0 {
		t.Errorf("spans with no fate or several: %+v", s)
	}
}

func TestBatches(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want []int
	}{
		{Options{}, []int{512, 512, 276}},
		{Options{BatchItems: 600}, []int{600, 600, 100}},
		{Options{BatchItems: 2000}, []int{1300}},
		{Options{BatchItems: 2000, BatchBytes: 100}, slices.Repeat([]int{1}, 1300)},
	} {
		r := &receiver{t: t}
		var progress []int64
		c.o.Progress = func(n int64) { progress = append(progress, n) }
		s := newTestSink(t.Context(), r, &c.o)
		send(s, 1300)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r.check(0, 1300)
		sum := s.Summary()
		checkSummary(t, sum)
		if !slices.Equal(r.sizes(), c.want) || sum.Batches != int64(len(c.want)) || sum.Sent != 1300 {
			t.Errorf("batches %v, want %v; %+v", r.sizes(), c.want, sum)
		}
		size := 0
		for _, data := range r.raw {
			size += proto.Size(data)
		}
		if sum.Bytes != int64(size) {
			t.Errorf("%d bytes, want %d", sum.Bytes, size)
		}
		if len(progress) != len(c.want) || !slices.IsSorted(progress) || progress[len(progress)-1] != 1300 {
			t.Errorf("progress %v", progress)
		}
		if err := s.Close(); err != nil || r.calls != len(c.want) {
			t.Errorf("second Close: %v, %d calls", err, r.calls)
		}
	}
}

// TestBatchBytes checks that no batch exceeds the limit, including the first batch of a process, whose resource is
// built when the batch is sent.
func TestBatchBytes(t *testing.T) {
	const limit = 20_000
	r := &receiver{t: t}
	s := newTestSink(t.Context(), r, &Options{
		BatchBytes: limit, ServiceName: strings.Repeat("s", 3000), Resource: ntconv.Attrs{{Key: "k", Value: strings.Repeat("v", 3000)}},
	})
	for i := range 300 {
		p := &ntconv.Process{PID: uint64(i / 100), Name: "shop"}
		s.processes.of(p).Command = strings.Repeat("c", 3000)
		s.add(numbered(i, p))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if sum := s.Summary(); sum.Sent != 300 {
		t.Errorf("%+v", sum)
	}
	for i, data := range r.raw {
		if n := proto.Size(data); n > limit {
			t.Errorf("batch %d of %d has %d bytes", i, len(r.raw), n)
		}
	}
}

// TestTooLarge checks that all spans arrive once and in order even if requests must be very small, and that only spans
// that are too large by themselves are rejected.
func TestTooLarge(t *testing.T) {
	tooLarge := fmt.Errorf("413: %w", ErrTooLarge)
	for _, limit := range []int{1, 2, 7, 100, 300, 511, 512} {
		r := &receiver{t: t, answer: func(_ context.Context, _, spans int) error {
			if spans > limit {
				return tooLarge
			}
			return nil
		}}
		s := newTestSink(t.Context(), r, nil)
		send(s, 700)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r.check(0, 700)
		sum := s.Summary()
		checkSummary(t, sum)
		if sum.Sent != 700 || sum.Halved != sum.Batches-2 || slices.Max(r.sizes()) > limit {
			t.Errorf("limit %d: %+v, batches %v", limit, sum, r.sizes())
		}
		if n := len(r.sizes()); n > 2*700/limit+2 {
			t.Errorf("limit %d: %d requests: the parts are not halves", limit, n)
		}
	}
	report := new(ntconv.Report)
	r := &receiver{t: t, answer: func(context.Context, int, int) error { return tooLarge }}
	s := newTestSink(t.Context(), r, &Options{Report: report})
	send(s, 5)
	if err := s.Close(); err != nil || s.Summary().Rejected != 5 || s.Summary().Halved != 4 || report.Count(ntconv.CodeRejected) != 5 {
		t.Errorf("%v, %+v, %v", err, s.Summary(), report.Entries())
	}
}

// TestAllTooLarge checks that the sink stops if a receiver rejects every request as too large.
func TestAllTooLarge(t *testing.T) {
	r := &receiver{t: t, answer: func(context.Context, int, int) error { return ErrTooLarge }}
	s := newTestSink(t.Context(), r, nil)
	send(s, 5000)
	err := s.Close()
	sum := s.Summary()
	checkSummary(t, sum)
	if !errors.Is(err, ErrNotReceived) || r.calls > 200 || sum.Rejected != maxTooLarge || sum.Unsent != 5000-maxTooLarge {
		t.Errorf("%v after %d requests, %+v", err, r.calls, sum)
	}
}

func TestPartialSuccess(t *testing.T) {
	report := new(ntconv.Report)
	rejected := []int64{3, 0, 1 << 40, -1}
	r := &receiver{t: t, answer: func(_ context.Context, call, _ int) error {
		return fmt.Errorf("answer: %w", &PartialSuccessError{Rejected: rejected[call-1], Message: fmt.Sprint("message ", call)})
	}}
	s := newTestSink(t.Context(), r, &Options{BatchItems: 10, Report: report})
	send(s, 40)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sum := s.Summary()
	checkSummary(t, sum)
	if sum.Sent != 17 || sum.Rejected != 13 || sum.Unconfirmed != 10 || sum.Warnings != 1 || sum.Batches != 3 || sum.Message != "message 1" ||
		report.Count(ntconv.CodeRejected) != 13 || report.Count(ntconv.CodeUnconfirmed) != 10 || report.Worst() < ntconv.SeverityLoss {
		t.Errorf("%+v, %v", sum, report.Entries())
	}
}

// TestUnconfirmed checks that batches whose answer is unclear are counted, neither as sent nor as rejected, and that the
// upload continues.
func TestUnconfirmed(t *testing.T) {
	report := new(ntconv.Report)
	r := &receiver{t: t, answer: func(_ context.Context, call, _ int) error {
		if call == 2 {
			return fmt.Errorf("%w: cut", ErrUnconfirmed)
		}
		return nil
	}}
	s := newTestSink(t.Context(), r, &Options{BatchItems: 10, Report: report})
	send(s, 40)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sum := s.Summary()
	checkSummary(t, sum)
	if sum.Sent != 30 || sum.Unconfirmed != 10 || sum.Unsent != 0 || sum.Batches != 3 || !strings.Contains(sum.Message, "cut") ||
		report.Count(ntconv.CodeUnconfirmed) != 10 || report.Worst() < ntconv.SeverityLoss {
		t.Errorf("%+v, %v", sum, report.Entries())
	}
}

// TestFailure checks that a failure ends the upload, that the error states the outcome of each span, and that no span
// is sent twice.
func TestFailure(t *testing.T) {
	refused, opaque := fmt.Errorf("401: %w", ErrNotReceived), errors.New("connection reset")
	for _, failure := range []error{refused, opaque} {
		r := &receiver{t: t, answer: func(_ context.Context, call, _ int) error {
			if call >= 3 {
				return failure
			}
			return nil
		}}
		s := newTestSink(t.Context(), r, &Options{BatchItems: 10})
		send(s, 100)
		s.delivery.wait()
		err := s.Write(&ntconv.Event{Kind: ntconv.KindMark})
		var upload *UploadError
		if !errors.As(err, &upload) || !errors.Is(err, failure) {
			t.Fatalf("Write: %v", err)
		}
		if err := s.Close(); !errors.As(err, &upload) || !errors.Is(err, failure) {
			t.Fatalf("Close: %v", err)
		}
		r.check(0, 20)
		sum := s.Summary()
		checkSummary(t, sum)
		unconfirmed := int64(0)
		if failure == opaque {
			unconfirmed = 10
		}
		if r.calls != 3 || sum.Sent != 20 || sum.Unconfirmed != unconfirmed || sum.Unsent != 80-unconfirmed || upload.Sent != 20 ||
			upload.Unsent != sum.Unsent {
			t.Errorf("%d calls, %+v, %+v", r.calls, sum, upload)
		}
		if !strings.HasPrefix(err.Error(), "otlp: 20 spans delivered, ") {
			t.Errorf("error %q", err)
		}
	}
}

// TestFailureOfAHalf checks that the other half of a batch is not sent after a failure.
func TestFailureOfAHalf(t *testing.T) {
	r := &receiver{t: t, answer: func(_ context.Context, call, spans int) error {
		switch {
		case spans == 16:
			return ErrTooLarge
		case call == 2:
			return ErrNotReceived
		}
		return nil
	}}
	s := newTestSink(t.Context(), r, &Options{BatchItems: 16})
	send(s, 16)
	err := s.Close()
	if checkSummary(t, s.Summary()); !errors.Is(err, ErrNotReceived) || r.calls != 2 || s.Summary().Unsent != 16 {
		t.Errorf("%v, %d calls, %+v", err, r.calls, s.Summary())
	}
}

// TestCancel checks that the sink ends in bounded time when the context is done, whether or not the Uploader returns.
func TestCancel(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			hang := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			r := &receiver{t: t, answer: func(ctx context.Context, call, _ int) error {
				if call < 3 {
					return nil
				}
				if obeys {
					<-ctx.Done()
					return ctx.Err()
				}
				<-hang
				return nil
			}}
			closed := false
			s := newTestSink(ctx, r, &Options{BatchItems: 10, Progress: func(int64) {
				if closed {
					t.Error("progress after Close")
				}
			}})
			time.AfterFunc(time.Minute, cancel)
			begin := time.Now()
			send(s, 100) // waits for a batch until the context is done
			err := s.Close()
			if took := time.Since(begin); took < time.Minute || took > time.Minute+grace {
				t.Errorf("took %v", took)
			}
			sum := s.Summary()
			checkSummary(t, sum)
			if !errors.Is(err, context.Canceled) || sum.Sent != 20 || sum.Unconfirmed != 10 || sum.Unsent != 70 {
				t.Errorf("%v, %+v", err, sum)
			}
			closed = true
			close(hang) // an answer that comes too late changes nothing
			synctest.Wait()
			if late, _ := s.delivery.outcome([NumSignals]int64{100}); late.Sent != 20 || late.Unconfirmed != 10 {
				t.Errorf("%+v after Close", late)
			}
		})
	}
}

// TestFlushEvery checks that a span is sent in time although no event follows, and that full batches are not affected.
func TestFlushEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{t: t}
		s := newTestSink(t.Context(), r, &Options{BatchItems: 10, FlushEvery: time.Second})
		send(s, 13) // one full batch, three spans wait
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{10}) {
			t.Errorf("batches %v before the time", got)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{10, 3}) {
			t.Errorf("batches %v after the time", got)
		}
		time.Sleep(time.Hour)
		s.add(numbered(13, shop))
		time.Sleep(600 * time.Millisecond)
		for i := 14; i < 24; i++ { // fills the batch, so the next span has its own second
			s.add(numbered(i, shop))
		}
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{10, 3, 10}) {
			t.Errorf("batches %v: the timer of a batch that has left", got)
		}
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{10, 3, 10, 1}) {
			t.Errorf("batches %v: a later batch has no timer", got)
		}
		s.add(numbered(24, shop))
		s.expire() // as if the timer had fired while the batch before left
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{10, 3, 10, 1}) {
			t.Errorf("batches %v: a span left at once", got)
		}
		if err := s.Close(); err != nil || s.Summary().Sent != 25 {
			t.Errorf("%v, %+v", err, s.Summary())
		}
	})
}

// TestFlush checks that the receiver has all spans when Flush returns.
func TestFlush(t *testing.T) {
	r := &receiver{t: t}
	s := newTestSink(t.Context(), r, nil)
	for range 3 {
		send(s, 3)
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		r.check(0, 3)
		r.batches = nil
	}
	if err := s.Close(); err != nil || r.calls != 3 {
		t.Errorf("%v, %d calls", err, r.calls)
	}
}

// TestSlowReceiver checks that the caller waits, so that memory does not grow, and that uploads are concurrent if
// requested.
func TestSlowReceiver(t *testing.T) {
	for _, n := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			r := &receiver{t: t, answer: func(context.Context, int, int) error {
				time.Sleep(time.Second)
				return nil
			}}
			s := newTestSink(t.Context(), r, &Options{BatchItems: 10, Concurrency: n})
			send(s, 1000)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			got := slices.Concat(r.batches...)
			slices.Sort(got)
			if got = slices.Compact(got); len(got) != 1000 || r.highest != n || s.delivery.made > n+2 {
				t.Errorf("%d spans, %d calls at a time, %d batches", len(got), r.highest, s.delivery.made)
			}
		})
	}
}

// TestProgress checks that progress never decreases, also with concurrent uploads.
func TestProgress(t *testing.T) {
	const spans = 20_000
	last := int64(0)
	s := newTestSink(t.Context(), instant{}, &Options{BatchItems: 1, Concurrency: 8, Progress: func(n int64) {
		if n < last {
			t.Errorf("%d spans after %d", n, last)
		}
		last = n
		runtime.Gosched()
	}})
	send(s, spans)
	if err := s.Close(); err != nil || last != spans {
		t.Errorf("%v, progress ends at %d", err, last)
	}
}

// instant is an Uploader that accepts everything at once.
type instant struct{}

func (instant) Upload(context.Context, Signal, []byte, int) error { return nil }

// counting is an Uploader with statistics.
type counting struct{ *receiver }

func (counting) Stats() UploadStats { return UploadStats{Retries: 3, Doubled: 20} }

func TestStats(t *testing.T) {
	report := new(ntconv.Report)
	s := newTestSink(t.Context(), counting{&receiver{t: t}}, &Options{Report: report})
	send(s, 30)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if sum := s.Summary(); sum.Retries != 3 || sum.Doubled != 20 || report.Count(ntconv.CodeDoubled) != 20 {
		t.Errorf("%+v, %v", sum, report.Entries())
	}
}
