package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/fakeruntime"
)

// totalOf returns the sum of the samples of a file, as top states it.
func totalOf(t *testing.T, dir, name string) int64 {
	t.Helper()
	var top struct {
		Total int64 `json:"total"`
	}
	must(t, json.Unmarshal([]byte(succeed(t, dir, "top", "-q", "--json", "--sample-type", "samples", name).stdout), &top))
	return top.Total
}

// The windows of a recording are files with its samples and the names of its methods. --keep removes old ones, and nothing else.
func TestRecordEvery(t *testing.T) {
	dir, r, data := recordable(t, "cpu-default", 0.5)
	must(t, os.WriteFile(filepath.Join(dir, "whole.nettrace"), data, 0o666))
	must(t, os.Mkdir(filepath.Join(dir, "out"), 0o777))
	const old, other, foreign = "shop-1_20200101_000000.pb.gz", "shop-1_20200101_000000.txt", "notes.pb.gz"
	for _, name := range []string{old, other, foreign} {
		must(t, os.WriteFile(filepath.Join(dir, "out", name), nil, 0o666))
	}
	got := succeed(t, dir, "collect", "-p", fmt.Sprint(os.Getpid()), "--every", "1s", "--duration", "1500ms", "--keep", "9000h", "--to", "pprof", "-o", "out")
	names, err := filepath.Glob(filepath.Join(dir, "out", "*"))
	must(t, err)
	sum := int64(0)
	for _, name := range names {
		switch base := filepath.Base(name); {
		case base == old:
			t.Errorf("%s was kept", old)
		case strings.HasPrefix(base, "unlike-any-"):
			sum += totalOf(t, dir, name)
		}
	}
	for _, name := range []string{other, foreign} {
		if !slices.Contains(names, filepath.Join(dir, "out", name)) {
			t.Errorf("%s was removed", name)
		}
	}
	if want := totalOf(t, dir, "whole.nettrace"); sum != want || want == 0 {
		t.Errorf("%d samples, want %d: %s", sum, want, got.stderr)
	}
	if strings.Contains(got.stderr, "unresolved") {
		t.Error(got.stderr)
	}
	for i, s := range r.Sessions() {
		select {
		case <-s.Done():
		default:
			t.Errorf("session %d was not ended", i)
		}
	}
}

// A receiver that is away for a while gets every window; one that stays away costs windows, and the exit code says so.
func TestRecordEveryReceiver(t *testing.T) {
	for _, c := range []struct {
		refused int64 // requests
		code    int
	}{{1, exitOK}, {1 << 30, exitOutput}} {
		if c.code == exitOutput && !corpus.Nightly() {
			continue // the end waits for the receiver
		}
		var requests, accepted atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) <= c.refused {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			accepted.Add(1)
		}))
		dir, _, _ := recordable(t, "cpu-default", 0.5)
		got := invoke(t, dir, nil, "collect", "-p", fmt.Sprint(os.Getpid()), "--every", "1s", "--duration", "1500ms",
			"--to", "pprof", "--endpoint", strings.Replace(server.URL, "http://", "pyroscope+http://", 1))
		server.Close()
		if lost := strings.Contains(got.stderr, "lost, because the receiver"); got.code != c.code || lost != (c.code == exitOutput) ||
			(accepted.Load() > 0) != (c.code == exitOK) {
			t.Errorf("%d refused: code %d, %d accepted: %s", c.refused, got.code, accepted.Load(), got.stderr)
		}
	}
}

// A recording of several that fails, or ends early, is in the exit code: 3 if other windows were delivered.
func TestRecordEveryFailed(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(r *fakeruntime.Runtime, data []byte)
		code int
		msg  string
	}{
		{"refused", func(r *fakeruntime.Runtime, _ []byte) {
			for _, version := range []string{"", "2", "3", "4", "5"} {
				r.SetFault("CollectTracing"+version, fakeruntime.Fail(0x80004005))
			}
		}, exitInput, "1 recording failed or ended early"},
		{"cut", func(r *fakeruntime.Runtime, data []byte) { r.Trace = data[:len(data)/2] }, exitIncomplete, "1 recording failed or ended early"},
		{"whole", func(*fakeruntime.Runtime, []byte) {}, exitOK, ""},
	} {
		dir, r, data := recordable(t, "cpu-default", 0.4)
		c.edit(r, data)
		got := invoke(t, dir, nil, "collect", "--name", "unlike-any", "--every", "1s", "--duration", "1200ms", "--to", "folded", "-o", "out/")
		if got.code != c.code || !strings.Contains(got.stderr, c.msg) || strings.Count(got.stderr, "): CollectTracing") > 1 {
			t.Errorf("%s: code %d, want %d: %s", c.name, got.code, c.code, got.stderr)
		}
	}
}

// The windows of a process are added to a dataset.
func TestRecordEveryDataset(t *testing.T) {
	dir, _, _ := recordable(t, "cpu-default", 0.5)
	got := succeed(t, dir, "collect", "--name", "unlike-any", "--every", "1s", "--duration", "1500ms", "--to", "parquet", "--dataset", "warehouse")
	if r := invoke(t, dir, nil, "dataset", "verify", "warehouse"); r.code != exitOK || !strings.HasPrefix(r.stdout, "complete: ") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if strings.Contains(got.stderr, "dropped") || !strings.Contains(got.stderr, " windows of processes called unlike-any") &&
		!strings.Contains(got.stderr, " window of processes called unlike-any") {
		t.Error(got.stderr)
	}
}
