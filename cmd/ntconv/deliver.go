package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/reader"
)

// A delivery is the output of a pass.
//
// The exit paths of deliver, in order: a fatal error aborts out; an empty output aborts it; otherwise out is committed,
// and a partial error of the input is returned after the commit.
type delivery struct {
	name   string // of the output
	to     formats.Destination
	create func(*fileio.Outputs) (ntconv.Sink, error)
	// flush, if not nil, writes what the sink has buffered to out. Otherwise the buffers of the sink depend on its events
	// only.
	flush func()
	// outputs, if not nil, returns the set of outputs instead of the one called name.
	outputs func() (*fileio.Outputs, error)
	// empty returns, after the sink was closed, the noun for what an empty output lacks, or "" if it is not empty. An
	// empty output is aborted.
	empty  func() string
	advice string // next step if the output would be empty
	// check, if not nil, returns after the sink was closed why the output is useless. Such an output is aborted.
	check func() error
	// matched, if not nil, returns after the sink was closed why the options do not fit the trace. Such an output is
	// aborted, whether it is empty or not.
	matched func() error
}

// deliver runs a pass into an output and commits it, or aborts it after an error.
func (a *app) deliver(p *pass.Pass, d *delivery) error {
	out, err := a.outputs(d)
	if err != nil {
		return err
	}
	if !out.Atomic() {
		a.onInterrupt("interrupted, the output is not complete")
	}
	sink, err := d.create(out)
	if cause := pass.MemoryCause(err); cause != nil {
		return errors.Join(fail(exitLimit, &input.Error{Name: p.Input.Name(), Err: cause}), a.abort(out))
	}
	if isLimit(err) {
		return errors.Join(limitFailure(err), a.abort(out))
	}
	if err != nil {
		code := exitUsage
		if of := (*fileio.Error)(nil); errors.As(err, &of) {
			code = exitOutput
		}
		return errors.Join(fail(code, err), a.abort(out))
	}
	if s, ok := sink.(formats.Sending); ok && d.to == formats.ToNothing {
		a.showSending(s)
	}
	if !out.Atomic() {
		p.Input.OnWait(func() {
			if d.flush != nil {
				d.flush()
			}
			_ = out.Flush() // the next write returns the error again
		})
		defer p.Input.OnWait(nil)
	}
	err = a.keep(p, d, sink, out)
	a.sum.Read(p)
	a.sum.Wrote(out, codeOf(err) == exitOK || codeOf(err) == exitIncomplete)
	return err
}

// outputs returns the set of outputs of a delivery.
func (a *app) outputs(d *delivery) (*fileio.Outputs, error) {
	if d.to == formats.ToNothing {
		return fileio.NoOutputs(&a.quota), nil
	}
	if d.outputs != nil {
		out, err := d.outputs()
		if err != nil {
			return nil, fail(exitOutput, err)
		}
		return out, nil
	}
	dir := d.to == formats.ToDir
	out, err := fileio.CreateOutputs(d.name, fileio.OutputsOptions{
		OutputOptions: fileio.OutputOptions{
			Force:   a.force,
			Cleaner: a.cleaner,
			Check:   a.memory.Check,
			Quota:   &a.quota,
		}, Dir: dir, File: !dir,
	})
	if err == nil {
		return out, nil
	}
	if errors.Is(err, fs.ErrExist) && !a.force {
		err = fmt.Errorf("%w; -f overwrites it", err)
	}
	return nil, fail(exitOutput, err)
}

// keep is the part of deliver after output and sink have been created.
func (a *app) keep(p *pass.Pass, d *delivery, sink ntconv.Sink, out *fileio.Outputs) error {
	fatal, partial := a.drain(p, sink)
	if fatal != nil {
		if s, ok := sink.(formats.Aborter); ok {
			_ = s.Abort() // the files are removed anyway
		}
		if !out.Atomic() {
			_ = out.Flush() // flush, so that the output ends at the end of a write of the sink; fatal is more important
		}
		return errors.Join(a.sentBefore(fatal, d, sink), a.abort(out))
	}
	if d.matched != nil {
		if err := d.matched(); err != nil {
			return errors.Join(err, a.abort(out))
		}
	}
	if what := d.empty(); what != "" {
		return errors.Join(a.nothing(p, what, d.advice), a.abort(out))
	}
	if d.check != nil {
		if err := d.check(); err != nil {
			return errors.Join(err, a.abort(out))
		}
	}
	own := !a.several && d.to != formats.ToNothing // other runs have their own message
	if own && out.Atomic() {
		a.onInterrupt("interrupted while the output was being completed: it is complete, or as it was before")
	}
	if !a.several {
		a.memory.Stop()
	}
	if err := out.Commit(); err != nil {
		return outputFailure(err)
	}
	if own {
		a.onInterrupt("interrupted after the output was completed")
	}
	return partial
}

// abort aborts an output. It records the first error, because a leftover file must be reported even if a second pass
// succeeds.
func (a *app) abort(out *fileio.Outputs) error {
	err := out.Abort()
	if err != nil && a.left == nil {
		a.left = fail(exitOutput, err)
	}
	return err
}

// showSending makes the progress bar and the message of an interruption state how much has been sent.
func (a *app) showSending(s formats.Sending) {
	progress := func() string {
		what, _ := s.Sent()
		return what + " sent"
	}
	a.detail.Store(&progress)
	a.keepsOnInterrupt(func() string {
		what, where := s.Sent()
		return fmt.Sprintf("%s were sent to %s, and a batch that was on its way may have arrived", what, where)
	})
}

// sentBefore adds to the error of an input how much was sent before it, because sent data cannot be taken back. An
// error of the sink states it already.
func (a *app) sentBefore(fatal error, d *delivery, sink ntconv.Sink) error {
	s, ok := sink.(formats.Sending)
	if !ok || d.to != formats.ToNothing {
		return fatal
	}
	a.sum.Result = s.Result()
	var f *failure
	if errors.As(fatal, &f) && f.code != exitOutput {
		what, where := s.Sent()
		return failf(f.code, "%w; %s sent to %s before that", f.err, what, where)
	}
	return fatal
}

// target returns the Target for a sink of a pass.
func target(p *pass.Pass) *formats.Target {
	comments := []string{"converted by ntconv"}
	if p.Filtered() {
		comments = append(comments, "selected by "+p.Plan.Selection.String())
	}
	return &formats.Target{
		Namer:    p.Namer,
		Input:    filepath.Base(p.Input.Name()),
		Version:  version(),
		Report:   p.Report,
		MaxTemp:  p.Plan.Read.MaxTemp,
		Span:     p.Span,
		Window:   p.Window(),
		Comments: comments,
		Ordered:  p.Order == reader.ByTime || p.Input.Format.In.Ordered,
		Filtered: p.Filtered(),
	}
}

func isStdout(name string) bool { return name == "-" || name == "/dev/stdout" }
