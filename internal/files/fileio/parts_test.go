package fileio

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv"
)

func openWith(t testing.TB, name string, opts InputOptions) *Input {
	t.Helper()
	in, err := Open(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// contentOf reads a member through its stream.
func contentOf(in *Input, member string) ([]byte, error) {
	m, err := in.Member(member)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	s, err := m.Stream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return io.ReadAll(s)
}

// Without the option a directory is refused as ever; with it, its files are members.
func TestDirectoryInput(t *testing.T) {
	noLeaks(t)
	dir := filepath.Join(t.TempDir(), "trace")
	text := seq(1, 30000)
	writeTree(t, dir, map[string]string{"plain": string(text), "sub/z.gz": string(gz(t, text)), "sub.a": "x"})
	if _, err := Open(dir, InputOptions{}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("without the option: %v", err)
	}
	file := openWith(t, filepath.Join(dir, "plain"), InputOptions{Dir: true})
	if _, err := file.Members(); file.IsDir() || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a file: IsDir %v, members %v", file.IsDir(), err)
	}
	in := openWith(t, dir+"/", InputOptions{Dir: true})
	names, err := in.Members()
	if err != nil || !slices.Equal(names, []string{"plain", "sub.a", "sub/z.gz"}) {
		t.Errorf("%q, %v", names, err)
	}
	if !in.IsDir() || !in.Rereadable() || in.Size() != -1 || in.Name() != dir+"/" {
		t.Errorf("IsDir %v, Again %v, Size %d, Name %s", in.IsDir(), in.Rereadable(), in.Size(), in.Name())
	}
	if _, err := in.Stream(); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("stream of a directory: %v", err)
	}
	if _, _, err := in.At(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("random access to a directory: %v", err)
	}
	for _, name := range []string{"plain", "sub/z.gz", "plain"} {
		if got, err := contentOf(in, name); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	m, err := in.Member("plain")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	at, size, err := m.At()
	if err != nil || m.Name() != filepath.Join(dir, "plain") {
		t.Fatalf("%s: %v", m.Name(), err)
	}
	if err := matches(io.NewSectionReader(at, 0, size), text); err != nil {
		t.Error(err)
	}
	sub, err := in.Member("sub")
	if err != nil || !sub.IsDir() {
		t.Fatalf("subdirectory: %v", err)
	}
	defer sub.Close()
	if got, err := contentOf(sub, "z.gz"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("member of a subdirectory: %d bytes, %v", len(got), err)
	}
	if _, err := sub.Member("../plain"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("out of the subdirectory: %v", err)
	}
}

func TestMemberErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace")
	writeTree(t, dir, map[string]string{"a": "x"})
	archive := writeFile(t, zipOf(t, zip.Deflate, map[string]string{"a": "x"}))
	for _, input := range []string{dir, archive} {
		in := openWith(t, input, InputOptions{Dir: true})
		for name, want := range map[string]error{
			"": fs.ErrInvalid, ".": fs.ErrInvalid, "..": fs.ErrInvalid, "../x": fs.ErrInvalid, "/etc/passwd": fs.ErrInvalid, "a/": fs.ErrInvalid,
			"x/../a": fs.ErrInvalid, "b": fs.ErrNotExist, "A/b": fs.ErrNotExist,
		} {
			_, err := in.Member(name)
			if !errors.Is(err, want) || strings.Count(err.Error(), input) != 1 {
				t.Errorf("%s, member %q: %v, want %v", input, name, err, want)
			}
		}
	}
}

// The error of an input without random access states the next step.
func TestRandomAccessAdvice(t *testing.T) {
	dir := t.TempDir()
	stored := openWith(t, writeFile(t, gz(t, []byte("x"))), InputOptions{})
	directory := openWith(t, dir, InputOptions{Dir: true})
	frame := openWith(t, writeFile(t, skippable("")), InputOptions{})
	pipe, _ := FromReader("pipe", once(strings.NewReader("x")), InputOptions{})
	for in, want := range map[*Input]string{stored: "gzip data", frame: "zstd data", directory: "pass a file in it", pipe: "copy it to a file first"} {
		_, _, err := in.At()
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := in.Members(); in != directory && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("members: %v", err)
		}
	}
}

// zipOf makes an archive with the library's writer.
func zipOf(t testing.TB, method uint16, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = io.WriteString(f, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestZipInput(t *testing.T) {
	noLeaks(t)
	text := seq(1, 50000)
	files := map[string]string{
		"a.nettrace": string(text), "sub/b.zst": string(zst(t, text)), `win\c`: "c", "sub/": "", "empty": "",
		"../evil": "x", "/abs": "x", "sub/../d": "x",
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		data := zipOf(t, method, files)
		fromFile := openWith(t, writeFile(t, data), InputOptions{})
		inMemory, err := FromReader("memory.zip", bytes.NewReader(data), InputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []*Input{fromFile, inMemory} {
			names, err := in.Members()
			if err != nil || !slices.Equal(names, []string{"a.nettrace", "empty", "sub/b.zst", "win/c"}) || in.IsDir() {
				t.Errorf("%q, %v", names, err)
			}
			for name, want := range map[string]string{"a.nettrace": string(text), "sub/b.zst": string(text), "win/c": "c", "empty": ""} {
				for range 2 {
					if got, err := contentOf(in, name); err != nil || string(got) != want {
						t.Errorf("method %d, %s: %d bytes, %v", method, name, len(got), err)
					}
				}
			}
			m, err := in.Member("a.nettrace")
			if err != nil || m.Name() != in.Name()+"/a.nettrace" || !m.Rereadable() {
				t.Fatalf("%v", err)
			}
			at, size, err := m.At()
			if method == zip.Deflate {
				if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "deflate data") {
					t.Errorf("random access to a deflated member: %v", err)
				}
			} else if err != nil || matches(io.NewSectionReader(at, 0, size), text) != nil {
				t.Errorf("random access to a stored member: %d bytes, %v", size, err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	empty := openWith(t, writeFile(t, zipOf(t, zip.Store, nil)), InputOptions{})
	if names, err := empty.Members(); err != nil || len(names) != 0 {
		t.Errorf("empty archive: %q, %v", names, err)
	}
}

// Every byte of an archive changed, and every shorter length: an error or the content, never a panic, and never other
// content of a deflated member without an error.
func TestCorruptZip(t *testing.T) {
	text := string(seq(1, 60))
	good := zipOf(t, zip.Deflate, map[string]string{"a": text, "b": "second"})
	check := func(data []byte, what string, at int) {
		in, err := FromReader("x.zip", bytes.NewReader(data), InputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names, err := in.Members()
		if err != nil {
			return
		}
		for _, name := range names {
			got, err := contentOf(in, name)
			if err == nil && string(got) != text && string(got) != "second" {
				t.Errorf("%s %d: %s has other content: %q", what, at, name, got)
			}
		}
	}
	for i := range good {
		check(good[:i], "cut at", i)
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		check(bad, "changed at", i)
	}
}

// The members of one handle share the limit on decompressed bytes; reading one again costs nothing.
func TestMembersShareTheOutputLimit(t *testing.T) {
	noLeaks(t)
	text := string(seq(1, 20000))
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprint("m", i)] = string(gz(t, []byte(text)))
	}
	dir := filepath.Join(t.TempDir(), "trace")
	writeTree(t, dir, files)
	for name := range files {
		files[name] = text
	}
	archive := writeFile(t, zipOf(t, zip.Deflate, files))
	limits := DefaultLimits()
	limits.Output = int64(3*len(text) + len(text)/2)
	for _, input := range []string{dir, archive} {
		in := openWith(t, input, InputOptions{Dir: true, Limits: limits})
		for range 3 {
			for i := range 3 {
				if got, err := contentOf(in, fmt.Sprint("m", i)); err != nil || string(got) != text {
					t.Fatalf("%s: m%d: %d bytes, %v", input, i, len(got), err)
				}
			}
		}
		got, err := contentOf(in, "m3")
		var exceeded *ntconv.LimitError
		if !errors.As(err, &exceeded) || exceeded.Limit != LimitOutput || exceeded.Value != limits.Output || len(got) != len(text)/2 || string(got) != text[:len(got)] {
			t.Errorf("%s: m3: %d of %d bytes, %v", input, len(got), len(text)/2, err)
		}
	}
}

// Members that overlap are how an archive of kilobytes holds petabytes.
func TestOverlappingMembers(t *testing.T) {
	data := zipOf(t, zip.Store, map[string]string{"a": strings.Repeat("x", 1000), "b": strings.Repeat("y", 1000)})
	// The sizes of the first member in the central directory now reach into the second.
	at := bytes.Index(data, []byte("PK\x01\x02"))
	for _, field := range []int{20, 24} { // compressed and uncompressed size
		data[at+field+1] = 8 // 2,024 bytes
	}
	in := openWith(t, writeFile(t, data), InputOptions{})
	if _, err := in.Members(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

func TestTooManyMembers(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range maxMembers + 1 {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	in := openWith(t, writeFile(t, b.Bytes()), InputOptions{})
	if _, err := in.Members(); !errors.Is(err, errTooMany) {
		t.Errorf("%v", err)
	}
}

// FuzzArchive reads all members of arbitrary bytes: no panic, and no more content than the limit.
func FuzzArchive(f *testing.F) {
	f.Add(zipOf(f, zip.Deflate, map[string]string{"a": "first", "sub/b": "second"}))
	f.Add(zipOf(f, zip.Store, map[string]string{"a": "first", "b": "second"}))
	f.Add([]byte("PK\x05\x06"))
	limits := &Limits{Ratio: 200, Floor: 1 << 16, Output: 1 << 20, Window: 1 << 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := FromReader("x.zip", bytes.NewReader(data), InputOptions{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		names, err := in.Members()
		if err != nil && names != nil {
			t.Errorf("%q and %v", names, err)
		}
		total := 0
		for _, name := range names {
			if !fs.ValidPath(name) {
				t.Errorf("member %q", name)
			}
			got, _ := contentOf(in, name) // an error is fine
			total += len(got)
		}
		if total > 1<<20+len(data) {
			t.Errorf("%d bytes of %d", total, len(data))
		}
	})
}
