//go:build unix

package web

import (
	"context"
	"encoding/base64"
	"errors"
	"html"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// fakeDot adds a script named dot to the path.
func fakeDot(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	write(t, filepath.Join(bin, "dot"), "#!/bin/sh\n"+script)
	t.Setenv("PATH", bin+":/bin:/usr/bin")
}

// The page shows the output of dot as an image, in which nothing runs, and the selection of a graph does not affect
// other pages.
func TestGraph(t *testing.T) {
	const svg = "<svg><script>alert(1)</script></svg>"
	fakeDot(t, `cat > /dev/null; echo "`+svg+`"`)
	s := newTestServer(t, shop(), &ServerOptions{Graph: true})
	cookie := enter(t, s)
	w := get(s, cookie, "/graph?f=%5Ework&n=500")
	body := html.UnescapeString(w.Body.String())
	if w.Code != 200 || strings.Contains(body, "<script") || !strings.Contains(body, base64.StdEncoding.EncodeToString([]byte(svg+"\n"))) {
		t.Errorf("%d %s", w.Code, body)
	}
	if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy, "script-src") || !strings.Contains(policy, "img-src data:") {
		t.Error(policy)
	}
	if !strings.Contains(body, `href="./top?f=%5Ework&n=500"`) {
		t.Errorf("links lose the selection: %s", body)
	}
	if top := get(s, cookie, "/top").Body.String(); !strings.Contains(top, "wait") || strings.Contains(top, "focus=") {
		t.Errorf("the selection of the graph is that of the next page: %s", top)
	}
	for _, n := range []string{"0", "501", "-1", "x", "99999999999999999999"} {
		if w := get(s, cookie, "/graph?n="+n); w.Code != 400 {
			t.Errorf("n=%s: %d", n, w.Code)
		}
	}
	for path, want := range map[string]string{"/graph?f=(": "missing closing", "/graph?si=heap": "heap"} {
		if w := get(s, cookie, path); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// dotString matches a string in the language of dot.
var dotString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// No name ends a string in the text for dot, so no name can add attributes that load files.
func TestGraphText(t *testing.T) {
	const name = `x" image="/etc/passwd" \" y` + "\n" + `\`
	p := shop()
	for _, f := range p.Function {
		f.Name, f.SystemName, f.Filename = name+f.Name, name, name
	}
	p.Mapping[0].File, p.Mapping[0].BuildID = "/"+name, name
	p.Comments, p.DocURL = []string{name}, name
	for _, st := range p.SampleType {
		st.Type, st.Unit = name+st.Type, name
	}
	for _, sample := range p.Sample {
		sample.Label = map[string][]string{name: {name}}
		sample.NumLabel, sample.NumUnit = map[string][]int64{name: {1}}, map[string][]string{name: {name}}
	}
	s := newTestServer(t, p, &ServerOptions{Graph: true})
	text, err := s.site[0].graphText(url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	rest := dotString.ReplaceAllString(string(text), "S")
	if strings.Contains(rest, `"`) || strings.Contains(rest, "image") || strings.Contains(rest, "passwd") || !strings.Contains(string(text), "passwd") {
		t.Errorf("outside strings: %s\n%s", rest, text)
	}
	// With other names, the text differs only in its strings.
	plain, err := newTestServer(t, shop(), &ServerOptions{Graph: true}).site[0].graphText(url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(rest, "\nN"), strings.Count(string(plain), "\nN"); got < want {
		t.Errorf("%d boxes and arrows, want at least %d", got, want)
	}
	if again, err := profile.Parse(get(s, enter(t, s), "/download").Body); err != nil || again.Comments[0] != name {
		t.Errorf("the graph changed the profile: %v, %v", again, err)
	}
}

// The memory of dot is limited where the system supports it, and errors are reported.
func TestDot(t *testing.T) {
	run := func(script string) (string, error) {
		fakeDot(t, script)
		svg, err := runDot(t.Context(), []byte("digraph {}"))
		return string(svg), err
	}
	if got, err := run("cat"); err != nil || got != "digraph {}" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := run("read line; ulimit -v"); runtime.GOOS == "linux" && (err != nil || strings.TrimSpace(got) != "1048576") {
		t.Errorf("%q KiB, %v", got, err)
	}
	if _, err := run("printf 'bad\\033 input' >&2; exit 3"); err == nil || !strings.Contains(err.Error(), `3: bad\x1b input`) {
		t.Error(err)
	}
	if _, err := run("head -c 100000 /dev/zero >&2; cat"); err != nil {
		t.Error(err)
	}
	fakeDot(t, "exec sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := runDot(ctx, make([]byte, 1<<20)); err == nil { // more than the capacity of the pipe
		t.Error("dot runs after its time")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := runDot(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "install Graphviz") {
		t.Error(err)
	}
}

func TestLimitedBuffer(t *testing.T) {
	full := errors.New("full")
	for _, want := range []error{nil, full} {
		b := limitedBuffer{max: 3, full: want}
		for _, part := range []string{"ab", "cd", "ef"} {
			if n, err := b.Write([]byte(part)); (n != len(part)) != (err != nil) || err != nil && !errors.Is(err, full) {
				t.Errorf("%q: %d, %v", part, n, err)
			}
		}
		if string(b.kept) != "abc" {
			t.Errorf("%q", b.kept)
		}
	}
}
