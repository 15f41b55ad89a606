package command

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A pageVisit is a run of ntconv view whose pages a browser visits.
type pageVisit struct {
	browser *http.Client
	address *url.URL // that was printed
	end     func()
}

// startView starts ntconv view.
func startView(t *testing.T, dir string, args ...string) *pageVisit {
	t.Helper()
	s := show(t, dir, append([]string{"-q"}, args...)...)
	v := &pageVisit{end: func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}}
	t.Cleanup(v.end)
	var err error
	v.address, err = url.Parse(s.address)
	must(t, err)
	jar, err := cookiejar.New(nil)
	must(t, err)
	v.browser = &http.Client{Jar: jar}
	return v
}

// get returns the status and the body of a page, and where the visit ended.
func (v *pageVisit) get(t *testing.T, page, host string) (code int, body string, at *url.URL) {
	t.Helper()
	to, err := v.address.Parse(page)
	must(t, err)
	req, err := http.NewRequest(http.MethodGet, to.String(), nil)
	must(t, err)
	req.Host = host
	r, err := v.browser.Do(req)
	must(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	must(t, err)
	return r.StatusCode, string(b), r.Request.URL
}

// The pages are that of ntconv to html and those of pprof, for a browser of this machine that has opened the printed address, on a
// free port.
func TestView(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	for _, in := range []string{"a.pb.gz", trace(t, "cpu-env")} {
		v := startView(t, dir, in)
		name := map[bool]string{true: "shop.work", false: "Shop.Cpu"}[in == "a.pb.gz"]
		if code, body, _ := v.get(t, "/", ""); code != http.StatusForbidden || !strings.Contains(body, "ntconv view printed") {
			t.Errorf("%s: without the token: %d, %s", in, code, body)
		}
		if code, body, at := v.get(t, "", ""); code != http.StatusOK || !strings.Contains(body, `id="data"`) || at.Path != "/page" || at.RawQuery != "" {
			t.Errorf("%s: with the token: %d, %d bytes of %s", in, code, len(body), at)
		}
		for _, page := range []string{"/flamegraph", "/top", "/peek?f=.", "/"} {
			if code, body, _ := v.get(t, page, ""); code != http.StatusOK || !strings.Contains(body, name) {
				t.Errorf("%s: %s: %d, %d bytes without %s", in, page, code, len(body), name)
			}
		}
		if code, body, _ := v.get(t, "/graph", ""); code != http.StatusNotFound || !strings.Contains(body, "--graph") {
			t.Errorf("%s: graph: %d: %.200s", in, code, body)
		}
		if code, _, _ := v.get(t, "/top", "example.org"); code != http.StatusForbidden {
			t.Errorf("another name of the machine: %d", code)
		}
		if code, _, _ := v.get(t, "/saveconfig?config=x", ""); code != http.StatusNotFound {
			t.Errorf("saving settings: %d", code)
		}
		v.end()
	}
}

// A file that a profile names is shown only if it is below a directory of --source. The settings of pprof are not read.
func TestViewSource(t *testing.T) {
	dir := t.TempDir()
	in := write(t, dir, "readfile.pb.gz", corpus.Hostile(t, "readfile.pb.gz").Data) // its functions are in /etc/passwd
	src := filepath.Join(dir, "src")
	must(t, os.Mkdir(src, 0o700))
	write(t, src, "passwd", []byte("first line of mine\n"))
	t.Setenv("HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{in}, http.StatusNotFound, "--source DIR"},
		{[]string{"--source", dir, in}, http.StatusOK, "in none of the directories"},
		{[]string{"--source", dir, "--source", src, in}, http.StatusOK, "first line of mine"},
	} {
		v := startView(t, dir, tt.args...)
		v.get(t, "", "")
		code, body, _ := v.get(t, "/source?f=Main", "")
		if code != tt.code || !strings.Contains(body, tt.want) || strings.Contains(body, "root:") {
			t.Errorf("%q: %d: %s", tt.args, code, body)
		}
		v.end()
	}
}

// Profiles with two sample types of the same name are shown.
func TestViewEqualTypes(t *testing.T) {
	dir := t.TempDir()
	v := startView(t, dir, write(t, dir, "dup-types.pb.gz", corpus.Hostile(t, "dup-types.pb.gz").Data))
	v.get(t, "", "")
	for si, want := range map[string]string{"cpu": "1ns", "cpu%232": "5ns"} {
		if code, body, _ := v.get(t, "/peek?f=.&si="+si, ""); code != http.StatusOK || !strings.Contains(body, "100% of "+want+" total") {
			t.Errorf("%s: %d: %s", si, code, body)
		}
	}
}
