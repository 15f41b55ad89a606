package web

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"
)

// Bounds on the work for requests.
const (
	maxWaiting = 16        // requests that wait for the current one
	maxPage    = 256 << 20 // bytes of a page
)

// A queue lets requests create pages one at a time, because each page takes memory in proportion to its profile and
// because the driver has global settings.
//
// waiting holds one element per accepted request and bounds their number; turn holds one element while a page is
// created.
type queue struct{ waiting, turn chan struct{} }

func newQueue() *queue { return &queue{make(chan struct{}, maxWaiting), make(chan struct{}, 1)} }

// pages are the pages about a profile, for permitted requests.
type pages struct {
	*queue
	profile *profile.Profile
	types   []*profile.ValueType // sample types of the profile before nameTypes
	driver  map[string]http.Handler
	sources *sources
	graph   bool
	path    string // of the directory of the pages, without a slash at the end
	menu    *menu  // of the profiles of the site, nil if there is only one and no other page
}

// newPages returns the pages of a profile and takes ownership of it.
func newPages(p *profile.Profile, q *queue, s *sources, graph bool) (*pages, error) {
	types := append([]*profile.ValueType(nil), p.SampleType...)
	nameTypes(p)
	handlers, err := driverHandlers(p)
	if err != nil {
		return nil, err
	}
	return &pages{queue: q, profile: p, types: types, driver: handlers, sources: s, graph: graph}, nil
}

// ServeHTTP implements http.Handler. It omits the driver's pages that save settings, so nothing is written.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, p.path) {
	case "/":
		w.Header().Set("Location", p.path+"/flamegraph")
		w.WriteHeader(http.StatusSeeOther)
	case "/flamegraph":
		p.answer(w, r, p.driverPage(3, 2, flamePatches()))
	case "/top":
		p.answer(w, r, p.driverPage(2, 2, topPatches()))
	case "/peek":
		p.answer(w, r, p.driverPage(2, 1, nil))
	case "/source":
		p.answer(w, r, p.sourcePage)
	case "/graph":
		p.answer(w, r, p.graphPage)
	case "/download":
		p.answer(w, r, p.download)
	case "/disasm":
		http.Error(w, "disassembly is not available, because it would run programs on files that the profile names; "+
			"download the profile and use go tool pprof -http=: FILE if you trust it", http.StatusNotFound)
	default:
		http.NotFound(w, r)
	}
}

// A maker creates a page. If it fails, its output is discarded. The error is a *pageError if the user caused it.
type maker func(w *response, r *http.Request) error

// A pageError is the reason why there is no page.
type pageError struct {
	code int // HTTP status
	text string
}

func (e *pageError) Error() string { return e.text }

// answer creates a page when it is its turn, and sends it.
func (p *pages) answer(w http.ResponseWriter, r *http.Request, page maker) {
	select {
	case p.waiting <- struct{}{}:
		defer func() { <-p.waiting }()
	default:
		http.Error(w, "too many requests at the same time; try again", http.StatusServiceUnavailable)
		return
	}
	made := response{header: http.Header{}, code: http.StatusOK, max: maxPage}
	err := p.inTurn(r, func() error { return page(&made, r) })
	// The time to send starts here, because creating the page may take longer than a client may take to receive it.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // tests may not support it
	var reason *pageError
	switch {
	case errors.As(err, &reason):
		http.Error(w, reason.text, reason.code)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		for key, values := range made.header {
			w.Header()[key] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(made.body.Len()))
		w.WriteHeader(made.code)
		_, _ = w.Write(made.body.Bytes()) // the client may have disconnected
	}
}

// inTurn runs a function while no other one runs. A panic becomes an error, because the driver panics for some
// expressions in addresses.
func (p *pages) inTurn(r *http.Request, run func() error) (err error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	defer func() {
		if recover() != nil {
			err = errors.New("the page cannot be made with these settings")
		}
	}()
	return run()
}

// A response is kept in memory until it is complete.
type response struct {
	header http.Header
	code   int
	max    int // bytes of body
	body   bytes.Buffer
	failed error // why a part is missing; the driver ignores errors of Write
}

func (w *response) Header() http.Header  { return w.header }
func (w *response) WriteHeader(code int) { w.code = code }
func (w *response) Write(b []byte) (int, error) {
	if w.failed == nil && w.body.Len()+len(b) > w.max {
		w.failed = &pageError{
			http.StatusInsufficientStorage,
			fmt.Sprintf("too large: limit %d bytes; select a part of the profile", w.max),
		}
	}
	if w.failed != nil {
		return 0, w.failed
	}
	return w.body.Write(b)
}

// driverPage returns the maker of one of pprof's pages with patches. It has the given numbers of scripts and styles.
func (p *pages) driverPage(scripts, styles int, patches []patch) maker {
	return func(w *response, r *http.Request) error {
		p.driver[strings.TrimPrefix(r.URL.Path, p.path)].ServeHTTP(w, p.exact(r))
		if w.failed != nil {
			return w.failed
		}
		if w.code != http.StatusOK {
			return &pageError{w.code, w.body.String()}
		}
		if err := w.apply(patches); err != nil {
			return err
		}
		if err := w.allow(scripts, styles); err != nil || p.menu == nil {
			return err
		}
		return p.menu.insert(w, r)
	}
}

// element matches the beginning of an element that a Content-Security-Policy restricts. Commands that serve no pages do
// not compile it.
var element = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<(?:script|style)\b[^>]*>?`)
})

// allow adds a nonce to the scripts and styles of a page of pprof; browsers ignore those without one. pprof's templates
// escape all names, so the page has exactly the elements of its template. If it has others, it is not served.
func (w *response) allow(scripts, styles int) error {
	const script, style = "<script>", `<style type="text/css">`
	nonce, other := rand.Text(), false
	body := element().ReplaceAllFunc(w.body.Bytes(), func(tag []byte) []byte {
		switch string(tag) {
		case script:
			scripts--
			return []byte(`<script nonce="` + nonce + `">`)
		case style:
			styles--
			return []byte(`<style nonce="` + nonce + `">`)
		}
		other = true
		return tag
	})
	if other || scripts != 0 || styles != 0 {
		return errors.New("the page has scripts or styles that are not those of its template, so it is not shown")
	}
	w.body = *bytes.NewBuffer(body)
	w.permit("script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce + "'; img-src 'self' data:")
	return nil
}

// permit marks the response as a page that may use the sources of a policy.
func (w *response) permit(policy string) {
	w.header.Set("Content-Security-Policy", basePolicy+"; "+policy)
	w.header.Set("Content-Type", "text/html; charset=utf-8")
}

// render creates a page from a template of this package. The template receives the data, the nonce for its styles, the
// query of the address, so that links to other pages keep the selection, the path of the page of ServerOptions.Page, and
// the links to the other profiles.
func (p *pages) render(w *response, t *template.Template, r *http.Request, data any) error {
	nonce := rand.Text()
	err := t.Execute(w, struct {
		Nonce string
		Query template.URL
		Page  string
		Kinds []menuLink
		Data  any
	}{nonce, template.URL(r.URL.RawQuery), p.menu.back(), p.menu.links(r), data})
	w.permit("style-src 'nonce-" + nonce + "'; img-src data:")
	return err
}

// navigation contains the links of the pages that are not pprof's.
const navigation = `<nav>{{with .Page}}<a href="{{.}}">Page</a> {{end}}<a href="./flamegraph?{{.Query}}">Flame graph</a> <a href="./top?{{.Query}}">Top</a> <a href="./peek?{{.Query}}">Peek</a> ` +
	`<a href="./graph?{{.Query}}">Graph</a> <a href="./source?{{.Query}}">Source</a>` +
	`{{range .Kinds}} <a href="{{.Address}}"{{if .Current}} aria-current="true"{{end}}>{{.Text}}</a>{{end}}</nav>`

// download sends the profile with its original names of sample types.
func (p *pages) download(w *response, _ *http.Request) error {
	named := p.profile.SampleType
	p.profile.SampleType = p.types
	defer func() { p.profile.SampleType = named }()
	w.header.Set("Content-Type", "application/vnd.google.protobuf+gzip")
	w.header.Set("Content-Disposition", "attachment; filename="+p.menu.name("profile")+".pb.gz")
	return p.profile.Write(w)
}
