package convert

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// Options say how inputs are read and what is selected of them. The zero value and nil read all events of inputs of any
// format, with the limits of the command. A call copies the Options and does not change them.
type Options struct {
	// Format is the name of the inputs' format, one of Formats. Empty: it is recognized by the content.
	Format string
	// Settings are values of the formats' own settings, by the name that a flag of the command has without its hyphens:
	// {"folded-value": "cpu/milliseconds"}, or {"kind": "cpu"} for File. The page of a format in docs lists them.
	Settings map[string]string
	// Select chooses the events.
	Select Selection
	// Order is the order of events from Open. File uses the order that suits the output.
	Order reader.Order
	// Strict rejects inputs that Microsoft's TraceEvent library rejects.
	Strict bool
	// AllowPrerelease reads traces of .NET Core 3.0 previews, whose detection is heuristic.
	AllowPrerelease bool
	// Limits bound what an input can make a reader hold.
	Limits reader.Limits
	// Decompression bounds inputs that are compressed with gzip or zstd.
	Decompression ntconv.DecompressionLimits
	// MaxTemp is the maximum size of each temporary file in bytes, 64 GiB if it is 0; a negative number means no limit.
	// A temporary file holds the copy of an input that must be read twice and cannot be, or records that are sorted.
	MaxTemp int64
	// Symbols, if not nil, makes Open provide a Namer that learns from all events. File needs no such request.
	Symbols *symbol.Options
	// Report, if not nil, counts what was lost, skipped or odd.
	Report *ntconv.Report
}

// Formats returns the names of the formats that Open reads and that File writes.
func Formats() (readable, writable []string) {
	return formats.NamesOf(formats.Readable()), formats.NamesOf(formats.Writable())
}

// A config is Options made ready.
type config struct {
	Options
	ctx     context.Context
	flags   *pflag.FlagSet // the formats' own settings; nothing parses arguments
	openers *formats.Openers
	quota   iox.Quota
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
			return nil, fmt.Errorf("setting %q: not a setting of the formats; there are %s", name, c.settings())
		}
		if err := f.Value.Set(value); err != nil {
			return nil, fmt.Errorf("setting %q: value %q: %w", name, value, err)
		}
		f.Changed = true // formats distinguish a default that was asked for
	}
	return c, nil
}

// settings returns the names of all settings for messages.
func (c *config) settings() string {
	var names []string
	c.flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return strings.Join(names, ", ")
}

// input returns the options of the inputs. again asks for inputs that can be read more than once.
func (c *config) input(again bool) (*input.Options, error) {
	o := &input.Options{
		Again: again, Limits: iox.LimitsOf(c.Decompression), Openers: c.openers, Temp: c.temporary,
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

// read returns the options of a reading.
func (c *config) read() formats.ReadOptions {
	return formats.ReadOptions{
		Order: c.Order, Strict: c.Strict, AllowPrerelease: c.AllowPrerelease, Limits: c.Limits, Report: c.Report,
		MaxTemp: c.maxTemp(),
	}
}

func (c *config) maxTemp() int64 { return max(cmp.Or(c.MaxTemp, formats.DefaultTemp), 0) }

// temporary creates the file for the copy of an input. It has no name where the system allows that.
func (c *config) temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "ntconv-*")
	if err == nil && os.Remove(f.Name()) != nil {
		c.temps = append(c.temps, f.Name()) // Windows does not remove open files
	}
	return f, err
}

// remove removes the files of temporary. Call it once they are closed.
func (c *config) remove() {
	for _, name := range c.temps {
		_ = os.Remove(name) // the system cleans its directory for temporary files
	}
}

// checkEvery is how many events a source delivers between two looks at its context. One look costs a few nanoseconds.
const checkEvery = 64

// A cancelable source ends when its context does.
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
