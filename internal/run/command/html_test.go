package command

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/pagedata"
)

// A page of two inputs compares them: it has the data of both and what ntconv diff finds. Each input alone has the same data, and what
// cannot be compared is still shown.
func TestHTMLComparison(t *testing.T) {
	dir := t.TempDir()
	before, after := corpus.Path("diff/before.nettrace.zst"), corpus.Path("diff/after.nettrace.zst")
	succeed(t, dir, "to", "html", before, after, "-o", "change.html")
	succeed(t, dir, "to", "html", before, "-o", "before.html")
	succeed(t, dir, "to", "html", after, "-o", "after.html")
	for id, alone := range map[string]string{"before": "before.html", "data": "after.html"} {
		if !reflect.DeepEqual(pageOfFile(t, dir, "change.html", id), pageOfFile(t, dir, alone, "data")) {
			t.Errorf("%s: the data of a comparison differs from that of the input alone", id)
		}
	}
	found := succeed(t, dir, "diff", "--json", before, after)
	if got := blockOf(t, dir, "change.html", "diff"); got != found.stdout {
		t.Errorf("the comparison is not that of ntconv diff:\n%.500s\n%.500s", got, found.stdout)
	}
	grouping := []string{"--just-my-code", "--fold", `lambda_[01]`, "--fold", "Truth", "--group", "^(Shop)=$1"}
	succeed(t, dir, append([]string{"to", "html", before, after, "-o", "grouped.html"}, grouping...)...)
	found = succeed(t, dir, append([]string{"diff", "--json", before, after}, grouping...)...)
	if got := blockOf(t, dir, "grouped.html", "diff"); got != found.stdout {
		t.Errorf("the comparison names frames as ntconv diff without the flags:\n%.500s\n%.500s", got, found.stdout)
	}
	succeed(t, dir, "to", "html", trace(t, "counters"), trace(t, "cpu-env"), "-o", "other.html")
	if blockOf(t, dir, "other.html", "before") == "" || blockOf(t, dir, "other.html", "diff") != "" {
		t.Error("a recording without samples is compared")
	}
	for _, args := range [][]string{{"-", after, "-o", "x.html"}, {before, after, before, "-o", "x.html"}} {
		if r := invoke(t, dir, nil, append([]string{"to", "html"}, args...)...); r.code != exitUsage {
			t.Errorf("%q: code %d: %s", args, r.code, r.stderr)
		}
	}
}

// A page states which kinds of samples the recording has, and how to record the others.
func TestHTMLAnswers(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "to", "html", trace(t, "cpu-env"), "-o", "x.html")
	header := pageOfFile(t, dir, "x.html", "data").Header
	if len(header.Trace.Can) == 0 || !strings.HasPrefix(header.Trace.Can[0].Command, "ntconv top --kind wall ") {
		t.Errorf("can: %+v", header.Trace.Can)
	}
	for _, a := range header.Trace.Cannot {
		if a.What == "" || !strings.Contains(a.Command, "ntconv collect --") && !strings.Contains(a.Command, "trace") {
			t.Errorf("cannot: %+v", a)
		}
	}
}

// The standard errors of a page are those of ntconv info.
func TestHTMLErrors(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "alloc-verbose")
	succeed(t, dir, "to", "html", in, "-o", "x.html")
	var info struct {
		Kinds []struct {
			Kind   string
			Values []struct {
				Type  string
				Error float64 `json:"standard_error"`
			}
		}
	}
	must(t, json.Unmarshal([]byte(succeed(t, dir, "info", "--json", in).stdout), &info))
	want := map[string]float64{}
	for _, k := range info.Kinds {
		for _, v := range k.Values {
			want[k.Kind+" "+v.Type] = v.Error
		}
	}
	estimates := 0
	for _, k := range pageOfFile(t, dir, "x.html", "data").Header.Kinds {
		for _, v := range k.Values {
			if v.Error > 0 {
				estimates++
			}
			if e := want[k.Name+" "+v.Type]; math.Abs(v.Error-e) > 0.005*e { // info rounds to three digits
				t.Errorf("%s %s: %g, want %g", k.Name, v.Type, v.Error, e)
			}
		}
	}
	if estimates < 2 {
		t.Errorf("%d estimates", estimates)
	}
}

// ntconv view shows the page first, and pprof's pages next to it. Flags of pprof's pages and an input that can be read only once leave
// only these.
func TestViewPage(t *testing.T) {
	dir := t.TempDir()
	in := trace(t, "cpu-env")
	v := startView(t, dir, in)
	code, body, at := v.get(t, "", "")
	if code != http.StatusOK || at.Path != "/page" || !strings.Contains(body, `id="data"`) {
		t.Errorf("%d, %d bytes of %s", code, len(body), at)
	}
	for _, name := range []string{"/flamegraph", "/top", "/peek?f=x"} {
		if code, body, _ := v.get(t, name, ""); code != http.StatusOK || strings.Count(body, `href="/page"`) != 1 {
			t.Errorf("%s: %d, want a link back to the page", name, code)
		}
	}
	v.end()
	for _, flag := range []string{"--kind=wall", "--tagfocus=state=Managed", "--native=full"} {
		v := startView(t, dir, flag, in)
		if _, _, at := v.get(t, "", ""); at.Path != "/flamegraph" {
			t.Errorf("%s: %s", flag, at)
		}
		if code, _, _ := v.get(t, "/page", ""); code != http.StatusNotFound {
			t.Errorf("%s: page: %d", flag, code)
		}
		v.end()
	}
}

// pageOfFile returns the decoded data with an id of a page.
func pageOfFile(t *testing.T, dir, name, id string) *pagedata.Page {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	page, err := pagedata.Decode(b, id)
	must(t, err)
	return page
}

// blockOf returns the content of an element of a page, "" if there is none.
func blockOf(t *testing.T, dir, name, id string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	data, _ := pagedata.Block(b, id)
	return string(data)
}
