package formats

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/firefox"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/track"
	"github.com/spf13/pflag"
)

// firefoxFormat returns the row of the Firefox Profiler.
func firefoxFormat() *Format {
	return &Format{
		Name: "firefox",
		Exts: []string{".profile.json", ".firefox.json"},
		Doc:  "profiles of the Firefox Profiler (https://profiler.firefox.com), as it, samply and others save them",
		In:   firefoxIn(),
		Out: &Out{
			Doc:          "a trace for the Firefox Profiler and Perfetto: samples, markers, counters and allocations per thread",
			Help:         firefoxHelp,
			Compressions: compressionExts(),
			Needs: Needs{
				Names: NamesLast,
				Order: reader.ByTime, // a slice must begin before it ends
			},
			Advice: sampleAdvice,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindFirefox(flags).output },
			Examples: []string{
				"write a compressed file, and load it on https://profiler.firefox.com",
				"ntconv to firefox trace.nettrace -o trace.profile.json.gz",
				"samples, garbage collections and counters only",
				"ntconv to firefox --tracks gc,counters trace.nettrace",
			},
		},
	}
}

const firefoxHelp = `Slices (spans, garbage collections, compilations, waits) and events become markers of their thread, with their payload as fields. Data
of a process as a whole is shown with the process, which is a thread of its own in the file. The page reads files with the extension .gz.

Times count from the first item, not from the start of the recording as in ntconv print.`

// A firefoxSettings has the flags of ntconv to firefox.
type firefoxSettings struct {
	timelineFlags
}

func bindFirefox(flags *pflag.FlagSet) *firefoxSettings {
	c := new(firefoxSettings)
	c.bind(flags, ^track.Flows)
	return c
}

// output implements Settings.
func (c *firefoxSettings) output(o *Output) { o.Create = c.create }

func (c *firefoxSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	w, finish, err := createCompressed(out)
	if err != nil {
		return nil, err
	}
	s := firefox.New(w, info, t.Namer, &firefox.Options{Options: c.of(t)})
	return timelineSink{s, finish, func() Result { return newTimelineResult(s.Summary().Counts, t.Flagless) }}, nil
}
