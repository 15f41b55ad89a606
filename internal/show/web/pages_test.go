package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// Pages that need the user's permission are not available without it, and explain how to give it.
func TestNotPermitted(t *testing.T) {
	s := newTestServer(t, shop(), &ServerOptions{})
	cookie := enter(t, s)
	for path, want := range map[string]string{
		"/source?f=.": "--source DIR", "/graph": "--graph", "/disasm?f=.": "not available", "/saveconfig?config=x": "not found",
		"/deleteconfig?config=x": "not found", "/weblist": "not found",
	} {
		if w := get(s, cookie, path); w.Code != 404 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// write writes a file below a directory.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Source files are found by the longest matching suffix of their names, only inside the directories.
func TestSourceNames(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	write(t, filepath.Join(dir, "secret"), "secret\n")
	write(t, filepath.Join(first, "main.go"), "short\n")
	write(t, filepath.Join(first, "lib", "real.go"), "real\n")
	write(t, filepath.Join(second, "app", "main.go"), "long\n")
	for link, to := range map[string]string{
		filepath.Join(first, "inside.go"): filepath.Join("lib", "real.go"), filepath.Join(first, "outside.go"): filepath.Join("..", "secret"),
		filepath.Join(first, "absolute.go"): filepath.Join(dir, "secret"), filepath.Join(first, "up"): "..",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Skipf("no symbolic links on this system: %v", err)
		}
	}
	s, err := openSources([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for name, want := range map[string]string{
		"main.go": "short", "/build/app/main.go": "long", `C:\build\app\main.go`: "long", "/other/main.go": "short", "./app/./main.go": "long",
		"app/../main.go": "short", "/x/inside.go": "real", "lib/real.go": "real",
		"outside.go": "", "absolute.go": "", "../secret": "", "/a/../../secret": "", "up/secret": "", filepath.Join(dir, "secret"): "", "/etc/passwd": "", "lib": "",
		"": "", ".": "", "/": "", "..": "", "a\x00b": "", strings.Repeat("x/", 10000) + "main.go": "short",
	} {
		lines, path, err := s.lines(name, map[int64]bool{1: true})
		got := ""
		if len(lines) > 0 {
			got = lines[0].Text
		}
		if got != want || (err == nil) != (want != "") || (path != "") != (want != "") {
			t.Errorf("%.50q: %q at %s, %v; want %q", name, got, path, err, want)
		}
	}
	if _, err := openSources([]string{first, filepath.Join(dir, "none")}); err == nil {
		t.Error("a directory that does not exist")
	}
}

// sourced returns the profile of shop with lines of a file, one of which has an invalid number.
func sourced() *profile.Profile {
	p := shop()
	for i, number := range []int64{3, 30, -1 << 62} {
		p.Function[i].Filename = "/build/app/shop.go"
		p.Location[i].Line[0].Line = number
	}
	p.Location[2].Line = append(p.Location[2].Line, profile.Line{Function: p.Function[1], Line: 3}) // wait is inlined into work
	return p
}

// The page of source code shows lines with samples, and their values, for the selection in the address.
func TestSourcePage(t *testing.T) {
	dir := t.TempDir()
	var code strings.Builder
	for i := range 40 {
		code.WriteString(strings.Repeat("x", 2000*(i%2)) + "<b>&\xff line\n")
	}
	write(t, filepath.Join(dir, "shop.go"), code.String())
	s := newTestServer(t, sourced(), &ServerOptions{Sources: []string{dir}})
	cookie := enter(t, s)
	for _, tt := range []struct {
		path     string
		code     int
		has, not []string
	}{
		{"/source", 200, []string{"<h2>main</h2>", "<h2>work</h2>", "<h2>wait</h2>", "99ms cum", "30ms flat", "&lt;b&gt;&amp;\uFFFD line", "…", "<td>-4611686018427387904</td>"}, []string{"<b>"}},
		{"/source?f=work", 200, []string{"<h2>work</h2>", "<td>30ms</td><td>30ms</td><td>30</td>"}, []string{"<h2>main</h2>"}},
		{"/source?f=work&si=cpu", 200, []string{"cpu, 31ms in total"}, nil},
		{"/source?i=wait", 200, []string{"<h2>work</h2>"}, []string{"<h2>wait</h2>", "99ms cum"}},
		{"/source?f=%5Enothing%24", 200, []string{"No function matches"}, nil},
		{"/source?f=(", 400, []string{"missing closing"}, nil},
		{"/source?si=heap", 400, []string{"heap"}, nil},
	} {
		w := get(s, cookie, tt.path)
		if w.Code != tt.code {
			t.Errorf("%s: %d", tt.path, w.Code)
		}
		for _, want := range tt.has {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: no %s in %.3000s", tt.path, want, w.Body)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(w.Body.String(), not) {
				t.Errorf("%s: %s in %.3000s", tt.path, not, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), strings.Repeat("x", maxSourceLine+1)) {
			t.Errorf("%s: a line was not truncated", tt.path)
		}
	}
}

// A page of source code is bounded, regardless of the number of functions and lines in a profile.
func TestSourcePageIsBounded(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shop.go"), strings.Repeat("line\n", 20_000))
	p := sourced()
	work := p.Function[1]
	for i := range int64(10_000) {
		l := &profile.Location{ID: uint64(i + 100), Line: []profile.Line{{Function: work, Line: 3 * i}}}
		f := &profile.Function{ID: uint64(i + 100), Name: "f", Filename: strings.Repeat("x", int(i%100)) + "/shop.go"}
		p.Location, p.Function = append(p.Location, l), append(p.Function, f)
		l.Line = append(l.Line, profile.Line{Function: f, Line: i})
		p.Sample = append(p.Sample, &profile.Sample{Value: []int64{1, 1}, Location: []*profile.Location{l}})
	}
	s := newTestServer(t, p, &ServerOptions{Sources: []string{dir}})
	w := get(s, enter(t, s), "/source")
	if rows := strings.Count(w.Body.String(), "<td>"); w.Code != 200 || rows > 8*maxListed*maxListedLines || strings.Count(w.Body.String(), "<h2>") != maxListed {
		t.Errorf("%d, %d cells, %d functions", w.Code, rows, strings.Count(w.Body.String(), "<h2>"))
	}
	if !strings.Contains(w.Body.String(), "more functions") {
		t.Error("the page does not say that functions are omitted")
	}
}

// handle creates a server whose page /top is a handler.
func handle(t *testing.T, h http.HandlerFunc) (*Server, *http.Cookie) {
	t.Helper()
	s := newTestServer(t, shop(), &ServerOptions{})
	s.site[0].driver["/top"] = h
	return s, enter(t, s)
}

// A page with a script or style that its template does not have is not served.
func TestForeignScript(t *testing.T) {
	own := `<style type="text/css"></style><style type="text/css"></style><script></script>`
	for _, p := range topPatches() {
		own += p.before
	}
	own += "</script>"
	for more, code := range map[string]int{
		"": 200, "<b>": 200, "<scripts>": 200, "<script>": 500, "<SCRIPT>": 500, "<script src=x>": 500, "<script\n>": 500, "<style>": 500, `<style type="text/css">`: 500,
		"<script": 500, `<script nonce="x">`: 500,
	} {
		s, cookie := handle(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(own + more)) })
		w := get(s, cookie, "/top")
		if w.Code != code {
			t.Errorf("%q: %d, want %d", more, w.Code, code)
		}
		policy := w.Header().Get("Content-Security-Policy")
		_, nonce, _ := strings.Cut(policy, "script-src 'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		if n := strings.Count(w.Body.String(), `nonce="`+nonce+`"`); code == 200 && (len(nonce) < 26 || n != 4) {
			t.Errorf("%q: %d elements with nonce %q", more, n, nonce)
		}
		checkHeaders(t, more, w.Header())
		if again := get(s, cookie, "/top").Header().Get("Content-Security-Policy"); code == 200 && again == policy {
			t.Errorf("%q: the same nonce twice", more)
		}
	}
}

// A panic of the driver becomes the error of one page.
func TestPanic(t *testing.T) {
	s, cookie := handle(t, func(http.ResponseWriter, *http.Request) { panic("main") })
	for range 2 {
		if w := get(s, cookie, "/top"); w.Code != 500 || strings.Contains(w.Body.String(), "main") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	for _, path := range []string{"/flamegraph?tf=99999999999999999999", "/peek?f=(", "/flamegraph?n=x", "/flamegraph?si=heap"} {
		if w := get(s, cookie, path); w.Code != 400 && w.Code != 500 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := get(s, cookie, "/flamegraph"); w.Code != 200 {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
}

// Pages are created one at a time, few requests wait, and requests whose client has disconnected do not.
func TestOneAtATime(t *testing.T) {
	var running, most atomic.Int32
	begun, release := make(chan struct{}, maxWaiting), make(chan struct{})
	s, cookie := handle(t, func(w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), running.Add(1)))
		begun <- struct{}{}
		<-release
		running.Add(-1)
		w.WriteHeader(http.StatusTeapot)
	})
	ask := func(ctx context.Context) int {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+testPort+"/top", nil)
		r.AddCookie(cookie)
		w := httptest.NewRecorder()
		s.access.ServeHTTP(w, r)
		return w.Code
	}
	var all sync.WaitGroup
	var served atomic.Int32
	all.Go(func() { ask(t.Context()) })
	<-begun
	left, leave := context.WithCancel(t.Context())
	leave()
	if code := ask(left); code == http.StatusTeapot {
		t.Error("a page was made for a client that has left")
	}
	for range maxWaiting - 1 {
		all.Go(func() {
			if ask(t.Context()) == http.StatusTeapot {
				served.Add(1)
			}
		})
	}
	for len(s.site[0].waiting) < maxWaiting {
		time.Sleep(time.Millisecond)
	}
	if code := ask(t.Context()); code != http.StatusServiceUnavailable {
		t.Errorf("%d requests wait, and the next gets %d", maxWaiting, code)
	}
	close(release)
	all.Wait()
	if most.Load() != 1 || served.Load() != maxWaiting-1 {
		t.Errorf("%d pages at the same time, %d of %d served", most.Load(), served.Load(), maxWaiting-1)
	}
}

// A page that is too large is not sent in part.
func TestLargePage(t *testing.T) {
	s, cookie := handle(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(*response).max = 100
		for _, n := range []int{99, 2, 1} { // the last one would fit
			_, _ = w.Write(make([]byte, n))
		}
	})
	if got := get(s, cookie, "/top"); got.Code != http.StatusInsufficientStorage || got.Body.Len() >= 99 {
		t.Errorf("%d, %d bytes", got.Code, got.Body.Len())
	}
}

// The downloaded profile has the original names of its sample types, even if the pages number them.
func TestDownloadEqualTypes(t *testing.T) {
	p := shop()
	p.SampleType[1].Type = "cpu"
	s := newTestServer(t, p, &ServerOptions{})
	cookie := enter(t, s)
	for si, want := range map[string]string{"cpu": "cpu", "cpu%232": "cpu#2", "": "cpu#2"} {
		if w := get(s, cookie, "/peek?f=.&si="+si); w.Code != 200 || !strings.Contains(w.Body.String(), "Type: "+want+"\n") {
			t.Errorf("%q: %d %s", si, w.Code, w.Body)
		}
	}
	got, err := profile.Parse(get(s, cookie, "/download").Body)
	if err != nil || len(got.SampleType) != 2 || got.SampleType[1].Type != "cpu" {
		t.Errorf("%v, %v", got, err)
	}
}
