package web

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// Every page of a site with two profiles shows its own profile and links to the same page of the other one. Links keep
// the selection, but not the sample type, which the other profile lacks.
func TestMenu(t *testing.T) {
	one, other := shop(), shop()
	one.Function[1].Name, other.Function[1].Name = "Selling", "Allocating"
	dir := t.TempDir()
	ln := &fakeListener{addr: net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}}
	views := []View{{one, "wall", "wall: time"}, {other, "off-cpu", "off-cpu: <b>none</b>"}}
	s, err := NewServer(ln, views, &ServerOptions{Sources: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cookie := enter(t, s)
	for _, page := range []string{"flamegraph", "top", "peek", "source"} {
		for _, v := range []struct{ name, has, lacks string }{{"wall", "Selling", "Allocating"}, {"off-cpu", "Allocating", "Selling"}} {
			w := get(s, cookie, "/"+v.name+"/"+page+"?f=ing%24&si=cpu")
			body := w.Body.String()
			if w.Code != http.StatusOK || !strings.Contains(body, v.has) || strings.Contains(body, v.lacks) {
				t.Errorf("%s of %s: %d, %d bytes", page, v.name, w.Code, len(body))
			}
			for _, link := range []string{"/wall/" + page, "/off-cpu/" + page} {
				if n := strings.Count(body, `href="`+link+`?f=ing%24"`); n != 1 {
					t.Errorf("%s of %s: %d links to %s", page, v.name, n, link)
				}
			}
			if strings.Contains(body, "<b>none") || !strings.Contains(body, "off-cpu: &lt;b&gt;none") {
				t.Errorf("%s of %s: the text of the menu is not escaped", page, v.name)
			}
		}
	}
	for path, want := range map[string]string{
		"/": "/wall/", "/top?f=x": "/wall/top?f=x", "/off-cpu/": "/off-cpu/flamegraph", "/flamegraph": "/wall/flamegraph",
	} {
		if w := get(s, cookie, path); w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q", path, w.Code, w.Header().Get("Location"))
		}
	}
	for _, path := range []string{"/none/top", "/wall", "/wall/saveconfig", "/saveconfig", "//example.org/top", "/off-cpu/x/top"} {
		if w := get(s, cookie, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := get(s, &http.Cookie{Name: cookie.Name, Value: "x"}, "/wall/top"); w.Code != http.StatusForbidden {
		t.Errorf("without the cookie: %d", w.Code)
	}
	if w := get(s, cookie, "/off-cpu/download"); !strings.Contains(w.Header().Get("Content-Disposition"), "off-cpu.pb.gz") {
		t.Errorf("%v", w.Header())
	}
}

// Every page of pprof links back to the page that is shown first, and only if there is one.
func TestLinkToPage(t *testing.T) {
	for file, want := range map[string]int{"": 0, "x.html": 1} {
		ln := &fakeListener{addr: net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}}
		s, err := NewServer(ln, []View{{shop(), "wall", "wall: time"}}, &ServerOptions{Sources: []string{t.TempDir()}, Page: file})
		if err != nil {
			t.Fatal(err)
		}
		cookie := enter(t, s)
		for _, page := range []string{"/flamegraph", "/top", "/peek", "/source"} {
			w := get(s, cookie, page+"?f=.")
			if n := strings.Count(w.Body.String(), `href="/page"`); w.Code != http.StatusOK || n != want {
				t.Errorf("%q: %s: %d, %d links to the page, want %d", file, page, w.Code, n, want)
			}
		}
		s.Close()
	}
}
