package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/pprofview"
	"github.com/ntconv/ntconv/internal/summary"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A viewing is a request to show a profile in a browser.
type viewing struct {
	ranking
	port int
}

func (a *app) viewCmd() *cobra.Command {
	v := viewing{ranking: ranking{labels: true}}
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
	a.sum = &summary.Summary{Input: v.in, Flags: a.openers.Notes}
	if v.port < 0 || v.port > 65535 {
		return fail(exitUsage, fmt.Errorf("--port %d: want 1 to 65535", v.port))
	}
	p, partial, err := a.profileOf(&v.ranking)
	if err != nil {
		return err
	}
	// Loopback only: a profile may be confidential.
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(v.port)))
	if err != nil {
		if v.port != 0 {
			err = fmt.Errorf("%w; give another --port, or none for one that is free", err)
		}
		return fail(exitOutput, err)
	}
	defer ln.Close()
	a.sum.Done = true
	a.finish(nil, partial) // now: what comes to its end is the server
	a.sum = nil
	a.onInterrupt("") // that is how it ends
	if err := a.show(fmt.Sprintf("http://%s/\n", ln.Addr())); err != nil {
		return err
	}
	if err := pprofview.Serve(ctx, ln, p); err != nil {
		return fail(exitOutput, fmt.Errorf("view: %w", err))
	}
	return nil
}
