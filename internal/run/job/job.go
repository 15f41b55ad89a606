package job

import (
	"errors"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// A Job is a conversion to one output. Set the fields, and call Name, Prepare and Run, in this order. It serves one
// run.
type Job struct {
	To       *formats.Format
	Settings formats.Settings
	// Symbols are the options for symbols; nil if the format needs none.
	Symbols *symbol.Options
	// KeepSymbols also writes the events that symbolize a selection; see formats.Needs.Subset.
	KeepSymbols bool
	// Version is the version of the program.
	Version string
	// Adapt, if not nil, changes the description for the sink.
	Adapt func(*formats.Target)
	// Remarks, if not nil, returns what is added to the detail of the result.
	Remarks func() string
	// Canceled, if not nil, returns why the run must end.
	Canceled func() error

	Spans  Spans
	Output *formats.Output // set by Name
	Plan   *pass.Plan      // set by Prepare

	part *split.Filter // adds the events that symbolize a selection; nil if the output does not store them
	sink formats.Sink  // of the current pass
}

// NeedsAgain reports whether the input must be readable more than once.
func (j *Job) NeedsAgain() bool {
	return j.Plan.NeedsAgain() || j.part != nil && j.part.NeedsLearn()
}

// Run reads an input and calls deliver with each pass over it: see pass.Plan.Do.
func (j *Job) Run(in *input.Input, deliver func(*pass.Pass) error) error {
	if j.part != nil && j.part.NeedsLearn() {
		if err := j.learn(in); err != nil {
			return err
		}
	}
	return j.Plan.Do(in, deliver)
}

// learn reads an input to find the processes with a selected event, whose symbols the output needs. It ignores errors
// after which an input is partly usable, because the second reading reports them.
func (j *Job) learn(in *input.Input) error {
	first := *j.Plan
	first.Keep, first.After = nil, nil
	if show := j.Plan.Progress; show != nil {
		first.Progress = func(in *input.Input, _ string) func() { return show(in, "looking ahead") }
	}
	return first.Do(in, func(p *pass.Pass) error {
		err := j.part.Learn(p.All, p.Selector.Keep)
		if err != nil && j.Canceled != nil && j.Canceled() != nil {
			return j.Canceled()
		}
		if errors.Is(err, ntconv.ErrLimit) || err != nil && j.Plan.Read.Strict {
			return &input.Error{Name: in.Name(), Err: err}
		}
		return nil
	})
}

// Create returns the sink of a pass.
func (j *Job) Create(p *pass.Pass, out *fileio.Outputs) (ntconv.Sink, error) {
	t := Target(p, j.Version)
	if j.part != nil {
		t.Kept = j.part.KeepsProcess
	}
	if j.Adapt != nil {
		j.Adapt(t)
	}
	var err error
	j.sink, err = j.Output.Create(out, p.Info, t)
	return j.sink, err
}

// Finish returns the result of the sink after it was closed, and the plural noun for what an empty output lacks, or ""
// if it is not empty.
func (j *Job) Finish() (r formats.Result, lacks string) {
	r = j.sink.Result()
	if j.Remarks != nil {
		r.Remark(j.Remarks())
	}
	lacks = r.Empty()
	if j.part != nil {
		lacks = ""
		if j.part.Counts().Selected == 0 { // the events that symbolize are not selected ones
			lacks = "events"
		}
	}
	return r, lacks
}

// Subset returns the counts of the events that were written in addition to the selected ones, and describes them. ok is
// false if the output has only the selected events.
func (j *Job) Subset() (c split.FilterCounts, detail string, ok bool) {
	if j.part == nil {
		return c, "", false
	}
	var list []string
	c = j.part.Counts()
	if c.Symbols > 0 {
		list = append(list, message.Count(c.Symbols, "more event")+" kept for symbols")
	}
	if cut := CutIntervals(j.part.Cut()); cut != "" {
		list = append(list, cut+" begin or end outside the selection")
	}
	if c.Opaque > 0 {
		list = append(list, message.Count(c.Opaque, "block")+" of an unknown kind omitted")
	}
	return c, strings.Join(list, "; "), true
}

// CutIntervals returns the numbers of intervals that a trace lacks because it has only one of their ends, "" if there
// are none.
func CutIntervals(cut [sample.Count]uint64) string {
	var list []string
	for _, k := range sample.Preferred() {
		if cut[k] > 0 {
			list = append(list, message.Group(int64(cut[k]))+" "+k.Noun(int64(cut[k])))
		}
	}
	return message.List(list)
}
