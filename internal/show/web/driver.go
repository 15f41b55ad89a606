package web

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// driverFlags passes arguments to the driver, which defines its own flags in a set of this package.
type driverFlags struct {
	*flag.FlagSet
	args []string
}

// newDriverFlags returns flags for the driver. The driver requires an argument that names a profile; it passes it only
// to the Fetcher.
func newDriverFlags(args ...string) *driverFlags {
	args = append(args, "-symbolize=none", "profile")
	return &driverFlags{FlagSet: flag.NewFlagSet("pprof", flag.ContinueOnError), args: args}
}

func (f *driverFlags) StringList(name, def, usage string) *[]*string {
	return &[]*string{f.String(name, def, usage)}
}
func (f *driverFlags) ExtraUsage() string   { return "" }
func (f *driverFlags) AddExtraUsage(string) {}
func (f *driverFlags) Parse(usage func()) []string {
	f.Usage = usage
	f.SetOutput(io.Discard)
	if f.FlagSet.Parse(f.args) != nil {
		return nil
	}
	return f.Args()
}

// A handover passes a profile to the driver in place of a file or an address. Between Fetch and Symbolize, the driver
// looks for the binaries of the profile's mappings: in $PPROF_BINARY_PATH, in $HOME and with patterns that contain the
// build ID. A mapping without names has no binary, so Fetch removes the names and Symbolize restores them.
type handover struct {
	p     *profile.Profile
	names []binaryName // by index in p.Mapping
}

// A binaryName is the name of a mapping's binary.
type binaryName struct{ file, buildID string }

// Fetch implements driver.Fetcher.
func (h *handover) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	h.names = nil
	for _, m := range h.p.Mapping {
		h.names = append(h.names, binaryName{m.File, m.BuildID})
		m.File, m.BuildID = "", ""
	}
	return h.p, "", nil
}

// Symbolize implements driver.Symbolizer. It does not look for symbols, because the profile has all known ones.
func (h *handover) Symbolize(_ string, _ driver.MappingSources, p *profile.Profile) error {
	for i, name := range h.names { // the driver may have appended a mapping
		p.Mapping[i].File, p.Mapping[i].BuildID = name.file, name.buildID
	}
	return nil
}

// noBinaries prevents opening and disassembling binaries, for which the driver would run programs such as objdump and
// nm on files that a profile names.
type noBinaries struct{}

var errNoBinaries = errors.New("binaries are not opened")

func (noBinaries) Open(string, uint64, uint64, uint64, string) (driver.ObjFile, error) {
	return nil, errNoBinaries
}
func (noBinaries) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) {
	return nil, errNoBinaries
}

// noNetwork prevents requests.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nothing is fetched")
}

// driverOptions returns options with which the driver opens no file, runs no program and sends no request.
func driverOptions(p *profile.Profile, ui *driverUI, args ...string) *driver.Options {
	h := &handover{p: p}
	return &driver.Options{
		Flagset: newDriverFlags(args...), Fetch: h, Sym: h, Obj: noBinaries{}, HTTPTransport: noNetwork{},
		Writer: driverWriter{io.Discard}, UI: ui,
	}
}

// A driverWriter receives the report in place of a file.
type driverWriter struct{ io.Writer }

func (w driverWriter) Open(string) (io.WriteCloser, error) { return w, nil }
func (w driverWriter) Close() error                        { return nil }

// maxMessages is the number of messages that are kept. Pages can cause any number of messages.
const maxMessages = 20

// A driverUI collects the first messages of the driver, except the one with the name of the report's file.
type driverUI struct{ errs []string }

func (*driverUI) ReadLine(string) (string, error)     { return "", io.EOF }
func (*driverUI) Print(...any)                        {}
func (*driverUI) IsTerminal() bool                    { return false }
func (*driverUI) WantBrowser() bool                   { return false }
func (*driverUI) SetAutoComplete(func(string) string) {}
func (u *driverUI) PrintErr(a ...any) {
	if s := strings.TrimSpace(fmt.Sprint(a...)); !strings.HasPrefix(s, "Generating report") &&
		len(u.errs) < maxMessages {
		u.errs = append(u.errs, s)
	}
}
