//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// liveTime returns how long windows are recorded.
func liveTime() time.Duration {
	if corpus.Nightly() {
		return 10 * time.Minute
	}
	return 8 * time.Second
}

// memory returns a number of /proc/PID/status in KiB, 0 if the process has ended.
func (s *started) memory(key string) (kib int) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid())) // of a process that has ended
	for text := range strings.Lines(string(data)) {
		if rest, found := strings.CutPrefix(text, key+":"); found {
			kib, _ = strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return kib
}

// A recordedWindow is what a test knows about a window.
type recordedWindow struct {
	path        string
	begin, made time.Time // by its name to the second; when its file appeared
}

// watch notes when files appear in a directory, until the program ends.
func (s *started) watch(t *testing.T, dir string, each func(recordedWindow)) {
	t.Helper()
	known := map[string]bool{}
	look := func() {
		entries, _ := os.ReadDir(dir) // is created with the first window
		for _, e := range entries {
			if !known[e.Name()] && !strings.HasPrefix(e.Name(), ".") {
				known[e.Name()] = true
				_, date, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".nettrace"), "_")
				begin, err := time.Parse("20060102_150405", date)
				must(t, err)
				each(recordedWindow{filepath.Join(dir, e.Name()), begin, time.Now()})
			}
		}
	}
	for {
		select {
		case <-s.ended:
			look()
			return
		case <-time.After(20 * time.Millisecond):
			look()
		}
	}
}

// unresolved returns the share of frames that are addresses.
func unresolved(t *testing.T, path string) (n, all int) {
	t.Helper()
	r := run(t, command, "print", "--json", "-q", "--frames", "--provider", sampler, path)
	for text := range strings.Lines(string(r.stdout)) {
		var e struct{ Stack [][3]string }
		must(t, json.Unmarshal([]byte(text), &e))
		for _, f := range e.Stack {
			all++
			if f[2] == "0x"+f[0] {
				n++
			}
		}
	}
	return n, all
}

// Windows have no gap: together they have the events of a recording of the whole time, each in its window, soon after its end,
// and with the names of methods. The memory of ntconv does not grow.
func TestLiveWindows(t *testing.T) {
	lasts := liveTime()
	l := startLive(t, "cpu", strconv.Itoa(int(lasts.Milliseconds())+60_000))
	whole := filepath.Join(l.dir, "whole.nettrace")
	ref := l.collect(t, whole, "--duration", (lasts + 6*time.Second).String())
	ref.grows(t, whole, 1)
	dir := filepath.Join(l.dir, "windows")
	own := l.collect(t, dir+"/", "--to", "nettrace", "--every", "1s", "--duration", lasts.String())
	var list []recordedWindow
	var resident []int
	own.watch(t, dir, func(w recordedWindow) {
		list = append(list, w)
		if kib := own.memory("VmRSS"); kib > 0 {
			resident = append(resident, kib)
		}
	})
	if code := own.wait(t); code != complete {
		t.Fatalf("exit code %d: %s", code, own.msg.String())
	}
	if code := ref.wait(t); code != complete {
		t.Fatalf("exit code %d: %s", code, ref.msg.String())
	}
	if len(list) < int(lasts.Seconds())-2 {
		t.Fatalf("%d windows in %v: %s", len(list), lasts, own.msg.String())
	}
	slices.SortFunc(list, func(a, b recordedWindow) int { return a.begin.Compare(b.begin) })
	var all []*line
	var first int64 // ticks of the first window's begin
	var latest time.Duration
	share := func(n, all int) float64 { return float64(n) / float64(max(1, all)) }
	most := share(unresolved(t, whole))
	for i, w := range list {
		if i > 0 && w.begin.Sub(list[i-1].begin).Round(time.Second) != time.Second {
			t.Errorf("window %d begins at %v, the one before at %v", i, w.begin, list[i-1].begin)
		}
		var info struct {
			Clock struct {
				Ticks int64     `json:"sync_ticks"`
				Time  time.Time `json:"sync_time"`
			}
		}
		must(t, json.Unmarshal(run(t, command, "info", "--json", w.path).stdout, &info))
		if i == 0 {
			first = info.Clock.Ticks
		}
		begin, end := first+int64(i)*1e9, first+int64(i+1)*1e9
		samples := 0
		for _, e := range recordedLines(t, w.path, complete) {
			switch {
			case e.Provider == "ntconv" || strings.Contains(string(e.Labels), "ntconv.replica"):
			case isNames(e): // at the end of the recording
			case e.Ticks < begin && beginsInterval[e.ID] && e.Provider == runtimeProvider: // the window has its end
				all = append(all, e)
			case e.Ticks < begin || e.Ticks >= end:
				t.Errorf("window %d has an event at %d, not from %d to %d: %s %d", i, e.Ticks, begin, end, e.Provider, e.ID)
			default:
				samples++
				all = append(all, e)
			}
		}
		if delay := w.made.Sub(info.Clock.Time.Add(time.Duration(end - info.Clock.Ticks))); i < len(list)-1 {
			latest = max(latest, delay)
		}
		if n, frames := unresolved(t, w.path); share(n, frames) > most+0.02 {
			t.Errorf("window %d: %d of %d frames have no name, %.1f%% of those of the whole recording", i, n, frames, 100*most)
		}
		if samples == 0 && i < len(list)-1 { // the last one may be shorter than the time between two samples
			t.Errorf("window %d is empty", i)
		}
	}
	t.Logf("%d windows, at most %v after their ends; %.2f%% of the frames of the whole have no name", len(list), latest.Round(time.Millisecond), 100*most)
	recordedAlike(t, all, recordedLines(t, whole, complete), 1000)
	if n := len(resident); n > 20 {
		t.Logf("resident memory: %d KiB after 10 windows, %d KiB in the middle, %d KiB at the end", resident[10], resident[n/2], resident[n-1])
		if resident[n-1] > 2*resident[n/2] {
			t.Error("the memory grows")
		}
	} else {
		t.Logf("resident memory: %d KiB", resident)
	}
}

// beginsInterval are events of the runtime that may be in the window of a later one: the begins of suspensions, what follows
// within them, of collections and of background compilations.
var beginsInterval = map[uint64]bool{1: true, 7: true, 8: true, 9: true, 145: true, 281: true, 283: true}

// A windowReceiver is a Pyroscope that is away at times. Windows have the same labels: their times distinguish them.
type windowReceiver struct {
	away    atomic.Bool
	mu      sync.Mutex
	refused int
	windows map[int64]int64 // samples by the time of a profile
}

// Push implements the service of Pyroscope.
func (p *windowReceiver) Push(_ context.Context, r *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away.Load() {
		p.refused++
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("away"))
	}
	for _, s := range r.Msg.Series {
		for _, raw := range s.Samples {
			received, err := profile.ParseData(raw.RawProfile)
			if err != nil {
				return nil, err
			}
			for _, one := range received.Sample {
				p.windows[received.TimeNanos] += one.Value[0]
			}
		}
	}
	return connect.NewResponse(new(pushv1.PushResponse)), nil
}

// A receiver that is away for some time gets all windows afterwards.
func TestLiveReceiverAway(t *testing.T) {
	atNight(t)
	l := startLive(t, "cpu", "120000")
	whole := filepath.Join(l.dir, "whole.nettrace")
	ref := l.collect(t, whole)
	ref.grows(t, whole, 1)
	got := &windowReceiver{windows: map[int64]int64{}}
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(got))
	s := httptest.NewServer(mux)
	defer s.Close()
	time.AfterFunc(4*time.Second, func() { got.away.Store(true) })
	time.AfterFunc(14*time.Second, func() { got.away.Store(false) })
	args := []string{"collect", "-p", strconv.Itoa(l.pid()), "--to", "pprof", "--endpoint", "pyroscope+" + s.URL, "--every", "1s", "--duration", "16s"}
	own := launch(t, liveEnv(t, l.dir), command, args...)
	if code := own.wait(t); code != complete {
		t.Errorf("exit code %d: %s", code, own.msg.String())
	}
	ref.signal(t, syscall.SIGINT)
	_ = ref.wait(t)
	from, to := int64(1)<<62, int64(0)
	arrived := 0
	for at, n := range got.windows {
		from, to = min(from, at), max(to, at)
		arrived += int(n)
	}
	want := 0
	for _, e := range recordedLines(t, whole, complete) {
		at, err := time.Parse(time.RFC3339Nano, e.Time)
		must(t, err)
		if isSample(e) && at.UnixNano() >= from && at.UnixNano() < to { // the last window has no known end
			want++
		}
	}
	arrived -= int(got.windows[to])
	t.Logf("%d profiles, %d requests were refused; %d samples in all but the last, %d in the whole recording", len(got.windows), got.refused, arrived, want)
	if n := (to - from + 1e9) / 1e9; int(n) != len(got.windows) || got.refused == 0 {
		t.Errorf("%d windows of %d seconds, %d refused: %s", len(got.windows), n, got.refused, own.msg.String())
	}
	if d := math.Abs(float64(arrived - want)); d > 3*math.Sqrt(float64(want)) {
		t.Errorf("%d samples arrived, want %d", arrived, want)
	}
}

// A receiver that does not return costs a bounded time after the end, is reported, and shows in the exit code.
func TestLiveReceiverGone(t *testing.T) {
	atNight(t)
	l := startLive(t, "cpu", "120000")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Error(w, "away", http.StatusServiceUnavailable)
	}))
	defer s.Close()
	for _, format := range [][]string{
		{"--to", "pprof", "--endpoint", "pyroscope+" + s.URL},
		{"--to", "otlp", "--signals", "profiles", "--protocol", "http/protobuf", "--endpoint", s.URL},
		{"--to", "pprof", "--endpoint", "pyroscope+http://127.0.0.1:9"}, // refuses connections
	} {
		begin := time.Now()
		args := append([]string{"collect", "-p", strconv.Itoa(l.pid()), "--every", "1s", "--duration", "4s"}, format...)
		own := launch(t, liveEnv(t, l.dir), command, args...)
		code := own.wait(t)
		if code != unwritten || !strings.Contains(own.msg.String(), "dropped") {
			t.Errorf("%q: exit code %d: %s", format, code, own.msg.String())
		}
		t.Logf("%q: ended after %v: %s", format, time.Since(begin).Round(time.Second), own.msg.String())
	}
	l.unharmedShop(t)
}

// unharmedShop is unharmed for a scenario without beats.
func (l *live) unharmedShop(t *testing.T) {
	t.Helper()
	out := filepath.Join(l.dir, "after.nettrace")
	if own := l.collect(t, out, "--duration", "500ms"); own.wait(t) != complete {
		t.Errorf("the next recording: exit code %d: %s", own.cmd.ProcessState.ExitCode(), own.msg.String())
	}
	if n := l.sessions(t); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// Processes that begin and end are recorded, each in windows of its own, and old windows are removed.
func TestLiveWindowsOfAll(t *testing.T) {
	atNight(t)
	dir := shortDir(t)
	out := filepath.Join(dir, "windows")
	args := []string{"collect", "--name", "shop", "--every", "1s", "--kind", "wall", "--to", "nettrace", "-o", out + "/"}
	own := launch(t, liveEnv(t, dir), command, args...)
	var mu sync.Mutex
	pids := map[string]int{}
	watched := make(chan struct{})
	go func() {
		own.watch(t, out, func(w recordedWindow) {
			mu.Lock()
			defer mu.Unlock()
			name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(w.path), "shop-"), "_")
			pids[name]++
		})
		close(watched)
	}()
	time.Sleep(time.Second)
	first, second := launchLive(t, dir, "cpu", "4000"), launchLive(t, dir, "cpu", "8000")
	first.wait(t)
	third := launchLive(t, dir, "cpu", "4000")
	third.wait(t)
	second.wait(t)
	time.Sleep(time.Second)
	own.signal(t, syscall.SIGINT)
	if code := own.wait(t); code != complete {
		t.Errorf("exit code %d: %s", code, own.msg.String())
	}
	<-watched
	for _, l := range []*live{first, second, third} {
		if n := pids[strconv.Itoa(l.pid())]; n < 2 {
			t.Errorf("process %d has %d windows: %v: %s", l.pid(), n, pids, own.msg.String())
		}
	}
	t.Logf("%v", pids)
}

// --keep-size and --keep bound the windows in a directory.
func TestLiveKeep(t *testing.T) {
	atNight(t)
	l := startLive(t, "cpu", "60000")
	for _, flag := range [][]string{{"--keep-size", "8KiB"}, {"--keep", "3s"}} {
		out := filepath.Join(l.dir, flag[0])
		own := l.collect(t, out+"/", append([]string{"--every", "1s", "--duration", "7s", "--to", "pprof"}, flag...)...)
		if code := own.wait(t); code != complete {
			t.Fatalf("%q: exit code %d: %s", flag, code, own.msg.String())
		}
		left := glob(t, filepath.Join(out, "*"))
		size := int64(0)
		for _, path := range left {
			info, err := os.Stat(path)
			must(t, err)
			size += info.Size()
		}
		made := strings.Count(own.msg.String(), "shop-") / 2
		t.Logf("%q: %d of %d windows are left, %d bytes", flag, len(left), made, size)
		if len(left) == 0 || flag[0] == "--keep" && len(left) > 5 || flag[0] == "--keep-size" && size > 8<<10 {
			t.Errorf("%q: %d windows are left, %d bytes", flag, len(left), size)
		}
	}
}
