package convert_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/symbol"
)

// TestWrite writes outputs of several formats to memory: the same bytes as in files.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x.pb.gz", "x.folded", "x.speedscope.json", "x.nettrace", "x.json.gz"} {
		o := new(convert.Options)
		var b bytes.Buffer
		res, err := convert.Write(t.Context(), &b, name, o, nil, trace)
		if err != nil {
			t.Fatal(name, err)
		}
		file := filepath.Join(dir, name)
		want, err := convert.File(t.Context(), file, o, nil, trace)
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "x.folded" { // the name of a format, too
			b.Reset()
			if _, err := convert.Write(t.Context(), &b, "folded", o, nil, trace); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(data, b.Bytes()) || res.Summary != want.Summary || res.Format != want.Format {
			t.Errorf("%s: %d bytes, want %d, %v; %+v, want %+v", name, b.Len(), len(data), err, res, want)
		}
	}
	for name, want := range map[string]error{"x.mp3": ntconv.ErrFormat, "x/": nil} {
		if _, err := convert.Write(t.Context(), io.Discard, name, nil, nil, trace); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := errors.New("full")
	if _, err := convert.Write(t.Context(), failing{full}, "x.folded", nil, nil, trace); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
}

// A failing writer writes nothing.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestProfile checks that a profile in memory has the functions and values of the events.
func TestProfile(t *testing.T) {
	p, err := convert.Profile(t.Context(), &convert.Options{Symbols: new(symbol.Options)}, trace)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, f := range p.Function {
		if f.Name != "" {
			named++
		}
	}
	if len(p.Sample) < 10 || named < 10 || p.SampleType[0].Type == "" {
		t.Errorf("%d samples, %d functions, types %v", len(p.Sample), named, p.SampleType)
	}
	if _, err := convert.Profile(t.Context(), &convert.Options{Settings: map[string]string{"kind": "exceptions"}}, trace); !errors.Is(err, convert.ErrEmpty) {
		t.Errorf("a kind without samples: %v", err)
	}
}
