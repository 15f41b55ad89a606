package schema

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
)

// A refEvent is a line of TraceEvent's dump: a payload and the fields that TraceEvent decodes from it.
type refEvent struct {
	Provider string
	ID       uint32
	Version  uint8
	Name     string
	Hex      string `json:"payload_hex"`
	Payload  json.RawMessage
	ptr      uint8
}

// event returns the event as the reader would return it, with the name in the metadata if the file has one.
func (r *refEvent) event(t testing.TB) *ntconv.Event {
	payload, err := hex.DecodeString(r.Hex)
	if err != nil {
		t.Fatal(err)
	}
	typ := &ntconv.Type{Provider: r.Provider, ID: r.ID, Version: r.Version}
	if r.Provider == clr.Runtime && r.ID == 65524 { // TraceEvent's own ID for one kind of GCDynamicEvent
		typ.ID = 39
	}
	switch r.Provider {
	case clr.UniversalEvents:
		typ.Name = strings.ToLower(r.Name)
	case clr.DiagnosticSource: // Activity1/Start
		typ.Name, typ.ID = strings.ReplaceAll(r.Name, "/", ""), 999
	}
	return &ntconv.Event{
		Type: typ, Payload: payload,
		Thread: &ntconv.Thread{Process: &ntconv.Process{PointerSize: r.ptr}},
	}
}

// computed lists fields that TraceEvent computes or masks instead of reading them.
var computed = []string{
	"OptimizationTier", "MethodFlags", "TotalHeapSize", "TotalPromoted", "Depth", "ModuleILFileName", "ObjectName", "TypeParameterCount",
	"TypeParameters", "LoaderModuleID", "CompactMechanisms", "ExpandMechanisms", "ConcurrentCompactMechanisms", "MemoryPressure",
	"TypeID_0", "TypeName_0", "Promoted", "ID", "Data",
}

// otherName lists fields that TraceEvent names differently.
var otherName = map[string]string{"ContinuationId": "ContinueWithTaskId"}

// compare counts events and compared values, and reports the first difference per event type.
func compareReference(t *testing.T, r io.Reader, ptr uint8) (events, values int) {
	t.Helper()
	reported := map[string]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		ref := refEvent{ptr: ptr}
		if err := json.Unmarshal(lines.Bytes(), &ref); err != nil {
			t.Fatal(err)
		}
		e := ref.event(t)
		l := clr.LayoutOf(e.Type, e.Version())
		if l == nil && !clr.IsRuntime(ref.Provider) {
			continue
		}
		events++
		n, diff := 0, "no layout"
		if l != nil {
			n, diff = ref.differ(t, e)
			if diff == "" {
				diff = uneven(l, e)
			}
		}
		if key := fmt.Sprint(ref.Provider, ref.ID, ref.Version, strings.SplitN(diff, ":", 2)[0]); diff != "" && !reported[key] {
			reported[key] = true
			t.Errorf("%s %d/%d %s: %s", ref.Provider, ref.ID, ref.Version, ref.Name, diff)
		}
		values += n
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return events, values
}

func (r *refEvent) differ(t *testing.T, e *ntconv.Event) (values int, diff string) {
	ours := map[string]ntconv.Value{}
	for f, v := range of(e).Values(e) {
		ours[f.Name] = v
	}
	if len(r.Payload) == 0 {
		return 0, ""
	}
	var theirs map[string]any
	d := json.NewDecoder(bytes.NewReader(r.Payload))
	d.UseNumber()
	if err := d.Decode(&theirs); err != nil {
		t.Fatal(err)
	}
	for name, want := range theirs {
		if slices.Contains(computed, name) || e.Type.ID == 29 && name == "TypeName" || e.Type.ID == 298 && (name == "MethodToken" || name == "MethodNamespace") {
			continue
		}
		v, ok := ours[name]
		if !ok {
			v, ok = ours[otherName[name]]
		}
		if !ok && laterField(e, name) {
			continue // TraceEvent shows zero for fields of later versions
		}
		if !ok {
			return values, name + ": no field of that name"
		}
		if !sameValue(want, v) {
			return values, fmt.Sprintf("%s: %.300v, reference %.300v", name, show(v), want)
		}
		values++
	}
	return values, ""
}

// uneven describes how the encoded values of an event differ from its payload, and is "" if they are equal. The encoded
// values may be a prefix if the recorder writes further bytes.
func uneven(l *clr.Layout, e *ntconv.Event) string {
	var values []ntconv.Value
	fields := l.Fields
	for f, v := range ntconv.DecodeFields(fields, e.Payload, e.PointerSize()) {
		switch {
		case v.Kind() == ntconv.ValueError:
			return f.Name + ": " + v.String()
		case v.Kind() == ntconv.ValueNull && f.Type.Code != ntconv.TypePad64:
			return f.Name + ": beyond the end"
		}
		values = append(values, v)
	}
	again, err := ntconv.AppendFields(nil, fields, values, e.PointerSize())
	tail := l.Provider == clr.UniversalSystem && l.ID == 3
	if err != nil || !bytes.HasPrefix(e.Payload, again) || len(again) < len(e.Payload) && !tail {
		return fmt.Sprintf("payload: % x encoded again as % x, %v", e.Payload, again, err)
	}
	return ""
}

// laterField reports whether only a later version of the event has a field.
func laterField(e *ntconv.Event, name string) bool {
	l := clr.LayoutOf(e.Type, e.Version())
	latest := clr.Lookup(l.Provider, l.ID, 255)
	return l != latest && slices.ContainsFunc(latest.Fields, func(f ntconv.Field) bool { return f.Name == name })
}

func sameValue(want any, v ntconv.Value) bool {
	switch v.Kind() {
	case ntconv.ValueNull:
		return want == nil
	case ntconv.ValueBool:
		return want == v.Bool() || want == json.Number("1") && v.Bool() || want == json.Number("0") && !v.Bool()
	case ntconv.ValueInt, ntconv.ValueUint:
		return sameInt(want, v)
	case ntconv.ValueFloat:
		n, ok := want.(json.Number)
		f, err := n.Float64()
		return ok && err == nil && math.Abs(f-v.Float()) <= 1e-6*math.Max(math.Abs(f), math.Abs(v.Float()))
	case ntconv.ValueTime:
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(want))
		return err == nil && at.Equal(v.Time())
	case ntconv.ValueBytes:
		return want == fmt.Sprintf("hex:%x", v.Bytes())
	case ntconv.ValueList:
		list, ok := want.([]any)
		for m := range v.Elems() {
			if !ok || len(list) == 0 || !sameValue(list[0], m) {
				return false
			}
			list = list[1:]
		}
		return ok && len(list) == 0
	case ntconv.ValueObject:
		members, ok := want.(map[string]any)
		n := 0
		for f, m := range v.Fields() {
			if !ok || !sameValue(members[f.Name], m) {
				return false
			}
			n++
		}
		return ok && n == len(members)
	}
	s, ok := want.(string)
	return ok && strings.EqualFold(s, v.String())
}

// sameInt accepts unsigned fields that TraceEvent shows as signed, and numbers that it shows as strings.
func sameInt(want any, v ntconv.Value) bool {
	text := fmt.Sprint(want)
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return n == v.Uint()
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return false
	}
	u := v.Uint()
	return uint64(n) == u || uint64(uint32(n)) == u || uint64(uint16(n)) == u || uint64(uint8(n)) == u
}

// TestReferenceSamples checks one or two real payloads of every event in our recordings.
func TestReferenceSamples(t *testing.T) {
	f, err := os.Open("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, values := compareReference(t, f, 8)
	if events < 250 || values < 1000 {
		t.Errorf("%d events and %d values compared", events, values)
	}
}

// TestReferenceTraces checks whole traces; the last one has pointers of 4 bytes.
func TestReferenceTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the reference reader on whole traces")
	}
	program := corpus.Shared(t, "oracle", "traceevent")
	for i, c := range []struct {
		trace string
		ptr   uint8
	}{
		{"own/startup-most.nettrace", 8}, {"own/gcdump.nettrace", 8}, {"own/jit-maps.nettrace", 8}, {"own/cpu-v6.nettrace", 8},
		{"nettrace/onecollect-small-v6.nettrace", 8}, {"nettrace/perfview-heartratemonitor-arm32.nettrace", 4},
	} {
		if corpus.IsOmitted(i+1, 3) {
			continue
		}
		t.Run(c.trace, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(c.trace))
			if err := os.WriteFile(path, wiretest.Read(t, c.trace), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, "events", path, "--hex")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Skip("the reference reader cannot run here: ", err)
			}
			events, values := compareReference(t, out, c.ptr)
			if err := cmd.Wait(); err != nil {
				t.Skip("the reference reader failed: ", err)
			}
			if events < 20 {
				t.Errorf("%d events compared", events)
			}
			t.Log(events, "events", values, "values")
		})
	}
}
