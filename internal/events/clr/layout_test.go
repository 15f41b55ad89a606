package clr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
)

// A textEvent is an event line of a text file, parsed by other code than that of the package.
type textEvent struct {
	provider, symbol, task, keywords, fields string
	id                                       uint32
	version, opcode, level                   uint8
}

func (e textEvent) String() string { return fmt.Sprintf("%s %d/%d", e.provider, e.id, e.version) }

// textEvents parses a text file and returns its events and its keywords by provider and name.
func textEvents(t testing.TB, file string) (events []textEvent, keywords map[string]uint64) {
	t.Helper()
	b, err := os.ReadFile("events/" + file)
	if err != nil {
		t.Fatal(err)
	}
	keywords = map[string]uint64{}
	provider := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		w := strings.Fields(line)
		switch {
		case len(w) == 0:
		case w[0] == "provider":
			provider = w[1]
		case w[0] == "keyword":
			mask, err := strconv.ParseUint(w[2], 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			keywords[provider+" "+w[1]] = mask
		case w[0] == "event":
			e := textEvent{provider: provider, symbol: w[2]}
			if _, err := fmt.Sscanf(w[1], "%d/%d", &e.id, &e.version); err != nil {
				t.Fatal(line)
			}
			e.task, _, _ = strings.Cut(strings.TrimPrefix(w[3], "task="), "(")
			if _, err := fmt.Sscanf(w[4]+" "+w[5], "opcode=%d level=%d", &e.opcode, &e.level); err != nil {
				t.Fatal(line)
			}
			e.keywords = strings.TrimPrefix(w[6], "keywords=")
			_, e.fields, _ = strings.Cut(line, " : ")
			events = append(events, e)
		case w[0] == "map" && len(w) > 3 && (w[2] == "bits" || w[2] == "values"), w[0] == "#":
		default:
			t.Fatalf("unknown kind of line: %s", line)
		}
	}
	return events, keywords
}

var textFiles = []struct {
	file   string
	events int
}{{"clr-events.txt", 447}, {"managed-events.txt", 148}, {"unlisted-events.txt", 25}}

// allLayouts returns every layout that the text files describe.
func allLayouts(t testing.TB) []*Layout {
	var all []*Layout
	for _, text := range textFiles {
		events, _ := textEvents(t, text.file)
		for _, e := range events {
			l := Lookup(e.provider, e.id, e.version)
			if l == nil {
				t.Fatalf("%v: no layout", e)
			}
			all = append(all, l)
		}
	}
	return all
}

func TestEveryLineHasItsLayout(t *testing.T) {
	total := 0
	for _, text := range textFiles {
		events, keywords := textEvents(t, text.file)
		if len(events) != text.events {
			t.Errorf("%s: %d events, want %d", text.file, len(events), text.events)
		}
		total += len(events)
		for _, e := range events {
			l := Lookup(e.provider, e.id, e.version)
			if l == nil {
				t.Errorf("%v: no layout", e)
				continue
			}
			mask := uint64(0)
			for name := range strings.SplitSeq(e.keywords, "|") {
				if keywords[e.provider+" "+name] == 0 && name != "" {
					t.Errorf("%v: keyword %s is not defined", e, name)
				}
				mask |= keywords[e.provider+" "+name]
			}
			got := fmt.Sprint(l.Provider, l.ID, l.Version, l.Symbol, l.Task, l.Opcode, l.Level, l.Keywords)
			want := fmt.Sprint(e.provider, e.id, e.version, e.symbol, e.task, e.opcode, e.level, mask)
			if got != want {
				t.Errorf("%v: %s, want %s", e, got, want)
			}
			if got, want := spell(l.Fields), plain(e.fields); got != want {
				t.Errorf("%v: fields\n%s, want\n%s", e, got, want)
			}
		}
	}
	entries, distinct := 0, map[*Layout]bool{}
	for _, p := range providers().list {
		entries += len(p.all())
	}
	for _, l := range allLayouts(t) {
		distinct[l] = true
	}
	if total != entries || total != len(distinct) {
		t.Errorf("%d entries and %d layouts for %d lines", entries, len(distinct), total)
	}
}

// plain returns a list of fields of a text file without spaces and maps, and with one spelling for byte arrays and
// padding.
func plain(fields string) string {
	for {
		head, tail, ok := strings.Cut(fields, "<")
		if !ok {
			break
		}
		_, tail, _ = strings.Cut(tail, ">")
		fields = head + tail
	}
	fields = strings.ReplaceAll(fields, "Padding64:UInt32", "Padding64:Padding64")
	fields = strings.ReplaceAll(strings.ReplaceAll(fields, "Binary{", "UInt8["), "}", "]")
	return strings.TrimSpace(strings.ReplaceAll(fields, ", ", " "))
}

var spellings = map[ntconv.TypeCode]string{
	ntconv.TypeBool32: "Boolean", ntconv.TypeInt32: "Int32", ntconv.TypeUint8: "UInt8", ntconv.TypeUint16: "UInt16",
	ntconv.TypeUint32: "UInt32", ntconv.TypeInt64: "Int64", ntconv.TypeUint64: "UInt64", ntconv.TypeFloat64: "Double",
	ntconv.TypePointer: "Pointer", ntconv.TypeUTF16String: "UnicodeString", ntconv.TypeANSIString: "AnsiString",
	ntconv.TypeGUID: "GUID", ntconv.TypeDateTime: "FILETIME", ntconv.TypeVarUint: "VarUInt", ntconv.TypePad64: "Padding64",
}

// spell writes fields as the text files do.
func spell(fields []ntconv.Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name+":"+spellType(&f.Type, fields))
	}
	return strings.Join(out, " ")
}

func spellType(t *ntconv.FieldType, of []ntconv.Field) string {
	switch t.Code {
	case ntconv.TypeCounted:
		return spellType(t.Elem, nil) + "[" + of[t.Count].Name + "]"
	case ntconv.TypeFixedArray:
		return spellType(t.Elem, nil) + "[" + strconv.Itoa(int(t.Count)) + "]"
	case ntconv.TypeArray:
		if t.Elem.Code == ntconv.TypeUTF8Unit {
			return "UTF8String"
		}
		return spellType(t.Elem, nil) + "[]"
	case ntconv.TypeObject:
		return "struct(" + spell(t.Fields) + ")"
	}
	return spellings[t.Code]
}

// A maker generates values of a layout with their expected string form after decoding.
type maker struct {
	r   *rand.Rand
	ptr int
}

func (m *maker) fields(fields []ntconv.Field) (values []ntconv.Value, want []string) {
	counts := map[int]int{}
	for _, f := range fields {
		if f.Type.Code == ntconv.TypeCounted {
			counts[int(f.Type.Count)] = m.r.IntN(4)
		}
	}
	for i, f := range fields {
		var v ntconv.Value
		var s string
		if n, ok := counts[i]; ok {
			v, s = ntconv.UintValue(uint64(n)), strconv.Itoa(n)
		} else if f.Type.Code == ntconv.TypeCounted {
			v, s = m.list(f.Type.Elem, counts[int(f.Type.Count)])
		} else {
			v, s = m.value(&f.Type)
		}
		values, want = append(values, v), append(want, f.Name+"="+s)
	}
	return values, want
}

func (m *maker) list(elem *ntconv.FieldType, n int) (ntconv.Value, string) {
	if elem.Code == ntconv.TypeUint8 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(m.r.Uint32())
		}
		return ntconv.BytesValue(b), fmt.Sprintf("%x", b)
	}
	values, strs := make([]ntconv.Value, n), make([]string, n)
	for i := range n {
		values[i], strs[i] = m.value(elem)
	}
	return ntconv.ListValue(values...), "[" + strings.Join(strs, " ") + "]"
}

func (m *maker) value(t *ntconv.FieldType) (ntconv.Value, string) {
	unsigned := func(bits int) (ntconv.Value, string) {
		n := m.r.Uint64() >> (64 - bits)
		return ntconv.UintValue(n), strconv.FormatUint(n, 10)
	}
	signed := func(bits int) (ntconv.Value, string) {
		n := int64(m.r.Uint64()) >> (64 - bits)
		return ntconv.IntValue(n), strconv.FormatInt(n, 10)
	}
	switch t.Code {
	case ntconv.TypeBool32:
		b := m.r.IntN(2) == 1
		return ntconv.BoolValue(b), fmt.Sprint(b)
	case ntconv.TypeUint8:
		return unsigned(8)
	case ntconv.TypeUint16:
		return unsigned(16)
	case ntconv.TypeUint32:
		return unsigned(32)
	case ntconv.TypeUint64, ntconv.TypeVarUint:
		return unsigned(64)
	case ntconv.TypePointer:
		return unsigned(8 * m.ptr)
	case ntconv.TypeInt32:
		return signed(32)
	case ntconv.TypeInt64:
		return signed(64)
	case ntconv.TypeFloat64:
		f := m.r.NormFloat64() * math.MaxInt32
		return ntconv.FloatValue(f), fmt.Sprint(f)
	case ntconv.TypeGUID:
		var g ntconv.GUID
		for i := range g {
			g[i] = byte(m.r.Uint32())
		}
		return ntconv.GUIDValue(g), g.String()
	case ntconv.TypeDateTime:
		at := time.Unix(m.r.Int64N(1<<33), 100*m.r.Int64N(1e7)).UTC()
		return ntconv.TimeValue(at), at.Format(time.RFC3339Nano)
	case ntconv.TypePad64:
		return ntconv.Value{}, "null"
	}
	return m.compound(t)
}

func (m *maker) compound(t *ntconv.FieldType) (ntconv.Value, string) {
	alphabet := []rune("abcXYZ.<>$é")
	if t.Code == ntconv.TypeUTF16String || t.Code == ntconv.TypeArray {
		alphabet = append(alphabet, '語', '😀')
	}
	text := make([]rune, m.r.IntN(12))
	for i := range text {
		text[i] = alphabet[m.r.IntN(len(alphabet))]
	}
	switch t.Code {
	case ntconv.TypeANSIString:
		for i := range text {
			text[i] = min(text[i], 'z')
		}
	case ntconv.TypeArray:
		if t.Elem.Code != ntconv.TypeUTF8Unit {
			return m.list(t.Elem, m.r.IntN(4))
		}
	case ntconv.TypeFixedArray:
		return m.list(t.Elem, int(t.Count))
	case ntconv.TypeObject:
		values, strs := m.fields(t.Fields)
		return ntconv.ObjectValue(values...), "{" + strings.Join(strs, " ") + "}"
	}
	return ntconv.StringValue(string(text)), strconv.Quote(string(text))
}

// show prints a decoded value as maker does.
func show(v ntconv.Value) string {
	switch v.Kind() {
	case ntconv.ValueString:
		return strconv.Quote(v.String())
	case ntconv.ValueList:
		var out []string
		for e := range v.Elems() {
			out = append(out, show(e))
		}
		return "[" + strings.Join(out, " ") + "]"
	case ntconv.ValueObject:
		var out []string
		for f, e := range v.Fields() {
			out = append(out, f.Name+"="+show(e))
		}
		return "{" + strings.Join(out, " ") + "}"
	}
	return v.String()
}

// payload generates a payload of a layout.
func (m *maker) payload(t *testing.T, l *Layout) (payload []byte, want []string) {
	t.Helper()
	values, want := m.fields(l.Fields)
	payload, err := ntconv.AppendFields(nil, l.Fields, values, m.ptr)
	if err != nil {
		t.Fatalf("%s %s: %v", l.Provider, l.Symbol, err)
	}
	return payload, want
}

func TestLayoutsRoundTrip(t *testing.T) {
	for _, ptr := range []int{4, 8} {
		m := maker{rand.New(rand.NewPCG(1, uint64(ptr))), ptr}
		for _, l := range allLayouts(t) {
			for range 10 {
				payload, want := m.payload(t, l)
				var got []string
				var values []ntconv.Value
				for f, v := range ntconv.DecodeFields(l.Fields, payload, ptr) {
					if v.Kind() == ntconv.ValueNull && f.Type.Code != ntconv.TypePad64 && len(payload) > 0 && f.Type.Code != ntconv.TypeCounted {
						t.Errorf("%s.%s: null", l.Symbol, f.Name)
					}
					got, values = append(got, f.Name+"="+show(v)), append(values, v)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s %s, pointers of %d bytes: got\n%q, want\n%q", l.Provider, l.Symbol, ptr, got, want)
				}
				again, err := ntconv.AppendFields(nil, l.Fields, values, ptr)
				if err != nil || string(again) != string(payload) {
					t.Fatalf("%s %s: encoded again gives % x, %v, want % x", l.Provider, l.Symbol, again, err, payload)
				}
			}
		}
	}
}

// TestTruncation truncates a payload of every layout at every byte: the fields before the cut decode, and no others.
// After a cut between two fields the others are missing.
func TestTruncation(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(2, 2)), 8}
	for _, l := range allLayouts(t) {
		payload, want := m.payload(t, l)
		for n := range payload {
			e := event(l, payload[:n])
			i, bad := 0, false
			var all []ntconv.Value
			for f, v := range values(e) {
				all = append(all, v)
				if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
					bad = true
				} else if bad && f.Type.Code != ntconv.TypeCounted && f.Type.Code != ntconv.TypePad64 {
					t.Errorf("%s.%s truncated at %d: %v after the cut", l.Symbol, f.Name, n, v)
				} else if got := f.Name + "=" + show(v); !bad && got != want[i] {
					// After a cut between two members of a nested object the other members are missing.
					if bad = (v.Kind() == ntconv.ValueList || v.Kind() == ntconv.ValueObject) && strings.HasPrefix(want[i], strings.TrimRight(got, "]}")); !bad {
						t.Errorf("%s cut at %d: %s, want %s", l.Symbol, n, got, want[i])
					}
				}
				i++
			}
			if i < len(l.Fields) && n > 0 {
				checkEnd(t, e, all)
				if bad {
					continue
				}
				whole, err := ntconv.AppendFields(nil, l.Fields[:i], all, m.ptr)
				if err != nil || string(whole) != string(payload[:n]) {
					t.Errorf("%s cut at %d: %d fields of %d have the bytes % x, %v", l.Symbol, n, i, len(l.Fields), whole, err)
				}
			}
		}
	}
}

// event returns an event of a layout as in a trace: runtime events have no name, others do.
func event(l *Layout, payload []byte) *ntconv.Event {
	t := &ntconv.Type{Provider: l.Provider, ID: l.ID, Version: l.Version}
	if !IsRuntime(l.Provider) {
		t.Name = l.Symbol
	}
	return &ntconv.Event{Type: t, Payload: payload}
}

func TestLookupVersions(t *testing.T) {
	for _, c := range []struct {
		id            uint32
		version, want uint8
		symbol        string
	}{
		{1, 0, 0, "GCStart"}, {1, 2, 2, "GCStart_V2"}, {1, 3, 2, "GCStart_V2"}, {1, 255, 2, "GCStart_V2"},
		{204, 0, 3, "GCPerHeapHistory_V3"}, {205, 0, 2, "GCGlobalHeapHistory_V2"}, {203, 1, 2, "GCJoin_V2"},
		{303, 7, 0, "AllocationSampled"}, {143, 200, 2, "MethodLoadVerbose_V2"},
	} {
		l := Lookup(Runtime, c.id, c.version)
		if l == nil || l.ID != c.id || l.Version != c.want || l.Symbol != c.symbol {
			t.Errorf("%d/%d: %+v, want %s", c.id, c.version, l, c.symbol)
		}
		if again := Lookup(Runtime, c.id, c.version); again != l {
			t.Errorf("%d/%d: another pointer the second time", c.id, c.version)
		}
	}
	for _, c := range []struct {
		provider string
		id       uint32
	}{{Runtime, 0}, {Runtime, 24}, {Runtime, 9999}, {Runtime, 1 << 16}, {Runtime, 1<<24 + 1}, {Runtime, math.MaxUint32}, {Rundown, 1<<24 + 143}, {"Nobody", 1}, {"", 0}} {
		if l := Lookup(c.provider, c.id, 0); l != nil {
			t.Errorf("%s %d: %s", c.provider, c.id, l.Symbol)
		}
	}
}

func TestLayoutName(t *testing.T) {
	for symbol, want := range map[string]string{
		"GCStart_V2": "GCStart", "GCStart": "GCStart", "DCStartCompleteV2": "DCStartCompleteV2", "X_V12": "X", "X_V": "X_V",
		"Base2_V": "Base2_V", "CounterV10": "CounterV10", "": "", "_V1": "",
	} {
		if got := unversioned(symbol); got != want {
			t.Errorf("%q: %q, want %q", symbol, got, want)
		}
	}
}

func TestMapName(t *testing.T) {
	for _, c := range []struct {
		provider string
		id       uint32
		field    string
		value    uint64
		want     string
	}{
		{Runtime, 1, "Reason", 4, "AllocLarge"},
		{Runtime, 1, "Reason", 0, "AllocSmall"},
		{Runtime, 1, "Reason", 999, ""},
		{Runtime, 1, "Count", 1, ""},
		{Runtime, 1, "Nothing", 1, ""},
		{Runtime, 143, "MethodFlags", 8, "Jitted"},
		{Runtime, 143, "MethodFlags", 9, "Dynamic|Jitted"},
		{Runtime, 143, "MethodFlags", 0x188, "Jitted|0x180"},
		{Runtime, 143, "MethodFlags", 0, ""},
		{Runtime, 16, "GCRootKind", 2, "Handle"}, // nested
		{Runtime, 280, "Flags", 0, "None"},
		{Rundown, 153, "ModuleFlags", 32, "ReadyToRunModule"},
		{SampleProfiler, 0, "Type", 2, "Managed"},
		{Runtime, 187, "StartupFlags", 1, "CONCURRENT_GC"},
	} {
		l := Lookup(c.provider, c.id, 255)
		if got := l.MapName(c.field, c.value); got != c.want {
			t.Errorf("%s.%s %#x: %q, want %q", l.Symbol, c.field, c.value, got, c.want)
		}
	}
	if l := Lookup(Runtime, 1, 2); !l.HasMap("Type") || l.HasMap("Count") {
		t.Error("GCStart: Type has names and Count none")
	}
}
