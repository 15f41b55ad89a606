package pass_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/symbol"
)

// failing is a source that fails after some events.
type failing struct {
	ntconv.Source
	left int
	err  error
}

func (f *failing) Next() (*ntconv.Event, error) {
	if f.left--; f.left < 0 {
		return nil, f.err
	}
	return f.Source.Next()
}

// read reads an input for symbols first, and then with Drain.
func read(t *testing.T, in *input.Input, plan *pass.Plan) (seen int, report *ntconv.Report, partial, err error) {
	t.Helper()
	plan.Selection, plan.Names, plan.NamesFirst = &selection.Options{}, &symbol.Options{}, true
	err = plan.Do(in, func(p *pass.Pass) (fatal error) {
		sink := newRecorder()
		fatal, partial = p.Drain(sink)
		seen, report = total(sink.written), p.Report
		return fatal
	})
	return seen, report, partial, err
}

// An input whose readings end differently is never complete, because one reading may not fit what another one delivers.
func TestReadingsDiffer(t *testing.T) {
	broken := errors.New("input/output error")
	limit := &ntconv.LimitError{Limit: "memory", Value: 1, Asked: 2}
	for name, tt := range map[string]struct {
		fails   []error // of the readings; nil if one has no error
		strict  bool
		changed bool // the report contains a note
		fatal   bool // no pass was made
	}{
		"none":               {fails: []error{nil, nil}},
		"first":              {fails: []error{broken, nil}, changed: true},
		"second":             {fails: []error{nil, broken}, changed: true},
		"both":               {fails: []error{broken, broken}},
		"first, strict":      {fails: []error{broken, nil}, strict: true, fatal: true},
		"limit in the first": {fails: []error{limit, nil}, fatal: true},
	} {
		reading := 0
		guard := func(src ntconv.Source) ntconv.Source {
			f := &failing{src, 1000, tt.fails[reading]}
			if reading++; f.err == nil {
				return src
			}
			return f
		}
		in, err := input.Open([]string{corpus.Path("cpu-env.nettrace.zst")}, &input.Options{Openers: new(formats.Openers), Guard: guard})
		if err != nil {
			t.Fatal(err)
		}
		seen, report, partial, err := read(t, in, &pass.Plan{Read: formats.ReadOptions{Strict: tt.strict}})
		in.Close()
		if tt.fatal {
			if err == nil || seen > 0 || !errors.Is(err, tt.fails[0]) {
				t.Errorf("%s: %d events, %v", name, seen, err)
			}
			continue
		}
		wantError := tt.fails[0] != nil || tt.fails[1] != nil
		if err != nil || (partial != nil) != wantError || (report.Count(ntconv.CodeChanged) == 1) != tt.changed {
			t.Errorf("%s: %v, %v, %v", name, err, partial, report.Entries())
		}
		if want := 1786; tt.fails[1] == nil && seen != want {
			t.Errorf("%s: %d events", name, seen)
		}
		if tt.changed && !strings.Contains(report.Entries()[0].Detail+report.Entries()[len(report.Entries())-1].Detail, broken.Error()) {
			t.Errorf("%s: the error of the reading is not reported: %v", name, report.Entries())
		}
	}
}

// A file that grows, shrinks or is overwritten between readings is reported.
func TestInputChanges(t *testing.T) {
	whole := corpus.Trace(t, "cpu-env").Data
	half := whole[:len(whole)/2]
	for name, tt := range map[string]struct {
		before, after []byte
		changed       bool
	}{
		"the same":    {whole, nil, false},
		"grows":       {half, whole, true},
		"shrinks":     {whole, half, true},
		"overwritten": {whole, append([]byte("Nettrace"), whole[8:]...), true},
	} {
		path := filepath.Join(t.TempDir(), "x.nettrace")
		put := func(data []byte) {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(tt.before)
		plan := &pass.Plan{Progress: func(_ *input.Input, what string) func() {
			if what == "reading" && tt.after != nil {
				put(tt.after)
			}
			return func() {}
		}}
		in := open(t, path)
		_, report, partial, err := read(t, in, plan)
		if err != nil || (partial != nil) != tt.changed || (report.Count(ntconv.CodeChanged) == 1) != tt.changed {
			t.Errorf("%s: %v, %v, %v", name, err, partial, report.Entries())
		}
	}
}

// A plan can request a reading before a strict pass, so that nothing is written for a rejected input.
func TestCheck(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	path := filepath.Join(t.TempDir(), "x.nettrace")
	if err := os.WriteFile(path, data[:len(data)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, check := range []bool{false, true} {
		delivered := 0
		plan := &pass.Plan{Read: formats.ReadOptions{Strict: true}, Selection: &selection.Options{}, Check: check}
		err := plan.Do(open(t, path), func(p *pass.Pass) error {
			sink := newRecorder()
			fatal, _ := p.Drain(sink)
			delivered = total(sink.written)
			return fatal
		})
		if err == nil || (delivered > 0) == check {
			t.Errorf("check %v: %d events delivered, %v", check, delivered, err)
		}
	}
}

// The checksum of compressed data is verified in every reading, although the trace ends before it.
func TestChecksum(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	for name, compressed := range map[string]struct {
		to func(io.Writer) (io.WriteCloser, error)
		at int // offset of the checksum from the end
	}{
		"gzip": {func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, 8},
		"zstd": {func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderCRC(true)) }, 4},
	} {
		var b bytes.Buffer
		z, err := compressed.to(&b)
		if err == nil {
			_, err = z.Write(data)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []bool{false, true} {
			if damaged {
				b.Bytes()[b.Len()-compressed.at] ^= 0x55
			}
			path := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			seen, report, partial, err := read(t, open(t, path), new(pass.Plan))
			if seen != 1786 || err != nil || (partial != nil) != damaged || errors.Is(partial, fileio.ErrCorrupt) != damaged || report.Count(ntconv.CodeChanged) > 0 {
				t.Errorf("%s, damaged %v: %d events, %v, %v, %v", name, damaged, seen, partial, err, report.Entries())
			}
			if _, _, _, err := read(t, open(t, path), &pass.Plan{Read: formats.ReadOptions{Strict: true}}); (err != nil) != damaged {
				t.Errorf("%s, damaged %v, strict: %v", name, damaged, err)
			}
		}
	}
}
