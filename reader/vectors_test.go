package reader

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A deviation is a conformance vector for which strict mode differs from Microsoft's TraceEvent library on purpose.
type deviation struct {
	why    string
	lost   int64 // the correct number of lost events; that of TraceEvent is not compared
	early  bool  // events before the error are delivered
	header bool  // the header is not compared
	field  string
}

// deviations is the whole list.
var deviations = map[string]deviation{
	"V5CompressedHeaders": {
		why: "numbers of a thread start at 1 before version 6, too: a first number 7 reveals six losses", lost: 6},
	"V5SequenceRestart":             {why: "a number that starts again at 1 is a new thread, not 2,147,483,647 losses"},
	"V6UnsortedCaptureThreadChange": {why: "losses are counted by the event's own capture thread"},
	"V6ParseMultipleThreadBlocks":   {why: "losses are counted by the event's own capture thread"},
	"V6ParseSimpleThreadBlock":      {why: "losses are counted by the event's own capture thread"},
	"V6DoubleRemoveThreadBlockThrowsException": {
		why: "events before an error are delivered; a number that goes back is not a loss", early: true},
	"V6MismatchedRemoveThreadBlockThrowsException": {why: "events before an error are delivered", early: true},
	"V6SecondTraceBlock":                           {why: "the header is final before the first event: a second one does not replace it", header: true},
	"V6RelLocOfStruct":                             {why: "the reference cannot read a location of fixed-length arrays", field: "ra"},
}

type expectation struct {
	Outcome       any
	FormatVersion int
	PointerSize   int
	SyncTimeQPC   int64
	QpcFreq       int64
	SyncTimeUTC   string
	EventsLost    int64
	Events        []expectedEvent
}

type expectedEvent struct {
	Ticks      int64
	PID, TID   int64
	Provider   string
	ID         uint32
	Name       string
	Version    uint8
	Opcode     uint8
	Level      uint8
	Keywords   string
	PayloadHex string
	Payload    []struct {
		Name  string
		Value any
	}
	Stack             stackText
	ActivityID        string `json:"activity_id"`
	RelatedActivityID string `json:"related_activity_id"`
	Labels            struct {
		TraceIDBytes string
		SpanIDHex    string
	}
	Raw *struct {
		SequenceNumber    uint32
		CaptureProcNumber int32
		IsSorted          bool
	}
}

// stackText formats the addresses of a stack, at most the first eight.
type stackText []string

func (s *stackText) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(s))
	}
	var long struct{ First8 []string }
	err := json.Unmarshal(b, &long)
	*s = long.First8
	return err
}

// TestVectors compares strict mode, in both orders, with the outcome of TraceEvent for each small stream.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Shared(t, "data", "vectors"), "*.nettrace"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d vectors: %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".nettrace")
		seen[name] = true
		t.Run(name, func(t *testing.T) { testVector(t, file, name) })
	}
	for name := range deviations {
		if !seen[name] {
			t.Errorf("deviation %s: the vector does not exist", name)
		}
	}
}

func testVector(t *testing.T, file, name string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(strings.TrimSuffix(file, ".nettrace") + ".expect.json")
	if err != nil {
		t.Fatal(err)
	}
	var want expectation
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for _, order := range []Order{ByTime, FileOrder} {
		t.Run(map[Order]string{ByTime: "time", FileOrder: "file"}[order], func(t *testing.T) {
			compareVector(t, data, name, want, order)
		})
	}
}

func compareVector(t *testing.T, data []byte, name string, want expectation, order Order) {
	report := &ntconv.Report{}
	r, events, err := readAll(data, &Options{Order: order, Strict: true, Report: report})
	deviates, listed := deviations[name]
	if ok := want.Outcome == "ok"; ok != (err == nil) {
		t.Fatalf("error %v, want outcome %v", err, want.Outcome)
	}
	if err != nil && !errors.As(err, new(*ntconv.FormatError)) {
		t.Errorf("error %v has no offset", err)
	}
	if r != nil && want.FormatVersion != 0 && !deviates.header {
		checkHeader(t, r, &want)
	}
	if listed {
		want.EventsLost = deviates.lost
	}
	if got := int64(report.Count(ntconv.CodeEventsLost)); got != want.EventsLost {
		t.Errorf("%d events lost, want %d", got, want.EventsLost)
	}
	if deviates.early && len(want.Events) == 0 && len(events) > 0 {
		return
	}
	if order == FileOrder { // TestTimeOrder compares the orders
		slices.SortStableFunc(events, func(a, b *ntconv.Event) int { return cmp.Compare(a.Time, b.Time) })
	}
	compareEvents(t, events, want.Events, deviates.field)
}

// readAll returns clones of all events of a trace.
func readAll(data []byte, opts *Options) (*Reader, []*ntconv.Event, error) {
	r, err := New(bytes.NewReader(data), opts)
	if err != nil {
		return nil, nil, err
	}
	var events []*ntconv.Event
	for e, err := range ntconv.Events(r) {
		if err != nil {
			return r, events, err
		}
		if e.Kind == ntconv.KindEvent {
			events = append(events, e.Clone())
		}
	}
	return r, events, nil
}

func checkHeader(t *testing.T, r *Reader, want *expectation) {
	info := r.Info()
	if info.PointerSize != want.PointerSize || info.Clock.Freq != want.QpcFreq || int64(info.Clock.Tick) != want.SyncTimeQPC {
		t.Errorf("info %+v, want pointer size %d, frequency %d, tick %d", info, want.PointerSize, want.QpcFreq, want.SyncTimeQPC)
	}
	if got := info.Clock.Wall.Format("2006-01-02T15:04:05.0000000Z"); got != want.SyncTimeUTC {
		t.Errorf("start %s, want %s", got, want.SyncTimeUTC)
	}
}

// compareEvents compares lists of events. Events of equal time may have different order.
func compareEvents(t *testing.T, got []*ntconv.Event, want []expectedEvent, skip string) {
	inOrder := slices.IsSortedFunc(want, func(a, b expectedEvent) int { return cmp.Compare(a.Ticks, b.Ticks) })
	if inOrder && !slices.IsSortedFunc(got, func(a, b *ntconv.Event) int { return cmp.Compare(a.Time, b.Time) }) {
		t.Errorf("events are not in time order")
	}
	key := func(ticks int64, tid uint64, seq uint32) string {
		return fmt.Sprintf("%020d %d %d", ticks, uint32(tid), seq)
	}
	slices.SortStableFunc(got, func(a, b *ntconv.Event) int {
		return cmp.Compare(key(int64(a.Time), a.Thread.TID, a.Seq), key(int64(b.Time), b.Thread.TID, b.Seq))
	})
	slices.SortStableFunc(want, func(a, b expectedEvent) int {
		return cmp.Compare(key(a.Ticks, uint64(a.TID), a.seq()), key(b.Ticks, uint64(b.TID), b.seq()))
	})
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if diff := compareEvent(got[i], &want[i], skip); diff != "" {
			t.Errorf("event %d: %s", i, diff)
		}
	}
}

func (e *expectedEvent) seq() uint32 {
	if e.Raw == nil {
		return 0
	}
	return e.Raw.SequenceNumber
}

func compareEvent(got *ntconv.Event, want *expectedEvent, skip string) string {
	var diff []string
	check := func(what string, g, w any) {
		if !reflect.DeepEqual(g, w) {
			diff = append(diff, fmt.Sprintf("%s %v, want %v", what, g, w))
		}
	}
	check("ticks", int64(got.Time), want.Ticks)
	check("provider", got.Type.Provider, want.Provider)
	check("id", uint16(got.Type.ID), uint16(want.ID)) // TraceEvent keeps 16 bits
	check("version", got.Version(), want.Version)
	if want.Opcode != got.Opcode() && !(impliedOpcode(got) == want.Opcode) {
		check("opcode", got.Opcode(), want.Opcode)
	}
	check("level", got.Level(), want.Level)
	check("keywords", fmt.Sprintf("0x%x", got.Keywords()), want.Keywords)
	check("pid", uint32(got.Thread.Process.PID), uint32(want.PID)) // 32 bits
	check("tid", uint32(got.Thread.TID), uint32(want.TID))
	check("payload", hex.EncodeToString(got.Payload), want.PayloadHex)
	check("activity", idText(got, ntconv.LabelActivityID), want.ActivityID)
	check("related activity", idText(got, ntconv.LabelRelatedActivityID), want.RelatedActivityID)
	trace, _ := got.Labels.ID(ntconv.LabelTraceID)
	if want.Labels.TraceIDBytes != "" {
		check("trace id", hex.EncodeToString(trace[:]), want.Labels.TraceIDBytes)
	}
	if want.Raw != nil {
		check("sequence", got.Seq, want.Raw.SequenceNumber)
		check("cpu", got.CPU, want.Raw.CaptureProcNumber)
		check("sorted", got.Flags&ntconv.FlagSorted != 0, want.Raw.IsSorted)
	}
	var stack []string
	if got.Stack != nil {
		for _, pc := range got.Stack.PCs[:min(len(got.Stack.PCs), max(8, len(want.Stack)))] {
			stack = append(stack, fmt.Sprintf("0x%x", pc))
		}
	}
	check("stack", strings.Join(stack, " "), strings.Join(want.Stack, " "))
	diff = append(diff, compareFields(got, want, skip)...)
	return strings.Join(diff, "; ")
}

// impliedOpcode returns the opcode that TraceEvent derives from a name that ends in Start or Stop.
func impliedOpcode(e *ntconv.Event) uint8 {
	switch name := strings.ToLower(e.Type.Name); {
	case e.Type.HasOpcode:
	case strings.HasSuffix(name, "start"):
		return 1
	case strings.HasSuffix(name, "stop"):
		return 2
	}
	return e.Opcode()
}

func idText(e *ntconv.Event, kind ntconv.LabelKind) string {
	id, ok := e.Labels.ID(kind)
	if !ok {
		return ""
	}
	return ntconv.GUID(id).String()
}

// compareFields compares decoded payloads. Other packages test events whose fields are not in the trace.
func compareFields(got *ntconv.Event, want *expectedEvent, skip string) (diff []string) {
	if len(got.Type.Fields) == 0 {
		return nil
	}
	i := 0
	for f, v := range got.Fields() {
		if i >= len(want.Payload) {
			return append(diff, fmt.Sprintf("field %q is too many", f.Name))
		}
		w := want.Payload[i]
		i++
		if f.Name == skip {
			continue
		}
		if s, ok := w.Value.(string); ok && strings.HasPrefix(s, "<<<EXCEPTION") {
			if v.Kind() != ntconv.ValueError {
				diff = append(diff, fmt.Sprintf("field %q is %v, want an error", f.Name, v))
			}
			continue
		}
		if w.Value == "[UNSUPPORTED TYPE]" {
			continue
		}
		if g := plain(v); !reflect.DeepEqual(g, w.Value) || f.Name != w.Name {
			diff = append(diff, fmt.Sprintf("field %q is %#v, want %q %#v", f.Name, g, w.Name, w.Value))
		}
	}
	if i != len(want.Payload) {
		diff = append(diff, fmt.Sprintf("%d fields, want %d", i, len(want.Payload)))
	}
	return diff
}

// plain converts a value to the representation of the expectation files.
func plain(v ntconv.Value) any {
	switch v.Kind() {
	case ntconv.ValueNull:
		return nil
	case ntconv.ValueFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case ntconv.ValueTime:
		return v.Time().Format("2006-01-02T15:04:05.0000000Z")
	case ntconv.ValueBytes:
		list := []any{}
		for _, b := range v.Bytes() {
			list = append(list, strconv.Itoa(int(b)))
		}
		return list
	case ntconv.ValueList:
		list := []any{}
		for e := range v.Elems() {
			list = append(list, plain(e))
		}
		return list
	case ntconv.ValueObject:
		object := map[string]any{}
		for f, m := range v.Fields() {
			object[f.Name] = plain(m)
		}
		return object
	}
	return v.String()
}

// TestVectorsLenient reads every vector in lenient mode. The reader rejects only input that is not a trace, has an
// unknown version, or has corrupt framing, and delivers at least the events of strict mode.
func TestVectorsLenient(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus.Shared(t, "data", "vectors"), "*.nettrace"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, strict, strictErr := readAll(data, &Options{Strict: true})
		report := &ntconv.Report{}
		_, lenient, err := readAll(data, &Options{Report: report})
		if len(lenient) < len(strict) {
			t.Errorf("%s: %d events, %d in strict mode", filepath.Base(file), len(lenient), len(strict))
		}
		if strictErr == nil && err != nil {
			t.Errorf("%s: strict mode accepts it, lenient says %v", filepath.Base(file), err)
		}
		if strictErr != nil && err == nil && len(report.Entries()) == 0 {
			t.Errorf("%s: strict mode says %v, lenient says nothing", filepath.Base(file), strictErr)
		}
	}
}

// TestOldFormatsAreNamed checks that the error for a format of .NET Core 2.0 names the format.
func TestOldFormatsAreNamed(t *testing.T) {
	for vector, name := range map[string]string{"V1IsUnsupported": "netperf 1:", "V2IsUnsupported": "netperf 2:"} {
		data, err := os.ReadFile(filepath.Join(corpus.Shared(t, "data", "vectors"), vector+".nettrace"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(bytes.NewReader(data), nil); !errors.Is(err, ntconv.ErrUnsupported) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", vector, err)
		}
	}
}
