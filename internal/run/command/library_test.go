package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// TestLibraryWritesTheSame converts traces with the command and with package convert: the files are equal byte for
// byte, with and without a selection, and one writes nothing where the other does not.
func TestLibraryWritesTheSame(t *testing.T) {
	selections := map[string]struct {
		args   []string
		o      convert.Options
		format string // "" for all
	}{
		"all": {},
		"selected": {
			[]string{"--from-time", "20ms", "--where", "$tid > 0", "--to-time", "-1ms"},
			convert.Options{Select: convert.Selection{
				From: convert.AfterStart(20 * time.Millisecond), To: convert.BeforeEnd(time.Millisecond), Where: []string{"$tid > 0"},
			}}, "",
		},
		"settings": {
			[]string{"--kind", "wall", "--drop-label", "tid", "--span-name"},
			convert.Options{Settings: map[string]string{"kind": "wall", "drop-label": "tid", "span-name": "true"}}, "pprof",
		},
	}
	_, writable := convert.Formats()
	written := map[string]int{}
	for i, name := range []string{"cpu-env", "activities", "otel-cpu", "stress-cut", "sources-netperf3"} {
		for way, s := range selections {
			for j, format := range writable {
				if s.format == "" && corpus.IsOmitted(i+j+len(way), 2) {
					continue
				}
				if s.format != "" && s.format != format || testing.Short() && name != "otel-cpu" {
					continue
				}
				one, two := t.TempDir(), t.TempDir()
				r := invoke(t, one, nil, append([]string{"to", format, trace(t, name), "-o", "out"}, s.args...)...)
				_, err := convert.File(t.Context(), filepath.Join(two, "out"), &s.o, &convert.Output{Format: format}, trace(t, name))
				var incomplete *convert.IncompleteError
				if (r.code == 3) != errors.As(err, &incomplete) || (r.code == 0) != (err == nil) {
					t.Errorf("%s, %s, %s: exit code %d, library: %v\n%s", name, way, format, r.code, err, r.stderr)
				}
				written[way] += sameTrees(t, one, two)
			}
		}
	}
	for way, least := range map[string]int{"all": 9, "selected": 9, "settings": 1} {
		if written[way] < least {
			t.Errorf("%s: %d files", way, written[way])
		}
	}
}

// sameTrees compares the files in two directories and returns how many there are.
func sameTrees(t *testing.T, one, two string) (files int) {
	t.Helper()
	err := filepath.WalkDir(one, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		rel, err := filepath.Rel(one, path)
		if err != nil {
			return err
		}
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(two, rel))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s: %d bytes of the command, %d of the library, %v", path, len(a), len(b), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	others := 0
	_ = filepath.WalkDir(two, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			others++
		}
		return err
	})
	if others != files {
		t.Errorf("%d files of the command, %d of the library", files, others)
	}
	return files
}
