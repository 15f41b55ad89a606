package formats

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/track"
	"github.com/spf13/pflag"
)

// speedscopeFormat returns the row of speedscope.
func speedscopeFormat() *Format {
	return &Format{
		Name: "speedscope",
		Exts: []string{".speedscope.json"},
		Doc:  "flame graphs of speedscope (https://www.speedscope.app), dotnet-trace, py-spy, rbspy and others",
		In:   speedscopeIn(),
		Out: &Out{
			Doc:          "the samples and slices of a trace as flame graphs for speedscope, a profile per thread and one of all threads",
			Help:         speedscopeHelp,
			Compressions: compressionExts(),
			Needs: Needs{
				Names: NamesLast,
				Order: reader.ByTime, // a slice must begin before it ends
			},
			Advice: sampleAdvice,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindSpeedscope(flags).output },
			Examples: []string{
				"write a file for https://www.speedscope.app", "ntconv to speedscope trace.nettrace",
				"compressed, without compilations and waits",
				"ntconv to speedscope --tracks spans,gc trace.nettrace -o trace.speedscope.json.gz",
			},
		},
	}
}

const speedscopeHelp = `Samples become profiles that add up: one of all threads, and one per thread. Spans, garbage collections, compilations and waits become
profiles of their thread whose names end in "slices", which show when each slice began and ended. Other events are omitted.

Times count from the first item, not from the start of the recording as in ntconv print.`

// A speedscopeSettings has the flags of ntconv to speedscope.
type speedscopeSettings struct {
	timelineFlags
}

func bindSpeedscope(flags *pflag.FlagSet) *speedscopeSettings {
	c := new(speedscopeSettings)
	c.bind(flags, ^(track.Events | track.Exceptions | track.Counters | track.Flows))
	flags.Lookup(flagRundown).Hidden = true // rundown events are not slices
	return c
}

// output implements Settings.
func (c *speedscopeSettings) output(o *Output) { o.Create = c.create }

func (c *speedscopeSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	w, finish, err := createCompressed(out)
	if err != nil {
		return nil, err
	}
	s := speedscope.New(w, info, t.Namer, &speedscope.Options{Options: c.of(t)})
	return timelineSink{s, finish, func() Result { return newSpeedscopeResult(s.Summary(), t.Flagless) }}, nil
}

func newSpeedscopeResult(d speedscope.Summary, flagless bool) Result {
	c := d.Counts
	c.Rundown, c.Losses = 0, 0 // not slices, so the file has neither
	r := &speedscopeResult{newTimelineResult(c, flagless)}
	r.Items, r.Unit = int64(d.Profiles), "profile"
	r.Remark(message.Count(r.Items, r.Unit))
	return r
}

// A speedscopeResult is empty if it has no profiles.
type speedscopeResult struct{ *timelineResult }

func (r *speedscopeResult) Empty() string {
	if r.Items == 0 && r.Short == 0 {
		return "samples"
	}
	return ""
}
