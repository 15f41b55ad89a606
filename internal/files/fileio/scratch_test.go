package fileio

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// Small members are in memory, larger ones in files, both with what was written. After Abort there is neither.
func TestScratch(t *testing.T) {
	dir := t.TempDir()
	var quota Quota
	quota.SetMax(1 << 20)
	out, scratch := NewScratch(dir, 100, OutputOptions{Quota: &quota})
	want := map[string][]byte{}
	for name, size := range map[string]int{"empty": 0, "small": 100, "large": 101, "larger": 5000} {
		m, err := out.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range size {
			want[name] = append(want[name], byte(i))
			if _, err := m.Write([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if name != "larger" { // Commit closes it
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if _, err := m.Write([]byte{1}); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("write after close: %v", err)
			}
		}
	}
	for _, name := range []string{"small", "../x", "a/b"} {
		if _, err := out.Create(name); err == nil {
			t.Errorf("%s was created", name)
		}
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, f := range scratch.Files() {
		data := f.Data
		if f.Name != "" {
			var err error
			if data, err = os.ReadFile(f.Name); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Equal(data, want[f.Member]) || (f.Name != "") != (len(data) > 100) || f.Size != int64(len(data)) {
			t.Errorf("%s: %d bytes, file %q", f.Member, len(data), f.Name)
		}
		delete(want, f.Member)
	}
	if entries, _ := os.ReadDir(dir); len(want) > 0 || len(entries) != 2 {
		t.Errorf("missing: %v; files %v", want, entries)
	}
	if err := out.Abort(); err != nil || len(scratch.Files()) > 0 {
		t.Errorf("%v, %v", err, scratch.Files())
	}
	if _, err := out.Create("late"); !errors.Is(err, ErrAborted) {
		t.Errorf("create after abort: %v", err)
	}
}
