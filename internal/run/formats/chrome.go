package formats

import (
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/track"
	"github.com/spf13/pflag"
)

// chromeFormat returns the row of Chrome's trace event format.
func chromeFormat() *Format {
	return &Format{
		Name: "chrome",
		Exts: []string{".json", ".trace.json"},
		Doc:  "Chrome's trace event format (JSON), which Perfetto, chrome://tracing, DevTools, speedscope and the Firefox Profiler open",
		In:   chromeIn(),
		Out: &Out{
			Doc:          "the whole trace as a timeline in JSON, for Perfetto, chrome://tracing, DevTools, speedscope and the Firefox Profiler",
			Help:         chromeHelp,
			Compressions: compressionExts(),
			Needs: Needs{
				Names: NamesLast,
				Order: reader.ByTime, // slices are made of events in time order
			},
			Advice: noEvents.Next,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindChrome(flags).output },
			Examples: []string{
				"a timeline for https://ui.perfetto.dev", "ntconv to chrome trace.nettrace -o trace.json.gz",
				"the part of the trace around one request",
				"ntconv to chrome --from-time 10s --to-time 12s trace.nettrace -o part.json.gz",
				"a large trace as files that viewers can open",
				"ntconv to chrome --split 200MB trace.nettrace -o parts/",
				"slices of at least 1 ms, and no samples",
				"ntconv to chrome --samples none --min-duration 1ms trace.nettrace",
			},
		},
	}
}

const chromeHelp = `Spans, garbage collections, compilations, waits and requests become slices: on their thread where they nest, or else as asynchronous
slices. Arrows lead from a parent to its child on another track. Counters, exceptions and all other events are shown, too, with their
payloads as args. Times are microseconds with three decimals since the first item, not since the start of the recording as in
ntconv print; the member metadata states when that was.

--samples v8 is the form that all viewers read. Perfetto ignores stackframes; slices show the frames of each thread on a track of its own.

Viewers load a file as a whole. chrome://tracing fails at a few hundred MB; Perfetto and speedscope need several times the size as
memory. --split writes a directory of files of about that size, before compression; each can be opened alone. For large traces
ntconv to perfetto is smaller and faster.`

// A chromeSettings has the flags of ntconv to chrome.
type chromeSettings struct {
	timelineFlags
	options chrome.Options
	split   int64
}

const (
	flagSamples = "samples"
	flagSplit   = "split"
	flagArray   = "array"
	flagStacks  = "stacks"
)

func bindChrome(flags *pflag.FlagSet) *chromeSettings {
	c := &chromeSettings{}
	c.bind(flags, ^track.Set(0))
	o := &c.options
	flags.Var(&choice[chrome.Samples]{&o.Samples, []choiceValue[chrome.Samples]{
		{"v8", chrome.V8}, {"stackframes", chrome.StackFrames}, {"slices", chrome.Slices}, {"none", chrome.NoSamples},
	}}, flagSamples, "form of samples: v8 (profiles of V8), stackframes (the members samples and stackFrames), slices or none")
	flags.BoolVar(&o.Array, flagArray, false,
		"write the array form, which viewers can read without its end, but which has no metadata")
	flags.BoolVar(&o.NoArgs, "no-args", false, "omit payloads, labels and attributes")
	flags.BoolVar(&o.Stacks, flagStacks, false, "add the stacks of events, which only chrome://tracing shows")
	SizeFlag(flags, &c.split, flagSplit, "write a directory of files of about this size, as 200MB, before compression")
	return c
}

// output implements Settings.
func (c *chromeSettings) output(o *Output) {
	o.Create = c.create
	if c.split > 0 {
		o.Destination, o.Flag = ToDir, "--"+flagSplit
	}
}

// minSplit is the minimum size of a part, because each part repeats the names of threads.
const minSplit = 64 << 10

func (c *chromeSettings) check() error {
	o := &c.options
	switch {
	case o.Array && o.Stacks:
		return &FlagError{fmt.Sprintf("--%s: the array form cannot hold stacks; omit --%s", flagStacks, flagArray)}
	case o.Array && o.Samples == chrome.StackFrames:
		return &FlagError{fmt.Sprintf("--%s stackframes: the array form cannot hold them; omit --%s", flagSamples, flagArray)}
	case c.split > 0 && o.Samples == chrome.StackFrames:
		return &FlagError{fmt.Sprintf(
			"--%s stackframes: this form cannot be split; choose another form or omit --%s", flagSamples, flagSplit,
		)}
	case c.split > 0 && c.split < minSplit:
		return &FlagError{
			fmt.Sprintf("--%s %s: want at least %s", flagSplit, formatSize(c.split), formatSize(minSplit)),
		}
	}
	return c.timelineFlags.check()
}

func (c *chromeSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	o := c.options
	o.Options = c.of(t)
	if c.split > 0 {
		create := func(part int) (io.WriteCloser, error) { return createPart(out, part) }
		s := chrome.NewSplit(create, c.split, info, t.Namer, &o)
		return timelineSink{s, nil, func() Result { return chromeResult(s.Summary(), t.Flagless, true) }}, nil
	}
	w, finish, err := createCompressed(out)
	if err != nil {
		return nil, err
	}
	s := chrome.New(w, info, t.Namer, &o)
	return timelineSink{s, finish, func() Result { return chromeResult(s.Summary(), t.Flagless, false) }}, nil
}

// A compressedMember is a gzip-compressed member of a directory. Close also closes the member.
type compressedMember struct {
	fileio.Compressor
	member io.Closer
}

func createPart(out *fileio.Outputs, part int) (io.WriteCloser, error) {
	m, err := out.Create(fmt.Sprintf("part-%04d.json.gz", part))
	if err != nil {
		return nil, err
	}
	z, err := fileio.NewCompressor(m, ".gz")
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return compressedMember{z, m}, nil
}

func (c compressedMember) Close() error { return errors.Join(c.Compressor.Close(), c.member.Close()) }

// chromeResult describes what a sink has written, to a directory if parts is set.
func chromeResult(d chrome.Summary, flagless, parts bool) Result {
	r := newTimelineResult(d.Counts, flagless)
	if parts {
		r.Files = int64(d.Parts)
	}
	if d.Invalid > 0 {
		r.Remark(message.Count(d.Invalid, "string") + " with invalid Unicode, replaced by U+FFFD")
	}
	if d.NotNumbers > 0 {
		r.Remark(message.Count(d.NotNumbers, "counter value") + " omitted, infinite or not a number")
	}
	if d.LostFlows > 0 {
		r.Remark(message.Count(d.LostFlows, "arrow") + " omitted, without a slice at both ends")
	}
	return r
}
