package web

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// testPort is the port of the servers of the tests, which do not listen.
const testPort = "4711"

// fakeListener is a listener that only has an address.
type fakeListener struct {
	net.Listener
	addr net.TCPAddr
}

func (l *fakeListener) Addr() net.Addr { return &l.addr }
func (l *fakeListener) Close() error   { return nil }

// newTestServer returns a Server for a profile.
func newTestServer(t *testing.T, p *profile.Profile, o *ServerOptions) *Server {
	t.Helper()
	s, err := NewServer(&fakeListener{addr: net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}}, []View{{Profile: p}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// enter visits the printed address and returns the cookie.
func enter(t *testing.T, s *Server) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	s.access.ServeHTTP(w, httptest.NewRequest(http.MethodGet, s.Address(), nil))
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 || strings.Contains(w.Header().Get("Location"), "token") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	return cookies[0]
}

// get returns the answer to a request of the user's browser.
func get(s *Server, cookie *http.Cookie, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:"+testPort+path, nil)
	r.AddCookie(cookie)
	w := httptest.NewRecorder()
	s.access.ServeHTTP(w, r)
	return w
}

// paths are all paths that pprof or this package knows.
var paths = []string{
	"/", "/flamegraph", "/top", "/peek?f=.", "/source?f=.", "/graph", "/disasm?f=.", "/download", "/saveconfig?config=x", "/deleteconfig?config=x",
	"/flamegraph2", "/favicon.ico",
}

// All responses, including refusals, forbid browsers to guess, frame, share and cache them.
func checkHeaders(t *testing.T, what string, h http.Header) {
	t.Helper()
	for key, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if h.Get(key) != want {
			t.Errorf("%s: %s: %q, want %q", what, key, h.Get(key), want)
		}
	}
	policy := h.Get("Content-Security-Policy")
	if len(h.Values("Content-Security-Policy")) != 1 || !strings.HasPrefix(policy, basePolicy) || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("%s: policy %q", what, policy)
	}
	if h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%s: another origin may read it", what)
	}
}

// A forbidden is a change of a permitted request that causes a refusal.
type forbidden struct {
	name   string
	method string
	change func(*http.Request)
	code   int
}

// allForbidden returns what a Server that has issued a cookie must refuse.
func allForbidden(s *Server, cookie *http.Cookie) []forbidden {
	set := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	host := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Host = name }
	}
	other := *cookie
	other.Value = strings.Repeat("A", len(cookie.Value))
	asCookie := func(c http.Cookie) func(*http.Request) {
		return func(r *http.Request) { r.Header.Del("Cookie"); r.AddCookie(&c) }
	}
	named := *cookie
	named.Name = "ntconv-view-4712"
	short := *cookie
	short.Value = cookie.Value[:len(cookie.Value)-1]
	return []forbidden{
		{"no cookie", "GET", func(r *http.Request) { r.Header.Del("Cookie") }, 403},
		{"another cookie", "GET", asCookie(other), 403},
		{"a part of the cookie", "GET", asCookie(short), 403},
		{"the cookie of another port", "GET", asCookie(named), 403},
		{"the token as cookie", "GET", asCookie(http.Cookie{Name: cookie.Name, Value: s.access.token}), 403},
		{"the cookie as token", "GET", func(r *http.Request) {
			r.Header.Del("Cookie")
			r.URL.RawQuery = "token=" + cookie.Value
		}, 403},
		{"another token", "GET", func(r *http.Request) {
			r.Header.Del("Cookie")
			r.URL.RawQuery = "token=" + other.Value
		}, 403},
		{"no token", "GET", func(r *http.Request) {
			r.Header.Del("Cookie")
			r.URL.RawQuery = "token="
		}, 403},
		{"another name of this machine (DNS rebinding)", "GET", host("example.com:" + testPort), 403},
		{"another name without a port", "GET", host("example.com"), 403},
		{"localhost as a prefix", "GET", host("localhost.example.com:" + testPort), 403},
		{"no port", "GET", host("127.0.0.1"), 403},
		{"another port", "GET", host("localhost:80"), 403},
		{"another address", "GET", host("127.0.0.2:" + testPort), 403},
		{"no host", "GET", host(""), 403},
		{"another origin", "GET", set("Origin", "https://example.com"), 403},
		{"another port of this machine", "GET", set("Origin", "http://127.0.0.1:80"), 403},
		{"the other name of this machine", "GET", set("Origin", "http://localhost:"+testPort), 403},
		{"an opaque origin", "GET", set("Origin", "null"), 403},
		{"a request of another site", "GET", set("Sec-Fetch-Site", "cross-site"), 403},
		{"a request of another port", "GET", set("Sec-Fetch-Site", "same-site"), 403},
		{"POST", "POST", nil, 405},
		{"PUT", "PUT", nil, 405},
		{"DELETE", "DELETE", nil, 405},
		{"OPTIONS", "OPTIONS", nil, 405},
		{"TRACE", "TRACE", nil, 405},
		{"CONNECT", "CONNECT", nil, 405},
	}
}

// Requests that do not come from the user's own browser are refused on all paths, and reveal nothing about the profile.
func TestAccessRefused(t *testing.T) {
	s := newTestServer(t, shop(), &ServerOptions{})
	cookie := enter(t, s)
	for _, tt := range allForbidden(s, cookie) {
		for _, path := range paths {
			r := httptest.NewRequest("GET", "http://127.0.0.1:"+testPort+path, nil)
			r.Method = tt.method
			r.AddCookie(cookie)
			if tt.change != nil {
				tt.change(r)
			}
			w := httptest.NewRecorder()
			s.access.ServeHTTP(w, r)
			what := tt.name + " " + path
			if w.Code != tt.code || len(w.Result().Cookies()) > 0 || w.Header().Get("Location") != "" {
				t.Errorf("%s: %d, want %d: %v", what, w.Code, tt.code, w.Header())
			}
			for _, secret := range []string{"main", "work", "wait", "shop", "cpu", "wall", s.access.token, s.access.cookie} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("%s: says %s: %s", what, secret, w.Body)
				}
			}
			checkHeaders(t, what, w.Header())
		}
	}
}

// A visitor without the address learns how to get it.
func TestAccessSaysHow(t *testing.T) {
	s := newTestServer(t, shop(), &ServerOptions{})
	w := httptest.NewRecorder()
	s.access.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:"+testPort+"/", nil))
	if w.Code != 403 || !strings.Contains(w.Body.String(), "the address that ntconv view printed") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The token is random and opens the pages once a browser presents it in a page of its own; a link on another site works
// as well.
func TestAccessToken(t *testing.T) {
	s := newTestServer(t, shop(), &ServerOptions{})
	u, err := url.Parse(s.Address())
	if err != nil || u.Host != "127.0.0.1:"+testPort || u.Path != "/" || len(u.Query().Get("token")) < 26 { // 5 bits per character
		t.Errorf("%v, %v", u, err)
	}
	if again := newTestServer(t, shop(), &ServerOptions{}); again.access.token == s.access.token || again.access.cookie == s.access.cookie {
		t.Error("the same secret twice")
	}
	for _, tt := range []struct {
		site, dest string
		code       int
	}{
		{"", "", 303},
		{"none", "document", 303},
		{"same-origin", "document", 303},
		{"cross-site", "document", 200}, // continues as a request of the page itself
		{"same-site", "document", 200},
		{"cross-site", "iframe", 403},
		{"cross-site", "image", 403},
		{"cross-site", "empty", 403},
		{"none", "embed", 403},
	} {
		r := httptest.NewRequest("GET", s.Address(), nil)
		for key, value := range map[string]string{"Sec-Fetch-Site": tt.site, "Sec-Fetch-Dest": tt.dest} {
			if value != "" {
				r.Header.Set(key, value)
			}
		}
		w := httptest.NewRecorder()
		s.access.ServeHTTP(w, r)
		checkHeaders(t, tt.site+" "+tt.dest, w.Header())
		cookies := w.Result().Cookies()
		if w.Code != tt.code || (len(cookies) == 1) != (tt.code < 400) {
			t.Errorf("%+v: %d, %v", tt, w.Code, cookies)
			continue
		}
		if next := w.Header().Get("Location") + w.Header().Get("Refresh"); strings.Contains(next, "token") || (next == "") != (tt.code == 403) {
			t.Errorf("%+v: continues at %q", tt, next)
		}
		for _, c := range cookies {
			if c.Name != "ntconv-view-"+testPort || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Value == s.access.token {
				t.Errorf("%+v", c)
			}
		}
	}
}

// The user's browser gets all pages under both names of the machine. Cookies with the same name from other ports do not
// lock it out.
func TestAccessAllowed(t *testing.T) {
	s := newTestServer(t, shop(), &ServerOptions{})
	cookie := enter(t, s)
	for _, host := range []string{"127.0.0.1:" + testPort, "localhost:" + testPort} {
		for _, site := range []string{"", "none", "same-origin"} {
			for path, want := range map[string]string{"/flamegraph": "work", "/top?si=cpu": "work", "/peek?f=.": "wait", "/download": ""} {
				for _, method := range []string{"GET", "HEAD"} {
					r := httptest.NewRequest(method, "http://"+host+path, nil)
					r.AddCookie(&http.Cookie{Name: cookie.Name, Value: "of another server"})
					r.AddCookie(cookie)
					r.Header.Set("Sec-Fetch-Site", site)
					r.Header.Set("Origin", "http://"+host)
					w := httptest.NewRecorder()
					s.access.ServeHTTP(w, r)
					if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
						t.Errorf("%s %s from %q: %d %.200s", method, r.URL, site, w.Code, w.Body)
					}
					checkHeaders(t, path, w.Header())
				}
			}
		}
	}
	if w := get(s, cookie, "/"); w.Code != 303 || w.Header().Get("Location") != "/flamegraph" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	body, err := io.ReadAll(get(s, cookie, "/download").Body)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := profile.ParseData(body); err != nil || len(p.Sample) != 2 || p.Mapping[0].File != "/bin/shop" {
		t.Errorf("%v, %v", p, err)
	}
}
