package convert_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/reader"
)

// inputs returns inputs that cannot be read in full.
func inputs(t *testing.T) map[string][]byte {
	t.Helper()
	whole := decompressed(t)
	damaged := bytes.Clone(whole)
	copy(damaged[len(damaged)/2:], bytes.Repeat([]byte{0xff}, 4096))
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(append(bytes.Clone(whole), make([]byte, 200<<20)...))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"text": []byte("hello, I am a letter\n"), "empty": {}, "png": []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
		"truncated": whole[:len(whole)/2], "damaged": damaged, "bomb": bomb.Bytes(), "zstd": []byte("\x28\xb5\x2f\xfd\x00\xb0\x01\x00\x00"),
		"json": []byte(`{"a": 1}`),
	}
}

// TestErrorsNameNoFlags reads inputs with defects, exceeds limits and gives wrong options. No error names a flag of the
// command, because a program has none, and each wraps what the program can act on.
func TestErrorsNameNoFlags(t *testing.T) {
	files := inputs(t)
	limits := &convert.Options{Limits: reader.Limits{Types: 1}}
	small := &convert.Options{Decompression: ntconv.DecompressionLimits{Bytes: 1000}}
	for _, c := range []struct {
		input string
		o     *convert.Options
		want  error
		limit string
	}{
		{"text", nil, ntconv.ErrFormat, ""},
		{"empty", nil, ntconv.ErrFormat, ""},
		{"png", nil, ntconv.ErrFormat, ""},
		{"json", nil, ntconv.ErrFormat, ""},
		{"png", &convert.Options{Format: "nettrace"}, ntconv.ErrFormat, ""},
		{"png", &convert.Options{Format: "mp3"}, ntconv.ErrFormat, ""},
		{"truncated", nil, ntconv.ErrTruncated, ""},
		{"damaged", &convert.Options{Strict: true}, ntconv.ErrCorrupt, ""},
		{"truncated", limits, ntconv.ErrLimit, reader.LimitTypes},
		{"bomb", small, ntconv.ErrLimit, reader.LimitOutput},
		{"bomb", nil, ntconv.ErrLimit, reader.LimitRatio},
		{"zstd", &convert.Options{Decompression: ntconv.DecompressionLimits{Window: 1 << 20}}, ntconv.ErrLimit, reader.LimitWindow},
		{"truncated", &convert.Options{Select: convert.Selection{Where: []string{"a =="}}}, nil, ""},
		{"truncated", &convert.Options{Select: convert.Selection{Where: []string{`$time == "x"`}}}, nil, ""},
		{"truncated", &convert.Options{Select: convert.Selection{During: []string{"gc.size == 1"}}}, nil, ""},
		{"truncated", &convert.Options{Select: convert.Selection{From: convert.AfterStart(2), To: convert.AfterStart(1)}}, convert.ErrReversed, ""},
		{"truncated", &convert.Options{Settings: map[string]string{"nosuch": "1"}}, nil, ""},
		{"truncated", &convert.Options{Settings: map[string]string{"folded-column": "x"}}, nil, ""},
	} {
		err := readAll(t, c.input, files[c.input], c.o)
		if err == nil {
			t.Errorf("%s, %+v: no error", c.input, c.o)
			continue
		}
		if strings.Contains(err.Error(), "--") || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %q, want %v and no flags", c.input, err, c.want)
		}
		var l *ntconv.LimitError
		if c.limit != "" && (!errors.As(err, &l) || l.Limit != c.limit) {
			t.Errorf("%s: %q, want the limit %q", c.input, err, c.limit)
		}
	}
	folded := &convert.Options{Format: "folded", Settings: map[string]string{"folded-value": "x"}}
	if err := readAll(t, "folded", []byte("a;b 1\n"), folded); err == nil || strings.Contains(err.Error(), "--") {
		t.Errorf("a setting: %v", err)
	}
	for _, name := range []string{filepath.Join(t.TempDir(), "none"), "-"} {
		if _, err := convert.Open(t.Context(), name, nil); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %v, want %v", name, err, fs.ErrNotExist)
		}
	}
}

// readAll opens an input from memory and reads it to its end.
func readAll(t *testing.T, name string, data []byte, o *convert.Options) error {
	t.Helper()
	src, err := convert.OpenReader(t.Context(), name, bytes.NewReader(data), o)
	if err != nil {
		return err
	}
	defer src.Close()
	for _, err := range ntconv.Events(src) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestLimitsAreRaised reads an input that exceeds a default limit with a higher one, and with none.
func TestLimitsAreRaised(t *testing.T) {
	bomb := inputs(t)["bomb"]
	for _, d := range []ntconv.DecompressionLimits{{Ratio: 5000}, {Ratio: -1}} {
		if err := readAll(t, "bomb", bomb, &convert.Options{Decompression: d}); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// TestFileErrors checks the errors of conversions: none names a flag, and only an incomplete one leaves an output.
func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range inputs(t) {
		if err := os.WriteFile(path(name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		out, in string
		o       *convert.Options
		want    error // nil for any
		kept    bool
	}{
		{"x.mp3", trace, nil, ntconv.ErrFormat, false},
		{"x.netperf", trace, nil, ntconv.ErrFormat, false},
		{"x.pb.gz", path("text"), nil, ntconv.ErrFormat, false},
		{"x.pb.gz", path("truncated"), nil, ntconv.ErrTruncated, true},
		{"x.nettrace", path("truncated"), &convert.Options{Strict: true}, ntconv.ErrTruncated, false},
		{"x.pb.gz", trace, &convert.Options{Select: convert.Selection{PIDs: []uint64{1 << 40}}}, convert.ErrEmpty, false},
		{"x.pb.gz", trace, &convert.Options{Limits: reader.Limits{Types: 1}}, ntconv.ErrLimit, false},
		{"x.pb.gz", trace, &convert.Options{Settings: map[string]string{"kind": "none"}}, nil, false},
		{"x.folded", trace, &convert.Options{Settings: map[string]string{"sample-type": "nosuch"}}, nil, false},
		{"none/x.pb.gz", trace, nil, fs.ErrNotExist, false},
	} {
		sub := path("out" + string(rune('a'+i)))
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		res, err := convert.File(t.Context(), filepath.Join(sub, c.out), c.o, nil, c.in)
		var incomplete *convert.IncompleteError
		if err == nil || strings.Contains(err.Error(), "--") || c.want != nil && !errors.Is(err, c.want) || errors.As(err, &incomplete) != c.kept {
			t.Errorf("%s of %s: %v, want %v", c.out, c.in, err, c.want)
		}
		if left, err := os.ReadDir(sub); err != nil || (len(left) > 0) != c.kept || (res != nil) != c.kept {
			t.Errorf("%s of %s: left %v, %v, %+v", c.out, c.in, left, err, res)
		}
	}
	var l *ntconv.LimitError
	_, err := convert.File(t.Context(), path("small.json"), nil, &convert.Output{MaxBytes: 1000}, trace)
	if !errors.As(err, &l) || l.Limit != "output" || strings.Contains(err.Error(), "--") {
		t.Errorf("at most 1,000 bytes: %v", err)
	}
	if _, err := convert.File(t.Context(), path("two.pb.gz"), nil, nil, trace, trace); err == nil || strings.Contains(err.Error(), "--") {
		t.Errorf("two inputs: %v", err)
	}
}
