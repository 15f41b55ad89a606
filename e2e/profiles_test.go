package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// A profileReader reads the samples of OTLP profiles with the collector's library, and checks the rules of profiles.proto
// that the library does not.
type profileReader struct {
	t    *testing.T
	dict pprofile.ProfilesDictionary
}

func newProfileReader(t *testing.T, data pprofile.Profiles) *profileReader {
	r := &profileReader{t, data.Dictionary()}
	d := r.dict
	unique(t, "strings", d.StringTable().AsRaw(), "")
	zero, stacks := pprofile.NewStack(), []string{}
	for _, s := range d.StackTable().All() {
		stacks = append(stacks, fmt.Sprint(s.LocationIndices().AsRaw()))
	}
	unique(t, "stacks", stacks, fmt.Sprint(zero.LocationIndices().AsRaw()))
	var locations, functions, links, attributes []string
	for _, l := range d.LocationTable().All() {
		var lines []any
		for _, n := range l.Lines().All() {
			lines = append(lines, n.FunctionIndex(), n.Line(), n.Column())
		}
		locations = append(locations, fmt.Sprint(l.MappingIndex(), l.Address(), lines, l.AttributeIndices().AsRaw()))
	}
	unique(t, "locations", locations, "0 0 [] []")
	for _, f := range d.FunctionTable().All() {
		functions = append(functions, fmt.Sprint(f.NameStrindex(), f.SystemNameStrindex(), f.FilenameStrindex(), f.StartLine()))
	}
	unique(t, "functions", functions, "0 0 0 0")
	for _, l := range d.LinkTable().All() {
		links = append(links, l.TraceID().String()+l.SpanID().String())
	}
	unique(t, "links", links, "")
	for _, a := range d.AttributeTable().All() {
		attributes = append(attributes, fmt.Sprint(a.KeyStrindex(), a.Value().Type(), a.Value().AsString(), a.UnitStrindex()))
	}
	unique(t, "attributes", attributes, "0 Empty0")
	return r
}

// unique checks that element 0 of a table is the empty one, and that no other is equal to one before it.
func unique(t *testing.T, what string, table []string, first string) {
	t.Helper()
	known := map[string]bool{}
	for i, e := range table {
		if i == 0 && e != first || known[e] {
			t.Fatalf("%s: element %d is %q", what, i, e)
		}
		known[e] = true
	}
	if len(table) == 0 {
		t.Fatalf("%s: no element 0", what)
	}
}

func (r *profileReader) text(i int32) string { return r.dict.StringTable().At(int(i)) }

// attributes returns attributes by key, with their units.
func (r *profileReader) attributes(list pcommon.Int32Slice) map[string]string {
	all := map[string]string{}
	for _, i := range list.All() {
		a := r.dict.AttributeTable().At(int(i))
		all[r.text(a.KeyStrindex())] = strings.TrimSpace(a.Value().AsString() + " " + r.text(a.UnitStrindex()))
	}
	return all
}

// stack returns the frames of a stack as text, leaf first.
func (r *profileReader) stack(i int32) string {
	var b strings.Builder
	for _, l := range r.dict.StackTable().At(int(i)).LocationIndices().All() {
		loc := r.dict.LocationTable().At(int(l))
		m := r.dict.MappingTable().At(int(loc.MappingIndex()))
		fmt.Fprintf(&b, "%#x in %s:", loc.Address(), r.text(m.FilenameStrindex()))
		for _, n := range loc.Lines().All() {
			f := r.dict.FunctionTable().At(int(n.FunctionIndex()))
			fmt.Fprintf(&b, " %s (%s) %s:%d:%d from %d", r.text(f.NameStrindex()), r.text(f.SystemNameStrindex()), r.text(f.FilenameStrindex()), n.Line(), n.Column(), f.StartLine())
		}
		b.WriteString("; ")
	}
	return b.String()
}

// labelText returns labels as text, without those of the process, which OTLP states in the resource.
func labelText(all map[string]string) string {
	for _, key := range []string{"pid", "process", "host"} {
		delete(all, key)
	}
	text, _ := json.Marshal(all) // maps of strings are always valid
	return string(text)
}

// samples adds the values of all samples by sample type, stack and labels.
func (r *profileReader) samples(data pprofile.Profiles, totals map[string]int64) {
	ids := map[string]bool{}
	for _, rp := range data.ResourceProfiles().All() {
		if _, ok := rp.Resource().Attributes().Get("service.name"); !ok {
			r.t.Error("a resource without service.name")
		}
		for _, sp := range rp.ScopeProfiles().All() {
			for _, p := range sp.Profiles().All() {
				if id := p.ProfileID().String(); id == "" || ids[id] {
					r.t.Errorf("profile ID %q", id)
				} else {
					ids[id] = true
				}
				typ := r.text(p.SampleType().TypeStrindex()) + "/" + r.text(p.SampleType().UnitStrindex())
				kind := r.attributes(p.AttributeIndices())["ntconv.profile.kind"]
				for _, s := range p.Samples().All() {
					if s.Values().Len() != 1 || s.Values().At(0) == 0 || s.TimestampsUnixNano().Len() > 0 {
						r.t.Fatalf("values %v, times %v", s.Values().AsRaw(), s.TimestampsUnixNano().AsRaw())
					}
					all := r.attributes(s.AttributeIndices())
					if l := r.dict.LinkTable().At(int(s.LinkIndex())); s.LinkIndex() > 0 {
						all["link"] = l.TraceID().String() + l.SpanID().String()
					}
					totals[kind+" "+typ+" "+r.stack(s.StackIndex())+labelText(all)] += s.Values().At(0)
				}
			}
		}
	}
}

// pprofTotals adds the samples of a profile as profileReader.samples does.
func pprofTotals(p *profile.Profile, kind string, totals map[string]int64) {
	for _, s := range p.Sample {
		var b strings.Builder
		for _, l := range s.Location {
			file := ""
			if l.Mapping != nil {
				file = l.Mapping.File
			}
			fmt.Fprintf(&b, "%#x in %s:", l.Address, file)
			for _, n := range l.Line {
				f := n.Function
				fmt.Fprintf(&b, " %s (%s) %s:%d:%d from %d", f.Name, f.SystemName, f.Filename, n.Line, n.Column, f.StartLine)
			}
			b.WriteString("; ")
		}
		all := map[string]string{}
		for key, v := range s.Label {
			all[cmp.Or(map[string]string{"thread": "thread.name"}[key], key)] = v[0]
		}
		for key, v := range s.NumLabel {
			if key == "tid" {
				all["thread.id"] = fmt.Sprint(v[0])
				continue
			}
			all[key] = fmt.Sprint(v[0], " ", s.NumUnit[key][0])
		}
		if all["trace_id"] != "" && all["span_id"] != "" {
			all["link"] = all["trace_id"] + all["span_id"]
			delete(all, "trace_id")
			delete(all, "span_id")
		}
		for i, v := range s.Value {
			if v != 0 {
				totals[kind+" "+p.SampleType[i].Type+"/"+p.SampleType[i].Unit+" "+b.String()+labelText(all)] += v
			}
		}
	}
}

// TestProfilesAreThoseOfPprof compares the profiles of all traces and kinds, as the collector's library reads them, with
// the files of ntconv to pprof, as google/pprof reads them: the same value for each sample type, stack and list of labels.
func TestProfilesAreThoseOfPprof(t *testing.T) {
	traces, err := filepath.Glob("../testdata/*.nettrace.zst")
	must(t, err)
	traces = append(traces, find(t, "onecollect-small-v6").path, find(t, "async-tpl").path, find(t, "net-http").path, "../testdata/go-cpu.pb.gz")
	compared := map[string]int{}
	for _, trace := range traces {
		dir := t.TempDir()
		file, kinds := filepath.Join(dir, "a.binpb"), filepath.Join(dir, "kinds")
		otlp := run(t, command, "to", "otlp", trace, "--signals", "profiles", "--kind", "all", "--native", "full", "-o", file)
		pprof := run(t, command, "to", "pprof", trace, "--kind", "all", "--native", "full", "-o", kinds)
		if otlp.code != pprof.code {
			t.Fatalf("%s: exit codes %d and %d: %s%s", trace, otlp.code, pprof.code, otlp.stderr, pprof.stderr)
		}
		want, got := map[string]int64{}, map[string]int64{}
		files, err := filepath.Glob(filepath.Join(kinds, "*.pb.gz"))
		must(t, err)
		for _, name := range files {
			f, err := os.Open(name)
			must(t, err)
			p, err := profile.Parse(f)
			must(t, err)
			must(t, f.Close())
			kind := strings.TrimSuffix(filepath.Base(name), ".pb.gz")
			compared[kind]++
			if kind == "imported" {
				kind = ""
			}
			pprofTotals(p, kind, want)
		}
		b, err := os.ReadFile(file)
		if os.IsNotExist(err) && len(want) == 0 {
			continue
		}
		must(t, err)
		data, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b)
		must(t, err)
		newProfileReader(t, data).samples(data, got)
		if len(got) != len(want) {
			t.Errorf("%s: %d distinct samples, want %d", trace, len(got), len(want))
		}
		wrong := 0
		for key, n := range want {
			if got[key] != n && wrong < 3 {
				wrong++
				t.Errorf("%s: %d, want %d: %.600s", trace, got[key], n, key)
			}
		}
	}
	for _, kind := range []string{"wall", "cpu", "imported", "alloc", "exceptions", "contention", "wait", "gc", "jit", "tasks", "requests", "off-cpu", "slices"} {
		if compared[kind] == 0 {
			t.Errorf("no profile of kind %s was compared", kind)
		}
	}
}

// profileSamples returns the samples of profiles as sorted texts.
func profileSamples(t *testing.T, data pprofile.Profiles) (list []string) {
	totals := map[string]int64{}
	newProfileReader(t, data).samples(data, totals)
	for key, n := range totals {
		list = append(list, fmt.Sprint(n, " ", key))
	}
	slices.Sort(list)
	return list
}

// A collector receives the samples of a file for every way of sending them, and reads those of files.
func TestCollectorReceivesProfiles(t *testing.T) {
	signalAtCollector(t, &sentSignal{
		name: "profiles", first: `{"resourceProfiles"`, least: 20, file: func(c *collector) string { return c.profiles }, flags: []string{"--signals", "profiles"},
		traces: []string{"../testdata/cpu-v6.nettrace.zst", "../testdata/alloc-verbose.nettrace.zst", "../testdata/go-cpu.pb.gz"},
		proto: func(b []byte) []string {
			data, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b)
			must(t, err)
			return profileSamples(t, data)
		},
		json: func(line []byte) []string {
			data, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(line)
			must(t, err)
			return profileSamples(t, data)
		},
	})
}

// The original payload of a profile is the file that ntconv to pprof writes.
func TestOriginalPayload(t *testing.T) {
	dir := t.TempDir()
	file, want := filepath.Join(dir, "a.binpb"), filepath.Join(dir, "a.pb.gz")
	succeed(t, "to", "otlp", "../testdata/cpu-v6.nettrace.zst", "--signals", "profiles", "--original-payload", "-o", file)
	succeed(t, "to", "pprof", "../testdata/cpu-v6.nettrace.zst", "--native", "full", "-o", want)
	b, err := os.ReadFile(file)
	must(t, err)
	data, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b)
	must(t, err)
	pprof, err := os.ReadFile(want)
	must(t, err)
	n := 0
	for _, p := range data.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
		if p.OriginalPayloadFormat() == "pprof" && string(p.OriginalPayload().AsRaw()) == string(pprof) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d profiles have the payload, want 1", n)
	}
}
