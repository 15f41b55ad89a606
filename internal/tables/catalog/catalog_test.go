package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
)

// stub is a catalog of no library.
type stub struct{ Catalog }

// A program without catalogs says so; with some, an address is opened by its scheme, and a path by that of paths.
func TestOpen(t *testing.T) {
	if _, err := Open(t.Context(), "lake", nil); !errors.Is(err, ErrNone) {
		t.Errorf("without catalogs: %v", err)
	}
	var opened []string
	opener := func(name string) Opener {
		return func(_ context.Context, address string, properties map[string]string) (Catalog, error) {
			opened = append(opened, name+" "+address+" "+properties["key"])
			return stub{}, nil
		}
	}
	for _, scheme := range []string{"", "one", "rest+https"} {
		Register(scheme, opener("<"+scheme+">"))
		t.Cleanup(func() { delete(openers, scheme) })
	}
	for _, address := range []string{"lake", "/data/lake", `C:\lake`, "a/b:c", "one:x", "rest+https://host/x"} {
		if _, err := Open(t.Context(), address, map[string]string{"key": "value"}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	want := []string{"<> lake value", "<> /data/lake value", `<> C:\lake value`, "<> a/b:c value", "<one> one:x value", "<rest+https> rest+https://host/x value"}
	if !slices.Equal(opened, want) {
		t.Errorf("%q, want %q", opened, want)
	}
	for _, address := range []string{"", "two:x", "s3://bucket/lake"} {
		if _, err := Open(t.Context(), address, nil); !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "schemes one, rest+https") {
			t.Errorf("%s: %v", address, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a scheme was registered twice")
		}
	}()
	Register("one", opener("other"))
}

type row struct {
	ID int64 `parquet:"id"`
}

// add adds a trace of a service with a number of events to a dataset.
func add(t *testing.T, d *dataset.Dataset, service string, events int) {
	t.Helper()
	sum := sha256.Sum256([]byte(service))
	a, err := d.Begin(sum[:], nil)
	must(t, err)
	out, err := a.Outputs(fileio.OutputOptions{})
	must(t, err)
	for name, n := range map[string]int{"trace_info": 1, "events": events, "event_own": events} {
		m, err := out.Create(name + ".parquet")
		must(t, err)
		w := parquetwriter.NewWriter[row](m, &parquetwriter.Options{})
		must(t, errors.Join(w.Write(slices.Repeat([]row{{1}}, n)), w.Close(), m.Close()))
	}
	must(t, out.Commit())
	must(t, a.Commit(&dataset.Manifest{Schema: 1, Properties: dataset.Properties{Service: service, Start: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}}))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A state has all promised tables, the files with rows, their absolute locations and the values of their directories.
func TestState(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	d, err := dataset.Create("warehouse", dataset.Config{Schema: 1, Typed: []string{typedtable.None}})
	must(t, err)
	empty, err := Of(d)
	must(t, err)
	add(t, d, "a/b", 3)
	add(t, d, "shop", 0)
	s, err := Of(d)
	must(t, err)
	if s.Dataset != empty.Dataset || !dataset.IsUID(s.Dataset) || dataset.JoinKeys(s.Keys) != "day,service" {
		t.Errorf("identity %q, before %q; keys %v", s.Dataset, empty.Dataset, s.Keys)
	}
	if n := len(s.Tables); n != len(empty.Tables)+1 || s.Tables[n-1].Name != "trace_info" || s.Table("losses") == nil || s.Table("none") != nil {
		t.Errorf("%d tables, %d before", n, len(empty.Tables))
	}
	events := s.Table("events")
	if len(events.Files) != 1 || events.Rows() != 3 || !slices.Equal(events.Files[0].Values, []string{"2026-11-21", "a/b"}) ||
		!strings.HasPrefix(events.Files[0].Location, filepath.ToSlash(dir)+"/warehouse/events/day=2026-11-21/service=a%2Fb/") {
		t.Errorf("%+v", events)
	}
	var b bytes.Buffer
	must(t, events.Promised(&b))
	file, err := parquetreader.Open(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	must(t, err)
	if file.Rows() != 0 {
		t.Errorf("%d rows", file.Rows())
	}
	if own := s.Table("event_own"); own.Promised != nil || own.Rows() != 3 {
		t.Errorf("%+v", own)
	}
	if info := s.Table("trace_info"); len(info.Files) != 2 || info.Files[0].Location >= info.Files[1].Location || info.Hash() == events.Hash() ||
		empty.Table("events").Hash() != empty.Table("losses").Hash() {
		t.Errorf("%+v", info)
	}
	if missing := s.Select([]string{"events", "none"}); !slices.Equal(missing, []string{"none"}) || len(s.Tables) != 1 || !s.Partial {
		t.Errorf("missing %v, %d tables", missing, len(s.Tables))
	}
	if missing := empty.Select(nil); missing != nil || empty.Partial || len(empty.Tables) < 10 {
		t.Errorf("missing %v, %d tables", missing, len(empty.Tables))
	}
}
