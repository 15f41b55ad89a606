package command

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archiveOf returns a zip archive. Its members are pairs of a name and a content.
func archiveOf(t *testing.T, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		w, err := z.Create(members[i])
		must(t, err)
		_, err = w.Write([]byte(members[i+1]))
		must(t, err)
	}
	must(t, z.Close())
	return b.Bytes()
}

// A recording of perfcollect is read in all the forms in which it exists: the archive, also with a compressed text, and
// the directory in it.
func TestPerfcollect(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "importers", "perf", "testdata", "odd.perf"))
	must(t, err)
	text, dir := string(data), t.TempDir()
	write(t, dir, "alone.perf", data)
	const binary = "PERFILE2" + "\x68\x00\x00\x00"
	write(t, dir, "a.trace.zip", archiveOf(t, "a.trace/perf.data", binary, "a.trace/perf.data.txt", text, "a.trace/perf-1617.map", "1000 10 f\n", "a.trace/perfcollect.log", "done"))
	write(t, dir, "packed.trace.zip", archiveOf(t, "packed.trace/perf.data.txt.gz", string(gzipped(t, data))))
	must(t, os.Mkdir(filepath.Join(dir, "a.trace"), 0o700))
	write(t, dir, "a.trace/perf.data", []byte(binary))
	write(t, dir, "a.trace/perf.data.txt", data)
	want := invoke(t, dir, nil, "to", "folded", "alone.perf", "-o", "-")
	if want.code != exitIncomplete || !strings.Contains(want.stdout, "xen_hypercall_sched_op 77\n") { // a line is not an event
		t.Fatalf("%+v", want)
	}
	for _, name := range []string{"a.trace.zip", "packed.trace.zip", "a.trace"} {
		got := invoke(t, dir, nil, "to", "folded", name, "-o", "-")
		if got.code != want.code || got.stdout != want.stdout {
			t.Errorf("%s: code %d, %s%s", name, got.code, got.stdout, got.stderr)
		}
	}
}

// Recordings whose text is absent or ambiguous are rejected with the command that writes it.
func TestPerfcollectWithoutText(t *testing.T) {
	dir := t.TempDir()
	const binary, script = "PERFILE2" + "\x68\x00\x00\x00", "perf script -i "
	text := "a 1 1.0: 1 cycles:\n\t1 f (/bin/a)\n"
	write(t, dir, "perf.data", []byte(binary))
	for name, c := range map[string]struct {
		data []byte
		says []string
	}{
		"empty.trace.zip":  {archiveOf(t, "a.trace/perf.data", binary, "a.trace/perf.data.txt", ""), []string{"a.trace/perf.data.txt is empty", script + "a.trace/perf.data > trace.perf"}},
		"nodata.trace.zip": {archiveOf(t, "a.trace/perf.data.txt", ""), []string{"perf.data.txt is empty", "record again"}},
		"notext.trace.zip": {archiveOf(t, "a.trace/perf.data", binary), []string{"a zip archive", script + "perf.data > trace.perf"}},
		"two.trace.zip":    {archiveOf(t, "a/perf.data.txt", text, "b/perf.data.txt", text), []string{"a zip archive"}},
		"other.zip":        {archiveOf(t, "a.nettrace", "Nettrace"), []string{"a zip archive", "extract it and convert the .nettrace file"}},
		"big.data":         {[]byte("2ELIFREP\x00\x00\x00\x68"), []string{"perf.data of Linux perf, recorded on a big-endian machine", script + "big.data > trace.perf"}},
		"old.data":         {[]byte("PERFFILE\x00\x00\x00\x68"), []string{"perf.data of Linux perf before", script + "old.data > trace.perf"}},
		"perf.data":        {[]byte(binary), []string{"got perf.data of Linux perf; ", script + "perf.data > trace.perf writes a text that ntconv reads"}},
	} {
		write(t, dir, name, c.data)
		r := invoke(t, dir, nil, "info", name)
		for _, part := range c.says {
			if r.code != exitInput || !strings.Contains(r.stderr, part) {
				t.Errorf("%s: code %d, %s, want %s", name, r.code, r.stderr, part)
			}
		}
	}
	got := invoke(t, dir, archiveOf(t, "a.trace/perf.data.txt", text), "info", "-") // no random access
	if got.code != exitInput || !strings.Contains(got.stderr, "a zip archive") {
		t.Errorf("%d, %s", got.code, got.stderr)
	}
}
