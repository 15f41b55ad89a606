package command

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/run/input"
)

// gzipped returns b compressed with gzip.
func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	must(t, z.Close())
	return out.Bytes()
}

// An input that cannot be sorted for lack of space is an error of the output, and says what to do.
func TestNoRoomForSorting(t *testing.T) {
	_, err := spool.Create(t.TempDir()+"/absent", "x", 0)
	err = inputFailure(&input.Error{Name: "calls.parquet", Err: err}, false)
	if codeOf(err) != exitOutput || !strings.Contains(err.Error(), "TMPDIR") || !strings.Contains(err.Error(), "calls.parquet") {
		t.Errorf("code %d: %v", codeOf(err), err)
	}
}
