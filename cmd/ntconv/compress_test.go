package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ntconv/ntconv/internal/run/formats"
)

// decompressed returns what a file holds. The header of gzip data must have no time.
func decompressed(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r := io.Reader(bytes.NewReader(data))
	switch filepath.Ext(name) {
	case ".gz":
		if !bytes.Equal(data[4:8], make([]byte, 4)) {
			t.Errorf("%s: time % x in the gzip header, want none", name, data[4:8])
		}
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	case ".zst":
		z, err := zstd.NewReader(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer z.Close()
		r = z
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return data
}

// An output that is one file is compressed if its name ends with .gz or .zst: decompressed it is the output without
// that extension. The same input gives the same bytes, because gzip headers have no time.
func TestCompressedOutputs(t *testing.T) {
	const file = "cpu-env"
	written := 0
	for _, f := range formats.Writable() {
		name, flags := "x"+f.Exts[0], []string(nil)
		switch f.Name {
		case "pprof":
			name = "x.pb" // compressed although its name does not end with .gz
		case "perfetto":
			flags = []string{"--plain"} // files that are compressed as a whole have no compressed packets
		case "otlp", "parquet":
			continue // the trace has no spans; Parquet is not compressed as a whole
		}
		dir := t.TempDir()
		convert := func(name string, flags ...string) []byte {
			t.Helper()
			args := slices.Concat([]string{"to", f.Name, "-q", "-o", name, trace(t, file)}, flags)
			if r := invoke(t, dir, nil, args...); r.code != exitOK {
				t.Fatalf("%s: code %d: %s", name, r.code, r.stderr)
			}
			return decompressed(t, filepath.Join(dir, name))
		}
		want := convert(name, flags...)
		if f.Name == "pprof" {
			z, err := gzip.NewReader(bytes.NewReader(want))
			if err != nil {
				t.Fatal(err)
			}
			if want, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			if zipped := convert("y.pb.gz.zst"); !bytes.HasPrefix(zipped, []byte("\x1f\x8b")) {
				t.Errorf("y.pb.gz.zst is not a compressed y.pb.gz")
			}
		}
		for _, ext := range []string{".gz", ".zst", ".GZ"} {
			if got := convert(name + ext); ext != ".GZ" && !bytes.Equal(got, want) {
				t.Errorf("%s%s: %d bytes, want the %d of %s", name, ext, len(got), len(want), name)
			}
			info, err := os.Stat(filepath.Join(dir, name+ext))
			if err != nil || info.Size() >= int64(len(want)) {
				t.Errorf("%s%s: %v, %v bytes of %d", name, ext, err, info.Size(), len(want))
			}
			if r := invoke(t, dir, nil, "info", "--from", f.Name, name+ext); f.In != nil && r.code != exitOK {
				t.Errorf("%s%s cannot be read: %s", name, ext, r.stderr)
			}
			written++
		}
		r := invoke(t, dir, nil, "convert", trace(t, file), "z"+f.Exts[0]+".zst")
		if r.code != exitOK || len(decompressed(t, filepath.Join(dir, "z"+f.Exts[0]+".zst"))) == 0 {
			t.Errorf("convert to %s: code %d: %s", f.Name, r.code, r.stderr)
		}
	}
	if written < 18 {
		t.Errorf("%d outputs, want all formats", written)
	}
}

// No .gz file of any command has a time in its header, also not in a directory of parts.
func TestGzipHasNoTime(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"to", "pprof", trace(t, "cpu-env"), "-o", "a.pb.gz"},
		{"to", "pprof", "--gzip-level", "9", trace(t, "cpu-env"), "-o", "b.pb.gz"},
		{"to", "otlp", trace(t, "activities"), "-o", "c.jsonl.gz"},
		{"to", "chrome", "--split", "64KiB", trace(t, "cpu-env"), "-o", "parts/"},
		{"filter", trace(t, "cpu-env"), "d.nettrace.gz", "--event", "ThreadSample"},
	} {
		if r := invoke(t, dir, nil, args...); r.code != exitOK {
			t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
		}
	}
	checked := 0
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".gz") {
			decompressed(t, path)
			checked++
		}
		return err
	})
	if err != nil || checked < 5 {
		t.Errorf("%d files, error %v", checked, err)
	}
}
