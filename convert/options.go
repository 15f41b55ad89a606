package convert

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// Options are the options for reading inputs. The zero value and nil read all events of inputs of any format, with the
// limits of the command. Functions of this package do not change Options, except that they add to Report.
type Options struct {
	// Format is the name of the format of the inputs, one of the readable Formats. If empty, it is detected from the
	// content.
	Format string
	// Settings are the values of format-specific settings. The names are those of the flags of the command without
	// hyphens: {"folded-value": "cpu/milliseconds"}, or {"kind": "cpu"} for File. The page of each format in docs lists
	// them.
	Settings map[string]string
	// Select selects events.
	Select Selection
	// Order is the order of events from Open. File ignores it and uses the order of the output format.
	Order reader.Order
	// Strict rejects inputs that TraceEvent (Microsoft's library) rejects.
	Strict bool
	// AllowPrerelease reads traces of .NET Core 3.0 previews, whose detection is heuristic.
	AllowPrerelease bool
	// Start is the wall-clock time at which inputs without a date began. It is the time at the clock's Tick. If it is
	// the zero Time, such inputs have no wall-clock time. Inputs with a date ignore it.
	Start time.Time
	// Limits bound the memory that an input can make a reader use.
	Limits reader.Limits
	// Decompression bounds inputs that are compressed with gzip or zstd.
	Decompression ntconv.DecompressionLimits
	// MaxTemp is the maximum size of each temporary file in bytes. 0 means 64 GiB; a negative number means no limit.
	// Temporary files are copies of inputs that must be read twice but cannot be, and records to sort.
	MaxTemp int64
	// Symbols, if not nil, enables Source.Namer. File ignores it and resolves symbols if the output needs them.
	Symbols *symbol.Options
	// Report, if not nil, counts losses, skipped data and irregularities.
	Report *ntconv.Report
}

// Formats returns the names of the formats that Open reads and that File writes.
func Formats() (readable, writable []string) {
	return formats.NamesOf(formats.Readable()), formats.NamesOf(formats.Writable())
}

// A config is the prepared Options of one call.
type config struct {
	Options
	ctx     context.Context
	flags   *pflag.FlagSet // format-specific settings; no arguments are parsed
	openers *formats.Openers
	quota   fileio.Quota
	temps   []string // names of temporary files that could not be removed while they are open
}

// newConfig copies options. bind, if not nil, defines the settings of an output before those of inputs.
func newConfig(ctx context.Context, o *Options, bind func(*pflag.FlagSet)) (*config, error) {
	c := &config{ctx: ctx, flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	if o != nil {
		c.Options = *o
	}
	if bind != nil {
		bind(c.flags)
	}
	c.openers = formats.BindOpeners(c.flags, formats.Readable()...)
	for name, value := range c.Settings {
		f := c.flags.Lookup(name)
		if f == nil {
			return nil, fmt.Errorf("setting %q: no format has this setting; available: %s", name, c.settings())
		}
		if err := f.Value.Set(value); err != nil {
			return nil, fmt.Errorf("setting %q: value %q: %w", name, value, err)
		}
		f.Changed = true // formats distinguish an explicit default value
	}
	return c, nil
}

// settings returns the names of all settings for messages.
func (c *config) settings() string {
	var names []string
	c.flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return strings.Join(names, ", ")
}

// input returns the options for opening inputs. again requests inputs that can be read more than once.
func (c *config) input(again bool) (*input.Options, error) {
	o := &input.Options{
		Again: again, Limits: fileio.LimitsOf(c.Decompression), Openers: c.openers, Temp: c.temporary,
		MaxTemp: c.maxTemp(),
		Guard:   func(src ntconv.Source) ntconv.Source { return &cancelable{Source: src, ctx: c.ctx} },
		Check:   func() error { return context.Cause(c.ctx) }, Taken: c.quota.Read,
	}
	if c.Format == "" {
		return o, nil
	}
	table := formats.Readable()
	if o.From = formats.ByName(table, c.Format); o.From == nil {
		return nil, fmt.Errorf("%w %q: want %s", ntconv.ErrFormat, c.Format, strings.Join(formats.NamesOf(table), ", "))
	}
	return o, nil
}

// read returns the options for one pass.
func (c *config) read() formats.ReadOptions {
	return formats.ReadOptions{
		Order: c.Order, Strict: c.Strict, AllowPrerelease: c.AllowPrerelease, Start: c.Start, Limits: c.Limits, Report: c.Report,
		MaxTemp: c.maxTemp(),
	}
}

func (c *config) maxTemp() int64 { return max(cmp.Or(c.MaxTemp, formats.DefaultTemp), 0) }

// temporary creates the file for the copy of an input. It removes the name at once if the system permits that.
func (c *config) temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "ntconv-*")
	if err == nil && os.Remove(f.Name()) != nil {
		c.temps = append(c.temps, f.Name()) // Windows does not remove open files
	}
	return f, err
}

// remove removes the files of temporary. Call it after they are closed.
func (c *config) remove() {
	for _, name := range c.temps {
		_ = os.Remove(name) // ignored, because the system cleans its temporary directory
	}
}

// checkEvery is the number of events between two checks of the context, which cost a few nanoseconds each.
const checkEvery = 64

// A cancelable source ends when its context is canceled.
type cancelable struct {
	ntconv.Source
	ctx   context.Context
	count int
	err   error // not nil once the context has ended
}

// Next implements ntconv.Source.
func (s *cancelable) Next() (*ntconv.Event, error) {
	if s.count%checkEvery == 0 && s.err == nil {
		s.err = context.Cause(s.ctx)
	}
	s.count++
	if s.err != nil {
		return nil, s.err
	}
	return s.Source.Next()
}
