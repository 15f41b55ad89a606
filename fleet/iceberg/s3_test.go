package iceberg

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/fleet/storefake"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/tables/catalog"
)

// Files and tables may be in an object store, with a catalog elsewhere. Keys have the bytes of the names, whatever characters these are.
func TestS3(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "warehouse")
	addTraces(t, set, "--typed", "none", "--service", "a/b c%+", "jit")
	server := storefake.New(t)
	server.Setenv(t)

	s := stateOf(t, set)
	local := make(map[string][]catalog.File)
	for i := range s.Tables {
		table := &s.Tables[i]
		local[table.Name] = append([]catalog.File(nil), table.Files...)
		for k := range table.Files {
			f := &table.Files[k]
			in, err := os.Open(f.Location)
			must(t, err)
			to := "s3://bucket/" + strings.TrimPrefix(f.Location, dir+"/")
			must(t, store.Write(to, in, store.CreateOptions{}))
			must(t, in.Close())
			f.Location = to
		}
	}
	l := openLake(t, &place{"sqlite:" + filepath.Join(dir, "catalog.db"), map[string]string{
		warehouseKey: "s3://bucket/lake", "s3.endpoint": server.URL, "s3.region": "us-east-1", "s3.force-virtual-addressing": "false",
		"s3.access-key-id": "id", "s3.secret-access-key": "secret",
	}})
	rows := int64(0)
	must(t, l.Publish(t.Context(), "ns", func() (*catalog.State, error) { return s, nil }, func(r catalog.Result) { rows += r.Rows }))
	if rows == 0 {
		t.Fatal("no rows")
	}
	for i := range s.Tables {
		if len(s.Tables[i].Files) == 0 {
			continue
		}
		table := tableOf(t, l, s.Tables[i].Name)
		n, got := icebergSums(t, table)
		if want := parquetSums(t, local[s.Tables[i].Name]); n != s.Tables[i].Rows() || !maps.Equal(got, want) || !strings.HasPrefix(table.MetadataLocation(), "s3://bucket/lake/") {
			t.Errorf("%s: %d rows at %s", s.Tables[i].Name, n, table.MetadataLocation())
		}
	}
}
