package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

func read(t testing.TB, f corpus.File) ntconv.Source {
	t.Helper()
	src, err := reader.New(bytes.NewReader(f.Data), &reader.Options{Order: reader.FileOrder})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// pair reads two sources of the same events in parallel until both end.
func pair(t *testing.T, name string, a, b ntconv.Source, see func(a, b *ntconv.Event)) (events int) {
	t.Helper()
	for {
		x, errX := a.Next()
		y, errY := b.Next()
		if errX != nil || errY != nil {
			if (errX == nil) != (errY == nil) { // the copy of a truncated trace is complete
				t.Fatalf("%s: %v and %v", name, errX, errY)
			}
			return events
		}
		if x.Kind != y.Kind {
			t.Fatalf("%s: %v and %v", name, x.Kind, y.Kind)
		}
		events++
		see(x, y)
	}
}

// TestDescribe checks that Event.Fields of a described event yields the values of its schema.
func TestDescribe(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		var table Table
		types := map[string]*ntconv.Type{}
		pair(t, f.Name, read(t, f), ntconvtest.Poison(Describe(read(t, f))), func(e, d *ntconv.Event) {
			s := table.Of(e)
			if e.Type == nil {
				if d.Type != nil {
					t.Fatalf("%s: %v has a type", f.Name, e.Kind)
				}
				return
			}
			key := fmt.Sprintf("%p %d", e.Type, e.Version())
			if types[key] == nil {
				types[key] = d.Type
			}
			if d.Type.Name != s.Name || d.Opcode() != s.OpcodeOf(e) || d.Version() != e.Version() || d.Level() != e.Level() || types[key] != d.Type {
				t.Fatalf("%s: %+v, want that of %+v", f.Name, d.Type, s)
			}
			// Only Values decodes the data of a GCDynamicEvent.
			if got, want := format(d.Fields()), format(s.Values(e)); !slices.Equal(got, want) && !s.IsDynamic() && e.Kind == ntconv.KindEvent {
				t.Fatalf("%s: %s, want %s", s.Name, got, want)
			}
		})
	}
}

func format(fields iter.Seq2[*ntconv.Field, ntconv.Value]) (all []string) {
	for f, v := range fields {
		all = append(all, f.Name+"="+show(v))
	}
	return all
}

func TestDescribeDoesNotAllocate(t *testing.T) {
	runtime := &ntconv.Event{Type: &ntconv.Type{Provider: clr.Runtime, ID: 2}, Payload: []byte{1, 0, 0, 0, 2, 0}}
	own := &ntconv.Event{Type: &ntconv.Type{Provider: "Shop", Name: "X"}}
	src := Describe(&endless{events: []*ntconv.Event{runtime, own, {Kind: ntconv.KindMark}, runtime, runtime}})
	names := 0
	if n := testing.AllocsPerRun(100, func() {
		if e, _ := src.Next(); e.Type != nil && e.Type.Name != "" {
			names++
		}
	}); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
	if runtime.Type.Name != "" || names == 0 {
		t.Error("the event of the source has changed")
	}
}

// endless is a source that repeats its events.
type endless struct {
	events []*ntconv.Event
	n      int
}

func (s *endless) Info() *ntconv.Info { return &ntconv.Info{PointerSize: 8} }

func (s *endless) Next() (*ntconv.Event, error) {
	s.n++
	return s.events[s.n%len(s.events)], nil
}

// copyTrace writes the events of a source to a nettrace file.
func copyTrace(t testing.TB, src ntconv.Source) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := writer.New(&out, src.Info(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ntconv.Copy(w, src); err != nil && !errors.As(err, new(*ntconv.SourceError)) {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestDescribedFiles reads a described trace. Without the tables, Event.Fields yields the fields of the runtime's
// layouts that a file can express. With the tables, all values equal those of the original.
func TestDescribedFiles(t *testing.T) {
	complete, cut, values := 0, 0, 0
	for _, f := range corpus.Traces(t) {
		described := corpus.File{Name: f.Name, Data: copyTrace(t, DescribeForFile(read(t, f)))}
		var before, after Table
		pair(t, f.Name, events(read(t, f)), events(read(t, described)), func(e, d *ntconv.Event) {
			a, b := before.Of(e), after.Of(d)
			if !bytes.Equal(e.Payload, d.Payload) || a.Name != b.Name || d.Type.Name != a.Name {
				t.Fatalf("%s: %s has become %s", f.Name, a.Name, b.Name)
			}
			want := format(a.Values(e))
			if got := format(b.Values(d)); !slices.Equal(got, want) {
				t.Fatalf("%s: %s, want %s", f.Name, got, want)
			}
			if len(e.Type.Fields) > 0 || !clr.IsRuntime(a.Provider) {
				return
			}
			got := format(d.Fields())
			if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("%s: %s, want the beginning of %s", a.Name, got, want)
			}
			if values += len(got); len(got) == len(a.Fields) {
				complete++
			} else {
				cut++
			}
		})
	}
	t.Logf("%d events of the runtime have all fields, %d a part, %d values", complete, cut, values)
	if complete < 10*cut {
		t.Error("most events should be described completely")
	}
}

func events(src ntconv.Source) ntconv.Source {
	return ntconv.Filter(src, func(e *ntconv.Event) bool { return e.Kind == ntconv.KindEvent })
}

// TestReferenceReadsDescribedFiles compares TraceEvent's output for a copy of a trace and for a described copy. They
// are equal, except that TraceEvent can decode unknown events of the latter.
func TestReferenceReadsDescribedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the reference reader on whole traces")
	}
	program := corpus.Shared(t, "oracle", "traceevent")
	dump := func(data []byte) []string {
		path := filepath.Join(t.TempDir(), "trace.nettrace")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "events", path, "--hex").Output()
		if err != nil {
			t.Skip("the reference reader cannot run here: ", err)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	for _, name := range []string{"alloc-verbose", "exceptions", "gcdump", "jit", "sources", "waits-v6"} {
		f := corpus.Trace(t, name)
		plain := dump(copyTrace(t, read(t, f)))
		described := dump(copyTrace(t, DescribeForFile(read(t, f))))
		if len(plain) != len(described) || len(plain) < 40 {
			t.Errorf("%s: %d events, described %d", name, len(plain), len(described))
			continue
		}
		learned := 0
		for i := range plain {
			before, after := decodeLine(t, plain[i]), decodeLine(t, described[i])
			if strings.HasPrefix(fmt.Sprint(before["name"]), "EventID(") && after["payload"] != nil {
				learned++
				for _, key := range []string{"name", "opcode", "payload"} {
					delete(before, key)
					delete(after, key)
				}
			}
			if fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("%s: %s\ndescribed %s", name, plain[i], described[i])
				break
			}
		}
		t.Logf("%s: %d events, %d that the reference cannot decode without the description", name, len(plain), learned)
	}
}

func decodeLine(t *testing.T, line string) (members map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &members); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return members
}
