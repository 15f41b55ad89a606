package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A viewing is a request to show a profile in a browser.
type viewing struct {
	ranking
	port int
}

func (a *app) viewCmd() *cobra.Command {
	var v viewing
	cmd := &cobra.Command{
		Use:   "view IN",
		Short: "Show a flame graph of the samples in a browser",
		Long: "Show the samples of a trace or of a pprof profile in a browser: pprof's own pages, with flame graph, table, callers and\n" +
			"callees, and, where Graphviz is installed, a graph. The address is printed, and works on this machine alone. Ctrl-C ends it.\n" +
			"What of the input is missing or has no name is told before, on standard error.",
		Example: examples(
			formats.Example{Remark: "where the time went", Line: "ntconv view trace.nettrace"},
			formats.Example{Remark: "of the last ten seconds", Line: "ntconv view --from-time -10s trace.nettrace"},
			formats.Example{Remark: "a profile of any program", Line: "ntconv view cpu.pb.gz"},
		),
		Args:              oneInput,
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.take(a, cmd, args); err != nil {
				return err
			}
			return a.view(cmd.Context(), &v)
		},
	}
	addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
		flags.IntVar(&v.port, "port", 0, "`number` of the port to listen on (default: a free one)")
		v.bind(flags)
	})
	a.addInputFlags(cmd)
	return cmd
}

func (a *app) view(ctx context.Context, v *viewing) error {
	a.sum = &summary{Input: v.in}
	if v.port < 0 || v.port > 65535 {
		return fail(exitUsage, fmt.Errorf("--port %d: want 1 to 65535", v.port))
	}
	p, partial, err := a.profileOf(&v.ranking)
	if err != nil {
		return err
	}
	// Loopback only: what is in a profile is nobody else's business.
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(v.port)))
	if err != nil {
		if v.port != 0 {
			err = fmt.Errorf("%w; give another --port, or none for one that is free", err)
		}
		return fail(exitOutput, err)
	}
	defer ln.Close()
	a.sum.done = true
	a.finish(nil, partial) // now: what comes to its end is the server
	a.sum = nil
	a.onInterrupt("") // that is how it ends
	if err := a.show(fmt.Sprintf("http://%s/\n", ln.Addr())); err != nil {
		return err
	}
	return serve(ctx, ln, v.in, p)
}

// serve shows a profile until the listener is closed or ctx is done.
func serve(ctx context.Context, ln net.Listener, name string, p *profile.Profile) error {
	args := []string{"-http=" + ln.Addr().String(), "-no_browser", "-symbolize=none", name}
	err := driver.PProf(&driver.Options{
		Flagset: &driverFlags{FlagSet: flag.NewFlagSet("view", flag.ContinueOnError), args: args},
		Fetch:   driverFetch{p},
		UI:      &driverUI{},
		Sym:     driverSym{},
		HTTPServer: func(pages *driver.HTTPServerArgs) error {
			s := &http.Server{Handler: localOnly(pages.Handlers), ReadHeaderTimeout: 10 * time.Second}
			stop := context.AfterFunc(ctx, func() { _ = s.Close() }) // ctx says why
			defer stop()
			return s.Serve(ln)
		},
	})
	if err == nil || errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fail(exitOutput, fmt.Errorf("view: %w", err))
}

// localOnly serves pprof's pages to browsers that asked for this machine by its address or by name. A page of another site
// that got its name resolved to this machine is refused. The pages that save settings are left out: nothing is written.
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
