package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
)

// endWithin bounds how long ntconv waits for a process to end a session whose output has failed.
const endWithin = 10 * time.Second

// recordTarget records a process into the output. begun, if not nil, is called when the recording has begun. A signal that
// comes before ends ctx.
func (a *app) recordTarget(ctx context.Context, cmd *cobra.Command, r *recorder, target *record.Target, begun func() error) error {
	request, err := r.request(cmd, target.Info.Runtime)
	if err != nil {
		return fail(exitUsage, err)
	}
	if r.out == "" {
		r.out = r.defaultOutput(target, time.Now())
	}
	r.in = target.String()
	if err := a.prepareRecording(cmd, r); err != nil {
		return err
	}
	var rec *record.Recording
	defer func() {
		if rec != nil {
			rec.End(endWithin)
		}
	}()
	open := func() (*input.Input, error) {
		if rec, err = target.Record(context.Background(), request, record.Options{BufferMB: int(r.buffer >> 20)}); err != nil {
			return nil, recordFailure(err)
		}
		a.stopAtSignal(ctx, rec)
		a.watchRecording(r, rec, target)
		if begun != nil {
			if err := begun(); err != nil {
				return nil, recordFailure(err)
			}
		}
		if !r.isVerbatim() {
			_ = rec.CopyTo(nil) // nothing is copied, so nothing can fail
		}
		return a.openRecording(rec, r.NeedsAgain(), &r.status)
	}
	if r.isVerbatim() {
		r.to = func(_ *pass.Pass, name string) *delivery { return a.verbatim(r, name, &rec) }
	}
	err = a.convertFrom(&r.conversion, nil, open)
	if rec != nil && err == nil && rec.StopError() != nil {
		err = fail(exitIncomplete, fmt.Errorf("%v: the recording ended without the names of methods: %w", target, rec.StopError()))
	}
	return err
}

// defaultOutput returns the name of an output: NAME_DATE_TIME.EXT, as dotnet-trace has it, "" if the format writes no file.
func (r *recorder) defaultOutput(target *record.Target, now time.Time) string {
	r.chooseByName()
	one := r.conversion
	one.in = fmt.Sprintf("%s_%s.nettrace", formats.FileName(target.Name), now.Format(recordTimeLayout))
	if r.isVerbatim() {
		return one.in
	}
	out, err := one.output()
	if err != nil {
		return ""
	}
	return out
}

// prepareRecording plans the conversion of a recording, and refuses an output that exists before anything is recorded.
func (a *app) prepareRecording(cmd *cobra.Command, r *recorder) error {
	if err := a.prepare(cmd, &r.conversion); err != nil {
		return err
	}
	if r.isVerbatim() {
		if !r.Plan.Selection.Empty() {
			return failf(exitUsage, "a recording as nettrace has all events, without %s; select some with ntconv filter, or record fewer with --%s",
				r.Plan.Selection, flagProviders)
		}
		r.Plan.Live, r.Plan.AnyOrder, r.Plan.Read.Order = true, true, reader.FileOrder
	}
	r.Plan.Progress = func(in *input.Input, _ string) func() {
		return a.showPhase(&progressPhase{name: "recording", input: in.Name(), size: -1, read: in.Read, detail: r.status.Text})
	}
	if r.Output.Destination != formats.ToFile || isStdout(r.out) || a.force {
		return nil
	}
	if info, err := store.Stat(r.out); err == nil && info.Mode().IsRegular() {
		return fail(exitOutput, &fileio.Error{Name: r.out, Op: "create", Bytes: -1, Err: fmt.Errorf("%w; -f overwrites it", fs.ErrExist)})
	}
	return nil
}

// watchRecording observes a recording, and ends it after --duration and with the event of --stop-on.
func (a *app) watchRecording(r *recorder, rec *record.Recording, target *record.Target) {
	r.status.Of(rec)
	if terminal(a.stderr) && a.drawsBar() {
		r.status.Names = symbol.New(nil)
		within, cancel := context.WithTimeout(context.Background(), endWithin)
		if names, err := target.KnownNames(within); err == nil {
			_ = r.status.Names.Scan(names) // only for display
		}
		cancel()
		known, stop := context.WithCancel(context.Background())
		go r.status.KeepNames(known)
		go func() { <-rec.Stopped(); stop() }() // closed at the latest by End
	}
	if r.duration > 0 {
		time.AfterFunc(time.Duration(r.duration), rec.Stop) // a recording that has ended ignores it
	}
}

// stopAtSignal ends a recording at the first signal, and does not wait for the process after the second one. A signal that came
// before has ended ctx, because there was no recording to stop; then the recording ends at once.
func (a *app) stopAtSignal(ctx context.Context, rec *record.Recording) {
	abandon := context.CancelFunc(rec.Abandon)
	stop := context.CancelFunc(func() {
		a.stopFollowing.Store(&abandon)
		rec.Stop()
	})
	a.stopFollowing.Store(&stop)
	if ctx.Err() != nil {
		rec.Stop()
	}
}

// openRecording opens a recording as an input. again means that it is read more than once; status, if not nil, observes its
// events.
func (a *app) openRecording(rec *record.Recording, again bool, status *record.Status) (*input.Input, error) {
	o := a.inputOptions(again)
	if guard := o.Guard; status != nil {
		o.Guard = func(src ntconv.Source) ntconv.Source { return status.Source(guard(src)) }
	}
	in, err := input.FromReader(rec.Target.String(), rec, o)
	if err != nil {
		return nil, a.notOpened(err)
	}
	return in, nil
}

// verbatim returns the delivery of a recording as it is. The file is written in place, so that it is readable even if ntconv
// is killed.
func (a *app) verbatim(r *recorder, name string, rec **record.Recording) *delivery {
	var sink *formats.Verbatim
	return &delivery{
		name: name, to: formats.ToFile, inPlace: true,
		create: func(out *fileio.Outputs) (ntconv.Sink, error) {
			var err error
			if sink, err = formats.NewVerbatim(out); err != nil {
				return nil, err
			}
			sink.Rest = func() error { return (*rec).Drain() }
			return sink, (*rec).CopyTo(sink.Writer())
		},
		flush: func() { _ = sink.Flush() }, // the next write returns the error again
		done: func() error {
			a.sum.Result = sink.Result()
			return nil
		},
	}
}

// recordFailure returns the failure for an error of finding or recording a process, with the next step.
func recordFailure(err error) error {
	advice := ""
	switch {
	case errors.Is(err, record.ErrRequest):
		return fail(exitUsage, err)
	case errors.Is(err, fs.ErrPermission):
		advice = "run ntconv as the user of the process, or as root"
	case errors.Is(err, record.ErrNoProcess):
		advice = "ntconv ps lists the processes that can be recorded"
	case errors.Is(err, record.ErrNotDotnet):
		advice = "name the program that is a .NET application, and not with DOTNET_EnableDiagnostics=0"
	}
	if advice != "" {
		err = &ntconv.AdviceError{Err: err, Advice: advice}
	}
	return fail(exitInput, err)
}
