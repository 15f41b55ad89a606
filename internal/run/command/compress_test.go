package command

import (
	"bytes"
	"compress/gzip"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// decompressed returns what a file of gzip or zstd holds, and other data as it is.
func decompressed(t *testing.T, data []byte) []byte {
	t.Helper()
	var r io.Reader
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(bytes.NewReader(data))
		must(t, err)
		r = z
	case bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(bytes.NewReader(data))
		must(t, err)
		defer z.Close()
		r = z
	default:
		return data
	}
	data, err := io.ReadAll(r)
	must(t, err)
	return data
}

// An output that is one file is compressed if its name ends with .gz or .zst: decompressed it is the output without
// that extension, and the header of gzip has no time. convert goes by the same names.
func TestCompressedOutputs(t *testing.T) {
	written := 0
	for i, f := range formats.Writable() {
		in := trace(t, "cpu-env")
		switch f.Name {
		case "parquet", "html":
			continue // not compressed as a whole
		case "otlp":
			in = trace(t, "spans-stop")
		case "prometheus":
			in = trace(t, "counters")
		}
		dir, name := t.TempDir(), "x"+f.Exts[0]
		convert := func(name string, args ...string) []byte {
			t.Helper()
			succeed(t, dir, append(args, "-q", "-o", name, in)...)
			b := contentAt(t, filepath.Join(dir, name))
			if strings.HasSuffix(name, ".gz") && !bytes.Equal(b[4:8], make([]byte, 4)) {
				t.Errorf("%s: time % x in the gzip header, want none", name, b[4:8])
			}
			return b
		}
		to := []string{"to", f.Name}
		var want []byte
		switch f.Name {
		case "perfetto":
			want = convert(name, append(to, "--plain")...) // files that are compressed as a whole have no compressed packets
		case "pprof":
			name = "x.pb"
			want = decompressed(t, convert(name, to...)) // compressed although its name does not end with .gz
			if zipped := decompressed(t, convert("y.pb.gz.zst", to...)); !bytes.HasPrefix(zipped, []byte("\x1f\x8b")) {
				t.Error("y.pb.gz.zst is not a compressed y.pb.gz")
			}
		default:
			want = convert(name, to...)
		}
		for j, ext := range []string{".gz", ".zst", ".GZ"} {
			if corpus.IsOmitted(i+j, 3) {
				continue
			}
			got := convert(name+ext, to...)
			if len(got) >= len(want) || ext != ".GZ" && !bytes.Equal(decompressed(t, got), want) {
				t.Errorf("%s%s: %d bytes, want the %d of %s compressed", name, ext, len(got), len(want), name)
			}
			if r := invoke(t, dir, nil, "info", "--from", f.Name, name+ext); f.In != nil && r.code != exitOK {
				t.Errorf("%s%s cannot be read: %s", name, ext, r.stderr)
			}
			written++
		}
		if len(decompressed(t, convert("z"+f.Exts[0]+".zst", "convert"))) == 0 {
			t.Errorf("convert to %s: nothing", f.Name)
		}
	}
	if least := 18; corpus.Nightly() && written < least || written < least/3 {
		t.Errorf("%d outputs, want all formats", written)
	}
}
