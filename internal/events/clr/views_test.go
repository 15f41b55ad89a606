package clr

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// checkAgain encodes decoded values and compares them with the beginning of the payload. Strings with unpaired
// surrogates, invalid UTF-8, booleans other than 0 and 1, and overlong varints do not round-trip exactly; then a second
// decoding must agree.
func checkAgain(t *testing.T, e *ntconv.Event, fields []ntconv.Field, values []ntconv.Value, whole bool) {
	t.Helper()
	if !whole {
		return
	}
	again, err := ntconv.AppendFields(nil, fields, values, e.PointerSize())
	if err != nil {
		t.Fatalf("%s: %v", e.Type.Name, err)
	}
	if bytes.HasPrefix(e.Payload, again) {
		return
	}
	i := 0
	for f, v := range ntconv.DecodeFields(fields, again, e.PointerSize()) {
		if show(v) != show(values[i]) {
			t.Fatalf("%s.%s: %s, encoded and decoded again %s", e.Type.Name, f.Name, show(values[i]), show(v))
		}
		i++
	}
}

// generic decodes an event with its layout to strings by field name; absent fields are omitted.
func generic(e *ntconv.Event) (out map[string]string, whole bool) {
	out, whole = map[string]string{}, true
	for f, v := range values(e) {
		switch v.Kind() {
		case ntconv.ValueNull:
		case ntconv.ValueError:
			whole = false
		case ntconv.ValueString:
			out[f.Name] = v.String()
		default:
			out[f.Name] = fmt.Sprint(v.String())
		}
	}
	return out, whole
}

// view decodes an event with the view of its class to strings by the field names of the layout. Zero means absent.
func view(e *ntconv.Event) (out map[string]string, ok bool) {
	wide := func(b []byte) string { return string(bin.DecodeUTF16(nil, b)) }
	narrow := func(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
	n := func(v any) string { return fmt.Sprint(v) }
	switch ClassOf(e.Type) {
	case ClassMethod:
		var m Method
		ok = ParseMethod(e, &m)
		out = map[string]string{
			"MethodID": n(m.MethodID), "ModuleID": n(m.ModuleID), "MethodStartAddress": n(m.Start), "MethodSize": n(m.Size),
			"MethodToken": n(m.Token), "MethodFlags": n(m.Flags), "ClrInstanceID": n(m.Instance), "ReJITID": n(m.ReJITID),
			"MethodNamespace": wide(m.Namespace), "MethodName": wide(m.Name), "MethodSignature": wide(m.Signature),
		}
	case ClassModule:
		var m Module
		ok = ParseModule(e, &m)
		out = map[string]string{
			"ModuleID": n(m.ModuleID), "ModuleILPath": wide(m.ILPath), "ModuleNativePath": wide(m.NativePath),
			"ManagedPdbSignature": n(m.Signature), "ManagedPdbAge": n(m.Age),
		}
	case ClassSample:
		var s Sample
		ok = ParseSample(e, &s)
		out = map[string]string{"Type": n(s.Type)}
	case ClassUniversalProcess:
		var p Process
		ok = ParseProcess(e, &p)
		out = map[string]string{"NamespaceId": n(p.NamespaceID), "Name": narrow(p.Name), "NamespaceName": narrow(p.NamespaceName)}
	case ClassUniversalMapping:
		var m Mapping
		ok = ParseMapping(e, &m)
		out = map[string]string{
			"Id": n(m.ID), "StartAddress": n(m.Start), "EndAddress": n(m.End), "FileOffset": n(m.Offset), "FileName": narrow(m.File),
			"MetadataId": n(m.MetadataID),
		}
	case ClassUniversalSymbol:
		var s Symbol
		ok = ParseSymbol(e, &s)
		out = map[string]string{"Id": n(s.ID), "MappingId": n(s.MappingID), "StartAddress": n(s.Start), "EndAddress": n(s.End), "Name": narrow(s.Name)}
	case ClassUniversalMappingMetadata:
		var m MappingMetadata
		ok = ParseMappingMetadata(e, &m)
		out = map[string]string{"Id": n(m.ID), "SymbolMetadata": narrow(m.Symbol), "VersionMetadata": narrow(m.Version)}
	case ClassUniversalCPU, ClassUniversalCSwitch:
		var v uint64
		v, ok = Value(e)
		out = map[string]string{"Value": n(v)}
	}
	return out, ok
}

var zeroes = map[string]bool{"": true, "0": true, ntconv.GUID{}.String(): true}

// checkViews compares the view of an event with its layout. A view may accept a payload truncated inside fields of
// later versions. It must not reject a payload that decodes, nor accept one truncated earlier.
func checkViews(t *testing.T, e *ntconv.Event) {
	t.Helper()
	got, ok := view(e)
	if got == nil {
		return
	}
	want, whole := generic(e)
	whole = whole && len(want) == len(LayoutOf(e.Type, e.Version()).Fields)
	if whole && !ok {
		t.Fatalf("%s: the view refuses what decodes to %v", LayoutOf(e.Type, e.Version()).Name(), want)
	}
	if !ok {
		return
	}
	for name, v := range want {
		// The two place U+FFFD differently in invalid UTF-8.
		if g, read := got[name]; read && g != v && !(zeroes[g] && !whole) && !strings.ContainsRune(v, utf8.RuneError) {
			t.Fatalf("%s.%s: %q, by the layout %q", LayoutOf(e.Type, e.Version()).Name(), name, g, v)
		}
	}
}

// TestViewsAgreeWithLayouts compares every view of every version with generic decoding, complete and truncated at each
// byte.
func TestViewsAgreeWithLayouts(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(4, 4)), 8}
	seen := map[Class]int{}
	for _, l := range allLayouts(t) {
		for range 20 {
			payload, _ := m.payload(t, l)
			e := event(l, payload)
			got, ok := view(e)
			if got == nil {
				break
			}
			seen[ClassOf(e.Type)]++
			want, whole := generic(e)
			if !ok || !whole {
				t.Fatalf("%s %s: view %t, layout %t", l.Provider, l.Symbol, ok, whole)
			}
			for name, v := range want {
				if g, read := got[name]; read && g != v {
					t.Fatalf("%s.%s: %q, by the layout %q", l.Symbol, name, g, v)
				}
				delete(got, name)
			}
			for name, v := range got {
				if !zeroes[v] {
					t.Fatalf("%s.%s: %q, but the layout has no such field", l.Symbol, name, v)
				}
			}
			for n := range payload {
				e.Payload = payload[:n]
				checkViews(t, e)
			}
		}
	}
	for _, c := range []Class{
		ClassMethod, ClassModule, ClassSample, ClassUniversalProcess, ClassUniversalMapping, ClassUniversalSymbol,
		ClassUniversalMappingMetadata, ClassUniversalCPU, ClassUniversalCSwitch,
	} {
		if seen[c] == 0 {
			t.Errorf("no event of class %v", c)
		}
	}
}

// TestShortPayloads states the minimum size that each view needs.
func TestShortPayloads(t *testing.T) {
	for _, c := range []struct {
		typ  ntconv.Type
		need int
	}{
		{ntconv.Type{Provider: Runtime, ID: 141}, 36}, {ntconv.Type{Provider: Runtime, ID: 143}, 42},
		{ntconv.Type{Provider: Rundown, ID: 144}, 42}, {ntconv.Type{Provider: SampleProfiler}, 4},
		{ntconv.Type{Provider: UniversalSystem, ID: 1}, 5}, {ntconv.Type{Provider: UniversalSystem, ID: 3}, 7},
		{ntconv.Type{Provider: UniversalSystem, ID: 4}, 6}, {ntconv.Type{Provider: UniversalSystem, ID: 5}, 5},
		{ntconv.Type{Provider: UniversalEvents, ID: 9, Name: "cpu"}, 1},
	} {
		for n := range c.need + 40 {
			e := &ntconv.Event{Type: &c.typ, Payload: make([]byte, n)}
			if _, ok := view(e); ok != (n >= c.need) {
				t.Errorf("%s %d: %d bytes give %t, want %d bytes", c.typ.Provider, c.typ.ID, n, ok, c.need)
			}
		}
	}
}

func TestActions(t *testing.T) {
	zeros := make([]byte, 64)
	for _, c := range []struct {
		provider string
		id       uint32
		want     string
		verbose  bool
	}{
		{Runtime, 141, "load", false}, {Runtime, 142, "unload", false}, {Runtime, 143, "load", true}, {Runtime, 144, "unload", true},
		{Rundown, 141, "rundown start", false}, {Rundown, 142, "rundown end", false}, {Rundown, 143, "rundown start", true},
		{Rundown, 144, "rundown end", true},
	} {
		var m Method
		e := &ntconv.Event{Type: &ntconv.Type{Provider: c.provider, ID: c.id}, Payload: zeros}
		if !ParseMethod(e, &m) || m.Action.String() != c.want || m.Verbose != c.verbose || (m.Name != nil) != c.verbose {
			t.Errorf("%s %d: %v verbose %t, want %s", c.provider, c.id, m.Action, m.Verbose, c.want)
		}
	}
	for _, typ := range []ntconv.Type{
		{Provider: Runtime, ID: 140}, {Provider: Runtime, ID: 145}, {Provider: "Shop", ID: 143}, {Provider: Rundown, ID: 152},
		{Provider: Runtime, ID: 154}, {Provider: UniversalSystem, ID: 1},
	} {
		e := &ntconv.Event{Type: &typ, Payload: zeros}
		var m Method
		if ParseMethod(e, &m) {
			t.Errorf("%s %d is taken for a method", typ.Provider, typ.ID)
		}
	}
}

// TestClasses derives the class of each ID from the symbols of the tables.
func TestClasses(t *testing.T) {
	want := func(l *Layout) Class {
		name := l.Name()
		if strings.HasSuffix(name, "V2") { // desktop runtime before version 4
			return ClassNone
		}
		switch l.Provider {
		case Runtime, Rundown:
			switch strings.TrimSuffix(name, "Verbose") {
			case "MethodLoad", "MethodUnload", "MethodDCStart", "MethodDCEnd":
				return ClassMethod
			case "ModuleLoad", "ModuleUnload", "ModuleDCStart", "ModuleDCEnd":
				return ClassModule
			case "DomainModuleLoad", "DomainModuleDCStart", "DomainModuleDCEnd":
				return ClassDomainModule
			case "MethodILToNativeMap", "MethodDCStartILToNativeMap", "MethodDCEndILToNativeMap":
				return ClassILMap
			case "ThreadCreated", "ThreadDC":
				return ClassThread
			case "RuntimeInformationStart", "RuntimeInformationDCStart":
				return ClassRuntimeStart
			}
			return ClassNone
		}
		return map[string]Class{
			"ThreadSample": ClassSample, "ProcessInfo": ClassProcessInfo, "ExistingProcess": ClassUniversalProcess,
			"ProcessCreate": ClassUniversalProcess, "ProcessExit": ClassUniversalProcessExit, "ProcessMapping": ClassUniversalMapping,
			"ProcessSymbol": ClassUniversalSymbol, "ProcessMappingMetadata": ClassUniversalMappingMetadata,
			"cpu": ClassUniversalCPU, "cswitch": ClassUniversalCSwitch,
		}[name]
	}
	for _, l := range allLayouts(t) {
		if got := ClassOf(event(l, nil).Type); got != want(l) {
			t.Errorf("%s %s: %v, want %v", l.Provider, l.Symbol, got, want(l))
		}
	}
	for _, c := range []struct {
		typ  ntconv.Type
		want Class
	}{
		{ntconv.Type{Provider: UniversalEvents, ID: 9, Name: "page_fault"}, ClassUniversalOther},
		{ntconv.Type{Provider: UniversalEvents, ID: 9, Name: "CPU"}, ClassUniversalOther},
		{ntconv.Type{Provider: UniversalSystem, ID: 6}, ClassNone},
		{ntconv.Type{Provider: SampleProfiler, ID: 1}, ClassNone},
		{ntconv.Type{Provider: EventPipe, ID: 7, Name: "ProcessInfo"}, ClassProcessInfo},
		{ntconv.Type{Provider: "Shop", ID: 143}, ClassNone},
	} {
		if got := ClassOf(&c.typ); got != c.want {
			t.Errorf("%+v: %v, want %v", c.typ, got, c.want)
		}
	}
	for c := ClassNone; c <= ClassUniversalOther; c++ {
		if s := c.String(); s == "" || s == "unknown" {
			t.Errorf("class %d has no name", c)
		}
	}
}

// TestUniversalBytes reads bytes that one-collect wrote (universal, 9).
func TestUniversalBytes(t *testing.T) {
	on := func(id uint32, payload string) *ntconv.Event {
		return &ntconv.Event{Type: &ntconv.Type{Provider: UniversalSystem, ID: id}, Payload: []byte(payload)}
	}
	var p Process
	if !ParseProcess(on(0, "\x00\x05\x00myapp\x07\x00Unknown"), &p) || string(p.Name) != "myapp" || string(p.NamespaceName) != "Unknown" || !p.Existing {
		t.Errorf("%+v", p)
	}
	if !ParseProcess(on(1, "\x07\x00\x00\x00\x00"), &p) || p.Existing || p.NamespaceID != 7 || len(p.Name) != 0 {
		t.Errorf("%+v", p)
	}
	var m Mapping
	if !ParseMapping(on(3, mapping), &m) || m.Start != 0x400000 || m.End != 0x40ffff || m.Limit() != 0x410000 || m.Offset != 0x1000 ||
		string(m.File) != "/usr/local/bin/myapp" || m.MetadataID != 1 {
		t.Errorf("%+v", m)
	}
	var s Symbol
	if !ParseSymbol(on(4, "\x00\x00\x80\x82\x80\x02\xff\x83\x80\x02\x09\x00main.main"), &s) || s.Start != 0x400100 || s.End != 0x4001ff || string(s.Name) != "main.main" {
		t.Errorf("%+v", s)
	}
	for end, limit := range map[uint64]uint64{0x40ffff: 0x410000, 0x410000: 0x410000, 0x410123: 0x410123, 1<<64 - 1: 1<<64 - 1, 0: 0} {
		if got := (&Mapping{End: end}).Limit(); got != limit {
			t.Errorf("end %#x: limit %#x, want %#x", end, got, limit)
		}
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		typ     ntconv.Type
		payload string
		want    uint64
		ok      bool
	}{
		{ntconv.Type{Provider: UniversalEvents, Name: "cswitch"}, "\xe0\xdc\x2a", 700000, true},
		{ntconv.Type{Provider: UniversalEvents, Name: "x", Fields: []ntconv.Field{field("Value", ntconv.TypeVarUint), field("S", ntconv.TypeUTF8Unit)}}, "\x05\x00\x00", 5, true},
		{ntconv.Type{Provider: UniversalEvents, Name: "x", Fields: []ntconv.Field{field("Value", ntconv.TypeUint16)}}, "\x05\x01", 261, true},
		{ntconv.Type{Provider: UniversalEvents, Name: "x", Fields: []ntconv.Field{field("Value", ntconv.TypeUint16)}}, "\x05", 0, false},
		{ntconv.Type{Provider: UniversalEvents, Name: "x", Fields: []ntconv.Field{field("Size", ntconv.TypeVarUint)}}, "\x05", 0, false},
		{ntconv.Type{Provider: UniversalEvents, Name: "cpu"}, "", 0, false},
		{ntconv.Type{Provider: UniversalEvents, Name: "cpu"}, "\x80", 0, false},
		{ntconv.Type{Provider: "Shop", Name: "cpu"}, "\x01", 0, false},
	} {
		got, ok := Value(&ntconv.Event{Type: &c.typ, Payload: []byte(c.payload)})
		if got != c.want || ok != c.ok {
			t.Errorf("%s %+v % x: %d %t, want %d %t", c.typ.Name, c.typ.Fields, c.payload, got, ok, c.want, c.ok)
		}
	}
}

func TestViewsDoNotAllocate(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(5, 5)), 8}
	var events []*ntconv.Event
	for _, l := range allLayouts(t) {
		if payload, _ := m.payload(t, l); ClassOf(event(l, payload).Type) != ClassNone {
			events = append(events, event(l, payload))
		}
	}
	var text [4096]byte
	n := testing.AllocsPerRun(20, func() {
		for _, e := range events {
			var (
				method   Method
				sample   Sample
				process  Process
				mapping  Mapping
				symbol   Symbol
				metadata MappingMetadata
			)
			switch ClassOf(e.Type) {
			case ClassMethod:
				ParseMethod(e, &method)
				bin.DecodeUTF16(text[:0], method.Signature)
			case ClassSample:
				ParseSample(e, &sample)
			case ClassUniversalProcess:
				ParseProcess(e, &process)
			case ClassUniversalMapping:
				ParseMapping(e, &mapping)
			case ClassUniversalSymbol:
				ParseSymbol(e, &symbol)
			case ClassUniversalMappingMetadata:
				ParseMappingMetadata(e, &metadata)
			default:
				Value(e)
			}
			LayoutOf(e.Type, e.Version())
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for %d events", n, len(events))
	}
}
