package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stored returns the bytes of a trace as stored in testdata: compressed with zstd.
func stored(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(trace(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Compressed data that ends before its first content is reported as truncated, and not as an empty file.
func TestPackedAndCut(t *testing.T) {
	packed := map[string][]byte{"zstd": stored(t, "cpu-env"), "gzip": gzipped(t, unpacked(t, "cpu-env"))}
	for name, whole := range packed {
		for _, n := range []int{4, 5, 10, 100} {
			dir := t.TempDir()
			write(t, dir, "cut", whole[:n])
			want := fmt.Sprintf("decompress %s after %d bytes: compressed data is truncated", name, n)
			for _, r := range []result{invoke(t, dir, nil, "info", "cut"), invoke(t, dir, whole[:n], "top", "-"), invoke(t, dir, nil, "print", "--strict", "cut")} {
				if r.code != exitInput || !strings.Contains(r.stderr, want) || !strings.HasSuffix(r.stderr, "; copy the file again, or record again\n") {
					t.Errorf("%d bytes of %s: code %d: %s", n, name, r.code, r.stderr)
				}
			}
			r := invoke(t, dir, nil, "info", "--from", "nettrace", "cut")
			if r.code != exitInput || !strings.Contains(r.stderr, "truncated") || strings.Contains(r.stderr, "empty") {
				t.Errorf("%d bytes of %s, as nettrace: code %d: %s", n, name, r.code, r.stderr)
			}
		}
	}
}

// An error of an input names the file and ends with what to do.
func TestNextStep(t *testing.T) {
	cpu := unpacked(t, "cpu-env")
	dir := t.TempDir()
	with := func(at int, b ...byte) []byte { return append(append(bytes.Clone(cpu[:at]), b...), cpu[at+len(b):]...) }
	write(t, dir, "name", with(43, 0xff, 0xff, 0xff, 0xff))
	write(t, dir, "header", with(8, 9))
	write(t, dir, "version", with(35, 68))
	write(t, dir, "cut", cpu[:len(cpu)*2/3])
	write(t, dir, "begin", cpu[:100])
	write(t, dir, "id", with(bytes.Index(cpu, []byte("MetadataBlock"))+200, make([]byte, 100)...))
	broken := bytes.Clone(stored(t, "cpu-env"))
	copy(broken[len(broken)/2:], make([]byte, 1000))
	write(t, dir, "broken.zst", broken)
	for _, c := range []struct {
		args string
		code int
		want string // between the name and the next step
		next string
	}{
		{"top .", exitInput, "is a directory", "pass a file in it"},
		{"info name", exitInput, "nettrace 4: byte 43: Object/NameLength: input is corrupt: invalid value: -1, want 0 to 38", "copy the file again, or record again"},
		{"info header", exitInput, "nettrace: byte 12: stream header: unknown format: invalid value: 9, want 20, or 0 from version 6 on",
			"check that this is the recorded file"},
		{"info version", exitInput, "not supported: unknown kind: version 68 of object Trace, want 4", "a newer release of ntconv may read it"},
		{"info begin", exitInput, "nettrace 4: byte 100: Trace block: input is truncated", "copy the file again, or record again"},
		{"info --strict cut", exitInput, "truncated", "without --strict the valid part is read"},
		{"info --strict id", exitInput, "input is corrupt", "without --strict the valid part is read"},
		{"info --strict broken.zst", exitInput, "corrupt compressed data", "without --strict the valid part is read"},
		{"info cut", exitIncomplete, "truncated", "the part before it was kept"},
		{"verify cut cut", exitIncomplete, "truncated", "--ignore damage ignores it"},
	} {
		r := invoke(t, dir, nil, strings.Fields(c.args)...)
		line, _, _ := strings.Cut(r.stderr, "\n")
		if r.code != c.code || !strings.Contains(line, filepath.Base(c.args[strings.LastIndex(c.args, " ")+1:])+": ") ||
			!strings.Contains(line, c.want) || !strings.HasSuffix(line, "; "+c.next) {
			t.Errorf("%s: code %d: %s\nwant %s ... ; %s", c.args, r.code, line, c.want, c.next)
		}
	}
}

// Whichever byte is corrupt: an error that ends the run has a next step, and an invalid value is reported with what it
// should be.
func TestDamagedAnywhere(t *testing.T) {
	failed, values := 0, 0
	for _, name := range []string{"cpu-env", "cpu-v6", "sources-netperf3"} {
		whole := unpacked(t, name)
		whole = whole[:min(len(whole), 3000)]
		dir := t.TempDir()
		for at := 0; at < 600; at += 5 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0xa5
			path := write(t, dir, "in", damaged)
			for _, flags := range [][]string{nil, {"--strict"}} {
				var errs bytes.Buffer
				if code := run(append([]string{"info", path}, flags...), io.Discard, &errs); code == exitInput {
					failed++
				} else if code != exitOK && code != exitIncomplete && code != exitLimit {
					t.Fatalf("%s, byte %d: code %d: %s", name, at, code, errs.String())
				} else if code != exitIncomplete {
					continue
				}
				text := errs.String()
				if !strings.Contains(text, "; ") {
					t.Errorf("%s, byte %d: no next step: %s", name, at, text)
				}
				if strings.Contains(text, "invalid value") || strings.Contains(text, "too long") {
					if values++; !strings.Contains(text, "want ") {
						t.Errorf("%s, byte %d: no expectation: %s", name, at, text)
					}
				}
			}
		}
	}
	if failed < 300 || values < 20 {
		t.Errorf("only %d failures and %d of values", failed, values)
	}
}
