package iceberg

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	icetable "github.com/apache/iceberg-go/table"

	"github.com/ntconv/ntconv/internal/tables/catalog"
	"github.com/ntconv/ntconv/internal/tables/dataset"
)

func succeedRename(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.Rename(from, to))
}

// Only keys that the dataset has added partition a table, not columns of the table that have the same name.
func TestConstantKeys(t *testing.T) {
	for _, c := range []struct{ columns, keys, want string }{
		{"x trace day service", "day service", "day service"},
		{"service x trace day", "day service", "day"},
		{"x service trace day", "day service", "day"},
		{"host x trace", "host", ""},
		{"x host trace", "host", ""},
		{"x trace host", "host", "host"},
		{"host trace x service", "host service", ""},
		{"x", "day", ""},
	} {
		var fields []iceberg.NestedField
		for i, name := range strings.Fields(c.columns) {
			fields = append(fields, iceberg.NestedField{ID: i + 1, Name: name, Type: iceberg.PrimitiveTypes.String})
		}
		var keys []dataset.Key
		for _, name := range strings.Fields(c.keys) {
			keys = append(keys, dataset.Key(name))
		}
		var want []dataset.Key
		for _, name := range strings.Fields(c.want) {
			want = append(want, dataset.Key(name))
		}
		if got := constantKeys(iceberg.NewSchema(0, fields...), keys); !slices.Equal(got, want) {
			t.Errorf("columns %s, keys %s: %v, want %v", c.columns, c.keys, got, want)
		}
	}
}

// A file whose rows do not have the values of its directory is refused, because readers would report those of the directory.
func TestWrongPartition(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "--partition", "day,service,host", "jit")
	good := stateOf(t, set)
	for _, c := range []struct{ day, service, host, says string }{
		{"2026-11-21", "shop", "", ""},
		{"2026-11-22", "shop", "", "column day: want 2026-11-22 in all rows"},
		{"2026-11-21", "shoq", "", "column service: want shoq in all rows"},
		{"2026-11-21", "", "", "column service: want NULL in all rows"},
		{"2026-11-21", "shop", "x", "column host: want x in all rows"},
		{"21.11.2026", "shop", "", "column day: parsing time"},
	} {
		s := *good
		s.Tables = []catalog.Table{*s.Table("events")}
		s.Tables[0].Files = slices.Clone(s.Tables[0].Files)
		s.Tables[0].Files[0].Values = []string{c.day, c.service, c.host}
		l := openLake(t, directory(t.TempDir()))
		err := l.Publish(t.Context(), "ns", func() (*catalog.State, error) { return &s, nil }, func(catalog.Result) {})
		if c.says == "" {
			must(t, err)
		} else if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", s.Tables[0].Files[0].Values, err)
		}
	}
	s := *good
	s.Tables = []catalog.Table{*s.Table("events")}
	s.Tables[0].Files = slices.Clone(s.Tables[0].Files)
	s.Tables[0].Files[0].Rows++
	err := openLake(t, directory(t.TempDir())).Publish(t.Context(), "ns", func() (*catalog.State, error) { return &s, nil }, func(catalog.Result) {})
	if err == nil || !strings.Contains(err.Error(), "want 1912 rows") {
		t.Errorf("another number of rows: %v", err)
	}
}

// Snapshots that are expired disappear with their manifests, and with no file of the dataset.
func TestExpire(t *testing.T) {
	dir := t.TempDir()
	set, at := filepath.Join(dir, "warehouse"), directory(dir)
	addTraces(t, set, "--typed", "none", "jit")
	published(t, set, at)
	addTraces(t, set, "threads")
	published(t, set, at)
	l := openLake(t, at)
	manifests := func() int {
		names, err := filepath.Glob(filepath.Join(at.address, "ns", "events", "metadata", "*.avro"))
		must(t, err)
		return len(names)
	}
	if n := manifests(); n != 4 {
		t.Errorf("%d manifests and lists", n)
	}
	if r := published(t, set, at, "--expire-snapshots", "1h")["events"]; r.Expired != 0 {
		t.Errorf("%d young snapshots expired", r.Expired)
	}
	succeed(t, "", "dataset", "rm", set, traceOf(t, set, "jit"))
	if r := published(t, set, at, "--expire-snapshots", "0s")["events"]; r.Expired != 2 || r.Removed == 0 {
		t.Errorf("%+v", r)
	}
	events := tableOf(t, l, "events")
	if n := len(events.Metadata().Snapshots()); n != 1 || events.Properties()[icetable.GCEnabledKey] != "false" {
		t.Errorf("%d snapshots, properties %v", n, events.Properties())
	}
	if err := events.NewTransaction().ExpireSnapshots(); err == nil {
		t.Error("other programs may remove files")
	}
	if n := manifests(); n < 2 || n > 3 {
		t.Errorf("%d manifests and lists after the expiration", n)
	}
	compare(t, l, set)
	if out := succeed(t, "", "dataset", "verify", set); !strings.HasPrefix(out, "complete: 1 trace") {
		t.Error(out)
	}
	if r := published(t, set, at, "--expire-snapshots", "0s")["events"]; r.Expired+r.Added+r.Removed != 0 {
		t.Errorf("again: %+v", r)
	}
}

// A catalog of the configuration file of iceberg-go is opened by its name.
func TestNamedCatalog(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "jit")
	config := "catalog:\n  lake:\n    type: rest\n    uri: " + serveREST(t, filepath.Join(dir, "lake")) + "\n"
	must(t, os.WriteFile(filepath.Join(dir, ".iceberg-go.yaml"), []byte(config), 0o600))
	t.Setenv("GOICEBERG_HOME", dir)
	t.Setenv(tokenVariable, "secret")
	if r := published(t, set, &place{address: "iceberg:lake"})["events"]; !r.Created || r.Rows != 1911 {
		t.Errorf("%+v", r)
	}
	t.Setenv(tokenVariable, "wrong")
	code, _, stderr := invoke(t, "", append([]string{"dataset", "publish", set}, (&place{address: "iceberg:lake"}).args()...)...)
	if code != 6 || !strings.Contains(stderr, "iceberg:lake") || strings.Contains(stderr, "wrong") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

// The flag --table publishes only these tables.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	set, at := filepath.Join(dir, "warehouse"), directory(dir)
	addTraces(t, set, "--typed", "none", "jit")
	if results := published(t, set, at, "--table", "samples", "--table", "events"); len(results) != 2 || results["events"].Rows != 1911 {
		t.Errorf("%v", results)
	}
	if tables := tablesOf(t, openLake(t, at)); len(tables) != 2 {
		t.Errorf("%v", tables)
	}
	code, _, stderr := invoke(t, "", append([]string{"dataset", "publish", set, "--table", "evens"}, at.args()...)...)
	if code != 4 || !strings.Contains(stderr, "no table evens") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

// Addresses and catalogs that cannot be used are refused with what is wrong.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "jit")
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, c := range []struct {
		catalog, says string
		code          int
	}{
		{"s3://bucket/lake", "want a directory, or an address with one of the schemes glue, hadoop, iceberg, postgres, rest+http, rest+https, sqlite", 1},
		{"hadoop:s3://bucket/lake", "object stores do not have; name a catalog", 1},
		{"hadoop:", "hadoop: has no directory", 1},
		{"sqlite:", "sqlite: has no file", 1},
		{"iceberg:", "iceberg: has no name", 1},
		{"iceberg:none", "iceberg:none: .iceberg-go.yaml in the home directory, or in GOICEBERG_HOME, has no catalog of this name", 1},
		{filepath.Join(dir, "file"), "not a directory", 6},
		{"sqlite:" + filepath.Join(dir, "missing", "catalog.db"), "unable to open database file", 6},
		{"rest+http://user:secret@127.0.0.1:1/x?token=secret", "open catalog rest+http://127.0.0.1:1/x: ", 6},
		{"postgres://user:secret@127.0.0.1:1/x?sslmode=disable", "open catalog postgres://127.0.0.1:1/x: ", 6},
	} {
		code, _, stderr := invoke(t, dir, "dataset", "publish", set, "--catalog", c.catalog, "--namespace", "ns")
		if code != c.code || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "secret") {
			t.Errorf("%s: code %d: %s", c.catalog, code, stderr)
		}
	}
	d, err := dataset.Open(set)
	must(t, err)
	err = openLake(t, directory(dir)).Publish(t.Context(), "ns", func() (*catalog.State, error) { return nil, errKilled }, nil)
	if !errors.Is(err, errKilled) {
		t.Errorf("%v, %s", err, d.Dir())
	}
}
