package command

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// advanceEvery is the interval after which windows are completed although no event shows that they are: an idle process sends
// nothing.
const advanceEvery = 200 * time.Millisecond

// record records one process in windows, until ctx or the process ends.
func (w *windowing) record(ctx context.Context, target *record.Target) error {
	request, err := w.r.request(w.cmd, target.Info.Runtime)
	if err != nil {
		return fail(exitUsage, err)
	}
	named := w.names(ctx, target, request)
	rec, err := target.Record(ctx, request, record.Options{BufferMB: int(w.r.buffer >> 20)})
	if err != nil {
		return recordFailure(err)
	}
	defer rec.End(endWithin)
	undo := context.AfterFunc(ctx, rec.Stop)
	defer undo()
	_ = rec.CopyTo(nil) // nothing is copied, so nothing can fail
	in, err := w.app.forInput().openRecording(rec, false, nil)
	if err != nil {
		return err
	}
	defer in.Close()
	read := w.app.read
	read.Order = reader.FileOrder
	plan := &pass.Plan{Read: read, Selection: new(selection.Options), AnyOrder: true, Live: true}
	return readFailure(plan, plan.Do(in, func(p *pass.Pass) error {
		sink := w.windower(p, target, rec, named)
		defer sink.stop()
		fatal, partial := w.app.drain(p, sink)
		if fatal != nil {
			return fatal
		}
		return partial
	}))
}

// names returns a trace with the names of the methods that a process knows before its recording, nil if they are not
// wanted or cannot be had: then windows have the names of methods that were compiled since the begin.
func (w *windowing) names(ctx context.Context, target *record.Target, request *record.Request) ntconv.Source {
	if request.Rundown == 0 {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, record.NamesWithin)
	defer cancel()
	named, err := target.KnownNames(within)
	if err != nil {
		w.note("%v: methods that were compiled before the recording have no names: %v", target, err)
		return nil
	}
	return named
}

// A windower is the sink of a recording.
type windower struct {
	windowing *windowing
	target    *record.Target
	clock     ntconv.Clock

	mu      sync.Mutex // of windows, which both the reading and the time advance
	windows *split.Windows
	err     error // of advancing
	ticker  *time.Ticker
	quit    chan struct{}
	cancel  context.CancelFunc // of KeepNames; nil if it does not run
}

// windower returns the sink of a pass.
func (w *windowing) windower(p *pass.Pass, target *record.Target, rec *record.Recording, named ntconv.Source) *windower {
	d := &windower{windowing: w, target: target, clock: p.Info.Clock, ticker: time.NewTicker(advanceEvery), quit: make(chan struct{})}
	d.windows = split.NewWindows(p.Info, split.WindowOptions{
		Every:  time.Duration(w.r.every),
		Create: func(of split.Window) (ntconv.Sink, error) { return d.create(p.Info, of) },
	})
	go d.advance(rec)
	if named != nil {
		d.learn(named)
		ctx, cancel := context.WithCancel(context.Background())
		d.cancel = cancel
		go target.KeepNames(ctx, refreshEvery, d.unnamed, d.learn)
	}
	return d
}

// learn keeps the names of methods. What a trace has before an error is better than nothing.
func (d *windower) learn(named ntconv.Source) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for e, err := named.Next(); err == nil; e, err = named.Next() {
		d.windows.Learn(e)
	}
}

// refreshEvery is the interval at which addresses without a name are looked for: a window waits long enough to get the answer,
// unless it takes longer than the window.
const refreshEvery = 500 * time.Millisecond

// unnamed reports whether addresses without a name appeared since the last call.
func (d *windower) unnamed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.windows.Unnamed() > 0
}

// advance completes windows by time. The monotonic clock counts since the begin of the recording: the wall clock of the
// process may be set meanwhile.
func (d *windower) advance(rec *record.Recording) {
	for {
		select {
		case <-d.ticker.C:
			d.mu.Lock()
			if err := d.windows.Advance(d.clock.TicksAt(time.Since(rec.Begun()))); d.err == nil {
				d.err = err
			}
			d.mu.Unlock()
		case <-d.quit:
			return
		}
	}
}

func (d *windower) stop() {
	d.ticker.Stop()
	close(d.quit)
	if d.cancel != nil {
		d.cancel()
	}
}

// Write implements ntconv.Sink.
func (d *windower) Write(e *ntconv.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	return d.windows.Write(e)
}

// Close implements ntconv.Sink.
func (d *windower) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.windows.Close()
}

// A windowFile is the sink of a window: a temporary trace.
type windowFile struct {
	ntconv.Sink
	out  *bufio.Writer
	file *os.File
	done func()
}

// create returns the sink of a window.
func (d *windower) create(info *ntconv.Info, of split.Window) (ntconv.Sink, error) {
	begin := d.clock.Time(of.Begin).UTC()
	name := fmt.Sprintf("%s-%s_%s.nettrace", formats.FileName(d.target.Name), d.target.ID(), begin.Format(recordTimeLayout))
	file, err := os.Create(filepath.Join(d.windowing.temp, name))
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(file, windowBuffer)
	sink, err := writer.New(out, recording.Since(info, of.Begin), &writer.Options{Renumber: true, AllowLarge: true})
	if err != nil {
		file.Close()
		return nil, err
	}
	return &windowFile{sink, out, file, func() { d.windowing.enqueue(&madeWindow{file.Name(), name}) }}, nil
}

// windowBuffer is the buffer of the file of a window.
const windowBuffer = 64 << 10

// Close implements ntconv.Sink.
func (f *windowFile) Close() error {
	err := f.Sink.Close()
	if err == nil {
		err = f.out.Flush()
	}
	if cerr := f.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		f.done()
	}
	return err
}
