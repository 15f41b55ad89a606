package command

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// viewerTitles lists the web applications for the help.
func viewerTitles() string {
	var titles []string
	for _, v := range web.Viewers() {
		titles = append(titles, v.Title)
	}
	return strings.Join(titles[:len(titles)-1], ", ") + " or " + titles[len(titles)-1]
}

// viewIn converts a trace for a web application and serves it until the page of the application has fetched it.
func (a *app) viewIn(cmd *cobra.Command, v *viewing) error {
	w := web.ViewerByName(v.where)
	if err := v.checkFlags(cmd, w); err != nil {
		return err
	}
	ln, err := v.listenFor(w) // listen first, because a port in use must fail before a long conversion
	if err != nil {
		return err
	}
	defer ln.Close()
	file, partial, err := a.convertFor(cmd, v, w)
	if err != nil {
		return err
	}
	s, err := web.NewFileServer(w, ln, *file)
	if err != nil {
		return err
	}
	a.sum.Output = "" // a temporary file
	a.finish(nil, partial)
	a.sum = nil
	a.onInterrupt("") // the normal end if no page fetches the trace
	if err := a.present(v, s.Address()); err != nil {
		return err
	}
	if err := s.Serve(cmd.Context()); err != nil {
		return fail(exitOutput, fmt.Errorf("view: %w", err))
	}
	if partial != nil {
		return fail(codeOf(partial), errQuiet) // the message was printed before the address
	}
	return nil
}

// checkFlags rejects flags without effect on a web application.
func (v *viewing) checkFlags(cmd *cobra.Command, w *web.Viewer) error {
	if err := v.checkPort(); err != nil {
		return err
	}
	if v.port != 0 && w.Port != 0 && v.port != w.Port {
		return failf(exitUsage, "--port %d: %s permits connections to port %d only; omit --port", v.port, w.Title,
			w.Port)
	}
	wrong := changedOfPprof(cmd)
	if wrong != "" {
		return failf(exitUsage, "--%s chooses what pprof's pages show; omit it, or --in %s", wrong, w.Name)
	}
	return nil
}

// changedOfPprof returns the name of a flag that chooses what pprof's pages show and that the command line has, "" if there is none.
func changedOfPprof(cmd *cobra.Command) (name string) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	formats.BindProfile(own, false)
	var r ranking
	r.bindFilter(own)
	r.bindBase(own)
	own.Bool(flagDiff, false, "")
	own.Bool(flagSource, false, "")
	own.Bool(flagGraph, false, "")
	own.VisitAll(func(f *pflag.Flag) {
		if name == "" && cmd.Flags().Changed(f.Name) {
			name = f.Name
		}
	})
	return name
}

// listenFor listens on a port to which the page of the web application may connect.
func (v *viewing) listenFor(w *web.Viewer) (net.Listener, error) {
	ln, err := v.listen(w.Port)
	if err != nil && w.Port != 0 {
		err = failf(
			exitOutput,
			"%w; %s can connect to no other port: end the program that uses it, such as trace_processor_shell or another ntconv view",
			err,
			w.Title,
		)
	}
	return ln, err
}

// convertFor converts a trace to a temporary file. partial is the error of an incomplete input.
func (a *app) convertFor(cmd *cobra.Command, v *viewing, w *web.Viewer) (file *web.File, partial, err error) {
	to := formats.ByName(formats.Writable(), w.Format)
	dir, err := a.temps.createDir()
	if err != nil {
		return nil, nil, noTemp(err)
	}
	base := "stdin" + to.Exts[0]
	if v.in != "-" {
		base = to.OutputFor(v.in)
	}
	file = &web.File{Path: filepath.Join(dir, "trace"+to.Exts[0]), Name: base}
	if slices.Contains(to.Out.Compressions, ".gz") { // compressed, because the temporary directory may be in memory
		file.Path, file.Gzip = file.Path+".gz", true
	}
	c := v.conversionTo(to, file.Path)
	if err := a.prepare(cmd, c); err != nil {
		return nil, nil, err
	}
	err = a.convert(c)
	switch codeOf(err) {
	case exitOK, exitIncomplete:
		return file, err, nil
	case exitOutput:
		return nil, nil, noTemp(err)
	}
	return nil, nil, err
}

// conversionTo returns the conversion of the input to a temporary file.
func (v *viewing) conversionTo(to *formats.Format, path string) *conversion {
	c := &conversion{Job: job.Job{To: to, Adapt: func(t *formats.Target) { t.Flagless = true }}, in: v.in, out: path}
	if c.bind(pflag.NewFlagSet("", pflag.ContinueOnError)); c.Symbols != nil {
		c.Symbols = v.names
	}
	return c
}

// pageOf writes the page of ntconv to html to a temporary file and returns its path. It returns "" if flags choose what pprof's pages
// show, if the input can be read only once, or if there can be no page: pprof's pages then report what the input lacks.
func (a *app) pageOf(cmd *cobra.Command, v *viewing) string {
	name := changedOfPprof(cmd)
	if name != "" && name != flagDiff || v.in == "-" || v.diffBase == "-" || cmd.Flags().Changed(formats.FlagFollow) {
		return ""
	}
	dir, err := a.temps.createDir()
	if err != nil {
		return ""
	}
	c := v.conversionTo(formats.Page(), filepath.Join(dir, "page.html"))
	err = a.silently(func() error {
		if v.diffBase != "" {
			return a.convertCompared(cmd, c, []string{v.diffBase, v.in})
		}
		if err := a.prepare(cmd, c); err != nil {
			return err
		}
		return a.convert(c)
	})
	a.sum = nil // of a temporary file
	if code := codeOf(err); code != exitOK && code != exitIncomplete {
		return ""
	}
	return c.out
}

// silently runs a part of a command that prints nothing, because another part prints the same. A process that is ended meanwhile, by
// a signal or the limit of memory, still prints why.
func (a *app) silently(run func() error) error {
	defer func(silent, quiet bool) { a.silent, a.quiet = silent, quiet }(a.silent, a.quiet)
	a.silent, a.quiet = true, true
	return run()
}

// browserCommand returns the command that opens an address in the default browser.
func browserCommand(address string) []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", address}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	return []string{"xdg-open", address}
}

// openBrowser opens an address in the default browser. It does not wait for the browser.
func openBrowser(address string) error {
	command := browserCommand(address)
	program := exec.Command(command[0], command[1:]...)
	if err := program.Start(); err != nil {
		return err
	}
	go func() { _ = program.Wait() }() // wait, so that no zombie process remains
	return nil
}
