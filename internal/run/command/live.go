package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/internal/symbols/symbolfiles"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A watching is a request to show a running process while it runs.
//
//	target   the process
//	request  what it must write
//	read     session → pass → view, on a goroutine
//	screen   view → terminal, until a key ends it; or plain: view → lines, until --duration or a signal
type watching struct {
	app *app
	recorder
	cmd    *cobra.Command
	plain  bool // lines although standard output is a terminal
	asJSON bool
	view   liveView

	target *record.Target
	rec    *record.Recording
	length atomic.Int64  // of the session when it ended
	ended  chan struct{} // closed when the stream has ended
	err    error         // of the reading; valid after ended
}

// A liveView is what is shown. Its methods but request are called with the lock of the process.
type liveView interface {
	liveScreen
	// request returns what the process must write.
	request(w *watching) (*record.Request, error)
	// begin returns the sink for the events of a process, and who needs the names of its methods, nil if nothing does.
	begin(p *pass.Pass) (ntconv.Sink, nameLearner)
	// plainEvery is the interval of lines, and lines returns those since the last call. last is set at the end.
	plainEvery() time.Duration
	lines(last bool) (text string, err error)
	// final returns what remains on the terminal after the screen.
	final(width int) []string
}

// A nameLearner shows methods of a process. Its methods are called with the lock of the process.
type nameLearner interface {
	// unnamed reports whether a method without a name appeared since the last call of learn.
	unnamed() bool
	// learn learns the names in a trace.
	learn(src ntconv.Source)
}

const flagPlain = "plain"

// bindTarget defines the flags that choose the process.
func (w *watching) bindTarget(flags *pflag.FlagSet) {
	flags.IntVarP(&w.pid, flagProcessID, "p", 0, "show the process with this `PID`; ntconv ps lists processes")
	flags.StringVar(&w.name, flagName, "", "show the process whose program has this `name`")
	flags.Var(&w.duration, flagDuration, "end after this `time`, such as 30s (default: when q or Ctrl-C is pressed)")
	flags.BoolVar(&w.plain, flagPlain, false, "print lines instead of a screen, as if standard output were no terminal")
}

// completeTargets completes PIDs and names of processes.
func completeTargets(cmd *cobra.Command) {
	list := func(of func(diagnostics.Process) string) func() []string {
		return func() (values []string) {
			found, err := diagnostics.Find()
			if err != nil {
				return nil
			}
			for _, p := range found {
				if p.State == diagnostics.Listening {
					values = append(values, of(p))
				}
			}
			return values
		}
	}
	completeWith(cmd, flagProcessID, list(func(p diagnostics.Process) string {
		return cobra.CompletionWithDesc(fmt.Sprint(p.PID), p.CommandLine)
	}))
	completeBy(cmd, flagName, func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		targets, _ := record.Named(ctx, "") // none can be completed after an error
		for _, t := range targets {
			names = append(names, t.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// check rejects flags that cannot be combined.
func (w *watching) check(args []string) error {
	if len(args) > 0 {
		return failf(exitUsage, "%s: a running process is shown without an input; choose it with -p PID or --%s NAME", args[0], flagName)
	}
	return w.checkTarget(w.cmd, false)
}

// usesScreen reports whether a screen is shown.
func (w *watching) usesScreen() bool {
	return !w.plain && !w.asJSON && (w.app.openScreen != nil || terminal(w.app.stdout))
}

// watch shows a process until it ends or the user ends it.
func (a *app) watch(w *watching, args []string) error {
	if err := w.check(args); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a.stopFollowing.Store(&cancel)
	a.onInterrupt("")
	var err error
	if w.target, err = w.choose(ctx); err != nil {
		return recordFailure(err)
	}
	request, err := w.view.request(w)
	if err != nil {
		return fail(exitUsage, err)
	}
	if w.rec, err = w.target.Record(ctx, request, record.Options{}); err != nil {
		return recordFailure(err)
	}
	defer w.rec.End(endWithin)
	_ = w.rec.CopyTo(nil) // nothing is copied, so nothing can fail
	a.stopAtSignal(ctx, w.rec)
	if w.duration > 0 {
		timer := time.AfterFunc(time.Duration(w.duration), w.rec.Stop)
		defer timer.Stop()
	}
	lock := new(sync.Mutex)
	w.ended = make(chan struct{})
	go func() {
		defer close(w.ended)
		w.err = w.read(ctx, lock)
		w.length.Store(int64(time.Since(w.rec.Begun())))
	}()
	return w.show(lock)
}

// show shows the view until the end, and returns why it ended, nil if the user or the process ended it.
func (w *watching) show(lock sync.Locker) error {
	var err error
	if w.usesScreen() {
		err = w.showScreen(lock)
	} else {
		err = w.printLines(lock)
	}
	here := stopped(w.rec)
	w.rec.End(endWithin)
	<-w.ended
	switch {
	case err != nil:
		return err
	case w.err == nil && !here && !w.app.quiet:
		fmt.Fprintln(w.app.stderr, message.Line(fmt.Sprintf("ntconv: %v has ended", w.target)))
	}
	return w.err
}

// stopped reports whether the session was ended here, and not by the process.
func stopped(rec *record.Recording) bool {
	select {
	case <-rec.Stopped():
		return true
	default:
		return false
	}
}

// read reads the events of the process into the view until the end of the session.
func (w *watching) read(ctx context.Context, lock sync.Locker) error {
	in, err := w.app.openRecording(w.rec, false, nil)
	if err != nil {
		return w.readError(err)
	}
	defer in.Close()
	plan, err := w.app.plan()
	if err != nil {
		return err
	}
	plan.Progress, plan.AnyOrder, plan.Live, plan.Read.Order = nil, true, true, reader.FileOrder
	err = plan.Do(in, func(p *pass.Pass) error {
		lock.Lock()
		sink, names := w.view.begin(p)
		lock.Unlock()
		if names != nil {
			known, cancel := context.WithCancel(ctx)
			defer cancel()
			go w.learn(known, lock, names)
		}
		fatal, partial := p.Drain(&lockedSink{sink, lock})
		return errors.Join(fatal, partial)
	})
	return w.readError(readFailure(plan, err))
}

// readError returns the error of reading a session, nil if it only ended: a process that was killed leaves a part.
func (w *watching) readError(err error) error {
	var loss *pass.LossError
	if errors.Is(err, ntconv.ErrTruncated) || errors.As(err, &loss) {
		return nil // the screen shows losses
	}
	return err
}

// learnEvery is the interval at which methods without a name are looked for.
const learnEvery = time.Second

// learn asks for the names of methods at the begin, and again when there are methods without one, until the session is stopped.
func (w *watching) learn(ctx context.Context, lock sync.Locker, view nameLearner) {
	first := true
	w.target.KeepNames(ctx, learnEvery, func() bool {
		if stopped(w.rec) {
			return false
		}
		lock.Lock()
		defer lock.Unlock()
		needed := view.unnamed() || first
		first = false
		return needed
	}, func(src ntconv.Source) {
		lock.Lock()
		defer lock.Unlock()
		view.learn(src)
	})
}

// A lockedSink holds the lock of the view while it gets an event.
type lockedSink struct {
	ntconv.Sink
	lock sync.Locker
}

func (s *lockedSink) Write(e *ntconv.Event) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.Sink.Write(e)
}

// Watch implements ntconv.Watcher.
func (s *lockedSink) Watch(e *ntconv.Event) {
	if of, ok := s.Sink.(ntconv.Watcher); ok {
		s.lock.Lock()
		defer s.lock.Unlock()
		of.Watch(e)
	}
}

func (s *lockedSink) Close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.Sink.Close()
}

// printLines prints what the view has at its interval, and at the end.
func (w *watching) printLines(lock sync.Locker) error {
	ticker := time.NewTicker(w.view.plainEvery())
	defer ticker.Stop()
	for {
		last := false
		select {
		case <-ticker.C:
		case <-w.ended:
			last = true
		}
		lock.Lock()
		text, err := w.view.lines(last)
		lock.Unlock()
		if err == nil && text != "" {
			err = w.app.show(text)
		}
		if err != nil || last {
			return err
		}
	}
}

// quiet is the host of downloads while a screen is shown.
func (w *watching) quiet() symbolfiles.Host {
	return symbolfiles.Host{Cleaner: w.app.cleaner, Progress: func(string, int64, func() int64) func() { return func() {} }}
}

// title returns the first line of a screen of a command: the process, its runtime, and the time since the begin.
func (w *watching) title(command string) string {
	text := fmt.Sprintf("ntconv %s  %s  PID %d", command, w.target.Name, w.target.PID)
	if v := w.target.Info.Runtime; v != "" {
		text += "  .NET " + v
	}
	since := time.Duration(w.length.Load())
	if since == 0 {
		since = time.Since(w.rec.Begun())
	}
	return text + "  " + since.Round(time.Second).String()
}
