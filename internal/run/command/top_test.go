package command

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
)

// topJSON returns what top --json prints of all functions.
func topJSON(t *testing.T, dir string, args ...string) *rankingJSON {
	t.Helper()
	r := invoke(t, dir, nil, append([]string{"top", "--json", "-n", "0"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("%q: code %d: %s", args, r.code, r.stderr)
	}
	o := new(rankingJSON)
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(o); err != nil {
		t.Fatalf("%q: %v: %s", args, err, r.stdout)
	}
	return o
}

// The object says what the values are, and the rows are those of the report.
func TestTopJSON(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "cpu-env")
	o := topJSON(t, dir, in)
	if o.Input != in || o.Base != "" || o.Kind != "wall" || o.SampleType != "wall" || o.Unit != "nanoseconds" ||
		o.Functions != len(o.Rows) || !strings.HasPrefix(o.Time, "2026-") || o.Duration <= 0 {
		t.Errorf("%+v", o)
	}
	sum := int64(0)
	for _, r := range o.Rows {
		sum += r.Flat
		if want := 100 * float64(r.Cum) / float64(o.Total); math.Abs(r.CumPercent-want) > 1e-4 || r.Flat > r.Cum || r.Cum > o.Total {
			t.Errorf("%+v of %d", r, o.Total)
		}
	}
	if sum != o.Total {
		t.Errorf("flat values are %d together, want %d", sum, o.Total)
	}
	var names []string
	for line := range strings.Lines(table(invoke(t, dir, nil, "top", "-n", "7", in).stdout)) {
		if f := strings.Fields(line); len(f) > 5 {
			names = append(names, strings.Join(f[5:], " "))
		}
	}
	r := invoke(t, dir, nil, "top", "--json", "-n", "7", in)
	var seven rankingJSON
	if err := json.Unmarshal([]byte(r.stdout), &seven); err != nil || len(seven.Rows) != 7 || seven.Functions != o.Functions {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	for i, row := range seven.Rows {
		if strings.Join(strings.Fields(row.Function), " ") != names[i] {
			t.Errorf("row %d: %s, in the report %s", i, row.Function, names[i])
		}
	}
	if o := topJSON(t, dir, "--sample-type", "samples", in); o.SampleType != "samples" || o.Unit != "count" || o.Total >= seven.Total {
		t.Errorf("%+v", o)
	}
}

// The pages show the samples that the flags select, and differences.
func TestViewFilter(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	v := startView(t, dir, "--tagfocus", "endpoint=/cart", "--tagroot", "endpoint", "a.pb.gz")
	if code, body, _ := v.get(t, "", ""); code != http.StatusOK || !strings.Contains(body, "shop.work") || !strings.Contains(body, "/cart") {
		t.Errorf("%d, %d bytes", code, len(body))
	}
	if _, body, _ := v.get(t, "/top", ""); !strings.Contains(body, "30ms") || strings.Contains(body, "40ms") {
		t.Errorf("not 30 ms of 40: %s", body)
	}
	for _, flag := range []string{"--diff", "--diff-base"} {
		v = startView(t, dir, flag, trace(t, "cpu-env"), trace(t, "cpu-default"))
		for _, page := range []string{"", "/top", "/flamegraph"} {
			want := "Shop.Cpu"
			if flag == "--diff" && page == "" { // other flags choose what the pages of pprof show
				want = `id="before"`
			}
			if code, body, _ := v.get(t, page, ""); code != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("%s: %s: %d, %d bytes", flag, page, code, len(body))
			}
		}
	}
}
