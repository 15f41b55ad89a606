package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/sample"
)

// kindCases state for each kind of profile the traces that have it, and what programs must show of it first.
var kindCases = map[sample.Kind]struct {
	traces []string
	types  string // the sample types, the default last
}{
	sample.Wall:       {[]string{"cpu-env"}, "samples/count wall/nanoseconds"},
	sample.CPU:        {[]string{"cpu-v6"}, "samples/count cpu/nanoseconds"},
	sample.Imported:   {[]string{"../testdata/go-cpu.pb.gz"}, "samples/count cpu/nanoseconds"},
	sample.Alloc:      {[]string{"alloc-verbose", "alloc-sampled"}, "alloc_objects/count alloc_space/bytes"},
	sample.Exceptions: {[]string{"exceptions"}, "exceptions/count"},
	sample.Contention: {[]string{"waits"}, "contentions/count delay/nanoseconds"},
	sample.Wait:       {[]string{"waits"}, "waits/count delay/nanoseconds"},
	sample.GC:         {[]string{"alloc-verbose", "alloc-gccollect"}, "collections/count pause/nanoseconds"},
	sample.JIT:        {[]string{"jit"}, "methods/count jit/nanoseconds"},
	sample.TypeLoad:   {[]string{"startup-typeload"}, "loads/count load/nanoseconds"},
	sample.ThreadPool: {[]string{"perfview-dotnetcore3.0-win-x64"}, "items/count wait/nanoseconds"},
	sample.Tasks:      {[]string{"async-tpl"}, "tasks/count wait/nanoseconds run/nanoseconds"},
	sample.OffCPU:     {[]string{"onecollect-small-v6"}, "switches/count off_cpu/nanoseconds"},
	sample.PageFaults: {[]string{"waits-v6"}, "faults/count"},
	sample.Requests:   {[]string{"net-http"}, "requests/count duration/nanoseconds"},
	sample.Slices:     {[]string{"spans-stop", "sources"}, "slices/count time/nanoseconds"},
	sample.Events:     {[]string{"sources", "spans-stop"}, "events/count"},
}

// Each kind of profile has its default type, unit and total in all programs that show profiles: go tool pprof, the pages
// of ntconv view, and speedscope.
func TestKindsInPrograms(t *testing.T) {
	for _, k := range sample.All() {
		c, ok := kindCases[k]
		if !ok {
			t.Errorf("no trace for kind %s", k)
		}
		for _, name := range c.traces {
			t.Run(k.String()+"/"+filepath.Base(name), func(t *testing.T) {
				t.Parallel()
				checkKind(t, k, name, strings.Fields(c.types))
			})
		}
	}
}

// checkKind converts a trace to a profile of a kind and compares it with what programs show.
func checkKind(t *testing.T, k sample.Kind, name string, types []string) {
	t.Helper()
	in := trace{name: k.String(), path: name}
	if k == sample.Imported {
		in.path = filepath.Join(t.TempDir(), "imported.nettrace")
		succeed(t, "to", "nettrace", name, "-o", in.path)
	} else {
		in.path = find(t, name).path
	}
	p, path := convert(t, in, 1, "--kind", k.String())
	if p == nil {
		return
	}
	var got []string
	for _, s := range p.SampleType {
		got = append(got, s.Type+"/"+s.Unit)
	}
	if strings.Join(got, " ") != strings.Join(types, " ") {
		t.Errorf("sample types %q, want %q", got, types)
	}
	shown := shownKind{total: map[string]int64{}}
	for i, s := range p.SampleType {
		for _, sample := range p.Sample {
			shown.total[s.Type] += sample.Value[i]
			if i == len(p.SampleType)-1 && len(sample.Location) == 0 {
				shown.bare += sample.Value[i]
			}
		}
	}
	shown.name, shown.unit, _ = strings.Cut(types[len(types)-1], "/")
	if shown.total[shown.name] <= 0 {
		t.Fatalf("total %v", shown.total)
	}
	t.Run("pprof", func(t *testing.T) { shown.inPprof(t, path) })
	t.Run("view", func(t *testing.T) { shown.inPages(t, k, in.path) })
	t.Run("speedscope", func(t *testing.T) { shown.inSpeedscope(t, path) })
}

// A shownKind is what programs must show of a profile.
type shownKind struct {
	name, unit string           // the default sample type
	total      map[string]int64 // of all samples, by sample type
	bare       int64            // of samples without a stack, of the default type
}

// shortUnits are the units as pprof writes them if it does not convert values.
var shortUnits = map[string]string{"nanoseconds": "ns", "bytes": "B", "count": ""}

// inPprof checks the report of go tool pprof -top: its type, its total, and the sum of its rows.
func (s *shownKind) inPprof(t *testing.T, path string) {
	t.Helper()
	short := shortUnits[s.unit]
	args := []string{"tool", "pprof", "-symbolize=none", "-top", "-nodefraction=0", "-nodecount=1000000"}
	if short != "" {
		args = append(args, "-unit="+strings.ToLower(short))
	}
	r := run(t, "go", append(args, path)...)
	if r.code != 0 {
		t.Fatalf("%s", r.stderr)
	}
	report := string(r.stdout)
	if !strings.Contains(report, "\nType: "+s.name+"\n") {
		t.Errorf("no type %s in\n%.500s", s.name, report)
	}
	var sum int64
	for row := range strings.Lines(rows(t, r.stdout)) {
		value, err := strconv.ParseInt(strings.TrimSuffix(strings.Fields(row)[0], short), 10, 64)
		if err != nil {
			t.Fatalf("%v in %q", err, row)
		}
		sum += value
	}
	if want := s.total[s.name] - s.bare; sum != want {
		t.Errorf("the rows add up to %d %s, want %d", sum, s.unit, want)
	}
	if want := fmt.Sprintf(" of %d%s total\n", s.total[s.name], short); !strings.Contains(report, want) {
		t.Errorf("no %q in\n%.500s", want, report)
	}
}

// inPages checks the pages of ntconv view: the flame graph and the table show the default type and the total, with and
// without its name in the address.
func (s *shownKind) inPages(t *testing.T, k sample.Kind, in string) {
	t.Helper()
	client, address := viewed(t, "--kind", k.String(), in)
	flames := fetchPage(t, client, address) // redirected to the flame graph
	m := regexp.MustCompile(`stackViewer\((\{"Total":.*?),"Stacks":`).FindStringSubmatch(flames)
	if m == nil {
		t.Fatalf("no data in\n%.500s", flames)
	}
	var data struct {
		Total      int64
		Scale      float64 // from values to Unit
		Type, Unit string
	}
	decode(t, []byte(m[1]+"}"), &data)
	unit, scale := shortUnits[s.unit], 1.0
	if s.unit == "nanoseconds" {
		unit, scale = "s", 1e-9
	}
	if data.Total != s.total[s.name] || data.Type != s.name || data.Unit != unit || data.Scale != scale {
		t.Errorf("the flame graph has %+v, want %d %s/%s", data, s.total[s.name], s.name, s.unit)
	}
	base := address[:strings.Index(address, "/?")]
	for _, path := range []string{"/top", "/top?si=" + s.name, "/peek?f=."} {
		text := fetchPage(t, client, base+path)
		if !strings.Contains(text, " "+s.name+"</title>") || !strings.Contains(text, `href="?si=`+s.name+`"`) && len(s.total) > 1 {
			t.Errorf("%s is not about %s:\n%.300s", path, s.name, text)
		}
	}
}

// viewed starts ntconv view and returns a browser's client without scripts, and the address to visit.
func viewed(t *testing.T, args ...string) (client *http.Client, address string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &http.Client{Jar: jar}, startView(t, args...)
}

// fetchPage returns the text of a page.
func fetchPage(t *testing.T, client *http.Client, address string) string {
	t.Helper()
	r, err := client.Get(address)
	must(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	must(t, err)
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %.300s", address, r.Status, text)
	}
	return string(text)
}

// inSpeedscope checks what speedscope reads from the profile: one profile, of the default type, with its unit and total.
// speedscope has no unit for counts.
func (s *shownKind) inSpeedscope(t *testing.T, path string) {
	t.Helper()
	file := inSpeedscope(t, path)[0]
	if file.Error != "" || len(file.Profiles) != 1 {
		t.Fatalf("%+v", file)
	}
	unit := s.unit
	if unit == "count" {
		unit = "none"
	}
	got := file.Profiles[0]
	if want := float64(s.total[s.name]); got.Unit != unit || got.Total != want {
		t.Errorf("speedscope shows %v %s, want %v %s of %s", got.Total, got.Unit, want, unit, s.name)
	}
}
