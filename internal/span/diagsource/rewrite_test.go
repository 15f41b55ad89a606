package diagsource_test

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// TestRewritten decodes the same spans, with equal synthetic IDs, from a trace and from its copy in version 6 of the
// format.
func TestRewritten(t *testing.T) {
	paths := []string{corpus.Path("spans-stop.nettrace.zst")}
	for _, name := range stored {
		paths = append(paths, filepath.Join("testdata", name+".nettrace.zst"))
	}
	for _, path := range paths {
		data := corpus.Read(t, path)
		src, err := reader.New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		var copied bytes.Buffer
		sink, err := writer.New(&copied, src.Info(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ntconv.Copy(sink, src); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		want, got := decode(t, data, diagsource.Options{}), decode(t, copied.Bytes(), diagsource.Options{})
		if len(want.spans) == 0 || len(got.spans) != len(want.spans) {
			t.Fatalf("%s: %d spans of %d", path, len(got.spans), len(want.spans))
		}
		for i, s := range got.spans {
			w := want.spans[i]
			if s.EndThread != nil && s.EndThread.TID != w.EndThread.TID || s.Process.PID != w.Process.PID {
				t.Errorf("%s: span %q was recorded elsewhere", path, s.Name)
			}
			for _, x := range []**ntconv.Thread{&s.Thread, &s.EndThread, &w.Thread, &w.EndThread} {
				*x = nil
			}
			if s.Process, w.Process = nil, nil; !reflect.DeepEqual(s, w) {
				t.Errorf("%s: got  %s\nwant %s", path, describe(s), describe(w))
			}
		}
	}
}
