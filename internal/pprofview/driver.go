package pprofview

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// driverFlags gives the driver its arguments. The driver defines its own flags in a set of this package.
type driverFlags struct {
	*flag.FlagSet
	args []string
}

// newDriverFlags returns flags of the driver. The driver wants an argument that names a profile, and hands it to driverFetch alone.
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

// driverFetch gives the driver the profile instead of a file or an address.
type driverFetch struct{ p *profile.Profile }

func (f driverFetch) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

// driverWriter receives the report instead of a file.
type driverWriter struct{ io.Writer }

func (w driverWriter) Open(string) (io.WriteCloser, error) { return w, nil }
func (w driverWriter) Close() error                        { return nil }

// driverUI collects the messages of the driver, except the one that names the file of the report.
type driverUI struct{ errs []string }

func (*driverUI) ReadLine(string) (string, error)     { return "", io.EOF }
func (*driverUI) Print(...any)                        {}
func (*driverUI) IsTerminal() bool                    { return false }
func (*driverUI) WantBrowser() bool                   { return false }
func (*driverUI) SetAutoComplete(func(string) string) {}
func (u *driverUI) PrintErr(a ...any) {
	if s := strings.TrimSpace(fmt.Sprint(a...)); !strings.HasPrefix(s, "Generating report") {
		u.errs = append(u.errs, s)
	}
}

// driverSym does not look for symbols: the profile has all that are known.
type driverSym struct{}

func (driverSym) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }
