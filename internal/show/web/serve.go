package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// ServerOptions selects what the pages of a Server may show in addition to the profile. The zero value permits no
// access to files and programs.
type ServerOptions struct {
	// Sources are directories with source code. The page Source shows lines of files in them. It looks up a file of the
	// profile in each of them by its whole name, then without its first directory, and so on. It does not follow
	// symbolic links that lead out of the directory.
	Sources []string
	// Graph permits running the program dot of Graphviz on a description of the call graph.
	Graph bool
	// Page is a file with a page of exporters/html, which becomes the first page; "" for none.
	Page string
}

// A View is a profile of a Server.
type View struct {
	Profile *profile.Profile
	// Name is the first element of the paths of the profile's pages, if there are several profiles: lower-case letters
	// and hyphens, and not the name of a page.
	Name string
	Text string // describes the profile in the menu
}

// A Server serves pprof's web pages for profiles to the user's browser on this machine.
type Server struct {
	ln      net.Listener
	access  *access
	site    site
	sources *sources
}

// NewServer returns a Server for connections to ln, whose address must be 127.0.0.1 because a profile may be
// confidential. If there are several views, their pages have a menu to switch between them, and the first one is shown
// first. The Server owns ln and the profiles. The error is one of opening a directory of sources, or of the driver; the
// caller then still closes ln. Close the Server after use. Top must not run concurrently with NewServer or Serve,
// because the driver has global settings.
func NewServer(ln net.Listener, views []View, o *ServerOptions) (*Server, error) {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.Equal(net.IPv4(127, 0, 0, 1)) {
		return nil, fmt.Errorf("serve on %s: want 127.0.0.1", ln.Addr())
	}
	sources, err := openSources(o.Sources)
	if err != nil {
		return nil, err
	}
	all, err := newSite(views, sources, o)
	if err != nil {
		sources.close()
		return nil, err
	}
	first, handler := "/flamegraph", http.Handler(all)
	if o.Page != "" {
		first, handler = pagePath, &filePage{o.Page, all}
	}
	return &Server{ln: ln, access: newAccess(addr, first, handler), site: all, sources: sources}, nil
}

// pagePath is the path of the page of ServerOptions.Page. A script of the page links to pprof's pages if it is there.
const pagePath = "/page"

// A filePage serves a page from a file, and other pages.
type filePage struct {
	file  string
	other http.Handler
}

// ServeHTTP implements http.Handler. The page itself permits only its own script and styles, by their hashes.
func (p *filePage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != pagePath {
		p.other.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", basePolicy+"; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	http.ServeFile(w, r, p.file)
}

// newSite returns the pages of profiles.
func newSite(views []View, sources *sources, o *ServerOptions) (site, error) {
	var all site
	q := newQueue()
	for i, v := range views {
		p, err := newPages(v.Profile, q, sources, o.Graph)
		if err != nil {
			return nil, err
		}
		if len(views) > 1 {
			p.path = "/" + v.Name
		}
		if len(views) > 1 || o.Page != "" {
			p.menu = &menu{views, i, o.Page != ""}
		}
		all = append(all, p)
	}
	return all, nil
}

// Address returns the address that a browser must open first. It contains a random token: whoever knows it can read the
// profile.
func (s *Server) Address() string { return s.access.address() }

// Close closes the listener and the directories of sources.
func (s *Server) Close() error {
	s.sources.close()
	return s.ln.Close()
}

// Limits of a connection. Creating a page is not limited, see pages.
const (
	headerTime = 10 * time.Second // to send a request; a ReadTimeout would also end requests that wait for their turn
	writeTime  = time.Minute      // to receive a page
	idleTime   = 2 * time.Minute  // between requests
	maxHeader  = 64 << 10         // bytes; addresses contain expressions with names of functions
)

// Serve serves the pages. It returns nil when ctx is done or the listener is closed, and otherwise the error of the
// listener.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s.access, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), // errors of clients that disconnect
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve returns the reason
	defer stop()
	err := server.Serve(s.ln)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// driverHandlers returns the handlers of pprof's pages by path.
func driverHandlers(p *profile.Profile) (handlers map[string]http.Handler, err error) {
	args := append((&TopOptions{Count: -1}).args(), "-http=127.0.0.1:0", "-no_browser") // pprof's defaults
	options := driverOptions(p, &driverUI{}, args...)
	options.HTTPServer = func(a *driver.HTTPServerArgs) error {
		handlers = a.Handlers
		return nil
	}
	err = withoutSettings(func() error { return driver.PProf(options) })
	return handlers, err
}

// withoutSettings runs a function that cannot find pprof's saved settings. The driver looks up the user's configuration
// directory before it serves, reads a file in it for each page, and has no option for another directory. A path below
// the null device does not exist on any system.
func withoutSettings(run func() error) (err error) {
	name := "XDG_CONFIG_HOME"
	switch runtime.GOOS {
	case "windows":
		name = "AppData"
	case "darwin", "ios":
		name = "HOME"
	case "plan9":
		name = "home"
	}
	old, had := os.LookupEnv(name)
	if err := os.Setenv(name, os.DevNull); err != nil {
		return err
	}
	defer func() {
		restore := os.Unsetenv(name)
		if had {
			restore = os.Setenv(name, old)
		}
		err = errors.Join(err, restore)
	}()
	return run()
}
