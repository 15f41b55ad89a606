package firefox

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/track"
)

func newSink(w io.Writer, o track.Options) *Sink {
	return &Sink{w: w, o: Options{o}, args: newArgEncoder(), info: &ntconv.Info{Format: "nettrace 6"}}
}

var update = flag.Bool("update", false, "write golden files")

// TestItems shows a whole file.
func TestItems(t *testing.T) {
	report := &ntconv.Report{}
	var out bytes.Buffer
	s := newSink(&out, track.Options{Name: "trace", Version: "1.2", Report: report})
	if err := s.write(timelines.Items(s.args.encode)); err != nil {
		t.Fatal(err)
	}
	timelines.Golden(t, *update, "items.json", out.String())
	if n := report.Count(ntconv.CodeNotCarried); n != 3 {
		t.Errorf("%d losses were reported, want an arg, a function and a value that is not a number", n)
	}
}

// TestVisible checks that the thread with the most work is visible, with its process, regardless of the number of
// processes.
func TestVisible(t *testing.T) {
	f := timelines.New(timelines.Frames("Main")...)
	for i := range 100 {
		p := f.Process(uint32(i+1), "p")
		h := f.Track(p, timeline.ThreadTrack, uint32(i+1), "", "")
		weight := int64(1)
		if i == 77 {
			weight = 5
		}
		f.Add(timelines.Sample(h, int64(i), 1, sample.CPU, timelines.CPU, weight))
	}
	var out bytes.Buffer
	if err := newSink(&out, track.Options{}).write(f); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Meta struct{ InitialVisibleThreads, InitialSelectedThreads []int }
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	v := file.Meta.InitialVisibleThreads
	if !slices.Equal(file.Meta.InitialSelectedThreads, []int{155}) || !slices.Contains(v, 155) || !slices.Contains(v, 154) || len(v) != maxVisible {
		t.Errorf("meta %+v", file.Meta)
	}
}

// TestEmpty: the Firefox Profiler rejects a profile without threads.
func TestEmpty(t *testing.T) {
	var out bytes.Buffer
	if err := newSink(&out, track.Options{}).write(timelines.New()); err != nil {
		t.Fatal(err)
	}
	var file struct{ Threads []struct{ IsMainThread bool } }
	if err := json.Unmarshal(out.Bytes(), &file); err != nil || len(file.Threads) != 1 || !file.Threads[0].IsMainThread {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestWriteError(t *testing.T) {
	full := errors.New("disk full")
	if err := newSink(timelines.Full{Err: full}, track.Options{}).write(timelines.New()); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

// FuzzArgs checks that args of any names and values are members of a JSON object with distinct keys that have their
// values, and that their shape lists the keys.
func FuzzArgs(f *testing.F) {
	f.Add("type", "type_", "\xff\x00\"", int64(1<<60), 1.5)
	f.Add("a", "a", "b", int64(-5), math.NaN())
	f.Fuzz(func(t *testing.T, first, second, text string, n int64, x float64) {
		a := newArgEncoder()
		values := []span.Attribute{
			{Key: first, Value: span.String(text)}, {Key: second, Value: span.Int(n)}, {Key: first, Value: span.Float(x)}, {Key: "cause", Value: span.Bool(true)},
		}
		encoded := a.encode(nil, &timeline.Source{Attributes: values})
		if again := a.encode(nil, &timeline.Source{Attributes: values}); !bytes.Equal(again, encoded) {
			t.Errorf("%q, and then %q", encoded, again)
		}
		_, fields, members := a.decode(encoded)
		checkMembers(t, a, fields, members, len(values))

		s := &span.Span{Name: first, Scope: &span.Scope{Name: text}, Evidence: span.FromPair, Attributes: []span.Attribute{
			{Key: first, Value: span.String(text)}, {Key: second, Value: span.Float(x)}, {Key: second, Value: span.Array([]span.Value{span.Int(n), span.Bytes(text)})},
			{Key: text, Value: span.Map([]span.Attribute{{Key: first, Value: span.Bool(true)}})},
		}}
		_, fields, members = a.decode(a.encode(nil, &timeline.Source{Span: s}))
		checkMembers(t, a, fields, members, len(fields))
	})
}

func checkMembers(t *testing.T, a *argEncoder, fields []uint32, members []byte, n int) {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(append(append([]byte(`{"type":0`), members...), '}'), &object); err != nil {
		t.Fatalf("%v: %q", err, members)
	}
	if len(object) != n+1 || len(fields) != n || object["type"] != 0.0 {
		t.Errorf("%d fields, want %d: %q", len(fields), n, members)
	}
	for _, id := range fields {
		if _, ok := object[a.keys[a.fields[id].key].text]; !ok {
			t.Errorf("no %q in %q", a.keys[a.fields[id].key].text, members)
		}
	}
}

// TestShapes checks events whose fields always differ: the memory for them is limited, and losses are reported.
func TestShapes(t *testing.T) {
	a := newArgEncoder()
	n := 0
	for i := range maxShapes + 1000 {
		encoded := a.encode(nil, &timeline.Source{Attributes: named(fmt.Sprint("key ", i), "same")})
		_, fields, members := a.decode(encoded)
		checkMembers(t, a, fields, members, len(fields))
		n += len(fields)
	}
	if len(a.keys) > maxKeys || len(a.lists) > maxShapes || a.dropped == 0 || n+int(a.dropped) != 2*(maxShapes+1000) {
		t.Errorf("%d keys, %d shapes, %d fields and %d dropped", len(a.keys), len(a.lists), n, a.dropped)
	}
}

func TestMillis(t *testing.T) {
	for nanos, want := range map[int64]string{
		0: "0", 1: "0.000001", 1_000_000: "1", 1_500_000: "1.5", 123_456_789: "123.456789", -1_000_001: "-1.000001", math.MinInt64: "-9223372036854.775807",
	} {
		if got := string(appendMillis(nil, nanos)); got != want {
			t.Errorf("%d ns: %s, want %s", nanos, got, want)
		}
	}
}

func TestCategories(t *testing.T) {
	for file, want := range map[string]int{
		"/usr/share/dotnet/libcoreclr.so": categoryRuntime, `C:\dotnet\clrjit.dll`: categoryRuntime, "/usr/lib/libc.so.6": categoryNative, "": categoryOther,
		"libSystem.Native.so": categoryRuntime,
	} {
		if got := categoryOf(&ntconv.Frame{Mapping: &ntconv.Mapping{File: file}}); got != want {
			t.Errorf("%s: category %s, want %s", file, categories[got].name, categories[want].name)
		}
	}
}

func TestAllocations(t *testing.T) {
	args := newArgEncoder()
	f := timelines.Items(args.encode)
	f.CheckAllocations(t, newEncoder(f, nil, args, &timeline.Measures{}).item)
}
