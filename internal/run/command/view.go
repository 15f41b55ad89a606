package command

import (
	"cmp"
	"fmt"
	"net"
	"strconv"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A viewing is a request to show a trace in a browser.
type viewing struct {
	ranking
	where string // viewPprof or the name of a viewer
	port  int
	open  bool
	diff  bool              // the arguments are two inputs: the difference of the second from the first is shown
	pages web.ServerOptions // of viewPprof
}

// viewPprof is the default viewer: the pages of pprof.
const viewPprof = "pprof"

// Flags of pprof's pages.
const (
	flagSource = "source"
	flagGraph  = "graph"
	flagDiff   = "diff"
)

func (a *app) viewCmd() *cobra.Command {
	v := viewing{ranking: ranking{labels: true}}
	cmd := &cobra.Command{
		Use:               "view IN",
		Short:             "Show a flame graph or a timeline in a browser",
		Long:              viewHelp(),
		Example:           viewExamples(),
		Args:              v.arguments,
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.in = args[0]; v.diff {
				if v.base+v.diffBase != "" {
					return failf(exitUsage, "--%s: omit --%s and --%s", flagDiff, flagBase, flagDiffBase)
				}
				v.diffBase, v.in = args[0], args[1]
			}
			if v.where != viewPprof {
				return a.viewIn(cmd, &v)
			}
			return a.view(cmd, &v)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.Var(formats.Choice(&v.where, append([]string{viewPprof}, web.ViewerNames()...)...), "in",
				"viewer: pprof's own pages or a web application")
			flags.BoolVar(&v.open, "open", false,
				"open the address in the default browser; other users of this machine may see it in the list of processes")
			flags.StringArrayVar(&v.pages.Sources, flagSource, nil, "show source files below this `directory` (repeatable)")
			flags.BoolVar(&v.pages.Graph, flagGraph, false, "draw call graphs with the program dot of Graphviz")
			flags.IntVar(&v.port, "port", 0,
				"`number` of the port to listen on (default: a free port, or the only port that the application permits)")
			flags.BoolVar(&v.diff, flagDiff, false, "show the difference of two inputs, BEFORE AFTER: red is more, green is less; "+
				"the same as --diff-base BEFORE AFTER")
			v.bind(flags, true)
		})
		a.addInputFlags(cmd)
	})
}

// arguments checks the arguments: one input, or two to compare.
func (v *viewing) arguments(cmd *cobra.Command, args []string) error {
	if v.diff {
		return twoInputs(cmd, args)
	}
	return oneInput(cmd, args)
}

// viewHelp describes the command. The help wraps its paragraphs.
func viewHelp() string {
	return `Show a trace or a profile in a browser: the page of ntconv to html, with charts over time, flame graphs, tables, requests and
threads, and a link to pprof's own pages, with flame graph, table, callers and callees. Open the printed address in a browser on this
machine; Ctrl-C ends the command. A summary on standard error says which parts of the input are missing or unresolved.

The other flags for the contents choose what pprof's pages show, which are then the only ones. If the trace has several kinds of profiles, such as samples, allocations and locks, a menu on each page switches between
them; --kind selects one or some. A difference is of one kind.

The address contains a random token. Without it, other users of this machine and other pages in your browser cannot read
the profile. The first visit exchanges the token for a cookie. To open the address on another machine, forward the port
under the same number: use --port 8080 and ssh -L 8080:127.0.0.1:8080.

The pages show the samples that --tagfocus and --tagignore select, and percentages are of these samples. With --base and
--diff-base the pages show a difference, as ntconv top does; ntconv top --help describes it. --diff BEFORE AFTER is short
for --diff-base BEFORE AFTER. In the flame graph of a difference, red functions have more than before and green ones less.

Profiles are untrusted. ntconv opens no file that a profile names, except source files in the directories of --source:
the page Source looks up each name there, first the whole name and then the name without its first directories. It does
not follow symbolic links that lead out of the directory. ntconv runs no program on files that a profile names, so there
is no disassembly. --graph permits running the program dot of Graphviz, which draws the call graph from text, for at
most 30 s per page. pprof's saved settings are not used.

--in shows a trace in a web application instead: ` + viewerTitles() + `. The page of the application runs in your browser
and fetches the converted trace from this machine; nothing is uploaded. Only pages of that application can fetch the
trace, from the random address that is printed. The command ends when the page has fetched the trace, or with Ctrl-C.
If the browser asks whether the page may connect to this machine ("local network"), allow it. Safari does not permit
such connections. For more flags, use ntconv to FORMAT and open its output from the page.`
}

func viewExamples() string {
	return examples(
		"where the time went", "ntconv view trace.nettrace",
		"the last ten seconds", "ntconv view --from-time -10s trace.nettrace",
		"changes since an earlier recording", "ntconv view --diff old.nettrace new.nettrace",
		"a profile of any program, with its source code", "ntconv view --source ~/src/app cpu.pb.gz",
		"a timeline of spans, events, counters and samples", "ntconv view --in perfetto --open trace.nettrace",
		"one process, in the Firefox Profiler", "ntconv view --in firefox --pid 4711 trace.nettrace",
	)
}

func (a *app) view(cmd *cobra.Command, v *viewing) error {
	if err := v.checkPort(); err != nil {
		return err
	}
	v.pages.Page = a.pageOf(cmd, v)
	views, partial, err := a.views(cmd, v)
	if err != nil {
		return err
	}
	ln, err := v.listen(0)
	if err != nil {
		return err
	}
	defer ln.Close()
	server, err := web.NewServer(ln, views, &v.pages)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("view: %w", err))
	}
	defer server.Close()
	a.sum.Done = true
	a.finish(nil, partial) // print the summary now, because the server runs until it is interrupted
	a.sum = nil
	a.onInterrupt("") // an interruption is the normal end
	if err := a.present(v, server.Address()); err != nil {
		return err
	}
	if err := server.Serve(cmd.Context()); err != nil {
		return fail(exitOutput, fmt.Errorf("view: %w", err))
	}
	return nil
}

// views returns the profiles to show: one per kind, or the difference of two profiles. partial is the error of an
// incomplete input.
func (a *app) views(cmd *cobra.Command, v *viewing) (views []web.View, partial, err error) {
	switch base := v.base + v.diffBase; {
	case base == "":
		v.each = true
		views, partial, err = a.profilesAlone(cmd, &v.ranking)
	case v.profile.Several():
		err = failf(exitUsage, "--%s: a difference is of one kind; omit --%s, or name one kind", formats.FlagKind, formats.FlagKind)
	default:
		views = make([]web.View, 1)
		views[0].Profile, partial, err = a.profileOf(cmd, &v.ranking)
	}
	if err != nil {
		return nil, nil, err
	}
	views, err = a.selectViews(cmd, v, views)
	return views, partial, err
}

// selectViews returns the profiles that have samples that the flags select, with these samples only.
func (a *app) selectViews(cmd *cobra.Command, v *viewing, views []web.View) (selected []web.View, err error) {
	names := namesOf(views[0].Profile, v.options.UsesLabels())
	var first error
	for i, view := range views {
		p, unmatched, err := web.Select(view.Profile, &v.options.Filter)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		if i == 0 {
			a.noteUnmatched(&v.ranking, unmatched, names)
		}
		view.Profile = p
		selected = append(selected, view)
	}
	if len(selected) == 0 {
		return nil, v.reportFailure(first, cmd.Name(), names)
	}
	return selected, nil
}

// checkPort rejects invalid port numbers.
func (v *viewing) checkPort() error {
	if v.port < 0 || v.port > 65535 {
		return fail(exitUsage, fmt.Errorf("--port %d: want 1 to 65535", v.port))
	}
	return nil
}

// listen listens on the port that the user has chosen, or else on the given one; 0 means a free port. It listens on the
// loopback interface only, because a trace may be confidential.
func (v *viewing) listen(port int) (net.Listener, error) {
	if v.port != 0 {
		port = v.port
	}
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if v.port != 0 {
			err = fmt.Errorf("%w; choose another --port, or omit it for a free port", err)
		}
		return nil, fail(exitOutput, err)
	}
	return ln, nil
}

// present prints an address, and opens it if the user has asked for it.
func (a *app) present(v *viewing, address string) error {
	if err := a.show(address + "\n"); err != nil {
		return err
	}
	if v.open {
		if err := openBrowser(address); err != nil {
			fmt.Fprintf(a.stderr, "ntconv: no browser could be started: %v; open the address yourself\n", err)
		}
	}
	return nil
}
