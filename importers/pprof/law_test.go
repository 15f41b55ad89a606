package pprof_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// failer is what tests and rapid's have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// toNettrace returns a profile as a nettrace file.
func toNettrace(t failer, data []byte, o *pprof.Options, s *symbol.SynthesizeOptions) []byte {
	t.Helper()
	src, err := pprof.New(bytes.NewReader(data), o)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	var file bytes.Buffer
	w, err := writer.New(&file, src.Info(), &writer.Options{Ordered: true})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if _, err := ntconv.Copy(symbol.SynthesizeTo(w, s), ntconvtest.Poison(src)); err != nil {
		t.Fatalf("copy: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return file.Bytes()
}

// fromNettrace returns the profile of a nettrace file, which the strict reader must accept.
func fromNettrace(t failer, file []byte) *profile.Profile {
	t.Helper()
	report := new(ntconv.Report)
	r, err := reader.New(bytes.NewReader(file), &reader.Options{Strict: true, Report: report})
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	table := symbol.New(&symbol.Options{Report: report})
	p := exported(t, symbol.Watch(r, table), table, report)
	if report.Worst() > ntconv.SeverityNotice || report.Count(ntconv.CodePayload) > 0 {
		t.Fatalf("report of the file: %v", report.Entries())
	}
	return p
}

// exported returns the profile of a source. As in the command, readers and writers share one report.
func exported(t failer, src ntconv.Source, namer ntconv.Namer, report *ntconv.Report) *profile.Profile {
	t.Helper()
	var out bytes.Buffer
	sink := export.New(&out, src.Info(), namer, &export.Options{
		Options: sample.Options{Comments: []string{"ntconv"}, Report: report}, Uncompressed: true,
	})
	if _, err := ntconv.Copy(sink, ntconvtest.Poison(src)); err != nil {
		t.Fatalf("export: %v", err)
	}
	if err := sink.Close(); err != nil {
		t.Fatalf("export: %v", err)
	}
	p, err := profile.ParseData(out.Bytes())
	if err != nil {
		t.Fatalf("what was exported: %v", err)
	}
	return p
}

// canon returns a profile as a string that does not depend on the order of samples and on IDs.
func canon(p *profile.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "period %v %d default %q time %d duration %d drop %q keep %q doc %q comments %q\n", valueType(p.PeriodType), p.Period,
		p.DefaultSampleType, p.TimeNanos, p.DurationNanos, p.DropFrames, p.KeepFrames, p.DocURL, p.Comments)
	for _, t := range p.SampleType {
		fmt.Fprintf(&b, "type %s\n", valueType(t))
	}
	if len(p.Mapping) > 0 {
		fmt.Fprintf(&b, "main %s\n", mapping(p.Mapping[0]))
	}
	var samples []string
	for _, s := range p.Sample {
		var l strings.Builder
		fmt.Fprintf(&l, "%v %v", s.Value, labels(s))
		for _, loc := range s.Location {
			fmt.Fprintf(&l, "\n\t%#x folded %v in %s", loc.Address, loc.IsFolded, mapping(loc.Mapping))
			for _, n := range loc.Line {
				f := n.Function
				fmt.Fprintf(&l, "\n\t\t%q %q %q:%d line %d:%d", f.Name, f.SystemName, f.Filename, f.StartLine, n.Line, n.Column)
			}
		}
		samples = append(samples, l.String())
	}
	slices.Sort(samples)
	return b.String() + strings.Join(samples, "\n")
}

func valueType(t *profile.ValueType) string {
	if t == nil {
		return "/"
	}
	return t.Type + "/" + t.Unit
}

func mapping(m *profile.Mapping) string {
	if m == nil {
		return "nothing"
	}
	return fmt.Sprintf("%#x-%#x+%#x %q %q %v%v%v%v", m.Start, m.Limit, m.Offset, m.File, m.BuildID, m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames)
}

func labels(s *profile.Sample) string {
	var list []string
	for k, v := range s.Label {
		list = append(list, fmt.Sprintf("%q=%q", k, v))
	}
	for k, v := range s.NumLabel {
		list = append(list, fmt.Sprintf("%q=%v%q", k, v, s.NumUnit[k]))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// checkRoundTrip checks that a profile is restored, in compact form, from the nettrace file that it was converted to.
func checkRoundTrip(t failer, data []byte) {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatalf("not a profile: %v", err)
	}
	if len(p.Sample) == 0 {
		p.Mapping = nil // no location refers to them
	}
	want := canon(p.Compact())
	report := new(ntconv.Report)
	src, err := pprof.New(bytes.NewReader(data), &pprof.Options{Report: report})
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	if got := canon(exported(t, src, nil, report).Compact()); got != want {
		t.Fatalf("imported and exported:\n%s", difference(got, want))
	}
	for _, mode := range []symbol.Addresses{symbol.AddressesMixed, symbol.AddressesReal, symbol.AddressesSynthetic} {
		file := toNettrace(t, data, nil, &symbol.SynthesizeOptions{Addresses: mode})
		if got := canon(fromNettrace(t, file).Compact()); got != want {
			t.Fatalf("addresses %d: back from nettrace:\n%s", mode, difference(got, want))
		}
	}
}

// difference shows where two strings first differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			from := max(0, i-3)
			return fmt.Sprintf("line %d of %d and %d\n got %s\nwant %s", i, len(a), len(b), strings.Join(a[min(from, len(a)):min(i+4, len(a))], "\n     "), strings.Join(b[min(from, len(b)):min(i+4, len(b))], "\n     "))
		}
	}
	return "none"
}

// googleProfiles returns the profiles that google/pprof tests itself with.
func googleProfiles(t *testing.T) (list []string) {
	t.Helper()
	for _, f := range corpus.GoogleFiles(t) {
		if _, err := profile.ParseData(corpus.Read(t, f)); err == nil {
			list = append(list, f)
		}
	}
	if len(list) < 20 {
		t.Fatalf("only %d profiles", len(list))
	}
	return list
}

func TestGoogleProfilesComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: one goroutine reads many profiles")
	}
	for _, f := range googleProfiles(t) {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(f)))+"/"+filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 1<<20 && !corpus.Nightly() {
				t.Skip("make nightly converts the large profile")
			}
			checkRoundTrip(t, data)
		})
	}
}
