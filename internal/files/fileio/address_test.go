package fileio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Addresses of stores are neither opened nor become files, unless a file has the name.
func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, says := range map[string]string{
		"s3://bucket/trace.nettrace": "aws s3 cp", "gs://b/x": "gcloud storage cp", "azblob://c/x/": "azcopy", "https://host/x": "only inputs", "file:///tmp/x": "path alone",
		"hdfs://x/y": "mount the store",
	} {
		_, opened := Open(name, InputOptions{Dir: true})
		_, created := Create(name, OutputOptions{})
		_, several := CreateOutputs(name, OutputsOptions{Dir: true})
		for _, err := range []error{opened, created, several} {
			var of *Error
			if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), says) || !errors.As(err, &of) || of.Name != name {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"a", "://x", "x:/y", "a b://c", "C:\\x"} {
		if err := CheckAddress(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "s3:", "bucket"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := CheckAddress("s3://bucket"); err != nil {
		t.Errorf("a directory of this name: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}
