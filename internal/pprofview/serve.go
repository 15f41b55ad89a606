package pprofview

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// Serve serves pprof's web pages for a profile to browsers on this machine. It returns nil when ctx is done or ln is closed, and
// closes ln. Bind ln to a loopback address, because a profile may be confidential. Top must
// not run at the same time.
func Serve(ctx context.Context, ln net.Listener, p *profile.Profile) error {
	settings := TopOptions{Count: -1} // pprof's defaults, unlimited
	err := driver.PProf(&driver.Options{
		Flagset: newDriverFlags(append(settings.args(), "-http="+ln.Addr().String(), "-no_browser")...),
		Fetch:   driverFetch{p},
		UI:      &driverUI{},
		Sym:     driverSym{},
		HTTPServer: func(pages *driver.HTTPServerArgs) error {
			s := &http.Server{Handler: localOnly(pages.Handlers), ReadHeaderTimeout: 10 * time.Second}
			stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // Serve returns the reason
			defer stop()
			return s.Serve(ln)
		},
	})
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// localOnly serves pprof's pages to browsers that address this machine by its loopback address or as localhost. It refuses requests
// of other sites whose names resolve to this machine (DNS rebinding). It omits the pages that save settings, so nothing is written.
func localOnly(pages map[string]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		page := pages[r.URL.Path]
		switch {
		case host != "localhost" && host != "127.0.0.1":
			http.Error(w, "this address is for the machine itself", http.StatusForbidden)
		case page == nil || r.URL.Path == "/saveconfig" || r.URL.Path == "/deleteconfig":
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
		default:
			page.ServeHTTP(w, r)
		}
	})
}
