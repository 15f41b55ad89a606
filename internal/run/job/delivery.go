package job

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// A Delivery is the output of a pass. A fatal error and an error of Done abort the outputs; otherwise they are
// committed, and a partial error of the input is returned after the commit.
type Delivery struct {
	// Open returns the set of outputs.
	Open func() (*fileio.Outputs, error)
	// Create returns the sink, which writes members of the outputs.
	Create func(*fileio.Outputs) (ntconv.Sink, error)
	// Flush, if not nil, writes what the sink has buffered. It is called for outputs that others read while they are
	// written, before the input waits for data. Otherwise the buffers of the sink depend on its events only.
	Flush func()
	// Done returns, after the sink was closed, why the outputs are useless. It may be nil.
	Done func() error
	// Drain, if not nil, is called instead of Pass.Drain.
	Drain func(*pass.Pass, ntconv.Sink) (fatal, partial error)
	// Stage, if not nil, is called at the begin of each stage.
	Stage func(Stage)

	partial error // of the input, after which the outputs are kept
}

// A Stage is a stage of a Delivery.
type Stage uint8

const (
	Writing    Stage = iota // into outputs that cannot be taken back
	Committing              // the outputs become visible
	Committed
)

// An OutputError means that outputs could not be committed.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// An Outcome is what became of the outputs of a Delivery.
type Outcome struct {
	Out       *fileio.Outputs // nil if they could not be opened
	Committed bool
	Aborted   error // of removing the outputs; nil if they are removed or committed
}

// Run runs a pass into the outputs. Its error does not contain Outcome.Aborted.
func (d *Delivery) Run(p *pass.Pass) (Outcome, error) {
	out, err := d.Open()
	if err != nil {
		return Outcome{}, err
	}
	if err := d.write(p, out); err != nil {
		return Outcome{Out: out, Aborted: out.Abort()}, err
	}
	d.stage(Committing)
	if err := out.Commit(); err != nil {
		return Outcome{Out: out}, &OutputError{err}
	}
	d.stage(Committed)
	return Outcome{Out: out, Committed: true}, d.partial
}

// write writes the outputs up to the commit. It keeps a partial error of the input.
func (d *Delivery) write(p *pass.Pass, out *fileio.Outputs) error {
	sink, err := d.Create(out)
	if err != nil {
		return err
	}
	if !out.Atomic() {
		d.stage(Writing)
		p.Input.OnWait(func() {
			if d.Flush != nil {
				d.Flush()
			}
			_ = out.Flush() // the next write returns the error again
		})
		defer p.Input.OnWait(nil)
	}
	var fatal error
	if fatal, d.partial = d.drain(p, sink); fatal != nil {
		if s, ok := sink.(formats.Aborter); ok {
			_ = s.Abort() // the files are removed anyway
		}
		if !out.Atomic() {
			_ = out.Flush() // so that the output ends at the end of a write of the sink; fatal is more important
		}
		return fatal
	}
	if d.Done != nil {
		return d.Done()
	}
	return nil
}

func (d *Delivery) drain(p *pass.Pass, sink ntconv.Sink) (fatal, partial error) {
	if d.Drain != nil {
		return d.Drain(p, sink)
	}
	return p.Drain(sink)
}

func (d *Delivery) stage(s Stage) {
	if d.Stage != nil {
		d.Stage(s)
	}
}
