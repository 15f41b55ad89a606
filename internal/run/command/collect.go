package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/record"
	"github.com/ntconv/ntconv/internal/select/selection"
	"github.com/ntconv/ntconv/sample"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// recordCommand is the name of the command that records processes: the name that users of dotnet-trace look for.
const recordCommand = "collect"

// Flags of recordings.
const (
	flagProcessID = "process-id"
	flagName      = "name"
	flagProfile   = "profile"
	flagProviders = "providers"
	flagCounters  = "counters"
	flagDuration  = "duration"
	flagBuffer    = "buffer"
	flagRundown   = "rundown"
	flagStopOn    = "stop-on"
)

// A recorder is a request to record a process.
//
//	collectCmd   flags, and the format of the output from the words of the command line
//	target       the process: by PID, by name, or a program that is started
//	request      what it must write
//	run          session → input → output, as for any other input
type recorder struct {
	conversion
	pid       int
	name      string
	profiles  []string
	kinds     string
	providers []string
	counters  []string
	duration  recordTime
	buffer    int64
	rundown   string
	stopOn    string
	dryRun    bool

	every, keep recordTime // of windows
	keepSize    int64
	all         bool
	set         collection // the dataset to which windows are added

	program []string // words after --
	status  record.Status
}

// defaultBuffer is the buffer of dotnet-trace, in bytes.
const defaultBuffer = 256 << 20

const recordHelp = `Record a running .NET process through its diagnostic port, without other tools, into any format.

A recording as nettrace (the default) is stored as the process writes it, byte for byte, and is readable even if the process or
ntconv is killed. With another format (the extension of -o, or --to), the recording is converted while it comes, or at its
end if the format needs the whole trace. The flags of ntconv to FORMAT apply, such as --endpoint of otlp.

The process is chosen by its PID (ntconv ps lists processes), by the name of its program, or started: with -- PROGRAM ARGS, it
waits until the recording has begun, so that nothing of its start is missing. Its exit code becomes that of ntconv. It goes on
after the recording has ended, and ntconv waits for its end.

What is recorded:

%s
  --kind            exactly the events that profiles of these kinds need (alloc, gc, contention, ...), instead of a profile
  --providers       providers of events as dotnet-trace takes them: NAME:KEYWORDS:LEVEL:ARGUMENTS, in addition

The default is dotnet-common and dotnet-sampled-thread-time, or for otlp the profiles spans, logs and metrics.

Ctrl-C ends the recording as --duration does: the process writes the names of its methods (the rundown) before the end. A second
Ctrl-C does not wait for them.`

// profileLines describes the profiles for the help.
func profileLines() string {
	var b strings.Builder
	for _, p := range record.Profiles() {
		fmt.Fprintf(&b, "  --profile %-27s %s\n", p.Name, p.Doc)
	}
	return b.String()
}

// collectCmd returns the command that records processes, for the words of a command line.
func (a *app) collectCmd(args []string) *cobra.Command {
	r := &recorder{buffer: defaultBuffer, set: collection{inputFlags: &inputFlags{jobs: 1}}}
	format, formatErr := recordedFormat(wordsAfter(args, recordCommand))
	r.Job = job.Job{To: format}
	cmd := &cobra.Command{
		Use:   recordCommand + " (-p PID | --name NAME | -- PROGRAM ARGS...) [-o OUT]",
		Short: "Record a running .NET process, or a program from its start, into any format",
		Long:  fmt.Sprintf(recordHelp, profileLines()),
		Example: examples(
			"ten seconds of a process as a trace", "ntconv collect -p 42 --duration 10s -o trace.nettrace",
			"a profile of where the time goes", "ntconv collect -p 42 --duration 10s -o time.pb.gz",
			"allocations and collections of the process called shop",
			"ntconv collect --name shop --kind alloc,gc --duration 30s --to pprof -o profiles/",
			"a program from its start to its end", "ntconv collect -o start.nettrace -- dotnet shop.dll",
			"spans, logs and metrics of a running service, to a collector",
			"ntconv collect --name shop --to otlp --endpoint http://localhost:4317",
			"events as they happen", "ntconv collect -p 42 --providers System.Net.Http -o - | ntconv print -",
			"until the first exception", "ntconv collect -p 42 --stop-on ExceptionThrown -o until.nettrace",
		),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if formatErr != nil {
				return formatErr
			}
			return a.record(cmd, r, args)
		},
	}
	return a.withFlags(cmd, func() {
		format := r.formatFlags()
		addGroup(cmd, groupRecording, func(flags *pflag.FlagSet) {
			r.bindRecording(flags)
			if format.Lookup(formats.FlagKind) == nil {
				r.bindKinds(flags)
			}
		})
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
			format.VisitAll(func(f *pflag.Flag) {
				if cmd.Flags().Lookup(f.Name) == nil { // a recording has its own --rundown
					flags.AddFlag(f)
				}
			})
		})
		a.addInputFlags(cmd)
		for _, name := range []string{"from", formats.FlagFollow} {
			cmd.Flags().Lookup(name).Hidden = true
		}
		if r.isVerbatim() {
			hideSelection(cmd)
		}
		complete(cmd, "to", formats.NamesOf(formats.Writable()))
		complete(cmd, flagProfile, record.ProfileNames())
		completeTargets(cmd)
	})
}

// bindRecording defines the flags that state what is recorded, and when.
func (r *recorder) bindRecording(flags *pflag.FlagSet) {
	flags.IntVarP(&r.pid, flagProcessID, "p", 0, "record the process with this `PID`")
	flags.StringVarP(&r.name, flagName, "n", "", "record the process whose program has this `name`")
	flags.StringSliceVar(&r.profiles, flagProfile, nil, "what to record: named `profiles`, comma-separated; see above")
	flags.StringArrayVar(&r.providers, flagProviders, nil,
		"`providers` to record, NAME:KEYWORDS:LEVEL:ARGUMENTS, comma-separated, repeatable")
	flags.StringSliceVar(&r.counters, flagCounters, nil, "record the instruments of these meters or counters of these event sources each second, comma-separated `names`")
	flags.Var(&r.duration, flagDuration, "end the recording after this `time`, such as 10s, 1m30s or 00:01:30 (default: at Ctrl-C)")
	formats.SizeFlag(flags, &r.buffer, flagBuffer, "buffer of the process for events that ntconv has not read yet; more events are lost")
	flags.StringVar(&r.rundown, flagRundown, "", "`names` of methods at the end: true, false, or keywords such as 0x80000139 (default: as the profiles need)")
	flags.StringVar(&r.stopOn, flagStopOn, "",
		"end the recording with the first `event` of this name, or for which this expression is true; see ntconv help where")
	flags.Var(&r.every, flagEvery, "divide the recording into windows of this `time`, each converted as a trace of its own, without a gap and without an end; "+
		"with --"+flagName+", of all such processes, also later ones")
	flags.BoolVar(&r.all, flagAll, false, "with --"+flagEvery+": record all processes, also later ones")
	flags.Var(&r.keep, flagKeep, "with --"+flagEvery+": remove the outputs of windows that began longer ago than this `time`, such as 24h")
	formats.SizeFlag(flags, &r.keepSize, flagKeepSize, "with --"+flagEvery+": remove the oldest outputs of windows beyond this size")
	flags.BoolVar(&r.dryRun, "dry-run", false, "print what would be asked for, as a flag of dotnet-trace collect, and record nothing")
	var to string
	flags.StringVar(&to, "to", "", "`format` of the output: "+strings.Join(formats.NamesOf(formats.Writable()), ", ")+
		" (default: by its extension, or nettrace)")
	r.bindOut(flags, "output `file`; - is standard output (default: NAME_DATE_TIME with the extension of the format)")
}

// formatFlags returns the flags of the format of the output. --kind, which some formats have, selects what is recorded, too.
func (r *recorder) formatFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	if r.To == nil {
		return flags
	}
	r.bind(flags)
	if r.isVerbatim() { // nothing is converted
		return pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	if r.To.Out.Dataset {
		r.set.bind(flags)
	}
	return flags
}

func (r *recorder) bindKinds(flags *pflag.FlagSet) {
	flags.StringVar(&r.kinds, formats.FlagKind, "",
		"record exactly what profiles of these `kinds` need: "+strings.Join(record.KindNames(), ", ")+"; comma-separated")
}

// isVerbatim reports whether the output has the bytes of the recording.
func (r *recorder) isVerbatim() bool { return r.To != nil && r.To.Name == formats.Nettrace().Name }

// recordedFormat returns the format of the output for the words of a command line: that of --to or of the extension of -o,
// else nettrace.
func recordedFormat(words []string) (*formats.Format, error) {
	to, out := "", ""
	for i, word := range words {
		if word == "--" {
			break
		}
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		name, value, joined := strings.Cut(word, "=")
		if !joined {
			value = next
		}
		switch {
		case name == "--to":
			to = value
		case name == "--output", name == "-o":
			out = value
		case strings.HasPrefix(word, "-o") && len(word) > 2:
			out = word[2:]
		}
	}
	if to == "" && (out == "" || isStdout(out)) {
		return formats.Nettrace(), nil
	}
	return outputFormat(to, out)
}

// A recordTime is the value of --duration: as Go writes it, as dotnet-trace does (DD:HH:MM:SS, HH:MM:SS), or seconds.
type recordTime time.Duration

func (t *recordTime) Set(s string) error {
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		*t = recordTime(d)
		return nil
	}
	total, units := int64(0), []int64{1, 60, 3600, 86400}
	parts := strings.Split(s, ":")
	if len(parts) > len(units) {
		return errors.New("want a time such as 10s or 00:00:10")
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return errors.New("want a time such as 10s or 00:00:10")
		}
		total += int64(n) * units[len(parts)-1-i]
	}
	if total == 0 {
		return errors.New("want more than 0")
	}
	*t = recordTime(time.Duration(total) * time.Second)
	return nil
}

func (t *recordTime) String() string {
	if *t == 0 {
		return ""
	}
	return time.Duration(*t).String()
}

func (t *recordTime) Type() string { return "time" }

// checkTarget rejects flags that choose no process or several. startable means that one may be started instead.
func (r *recorder) checkTarget(cmd *cobra.Command, startable bool) error {
	byPID := cmd.Flags().Changed(flagProcessID)
	chosen := 0
	for _, given := range []bool{byPID, r.name != "", r.all, len(r.program) > 0} {
		if given {
			chosen++
		}
	}
	or, one := "", "-p PID or --"+flagName+" NAME"
	if startable {
		or, one = ", or start one with -- PROGRAM", "-p PID, --"+flagName+" NAME or -- PROGRAM"
	}
	switch {
	case chosen == 0 && !r.dryRun:
		return failf(exitUsage, "no process: choose one with -p PID or --%s NAME (ntconv ps lists them)%s", flagName, or)
	case chosen > 1:
		return failf(exitUsage, "want one process: %s", one)
	case byPID && r.pid <= 0:
		return failf(exitUsage, "-p %d: want the PID of a process", r.pid)
	}
	return nil
}

// checkRecording rejects flags that cannot be combined.
func (r *recorder) checkRecording(cmd *cobra.Command, args []string) error {
	r.program = nil
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, r.program = args[:dash], args[dash:]
	}
	if len(args) > 0 {
		return failf(exitUsage, "%s: collect takes no inputs; choose a process with -p PID or --%s NAME, or start one with -- PROGRAM",
			args[0], flagName)
	}
	if err := r.checkTarget(cmd, true); err != nil {
		return err
	}
	switch {
	case r.every > 0 && r.stopOn != "":
		return failf(exitUsage, "--%s has no end: omit --%s", flagEvery, flagStopOn)
	case r.buffer < 1<<20:
		return failf(exitUsage, "--%s: want at least 1 MB", flagBuffer)
	}
	if err := r.checkEvery(cmd); err != nil {
		return err
	}
	return r.parseStopOn()
}

// parseStopOn parses --stop-on: the name of an event, or an expression.
func (r *recorder) parseStopOn() error {
	if r.stopOn == "" {
		return nil
	}
	o := new(selection.Options)
	if strings.ContainsAny(r.stopOn, " =<>!&|(\"~$") {
		if err := o.Parse([]string{r.stopOn}, nil); err != nil {
			return failf(exitUsage, "--%s: %w", flagStopOn, errors.Unwrap(err))
		}
	} else {
		o.Events = []string{r.stopOn}
	}
	r.status.StopOn = o
	return nil
}

// request returns what the process must write. runtime is its version, "" if it is unknown.
func (r *recorder) request(cmd *cobra.Command, runtime string) (*record.Request, error) {
	req := new(record.Request)
	kinds, err := r.recordedKinds(cmd)
	if err != nil {
		return nil, err
	}
	profiles := r.profiles
	if profiles == nil && kinds == nil && r.providers == nil && r.counters == nil {
		profiles = record.ProfilesFor(r.To.Name, signalsOf(cmd))
	}
	for _, name := range profiles {
		if err := req.Profile(name); err != nil {
			return nil, err
		}
	}
	if kinds != nil {
		if err := req.Kinds(kinds, runtime); err != nil {
			return nil, err
		}
	}
	for _, text := range r.providers {
		list, err := record.ParseProviders(text)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			req.Add(p)
		}
	}
	if r.counters != nil {
		req.Counters(r.counters)
	}
	if profiles == nil && kinds == nil && r.counters == nil {
		req.Rundown = record.DefaultRundown
	}
	return req, r.setRundown(req)
}

// recordedKinds returns the kinds of --kind, nil if it is not given. For all, these are all that can be recorded.
func (r *recorder) recordedKinds(cmd *cobra.Command) ([]sample.Kind, error) {
	f := cmd.Flags().Lookup(formats.FlagKind)
	if f == nil || !f.Changed {
		return nil, nil
	}
	var kinds []sample.Kind
	for word := range strings.SplitSeq(f.Value.String(), ",") {
		if word = strings.TrimSpace(word); word == "all" {
			return record.RecordableKinds(), nil
		}
		k, err := sample.Parse(word)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", formats.FlagKind, err)
		}
		if k != sample.Auto {
			kinds = append(kinds, k)
		}
	}
	return kinds, nil
}

// setRundown sets the rundown that --rundown selects.
func (r *recorder) setRundown(req *record.Request) error {
	switch yes, err := strconv.ParseBool(r.rundown); {
	case r.rundown == "":
	case err == nil && yes:
		req.Rundown = record.DefaultRundown
	case err == nil:
		req.Rundown = 0
	default:
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(r.rundown), "0x"), 16, 64)
		if err != nil {
			return fmt.Errorf("--%s %s: want true, false or hexadecimal keywords", flagRundown, r.rundown)
		}
		req.Rundown = n
	}
	return nil
}

// signalsOf returns the value of --signals of otlp, nil if the format has none or it is not given.
func signalsOf(cmd *cobra.Command) []string {
	f := cmd.Flags().Lookup("signals")
	if f == nil || !f.Changed {
		return nil
	}
	return strings.Split(f.Value.String(), ",")
}

// record records a process.
func (a *app) record(cmd *cobra.Command, r *recorder, args []string) error {
	if err := r.checkRecording(cmd, args); err != nil {
		return err
	}
	request, err := r.request(cmd, "") // before a program is started
	if err != nil {
		return fail(exitUsage, err)
	}
	if r.dryRun {
		return a.show(fmt.Sprintf("--providers '%s'\n", request))
	}
	switch {
	case r.every > 0:
		return a.recordEvery(cmd, r)
	case len(r.program) > 0:
		return a.recordProgram(cmd, r)
	}
	ctx, done := context.WithCancel(context.Background())
	defer done()
	a.stopFollowing.Store(&done)
	target, err := r.choose(ctx)
	if err != nil {
		return recordFailure(err)
	}
	return a.recordTarget(ctx, cmd, r, target, nil)
}

// choose returns the process to record.
func (r *recorder) choose(ctx context.Context) (*record.Target, error) {
	if r.name != "" {
		return record.ByName(ctx, r.name)
	}
	return record.ByPID(ctx, r.pid)
}

// guardWord is the first word of the command line of a guard, see record.Guard.
const guardWord = "guard-port"

// portGuard returns the command line of a guard, nil if this process is not the command: only then does its executable know how.
func (a *app) portGuard() record.Guard {
	self, err := os.Executable()
	if err != nil || !slices.Equal(a.words, os.Args[1:]) {
		return nil
	}
	return record.Guard{self, guardWord}
}

// keepRunning runs a guard to its end.
func keepRunning(socket string) int {
	signal.Ignore(syscall.SIGHUP) // of the terminal, which ends with the owner
	if err := record.KeepRunning(os.Stdin, socket); err != nil {
		return exitInput
	}
	return exitOK
}

// recordProgram starts a program, records it, and waits for its end.
func (a *app) recordProgram(cmd *cobra.Command, r *recorder) error {
	streams := record.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if isStdout(r.out) {
		streams.Out = os.Stderr // standard output has the data
	}
	program, err := record.Start(r.program, streams, a.portGuard())
	if err != nil {
		return fail(exitInput, err)
	}
	ctx, done := context.WithCancel(context.Background())
	defer done()
	a.stopFollowing.Store(&done)
	target, err := program.Target(ctx)
	if err == nil {
		err = a.recordTarget(ctx, cmd, r, target, func() error { return program.Resume(context.Background(), target) })
	} else {
		err = recordFailure(err)
	}
	if err != nil && codeOf(err) != exitIncomplete && codeOf(err) != exitEmpty {
		program.Kill()
	}
	switch code := program.Wait(); {
	case code == 0:
		return err
	case err == nil:
		return fail(code, errQuiet)
	case codeOf(err) == exitIncomplete || codeOf(err) == exitEmpty:
		return fail(code, err) // a program that crashes leaves an incomplete recording; its own failure is what its caller asks for
	}
	return err
}
