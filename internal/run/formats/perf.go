package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
	"github.com/spf13/pflag"
)

// perfFormat returns the row of the text of perf script.
func perfFormat() *Format {
	return &Format{
		Name: "perf",
		Exts: []string{".perf", ".perf.txt"},
		Doc:  "the text that perf script of Linux writes, with the events that perf recorded and their stacks",
		In: &In{
			Hint:     perf.Sniff,
			SniffDir: func(members []string) bool { return perfMember(members) != "" },
			Archive:  true,
			Ordered:  true,
			Profile:  func(info *ntconv.Info) bool { return info.Aggregate },
			Bind:     func(*pflag.FlagSet) Opener { return perfOpener{} },
			NoBytes:  Advice{"an empty file", "check that perf script has printed events; perf record needs permission to record them"},
			NoEvents: Advice{"no line begins an event", "check that perf script has printed events; perf record needs permission to record them"},
		},
	}
}

// perfText is the name of the text in a recording of perfcollect: a directory NAME.trace, or NAME.trace.zip with it.
const perfText = "perf.data.txt"

// perfMember returns the member of a recording of perfcollect with the text of perf script, or "" if the members are not
// those of one recording.
func perfMember(members []string) string {
	found := ""
	for _, m := range members {
		if rest, _ := CutCompression(path.Base(m)); rest != perfText {
			continue
		}
		if found != "" {
			return ""
		}
		found = m
	}
	return found
}

// A perfOpener opens a text, or that in a recording of perfcollect.
type perfOpener struct{}

func (perfOpener) Open(in Input, o *ReadOptions) (ntconv.Source, error) {
	members, err := in.Members()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	member := perfMember(members)
	if member == "" {
		r, err := in.Stream()
		if err != nil {
			return nil, err
		}
		return openPerf(r, o)
	}
	one, err := in.Member(member)
	if err != nil {
		return nil, err
	}
	r, err := one.Stream()
	if err != nil {
		return nil, err
	}
	text := bufio.NewReader(r)
	if _, err := text.Peek(1); err == io.EOF {
		return nil, fmt.Errorf("%w: %s is empty: perf script failed on the recording machine; %s", ntconv.ErrFormat, member, nextOfEmpty(members))
	}
	return openPerf(text, o)
}

// nextOfEmpty returns what to do if perfcollect has written no text.
func nextOfEmpty(members []string) string {
	data := slices.IndexFunc(members, func(m string) bool { return path.Base(m) == "perf.data" })
	if data < 0 {
		return "record again"
	}
	return "perf script -i " + members[data] + " > trace.perf writes it"
}

// Notes implements Opener.
func (perfOpener) Notes() []string { return nil }

// ForRun implements Opener.
func (p perfOpener) ForRun() Opener { return p }

func openPerf(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := &perf.Options{Report: o.Report, MaxTemp: o.MaxTemp, Limits: perf.Limits{Tables: int64(o.Limits.TableBytes), Threads: o.Limits.Threads}}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Line = o.share(opts.Limits.Defaults().Line, valueShare)
	return perf.New(r, opts)
}
