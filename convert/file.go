package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// An Output describes the output of File. The zero value and nil derive the format from the name, and replace no file.
type Output struct {
	// Format is the name of the format, one of the writable Formats. If empty, the extension of the name determines it.
	Format string
	// Overwrite permits replacing an existing file, or an existing directory with its contents.
	Overwrite bool
	// MaxBytes is the maximum number of bytes written, before compression. 0 means 1,000 times the decompressed input,
	// and at least 256 MiB; a negative number means no limit.
	MaxBytes int64
}

// A Result describes the output that File has written.
type Result struct {
	Format   string   // name of the format of the output
	Members  []string // names of the files in an output directory, nil for a file
	Events   int64    // events read
	Selected int64    // events that the selection kept
	// Summary is one line for display: the items written, and the events and the input that they were built from.
	Summary string
	// Report counts losses, skipped data and irregularities. It is Options.Report if that is not nil; otherwise it is
	// new and belongs to the caller.
	Report *ntconv.Report
}

// ErrEmpty means that no event was selected, or that the input has no contents for the output format. No output was
// written.
var ErrEmpty = errors.New("nothing to write")

// An IncompleteError means that the output was written, but the input is truncated or corrupt, or has contents that the
// output format cannot store.
type IncompleteError struct{ Err error }

func (e *IncompleteError) Error() string { return "incomplete output: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *IncompleteError) Unwrap() error { return e.Err }

// File reads inputs, selects events and writes an output called name: a file, or a directory for some formats. The
// output is the same as that of the command. Several inputs are merged into one trace in time order, if the output is a
// trace format. o and out may be nil.
//
// The output appears when it is complete, or not at all. If an input is incomplete, the output has the events before
// the defect, and File returns a Result and an *IncompleteError. After all other errors the Result is nil and no output
// was written: ErrEmpty, ntconv.ErrFormat for an unknown format, ntconv.ErrLimit if an input or the output exceeds a
// limit, fs.ErrNotExist for a missing input, fs.ErrExist for an existing output without Overwrite, and
// context.Cause(ctx) after ctx was canceled.
//
// Formats that can be sent, such as OTLP, are only written to files. To send spans, use package exporters/otlp.
func File(ctx context.Context, name string, o *Options, out *Output, inputs ...string) (*Result, error) {
	if out == nil {
		out = new(Output)
	}
	f := &file{name: name, out: *out}
	if err := f.prepare(ctx, o, inputs); err != nil {
		return nil, err
	}
	defer f.remove()
	in, err := f.open(inputs)
	if err != nil {
		return nil, plain(inputs[0], err)
	}
	defer in.Close()
	formats.Serve(f.names, symbolfiles.Host{Context: ctx})
	err = f.learnSubset(in)
	if err == nil {
		err = f.plan.Do(in, f.write)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err = plain(in.Name(), err); err != nil && !errors.As(err, new(*IncompleteError)) {
		return nil, err
	}
	return f.result, err
}

// A file is the state of one call of File.
type file struct {
	*config
	name    string
	out     Output
	to      *formats.Format
	creator formats.Creator
	plan    *pass.Plan
	spans   spans
	names   *symbol.Options // for symbols; nil if the format needs none
	part    *split.Filter   // adds the events that symbolize a selection; nil if the output does not store them
	result  *Result
}

// prepare checks the arguments and plans the reading.
func (f *file) prepare(ctx context.Context, o *Options, inputs []string) (err error) {
	if f.to, err = f.format(); err != nil {
		return err
	}
	if f.config, err = newConfig(ctx, o, f.bind); err != nil {
		return err
	}
	if f.out.MaxBytes != 0 {
		f.quota.SetMax(max(f.out.MaxBytes, 0))
	}
	if len(inputs) == 0 || slices.Contains(inputs, "") {
		return input.ErrNoName
	}
	if len(inputs) > 1 && !f.to.Out.Merges {
		return fmt.Errorf("%d inputs given: %s accepts one", len(inputs), f.to.Name)
	}
	chosen, err := f.Select.options()
	if err != nil {
		return err
	}
	f.plan = &pass.Plan{Read: f.read(), Selection: chosen, Weights: f.to.Out.Weights}
	if names := pass.SelectNames(chosen); names != nil {
		f.plan.Ahead = append(f.plan.Ahead, names)
	}
	if d, ok := chosen.During.(*openDuring); ok {
		f.plan.Ahead = append(f.plan.Ahead, &pass.Ahead{Ahead: formats.Ahead{Learn: d.Learn}})
	}
	f.plan.Read.Order, f.plan.AnyOrder = f.to.Out.Order, f.to.Out.AnyOrder
	if len(inputs) > 1 {
		f.plan.Read.Order, f.plan.AnyOrder = reader.ByTime, false
	}
	f.plan.Read.OutputDepth, _ = f.creator.StackDepth()
	return f.planOutput()
}

// bind defines the settings of the output.
func (f *file) bind(flags *pflag.FlagSet) {
	f.creator = f.to.Out.Bind(flags)
	if f.to.Out.Names != formats.NoNames {
		f.names = formats.NamesFlag(flags)
		_ = flags.Set(formats.FlagLocalSymbols, "false") // a library reads no files that its user does not name
	}
}

// format returns the format of the output.
func (f *file) format() (*formats.Format, error) {
	table := formats.Writable()
	to := formats.ByName(table, f.out.Format)
	if f.out.Format == "" {
		to, _ = formats.ByOutput(f.name)
	}
	if to == nil || to.Out == nil {
		return nil, fmt.Errorf("%s: %w of the output: want %s", f.name, ntconv.ErrFormat, formats.List(table))
	}
	return to, nil
}

// planOutput adds to the plan the symbols, spans and passes that the output needs.
func (f *file) planOutput() error {
	when := f.to.Out.Names
	if chooser, ok := f.creator.(formats.NameChooser); ok {
		when = chooser.ChooseByName(f.name, isDir(f.name))
	}
	if f.names != nil {
		f.plan.Names, f.plan.NamesFirst = f.names, when == formats.NamesFirst
	}
	if labeler, ok := f.creator.(formats.SpanLabeler); ok {
		f.spans.plan(f.plan, labeler.SpanLabels())
	}
	for _, ahead := range f.creator.Ahead() {
		f.plan.Ahead = append(f.plan.Ahead, &pass.Ahead{Ahead: ahead})
		if ahead.Symbols {
			f.plan.Names, f.plan.NamesFirst = new(symbol.Options), true
		}
	}
	if f.to.Out.Subset && !f.plan.Selection.Empty() {
		f.part = split.NewFilter(split.FilterOptions{Symbols: true})
		f.plan.Keep = f.part.Keep
		f.plan.After = append(f.plan.After,
			func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return f.part.Source(src) })
	}
	if stage := f.creator.Stage(); stage != nil {
		f.plan.After = append(f.plan.After, func(_ *pass.Pass, src ntconv.Source) ntconv.Source { return stage(src) })
	}
	if to, _ := f.creator.Destination(); to == formats.ToNothing {
		return fmt.Errorf("%s: this output is sent and not written; use package exporters/otlp", f.to.Name)
	}
	return nil
}

// open opens the inputs.
func (f *file) open(inputs []string) (*input.Input, error) {
	opts, err := f.input(f.plan.NeedsAgain() || f.part != nil && f.part.NeedsLearn())
	if err != nil {
		return nil, err
	}
	names := slices.Clone(inputs)
	for i, name := range names {
		if name == "-" {
			names[i] = "./-"
		}
	}
	for _, name := range names {
		if sameFile(name, f.name) {
			return nil, fmt.Errorf("%s: output and input are the same file", f.name)
		}
	}
	return input.Open(names, opts)
}

// learnSubset reads the input to find the processes with a selected event, whose symbols the output needs. It ignores
// errors after which an input is partly usable, because the second reading reports them.
func (f *file) learnSubset(in *input.Input) error {
	if f.part == nil || !f.part.NeedsLearn() {
		return nil
	}
	plan := *f.plan
	plan.Keep, plan.After = nil, nil
	return plan.Do(in, func(p *pass.Pass) error {
		err := f.part.Learn(p.All, p.Selector.Keep)
		if cause := context.Cause(f.ctx); cause != nil {
			return cause
		}
		if errors.Is(err, ntconv.ErrLimit) || err != nil && plan.Read.Strict {
			return &input.Error{Name: in.Name(), Err: err}
		}
		return nil
	})
}

// write runs one pass into the output. Plan.Do may call it a second time.
func (f *file) write(p *pass.Pass) error {
	to, _ := f.creator.Destination()
	out, err := fileio.CreateOutputs(f.name, fileio.OutputsOptions{
		OutputOptions: fileio.OutputOptions{Force: f.out.Overwrite, Quota: &f.quota},
		Dir:           to == formats.ToDir, File: to == formats.ToFile,
	})
	if err != nil {
		return err
	}
	sink, err := f.creator.Create(out, p.Info, f.target(p))
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	fatal, partial := p.Drain(sink)
	if fatal != nil {
		if s, ok := sink.(formats.Aborter); ok {
			_ = s.Abort() // the files are removed anyway
		}
		return errors.Join(fatal, out.Abort())
	}
	return f.commit(p, sink, out, partial)
}

// commit commits the output unless it is empty, and sets the Result.
func (f *file) commit(p *pass.Pass, sink formats.Sink, out *fileio.Outputs, partial error) error {
	made := sink.Result()
	what := made.Empty()
	if f.part != nil && f.part.Counts().Selected == 0 {
		what = "events" // the events that symbolize are not selected ones
	}
	if what != "" {
		err := fmt.Errorf("%s: %w: no %s in %d of %d events", p.Input.Name(), ErrEmpty, what, p.Kept, p.Total)
		return errors.Join(err, partial, out.Abort())
	}
	if err := context.Cause(f.ctx); err != nil {
		return errors.Join(err, out.Abort())
	}
	if err := out.Commit(); err != nil {
		return err
	}
	f.result = &Result{Format: f.to.Name, Events: p.Total, Selected: p.Kept, Report: f.report(p)}
	f.result.Summary = made.Line(formats.Read{
		Input: fmt.Sprintf("%s (%s)", p.Input.Name(), p.Info.Format), Events: p.Total, Selected: p.Kept,
	})
	if out.IsDir() {
		f.result.Members = out.Members()
	}
	if partial != nil {
		return &IncompleteError{partial}
	}
	return nil
}

// report adds the counts of a pass to the report of the caller, if there is one.
func (f *file) report(p *pass.Pass) *ntconv.Report {
	if f.Report == nil {
		return p.Report
	}
	for _, e := range p.Report.Entries() {
		f.Report.Note(e.Code, e.Count, e.Offset, e.Detail)
	}
	return f.Report
}

// target returns the Target for the sink of a pass.
func (f *file) target(p *pass.Pass) *formats.Target {
	comments := []string{"converted by ntconv"}
	if p.Filtered() {
		comments = append(comments, "selected by "+p.Plan.Selection.String())
	}
	target := &formats.Target{
		Namer: p.Namer, Report: p.Report, MaxTemp: p.Plan.Read.MaxTemp, Span: p.Span, Window: p.Window(), Comments: comments,
		Input: filepath.Base(p.Input.Name()), Version: version(),
		Ordered: p.Order == reader.ByTime || p.Input.Format.In.Ordered, Filtered: p.Filtered(),
	}
	if f.part != nil {
		target.Kept = f.part.KeepsProcess
	}
	return target
}
