package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// A profileMaker makes random profiles, with every field that ntconv carries.
type profileMaker struct {
	rng  *rand.Rand
	data pprofile.Profiles
	keys map[string]int32
}

func (m *profileMaker) pick(list ...string) string { return list[m.rng.IntN(len(list))] }

// text returns the index of a string.
func (m *profileMaker) text(s string) int32 {
	n, ok := m.keys[s]
	if !ok {
		n = int32(m.data.Dictionary().StringTable().Len())
		m.data.Dictionary().StringTable().Append(s)
		m.keys[s] = n
	}
	return n
}

// attribute adds an attribute and returns its index.
func (m *profileMaker) attribute(key string, set func(pcommon.Value), unit string) int32 {
	table := m.data.Dictionary().AttributeTable()
	v := pcommon.NewValueEmpty()
	set(v)
	id := fmt.Sprint("attribute ", key, " ", v.Type(), v.AsString(), unit)
	n, ok := m.keys[id]
	if !ok {
		n = int32(table.Len())
		a := table.AppendEmpty()
		a.SetKeyStrindex(m.text(key))
		set(a.Value())
		a.SetUnitStrindex(m.text(unit))
		m.keys[id] = n
	}
	return n
}

func textValue(s string) func(pcommon.Value) { return func(v pcommon.Value) { v.SetStr(s) } }
func intValue(n int64) func(pcommon.Value)   { return func(v pcommon.Value) { v.SetInt(n) } }
func boolValue(b bool) func(pcommon.Value)   { return func(v pcommon.Value) { v.SetBool(b) } }

// tables fills the dictionary.
func (m *profileMaker) tables() {
	d, names := m.data.Dictionary(), []string{"", "Main", "Pay(double)", "é\U0001f600", "/opt/shop/shop.dll", "/lib/libc.so.6"}
	m.keys[""] = 0
	d.StringTable().Append("")
	d.AttributeTable().AppendEmpty()
	d.MappingTable().AppendEmpty()
	d.FunctionTable().AppendEmpty()
	d.LocationTable().AppendEmpty()
	d.LinkTable().AppendEmpty()
	d.StackTable().AppendEmpty()
	for i := range 4 {
		p := d.MappingTable().AppendEmpty()
		p.SetMemoryStart(uint64(i) << 40)
		p.SetMemoryLimit(uint64(i+1) << 40)
		p.SetFileOffset(m.rng.Uint64N(3) << 12)
		p.SetFilenameStrindex(m.text(m.pick(names[1:]...)))
		if m.rng.IntN(2) == 0 {
			p.AttributeIndices().Append(m.attribute("process.executable.build_id.gnu", textValue(fmt.Sprint("abcdef", i)), ""))
		}
		for _, flag := range []string{"has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"} {
			if m.rng.IntN(3) == 0 {
				p.AttributeIndices().Append(m.attribute("pprof.mapping."+flag, boolValue(true), ""))
			}
		}
	}
	for i := range 8 {
		f := d.FunctionTable().AppendEmpty()
		f.SetNameStrindex(m.text(fmt.Sprint(m.pick(names[1:]...), i)))
		f.SetSystemNameStrindex(m.text(m.pick(names...)))
		f.SetFilenameStrindex(m.text(m.pick(names...)))
		f.SetStartLine(m.rng.Int64N(3) * 100)
	}
	for i := range 20 {
		l := d.LocationTable().AppendEmpty()
		l.SetMappingIndex(m.rng.Int32N(5))
		l.SetAddress(uint64(i+1) << 44 << m.rng.UintN(16))
		for range m.rng.IntN(4) {
			n := l.Lines().AppendEmpty()
			n.SetFunctionIndex(1 + m.rng.Int32N(8))
			n.SetLine(m.rng.Int64N(1000))
			n.SetColumn(m.rng.Int64N(3))
		}
		if m.rng.IntN(2) == 0 {
			l.AttributeIndices().Append(m.attribute("profile.frame.type", textValue(m.pick("dotnet", "kernel", "native")), ""))
		}
		if l.Lines().Len() > 0 && m.rng.IntN(4) == 0 {
			l.AttributeIndices().Append(m.attribute("pprof.location.is_folded", boolValue(true), ""))
		}
	}
	for i := range 3 {
		l := d.LinkTable().AppendEmpty()
		l.SetTraceID(pcommon.TraceID{1, byte(i)})
		l.SetSpanID(pcommon.SpanID{2, byte(i)})
	}
	for range 12 {
		s := d.StackTable().AppendEmpty()
		for range m.rng.IntN(6) {
			s.LocationIndices().Append(1 + m.rng.Int32N(20))
		}
	}
}

// sample adds a sample.
func (m *profileMaker) sample(s pprofile.Sample) {
	s.SetStackIndex(m.rng.Int32N(13))
	s.SetLinkIndex(m.rng.Int32N(4))
	for _, key := range []string{"thread.id", "size", "state"} {
		switch m.rng.IntN(4) {
		case 0:
			s.AttributeIndices().Append(m.attribute(key, intValue(m.rng.Int64N(9)), m.pick("", "By", "count")))
		case 1:
			s.AttributeIndices().Append(m.attribute(key, textValue(m.pick("", "a", "é")), ""))
		}
	}
	n := m.rng.IntN(3)
	for range n {
		s.TimestampsUnixNano().Append(uint64(1_800_000_000_000_000_000 + m.rng.Int64N(1e9)))
	}
	for range max(n, 1) {
		if n > 0 && s.Values().Len() == 0 && m.rng.IntN(2) == 0 {
			break // times alone count
		}
		s.Values().Append(1 + m.rng.Int64N(1e12))
	}
}

// randomProfiles returns profiles of several resources.
func randomProfiles(seed uint64) pprofile.Profiles {
	m := &profileMaker{rand.New(rand.NewPCG(seed, 2)), pprofile.NewProfiles(), map[string]int32{}}
	m.tables()
	for i := range 1 + m.rng.IntN(3) {
		r := m.data.ResourceProfiles().AppendEmpty()
		r.Resource().Attributes().PutStr("service.name", m.pick("shop", "till"))
		r.Resource().Attributes().PutInt("process.pid", int64(i+1))
		r.Resource().Attributes().PutDouble("load", 0.5)
		r.SetSchemaUrl(m.pick("", "https://example.com/schema"))
		for range 1 + m.rng.IntN(2) {
			s := r.ScopeProfiles().AppendEmpty()
			s.Scope().SetName(m.pick("", "profiler"))
			s.Scope().SetVersion(m.pick("", "1.2"))
			for range 1 + m.rng.IntN(3) {
				m.profile(s.Profiles().AppendEmpty())
			}
		}
	}
	return m.data
}

// profile adds a profile.
func (m *profileMaker) profile(p pprofile.Profile) {
	p.SampleType().SetTypeStrindex(m.text(m.pick("cpu", "alloc_space", "wall")))
	p.SampleType().SetUnitStrindex(m.text(m.pick("nanoseconds", "bytes", "")))
	p.PeriodType().SetTypeStrindex(m.text(m.pick("cpu", "space")))
	p.PeriodType().SetUnitStrindex(m.text("nanoseconds"))
	p.SetPeriod(m.rng.Int64N(3) * 1e6)
	p.SetTime(pcommon.Timestamp(1_800_000_000_000_000_000 + m.rng.Int64N(1e9)))
	p.SetDurationNano(m.rng.Uint64N(1e10))
	if m.rng.IntN(2) == 0 {
		id := pprofile.ProfileID{}
		for i := range id {
			id[i] = byte(m.rng.UintN(256))
		}
		p.SetProfileID(id)
	}
	p.SetDroppedAttributesCount(m.rng.Uint32N(2))
	if m.rng.IntN(3) == 0 {
		p.SetOriginalPayloadFormat("pprof")
		p.OriginalPayload().FromRaw(make([]byte, 1+m.rng.IntN(2)*100_000))
	}
	for i, set := range []func(pcommon.Value){
		textValue("x"), intValue(-1), boolValue(true), func(v pcommon.Value) { v.SetDouble(0.25) }, func(v pcommon.Value) { v.SetEmptySlice().AppendEmpty().SetStr("c") },
	} {
		if m.rng.IntN(2) == 0 {
			p.AttributeIndices().Append(m.attribute(fmt.Sprint("a", i), set, ""))
		}
	}
	for range 1 + m.rng.IntN(12) {
		m.sample(p.Samples().AppendEmpty())
	}
}

// everyProfile returns the totals of samples with all that is stated of them and of their profile.
func everyProfile(t *testing.T, r *profileReader, data pprofile.Profiles) map[string]int64 {
	totals := map[string]int64{}
	typed := func(list pcommon.Int32Slice) map[string]string {
		all := map[string]string{}
		for _, i := range list.All() {
			a := r.dict.AttributeTable().At(int(i))
			all[r.text(a.KeyStrindex())] = fmt.Sprint(a.Value().Type(), " ", a.Value().AsString(), " ", r.text(a.UnitStrindex()))
		}
		return all
	}
	for _, rp := range data.ResourceProfiles().All() {
		for _, sp := range rp.ScopeProfiles().All() {
			for _, p := range sp.Profiles().All() {
				head, err := json.Marshal([]any{
					rp.Resource().Attributes().AsRaw(), rp.SchemaUrl(), sp.Scope().Name(), sp.Scope().Version(),
					r.text(p.SampleType().TypeStrindex()), r.text(p.SampleType().UnitStrindex()), r.text(p.PeriodType().TypeStrindex()), r.text(p.PeriodType().UnitStrindex()),
					p.Period(), p.Time(), p.DurationNano(), p.ProfileID().String(), p.DroppedAttributesCount(), p.OriginalPayloadFormat(), p.OriginalPayload().Len(),
					typed(p.AttributeIndices()),
				})
				must(t, err)
				for _, s := range p.Samples().All() {
					stack := ""
					for _, l := range r.dict.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
						loc := r.dict.LocationTable().At(int(l))
						m := r.dict.MappingTable().At(int(loc.MappingIndex()))
						stack += fmt.Sprint(m.MemoryStart(), m.MemoryLimit(), m.FileOffset(), typed(m.AttributeIndices()), typed(loc.AttributeIndices()))
					}
					link := r.dict.LinkTable().At(int(s.LinkIndex()))
					key := fmt.Sprint(string(head), r.stack(s.StackIndex()), stack, typed(s.AttributeIndices()), link.TraceID(), link.SpanID())
					n := int64(s.TimestampsUnixNano().Len())
					if s.Values().Len() > 0 {
						n = 0
						for _, v := range s.Values().All() {
							n += v
						}
					}
					totals[key] += n
				}
			}
		}
	}
	return totals
}

// Profiles that are converted to a trace and back have the same contents, according to the Collector's own package, and
// TraceEvent reads the trace without an error.
func TestOTLPProfilesRoundTrip(t *testing.T) {
	for seed := range uint64(15) {
		in := randomProfiles(seed)
		b, err := new(pprofile.ProtoMarshaler).MarshalProfiles(in)
		must(t, err)
		text, err := new(pprofile.JSONMarshaler).MarshalProfiles(in)
		must(t, err)
		whole, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b)
		must(t, err)
		want := everyProfile(t, &profileReader{t, whole.Dictionary()}, whole)
		for name, input := range map[string][]byte{"a.binpb": b, "a.json": text} {
			dir := t.TempDir()
			path, trace, out := filepath.Join(dir, name), filepath.Join(dir, "a.nettrace"), filepath.Join(dir, "b.binpb")
			must(t, os.WriteFile(path, input, 0o600))
			r := succeed(t, "to", "nettrace", path, "-o", trace)
			if seed == 0 {
				t.Logf("%s", r.stderr)
			}
			succeed(t, "to", "otlp", "--signals", "profiles", trace, "-o", out)
			written, err := os.ReadFile(out)
			must(t, err)
			data, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(written)
			must(t, err)
			if got := everyProfile(t, newProfileReader(t, data), data); !maps.Equal(got, want) {
				for _, key := range slices.Sorted(maps.Keys(want)) {
					if got[key] != want[key] {
						t.Errorf("seed %d, %s: %d, want %d: %s", seed, name, got[key], want[key], key)
						break
					}
				}
				for _, key := range slices.Sorted(maps.Keys(got)) {
					if _, ok := want[key]; !ok {
						t.Fatalf("seed %d, %s: not wanted: %d: %s", seed, name, got[key], key)
					}
				}
			}
			if seed < 2 {
				checkTraceEvent(t, trace, 1)
			}
		}
	}
}
