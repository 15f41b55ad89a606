package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strconv"
)

// basePolicy is the Content-Security-Policy of responses that are not pages. Pages append what they permit.
const basePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// An access decides which requests get a page. All users of the machine can connect to the server's address, and every
// page in the user's browser can send requests to it. Each request must therefore carry a secret that only the user's
// browser has, and must not come from a page of another origin.
type access struct {
	// hosts are the accepted values of the Host header. Sites whose names resolve to this machine (DNS rebinding) send
	// their own names.
	hosts [2]string
	// token is part of the address that the user opens. It has 130 random bits.
	token string
	// cookieName contains the port, because browsers send cookies to all ports of a host.
	cookieName string
	// cookie is the secret of the user's browser. It differs from the token: the address may appear in the browser's
	// history or on a screen, and the cookie is sent to all servers on this machine that the user visits.
	cookie string
	first  string // path of the page that a browser gets first
	pages  http.Handler
}

// newAccess returns the access to pages at an address of this machine. first is the path of the first page.
func newAccess(addr *net.TCPAddr, first string, pages http.Handler) *access {
	port := strconv.Itoa(addr.Port)
	return &access{
		hosts: [2]string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port)},
		token: rand.Text(), cookieName: "ntconv-view-" + port, cookie: rand.Text(), first: first, pages: pages,
	}
}

// address returns the address to open first.
func (a *access) address() string { return "http://" + a.hosts[0] + "/?token=" + a.token }

// ServeHTTP implements http.Handler. Refusals reveal nothing about the profile.
func (a *access) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", basePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	token, hasToken := r.URL.Query()["token"]
	switch {
	case r.Host != a.hosts[0] && r.Host != a.hosts[1]:
		refuse(w, "this address is for browsers on the machine itself, as http://"+a.hosts[0]+" or http://"+a.hosts[1])
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	case hasToken && r.URL.Path == "/":
		a.enter(w, r, token[0])
	case !sameOrigin(r):
		refuse(w, "pages of other sites cannot use this address")
	case !a.knows(r):
		refuse(w, "open the address that ntconv view printed: the profile is only for browsers that have its token")
	default:
		a.pages.ServeHTTP(w, r)
	}
}

// refuse answers a forbidden request.
func refuse(w http.ResponseWriter, why string) { http.Error(w, why, http.StatusForbidden) }

// enter sets the cookie in a browser that presents the token, and redirects it to the pages. The token is accepted only
// in pages that the user opens. They may be opened by a link on another site, because whoever has the token may read
// the profile.
func (a *access) enter(w http.ResponseWriter, r *http.Request, token string) {
	dest := r.Header.Get("Sec-Fetch-Dest")
	if !equal(token, a.token) || dest != "" && dest != "document" {
		refuse(w, "wrong token; open the address that ntconv view printed, as a page of its own")
		return
	}
	cookie := &http.Cookie{
		Name: a.cookieName, Value: a.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	http.SetCookie(w, cookie)
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		w.Header().Set("Location", a.first)
		w.WriteHeader(http.StatusSeeOther)
	default: // a redirect would still be a request of the other site, without the SameSite=Strict cookie
		w.Header().Set("Refresh", "0; url="+a.first)
		w.WriteHeader(http.StatusOK)
	}
}

// knows reports whether a request has the cookie. Servers on other ports may have set cookies with the same name, so
// there may be several.
func (a *access) knows(r *http.Request) bool {
	known := false
	for _, c := range r.CookiesNamed(a.cookieName) {
		known = equal(c.Value, a.cookie) || known
	}
	return known
}

// equal compares secrets in a time that depends only on their length.
func equal(got, want string) bool { return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1 }

// sameOrigin reports whether a request comes from a page of this server or from the user, according to the browser. The
// cookie is not sufficient, because browsers also send it for pages on other ports of this machine: ports do not belong
// to a site.
func sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return false
	}
	origin := r.Header.Get("Origin")
	return origin == "" || origin == "http://"+r.Host
}
