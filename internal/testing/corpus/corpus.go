// Package corpus provides traces for tests: those of the module in testdata, and reference data of other programs,
// which may be next to the checkout.
package corpus

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A File is a trace for tests.
type File struct {
	Name string // without directory and extensions
	Path string
	Data []byte // decompressed
}

// start is the directory in which the test began; tests change it.
var start, startErr = os.Getwd()

// root returns the root directory of the module: the nearest one with the traces, from the directory of the test upwards.
// The file names that the compiler records are of no use, because with -trimpath they have no directory.
var root = sync.OnceValue(func() string {
	for dir := start; startErr == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "cpu-env.nettrace.zst")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	panic(fmt.Sprintf("no testdata/cpu-env.nettrace.zst in or above %q: %v", start, startErr))
})

// Path returns the path of a file in testdata.
func Path(name string) string { return filepath.Join(root(), "testdata", name) }

// Trace returns the trace in testdata with a name such as "cpu-env".
func Trace(tb testing.TB, name string) File {
	tb.Helper()
	return load(tb, Path(name+".nettrace.zst"))
}

// Traces returns all traces in testdata.
func Traces(tb testing.TB) []File {
	tb.Helper()
	var files []File
	for _, path := range list(tb, Path("*.nettrace.zst")) {
		files = append(files, load(tb, path))
	}
	return files
}

// Shared returns the path of a file or directory of the reference data, which is below NTCONV_SHARED or, without this
// variable, in the directory shared next to the checkout. It skips the test if the data is absent.
func Shared(tb testing.TB, path ...string) string {
	tb.Helper()
	if _, err := Find(); err != nil {
		tb.Skipf("reference data is absent: %v", err)
	}
	p, err := Find(path...)
	if err != nil {
		tb.Fatal(err) // a test with a wrong path would be skipped forever
	}
	return p
}

// Find is Shared for callers that can continue without the data: it returns an error if the data is absent.
func Find(path ...string) (string, error) {
	dir := os.Getenv("NTCONV_SHARED")
	if dir == "" {
		dir = filepath.Join(root(), "..", "shared")
	}
	p := filepath.Join(append([]string{dir}, path...)...)
	_, err := os.Stat(p)
	return p, err
}

// Nightly reports whether tests run in full, as in "make nightly": with the large traces of the reference data, and
// with what takes long and rarely fails. The variable NTCONV_NIGHTLY says so.
func Nightly() bool { return os.Getenv("NTCONV_NIGHTLY") != "" }

// IsOmitted reports whether case i of many similar ones is left to nightly tests: other tests run one of n.
func IsOmitted(i, n int) bool { return !Nightly() && i%n > 0 }

// large is the compressed size in bytes of traces that only nightly tests read in turn: a tenth of the traces has most
// of the events. Of those that are not small, the others read a third. Tests of one trace read it always.
const (
	large = 300_000
	small = 10_000
)

// IsSkipped reports whether tests that read all traces of the reference data in turn skip the one in this file, of size bytes.
func IsSkipped(path string, size int64) bool {
	return !Nightly() && (size >= large || size >= small && crc32.ChecksumIEEE([]byte(filepath.Base(path)))%3 > 0)
}

// SharedTraces returns the traces of SharedPaths.
func SharedTraces(tb testing.TB) []File {
	tb.Helper()
	var files []File
	for _, path := range SharedPaths(tb) {
		files = append(files, load(tb, path))
	}
	return files
}

// SharedPaths returns the paths of the traces of the reference data, and of the large ones if tests run in full. It skips
// the test if the data is absent.
func SharedPaths(tb testing.TB) (paths []string) {
	tb.Helper()
	data := Shared(tb, "data")
	for _, pattern := range []string{"nettrace/*.nettrace.zst", "netperf/*.netperf.zst", "own/*.nettrace.zst", "otel/*.nettrace.zst"} {
		for _, path := range list(tb, filepath.Join(data, pattern)) {
			if info, err := os.Stat(path); err != nil {
				tb.Fatal(err)
			} else if !IsSkipped(path, info.Size()) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// SharedTrace returns a trace of the reference data, such as "nettrace/roslyn-compile-v6". It skips the test if the
// data is absent.
func SharedTrace(tb testing.TB, name string) File {
	tb.Helper()
	return load(tb, Shared(tb, "data", name+".nettrace.zst"))
}

// list returns the paths that match a pattern.
func list(tb testing.TB, pattern string) []string {
	tb.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no traces at %s: %v", pattern, err)
	}
	return paths
}

func load(tb testing.TB, path string) File {
	tb.Helper()
	f := File{Path: path, Data: Read(tb, path)}
	for _, ext := range []string{".zst", ".nettrace", ".netperf"} {
		path = strings.TrimSuffix(path, ext)
	}
	f.Name = filepath.Base(path)
	return f
}

// Read returns the contents of a file, decompressed if its name ends in .zst.
func Read(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if filepath.Ext(path) != ".zst" {
		return data
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer d.Close()
	if data, err = d.DecodeAll(data, nil); err != nil {
		tb.Fatal(err)
	}
	return data
}
