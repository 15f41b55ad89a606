package command

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// A delivery is the output of a pass.
type delivery struct {
	name    string // of the output
	to      formats.Destination
	create  func(*fileio.Outputs) (ntconv.Sink, error)
	flush   func()                          // job.Delivery.Flush
	outputs func() (*fileio.Outputs, error) // returns the set of outputs instead of the one called name, if not nil
	done    func() error                    // job.Delivery.Done
	inPlace bool                            // fileio.OutputOptions.InPlace
	atomic  bool                            // the outputs appear when they are complete
	created bool                            // the sink of the current pass was created
	sending formats.Sending                 // the sink, if it sends its output
}

// deliver runs a pass into an output and commits it, or aborts it after an error.
func (a *app) deliver(p *pass.Pass, d *delivery) error {
	run := job.Delivery{
		Open: func() (*fileio.Outputs, error) { return a.outputs(d) },
		Create: func(out *fileio.Outputs) (ntconv.Sink, error) {
			sink, err := d.create(out)
			d.created, d.atomic = err == nil, out.Atomic()
			if s, ok := sink.(formats.Sending); ok && d.to == formats.ToNothing && err == nil {
				d.sending = s
				a.showSending(s)
			}
			return sink, createFailure(p, err)
		},
		Flush: d.flush, Done: d.done,
		Drain: func(p *pass.Pass, sink ntconv.Sink) (fatal, partial error) {
			fatal, partial = a.drain(p, sink)
			return a.sentBefore(fatal, d), partial
		},
		Stage: func(s job.Stage) { a.stage(d, s) },
	}
	done, err := run.Run(p)
	if of := (*job.OutputError)(nil); errors.As(err, &of) {
		err = outputFailure(of.Err)
	}
	if done.Out == nil {
		return err
	}
	if done.Aborted != nil {
		err = errors.Join(err, a.notRemoved(done.Aborted))
	}
	if !d.created {
		return err
	}
	a.sum.Read(p)
	a.sum.Wrote(done.Out, done.Committed)
	return err
}

// stage sets the message of an interruption at the begin of a stage, and stops watching the memory before the commit.
// Runs over several inputs have their own message.
func (a *app) stage(d *delivery, s job.Stage) {
	switch own := !a.severalOutputs && d.to != formats.ToNothing; s {
	case job.Writing:
		if d.sending == nil { // otherwise the message states what was sent
			a.onInterrupt("interrupted, the output is not complete")
		}
	case job.Committing:
		if own && d.atomic {
			a.onInterrupt("interrupted while the output was being completed: it is complete, or as it was before")
		}
		if !a.severalOutputs {
			a.memory.Stop()
		}
	case job.Committed:
		if own {
			a.onInterrupt("interrupted after the output was completed")
		}
	}
}

// createFailure returns the failure for an error of creating a sink.
func createFailure(p *pass.Pass, err error) error {
	cause := pass.MemoryCause(err)
	switch of := (*fileio.Error)(nil); {
	case err == nil:
		return nil
	case cause != nil:
		return fail(exitLimit, &input.Error{Name: p.Input.Name(), Err: cause})
	case isLimit(err):
		return limitFailure(err)
	case errors.As(err, &of):
		return fail(exitOutput, err)
	}
	return fail(exitUsage, err)
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
			InPlace: d.inPlace,
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

// notRemoved returns the failure for outputs that could not be removed. It records the first one, because a leftover
// file must be reported even if a second pass succeeds.
func (a *app) notRemoved(err error) error {
	if a.left == nil {
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
func (a *app) sentBefore(fatal error, d *delivery) error {
	if fatal == nil || d.sending == nil {
		return fatal
	}
	a.sum.Result = d.sending.Result()
	var f *failure
	if errors.As(fatal, &f) && f.code != exitOutput {
		what, where := d.sending.Sent()
		return failf(f.code, "%w; %s sent to %s before that", f.err, what, where)
	}
	return fatal
}

func isStdout(name string) bool { return name == "-" || name == "/dev/stdout" }
