package formats_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/readable"
)

var updateForeign = flag.Bool("update-foreign", false, "write the totals of independent readers to testdata/foreign.txt")

// foreignTable has a line per file of other programs: its name, its format, and its totals. For a file that is not read
// the format is "-", and the text is a part of the reason.
const foreignTable = "testdata/foreign.txt"

// A total is a sum over a file, such as "ph X" (events with the phase X).
type totals map[string]int64

func (n totals) String() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(n)) {
		if n[name] != 0 {
			list = append(list, fmt.Sprintf("%s=%d", name, n[name]))
		}
	}
	return strings.Join(list, "; ")
}

// TestForeignFiles imports files of many programs. The totals of those that are read are those of readers that share no
// code with the importers; the others are rejected with the reason.
func TestForeignFiles(t *testing.T) {
	dir := corpus.Shared(t, "data", "foreign")
	table := foreignRows(t)
	seen := map[string]bool{}
	var lines []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if name = filepath.ToSlash(name); err != nil || entry.IsDir() || name == "README.md" {
			return err
		}
		seen[name] = true
		data := decompressed(t, path)
		f, n, err := importedTotals(name, data)
		row, listed := table[name]
		if *updateForeign {
			if err == nil {
				row = f.Name + "\t" + independentTotals(f.Name, name, data).String()
			} else if !strings.HasPrefix(row, "-\t") {
				_, got, _ := strings.Cut(", "+err.Error(), ", ")
				if i := strings.Index(got, "got "); i >= 0 {
					got = got[i:]
				}
				got, _, _ = strings.Cut(got, "; ")
				row = "-\t" + got
			}
			lines = append(lines, name+"\t"+row+"\n")
			return nil
		}
		format, want, _ := strings.Cut(row, "\t")
		switch {
		case !listed:
			t.Errorf("%s is not in %s", name, foreignTable)
		case format == "-" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want the reason %s", name, err, want)
		case format == "-":
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case f.Name != format || n.String() != want:
			t.Errorf("%s:\n got %s %s\nwant %s %s", name, f.Name, n, format, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if *updateForeign {
		if err := os.WriteFile(foreignTable, []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("%s is in %s, but absent", name, foreignTable)
		}
	}
}

func foreignRows(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(foreignTable)
	if err != nil && !*updateForeign {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, row, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		rows[name] = row
	}
	return rows
}

func decompressed(t *testing.T, path string) []byte {
	t.Helper()
	in, err := fileio.Open(path, fileio.InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s, err := in.Stream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(s); err != nil {
		t.Fatal(path, err)
	}
	return b.Bytes()
}

// importedTotals reads a file with the importers.
func importedTotals(name string, data []byte) (*formats.Format, totals, error) {
	f, err := formats.Detect(formats.Readable(), name, data[:min(len(data), formats.HeadSize)])
	if err != nil {
		return nil, nil, err
	}
	src, err := readable.Open(f, data, nil)
	if err != nil {
		return f, nil, err
	}
	defer readable.Close(src)
	n := totals{}
	decoder := chromeevent.NewDecoder(nil)
	var pairs chromeevent.Pairer[struct{}]
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return f, nil, err
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		if e.Type.Provider == clr.UniversalEvents {
			n.addSample(e)
			continue
		}
		c, ok := decoder.Decode(e)
		if !ok || c.TopLevel {
			continue
		}
		if strings.HasPrefix(src.Info().Format, "firefox") {
			n["markers"]++
			continue
		}
		n["ph "+c.Phase]++
		switch c.Phase {
		case chromeevent.PhaseComplete:
			n["dur"] += c.Duration
		case chromeevent.PhaseBegin:
			pairs.Begin(c, e.Thread, struct{}{})
		case chromeevent.PhaseEnd:
			if _, ok := pairs.End(c, e.Thread); ok {
				n["closed"]++
			}
		}
	}
	return f, n, nil
}

// addSample adds the values of a sample. The first field is a weight for viewers.
func (n totals) addSample(e *ntconv.Event) {
	n["rows"]++
	for field, value := range e.Fields() {
		if field.Name != "Value" {
			n[field.Name] += value.Int()
		}
	}
}
