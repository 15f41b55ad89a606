package command

import (
	"errors"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// plan returns the plan for a command that does not write a trace format.
func (a *app) plan() (*pass.Plan, error) {
	sel, err := a.pick.options()
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	plan := job.NewPlan(a.read, sel, &a.spans)
	plan.Progress = a.progress
	return plan, nil
}

// inputOptions returns the options of inputs. again means that they will be read more than once.
func (a *app) inputOptions(again bool) *input.Options {
	return &input.Options{
		Again: again, Remote: true, Limits: &a.limits, Openers: a.openers, Temp: a.temps.create, TempDir: a.temps.createDir, MaxTemp: a.read.MaxTemp, Copying: a.copying,
		Guard: a.guard, Rewrite: a.rewrite, Taken: a.quota.Read, Merge: a.combine,
	}
}

// open opens inputs and detects their formats. again means that they will be read more than once.
func (a *app) open(names []string, again bool) (*input.Input, error) {
	o := a.inputOptions(again)
	if a.read.Live {
		o.Follow = a.following()
	}
	if a.from != "" {
		table := formats.Readable()
		if o.From = formats.ByName(table, a.from); o.From == nil {
			return nil, failf(exitUsage, "--from %s: no such format; these can be read: %s", a.from,
				formats.List(table))
		}
	}
	in, err := input.Open(names, o)
	if err != nil {
		return nil, a.notOpened(err)
	}
	return in, nil
}

// notOpened returns the failure for an input that could not be opened, with the next step.
func (a *app) notOpened(err error) error {
	var of *input.Error
	if errors.As(err, &of) {
		switch {
		case errors.Is(err, input.ErrSameFile):
			return fail(exitUsage, err)
		case errors.Is(err, input.ErrNoName):
			return failf(exitUsage, "%w; name a trace, or - for standard input", err)
		case errors.Is(err, os.ErrNotExist) && formats.ByName(formats.Writable(), of.Name) != nil:
			return failf(exitInput, "%w; to write %s, run: ntconv to %s IN", err, of.Name, of.Name)
		}
	}
	var unknown *formats.Unknown
	if errors.As(err, &unknown) && of != nil && of.Name != fileio.StdinName && of.Name != "-" {
		err = &input.Error{Name: of.Name, Err: unknown.For(message.ShellWord(of.Name), a.piped)}
	}
	if spool := (*input.SpoolError)(nil); errors.As(err, &spool) && !isLimit(err) {
		return fail(exitOutput, spool)
	}
	return inputFailure(err, false)
}

// over opens inputs by name and makes a pass over them.
func (a *app) over(names []string, plan *pass.Plan, use func(*pass.Pass) error) error {
	in, err := a.open(names, plan.NeedsAgain())
	if err != nil {
		return err
	}
	defer in.Close()
	return a.follow(plan, in, use)
}

// follow makes a pass over an input.
func (a *app) follow(plan *pass.Plan, in *input.Input, use func(*pass.Pass) error) error {
	formats.Serve(plan.Names, a.downloads())
	return readFailure(plan, plan.Do(in, use))
}

// readFailure returns the failure for an error of a pass. An error with an exit code is that of the pass's use.
func readFailure(plan *pass.Plan, err error) error {
	var coded *failure
	var wrong *pass.SelectionError
	switch {
	case err == nil, errors.As(err, &coded):
		return err
	case errors.As(err, &wrong):
		return fail(exitUsage, err)
	}
	return inputFailure(err, plan.Read.Strict)
}

// drain runs a pass into a sink and closes the sink. After a fatal error the output must not be kept; a partial error
// is returned after the output was kept.
func (a *app) drain(p *pass.Pass, sink ntconv.Sink) (fatal, partial error) {
	fatal, partial = p.Drain(sink)
	var src *ntconv.SourceError
	var of *pass.SinkError
	var flag *formats.FlagError
	switch {
	case errors.As(fatal, &of) && errors.As(of.Err, &flag):
		return fail(exitUsage, flag), nil
	case errors.As(fatal, &of) && pass.MemoryCause(of.Err) != nil: // an error of the input, not of the output
		return fail(exitLimit, &input.Error{Name: p.Input.Name(), Err: pass.MemoryCause(of.Err)}), nil
	case errors.As(fatal, &of) && isLimit(of.Err):
		return limitFailure(of.Err), nil
	case errors.As(fatal, &of):
		return outputFailure(of.Err), nil
	case errors.As(fatal, &src):
		return inputFailure(&input.Error{Name: p.Input.Name(), Err: src.Err}, p.Plan.Read.Strict), nil
	case fatal != nil:
		return fatal, nil
	case errors.As(partial, &src):
		a.states(stated(p.Report, src)...)
		return nil, failf(exitIncomplete, "%w; the part before it was kept",
			&input.Error{Name: p.Input.Name(), Err: src.Err})
	case partial != nil:
		a.states(stated(p.Report, partial)...)
		return nil, fail(exitIncomplete, &input.Error{Name: p.Input.Name(), Err: partial})
	}
	if n := p.Report.Count(ntconv.CodeEventsLost); a.failOnLoss && n > 0 {
		a.states(ntconv.CodeEventsLost)
		partial = failf(exitIncomplete,
			"%s: %s lost by the recorder (--fail-on-loss); record with a larger buffer or fewer providers",
			p.Input.Name(), message.Count(int64(n), "event was", "events were"))
	}
	return nil, partial
}

// stated returns the codes of the report about which the error of an incomplete input says all.
func stated(r *ntconv.Report, partial error) (codes []ntconv.Code) {
	if loss := (*pass.LossError)(nil); errors.As(partial, &loss) {
		for _, e := range loss.Entries {
			codes = append(codes, e.Code)
		}
		return codes
	}
	code := ntconv.CodeCorrupt
	if errors.Is(partial, ntconv.ErrTruncated) {
		code = ntconv.CodeTruncated
	}
	if r.Count(code) == 1 {
		codes = append(codes, code)
	}
	return codes
}

// states removes codes from the summary line that the error line states.
func (a *app) states(codes ...ntconv.Code) {
	if a.sum != nil {
		a.sum.Stated = append(a.sum.Stated, codes...)
	}
}
