package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/reader"
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

// A Result describes the output that File has written or Send has sent.
type Result struct {
	Format   string   // name of the format of the output
	Members  []string // names of the files in an output directory, nil for a file
	Events   int64    // events read
	Selected int64    // events that the selection kept
	// Summary is one line for display: the items written, and the events and the input that they were built from.
	Summary string
	// Sent states what became of the items that Send has sent.
	Sent otlp.Summary
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
// Formats that can be sent, such as OTLP, are only written to files. To send spans, use Send.
func File(ctx context.Context, name string, o *Options, out *Output, inputs ...string) (*Result, error) {
	if out == nil {
		out = new(Output)
	}
	f := &file{name: name, out: *out}
	return f.convert(ctx, o, inputs, files(inputs))
}

// convert does the work of File, Write and Send.
func (f *file) convert(ctx context.Context, o *Options, inputs []string, open opener) (*Result, error) {
	if err := f.prepare(ctx, o, inputs); err != nil {
		return nil, err
	}
	defer f.remove()
	in, err := f.open(inputs, open)
	if err != nil {
		return nil, plain(inputs[0], err)
	}
	defer in.Close()
	formats.Serve(f.Symbols, symbolfiles.Host{Context: ctx})
	err = f.Run(in, f.write)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err = plain(in.Name(), err); err != nil && !errors.As(err, new(*IncompleteError)) {
		return nil, err
	}
	return f.result, err
}

// A file is the state of one call of File, Write or Send.
type file struct {
	*config
	job.Job
	name   string
	out    Output
	to     otlp.Uploader // nil unless the output is sent
	w      io.Writer     // nil unless the output is written to it
	result *Result
}

// prepare checks the arguments and plans the reading.
func (f *file) prepare(ctx context.Context, o *Options, inputs []string) (err error) {
	if f.To, err = f.format(); err != nil {
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
	if len(inputs) > 1 && !f.To.Out.Merges {
		return fmt.Errorf("%d inputs given: %s accepts one", len(inputs), f.To.Name)
	}
	chosen, err := f.Select.options()
	if err != nil {
		return plain(inputs[0], err)
	}
	f.Version, f.Canceled = message.ModuleVersion(), func() error { return context.Cause(ctx) }
	f.KeepSymbols = true
	f.Name(f.name, f.w == nil && fileio.IsDir(f.name))
	if err := f.Prepare(f.read(), false, chosen); err != nil {
		return plain(inputs[0], err)
	}
	if len(inputs) > 1 {
		f.Plan.Read.Order, f.Plan.AnyOrder = reader.ByTime, false
	}
	switch {
	case f.to != nil:
		f.Adapt = func(t *formats.Target) { t.Uploader = f.to }
	case f.w != nil && f.Output.Destination != formats.ToFile:
		return fmt.Errorf("%s: the output is not one file", f.To.Name)
	case f.Output.Destination == formats.ToNothing:
		return fmt.Errorf("%s: this output is sent and not written; use Send", f.To.Name)
	}
	return nil
}

// bind defines the settings of the output.
func (f *file) bind(flags *pflag.FlagSet) {
	f.Settings = f.To.Out.Bind(flags)
	if f.To.Out.Needs.Names != formats.NoNames {
		f.Symbols = formats.NamesFlag(flags)
		_ = flags.Set(formats.FlagLocalSymbols, "false") // a library reads no files that its user does not name
	}
}

// format returns the format of the output.
func (f *file) format() (*formats.Format, error) {
	table := formats.Writable()
	to := formats.ByName(table, f.out.Format)
	if f.out.Format == "" {
		if to, _ = formats.ByOutput(f.name); to == nil && f.w != nil {
			to = formats.ByName(table, f.name)
		}
	}
	if to == nil || to.Out == nil {
		return nil, fmt.Errorf("%s: %w of the output: want %s", f.name, ntconv.ErrFormat, formats.List(table))
	}
	return to, nil
}

// open opens the inputs.
func (f *file) open(inputs []string, open opener) (*input.Input, error) {
	opts, err := f.input(f.NeedsAgain())
	if err != nil {
		return nil, err
	}
	for _, name := range local(inputs) {
		if f.to == nil && f.w == nil && fileio.Same(name, f.name) {
			return nil, fmt.Errorf("%s: output and input are the same file", f.name)
		}
	}
	return open(opts)
}

// write runs one pass into the output. Job.Run may call it a second time.
func (f *file) write(p *pass.Pass) error {
	var made formats.Result
	d := &job.Delivery{
		Open: func() (*fileio.Outputs, error) {
			if f.to != nil {
				return fileio.NoOutputs(&f.quota), nil
			}
			to := f.Output.Destination
			if f.w != nil {
				return fileio.WriterOutputs(f.w, f.name, &f.quota), nil
			}
			return fileio.CreateOutputs(f.name, fileio.OutputsOptions{
				OutputOptions: fileio.OutputOptions{Force: f.out.Overwrite, Quota: &f.quota},
				Dir:           to == formats.ToDir, File: to == formats.ToFile,
			})
		},
		Create: func(out *fileio.Outputs) (ntconv.Sink, error) { return f.Create(p, out) },
		Done: func() (err error) {
			var lacks string
			if made, lacks = f.Finish(); lacks != "" {
				err = fmt.Errorf("%s: %w: no %s in %d of %d events", p.Input.Name(), ErrEmpty, lacks, p.Kept, p.Total)
				return errors.Join(err, p.Cause)
			}
			return f.Canceled()
		},
	}
	outcome, err := d.Run(p)
	if !outcome.Committed {
		return errors.Join(err, outcome.Aborted)
	}
	out := outcome.Out
	f.result = &Result{Format: f.To.Name, Events: p.Total, Selected: p.Kept, Report: f.report(p)}
	f.result.Summary = made.Line(formats.Read{
		Input: fmt.Sprintf("%s (%s)", p.Input.Name(), p.Info.Format), Events: p.Total, Selected: p.Kept,
	})
	if sent, ok := made.(formats.Sent); ok && f.to != nil {
		f.result.Sent = sent.Summary()
	}
	if out.IsDir() {
		f.result.Members = out.Members()
	}
	if err != nil {
		return &IncompleteError{err}
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
