package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const runtimeProvider = "Microsoft-Windows-DotNETRuntime"

// A line is an event as one line of JSON, from the reference or from ntconv print --json.
type line struct {
	Ticks      int64  `json:"ticks"`
	Time       string `json:"time"` // of ntconv only
	PID        uint64 `json:"pid"`
	TID        uint64 `json:"tid"`
	CPU        int    `json:"cpu"`
	Provider   string `json:"provider"`
	ID         uint64 `json:"id"`
	Version    uint8  `json:"version"`
	Name       string `json:"event"`
	TheirName  string `json:"name"` // of TraceEvent; the same as Name
	Level      uint8  `json:"level"`
	Keywords   string `json:"keywords"`
	Activity   string `json:"activity_id"`
	Related    string `json:"related_activity_id"`
	TraceID    string `json:"trace_id"`
	SpanID     string `json:"span_id"`
	Size       int    `json:"size"`
	CRC        string `json:"crc32"`
	PayloadHex string `json:"payload_hex"`
	// The payload stays a string: decoding it would take most of the time, and in most events both strings are equal.
	Labels  json.RawMessage `json:"labels"`
	Payload json.RawMessage `json:"payload"`
	Stack   json.RawMessage `json:"stack"`
}

// A pairKey identifies corresponding events of two dumps.
type pairKey struct {
	ticks    int64
	tid      uint64
	provider string
	id       uint64
	version  uint8
	size     int
}

func (l *line) key() pairKey {
	return pairKey{l.Ticks, l.TID, l.Provider, l.ID, l.Version, l.Size}
}

// kind returns a name for similar events in a list of differences.
func (l *line) kind() string { return fmt.Sprintf("%s %d/%d", l.Provider, l.ID, l.Version) }

// fields decodes the payload.
func (l *line) fields(t *testing.T) map[string]any { return object(t, l.Payload) }

func object(t *testing.T, text json.RawMessage) map[string]any {
	t.Helper()
	var m map[string]any
	if len(text) > 0 {
		decode(t, text, &m)
	}
	return m
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
}

// readLines reads a dump of events in order.
func readLines(t *testing.T, dump []byte) []*line {
	t.Helper()
	var list []*line
	names := map[string]string{}
	for text := range bytes.Lines(dump) {
		l := new(line)
		decode(t, text, l)
		if l.TheirName != "" {
			l.Name, l.TheirName = l.TheirName, ""
		}
		if l.Provider == runtimeProvider && l.ID == 65524 {
			l.ID = 39 // the reference uses its own number for one kind of GCDynamicEvent
		}
		if names[l.Provider] == "" {
			names[l.Provider] = l.Provider
		}
		l.Provider = names[l.Provider]
		list = append(list, l)
	}
	return list
}

// byKey groups the events of a dump by pairKey. Events with the same key are sorted by their contents.
func byKey(list []*line) map[pairKey][]*line {
	m := make(map[pairKey][]*line, len(list))
	for _, l := range list {
		m[l.key()] = append(m[l.key()], l)
	}
	for _, group := range m {
		if len(group) > 1 {
			slices.SortStableFunc(group, func(a, b *line) int {
				return cmp.Or(cmp.Compare(a.CRC, b.CRC), cmp.Compare(a.Activity, b.Activity), cmp.Compare(a.Related, b.Related))
			})
		}
	}
	return m
}

// unzstd returns the contents of a zstd file.
func unzstd(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	z, err := zstd.NewReader(bufio.NewReader(f), zstd.WithDecoderConcurrency(1))
	must(t, err)
	defer z.Close()
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(path, ": ", err)
	}
	return b
}

// printed runs ntconv print and returns its output. The exit code must be that of the trace.
func printed(t *testing.T, tr trace, flags ...string) []byte {
	t.Helper()
	r := run(t, command, append([]string{"print", "--json", "-q", tr.path}, flags...)...)
	if want := exitCode(tr.name); r.code != want {
		t.Fatalf("print: exit code %d, want %d: %s", r.code, want, r.stderr)
	}
	return r.stdout
}

// Exit codes of ntconv.
const (
	complete   = 0
	unreadable = 2
	incomplete = 3
	nothing    = 4
	unwritten  = 6
)

// truncated are the traces whose end is missing.
var truncated = map[string]bool{"diagnostics-truncated": true, "crash": true, "stress-cut": true, "stress-killed": true}

// exitCode returns the expected exit code for reading a trace to its end.
func exitCode(name string) int {
	switch {
	case strings.Contains(name, "prerelease"):
		return unreadable
	case truncated[name]:
		return incomplete
	}
	return complete
}
