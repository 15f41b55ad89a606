package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gdamore/tcell/v3"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/spf13/cobra"
)

// An app is the state of one run of the command, which its subcommands share.
//
// Other goroutines read some fields: the signal handler and the memory limit end the process while the command
// continues.
//
//	field              set by                          read by
//	ended              end, outOfMemory                run, collect: they leave the last message to the handler
//	interruptMessage   onInterrupt, sayOnInterrupt     the handler of SIGINT and SIGTERM
//	remains            keepsOnInterrupt                outOfMemory
//	detail             showSending, downloads          progress
//	begun              begin                           outOfMemory, for its summary; sum belongs to the command
//	stopFollowing      following                       the handler, which calls it for the first signal
//	cleaner, temps     the outputs and temporary files the handler, to remove them
type app struct {
	stdout, stderr io.Writer
	help           textWriter

	quiet        bool
	silent       bool // finish prints nothing
	force        bool
	failOnLoss   bool
	report       string // reportText or reportJSON
	progressForm string // a value of --progress
	lines        bool   // lines are written to standard output while the input is read
	from         string // format of the input, "" to recognize it
	read         formats.ReadOptions
	openers      *formats.Openers
	limits       fileio.Limits
	quota        fileio.Quota
	memory       *pass.MemoryLimit // of the process; jobs share it
	pick         pickFlags
	repeated     []repeatedFlag                               // flags of the command line for proposed commands
	piped        string                                       // the command that a proposed pipe ends with
	words        []string                                     // words of the command line, nil to build the flags of all commands
	spans        job.Spans                                    // those of plan
	combine      func([]ntconv.Source) (ntconv.Source, error) // input.Options.Merge; set by merge
	rewrite      func(ntconv.Source) ntconv.Source            // of the inputs, nil if they are read as they are

	printing         sync.Mutex                    // guards lines of the progress on standard error
	events           *atomic.Int64                 // read by all sources and jobs, if countsEvents
	counted          bool                          // the run that this is a job of counts events
	ended            atomic.Bool                   // a signal or the memory limit is about to end the process
	severalOutputs   bool                          // the run commits several outputs, one after the other
	interruptMessage atomic.Pointer[func() string] // message if the user interrupts now; nil means none
	remains          atomic.Pointer[func() string] // describes the output that remains if the run is ended early; nil means none
	detail           atomic.Pointer[func() string] // describes an upload or a download in the progress bar; nil means none
	phases           atomic.Int32                  // that are being shown
	stopFollowing    atomic.Pointer[context.CancelFunc]
	followed         context.Context // of following
	cleaner          *fileio.Cleaner
	publish          atomic.Pointer[func()]       // completes what only waits for other outputs, before the process ends
	openScreen       func() (tcell.Screen, error) // set by tests; nil opens the terminal
	restore          atomic.Pointer[func()]       // leaves the screen, before the process ends; nil if there is none
	temps            *temps
	left             error                        // error of the first output that could not be removed
	sum              *pass.Summary                // nil until the command calls begin
	begun            atomic.Pointer[pass.Summary] // copy of sum from begin, for other goroutines
}

const (
	reportText = "text"
	reportJSON = "json"
)

// newApp returns the state of a run with the defaults of all flags.
func newApp(stdout, stderr io.Writer) *app {
	return &app{
		stdout: stdout, stderr: stderr, help: textWriter{w: stdout}, read: formats.ReadOptions{MaxTemp: formats.DefaultTemp},
		limits: *fileio.DefaultLimits(), piped: "ntconv info", openers: new(formats.Openers), cleaner: new(fileio.Cleaner), temps: new(temps),
		report: reportText, progressForm: progressAuto, events: new(atomic.Int64),
		memory: &pass.MemoryLimit{Max: pass.DefaultMemory, Advice: "raise --" + formats.FlagMemory},
	}
}

// run executes the command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	a := newApp(stdout, stderr)
	stop := a.catchSignals()
	defer stop()
	defer a.temps.remove()
	defer func() {
		if r := recover(); r != nil {
			_ = a.cleaner.AbortAll() // the panic is more important
			a.temps.remove()
			panic(r)
		}
	}()

	root := a.command(args)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	a.memory.Stop()
	if a.help.err != nil {
		err = outputFailure(a.help.err)
	}
	if a.ended.Load() {
		select {} // wait: the handler of the signal prints the message and exits
	}
	return a.finish(cmd, err)
}

// command returns the root command for the words of a command line. If the first word is a command, there are no
// others: building the flags and the help of all takes longer than reading a small trace.
func (a *app) command(args []string) *cobra.Command {
	a.words = args
	root := &cobra.Command{
		Use:   "ntconv",
		Short: "Convert and inspect .NET traces",
		Long: "ntconv reads .NET traces (nettrace, netperf), pprof profiles and other formats, and writes what other tools\n" +
			"understand. An input may be compressed with gzip or zstd, and - is standard input. In the usage of a command, IN\n" +
			"is the name of an input.",
		Example: examples(
			"where the time went", "ntconv top trace.nettrace",
			"a flame graph in a browser", "ntconv view trace.nettrace",
			"the contents of the trace", "ntconv info trace.nettrace",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.repeated = repeatedFlags(cmd)
			if readsOneInput(cmd) {
				a.piped = cmd.CommandPath()
			}
			a.read.Memory = a.memory.Max
			a.memory.End = a.outOfMemory
			a.memory.Start()
			a.onInterrupt("interrupted, nothing written")
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(&a.help)
	root.SetErr(a.stderr)
	root.SetHelpFunc(showHelp)
	root.SetVersionTemplate("{{.Version}}")
	if build := a.commands(args)[firstWord(args)]; build != nil {
		root.AddCommand(build())
		root.CompletionOptions.DisableDefaultCmd = true
	} else {
		root.Version = versionText()
		for _, build := range a.commands(args) {
			root.AddCommand(build())
		}
		root.AddCommand(topics()...)
		addStandardCommands(root)
	}
	if isCompletion(args) {
		prepareCompletion(root)
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err, args) })
	return root
}

// commands returns the commands of ntconv by name, for the words of a command line.
func (a *app) commands(args []string) map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"convert":     a.convertCmd,
		"to":          func() *cobra.Command { return a.toCmd(nil, args) },
		"from":        func() *cobra.Command { return a.fromCmd(args) },
		"info":        a.infoCmd,
		"symbols":     a.symbolsCmd,
		recordCommand: func() *cobra.Command { return a.collectCmd(args) },
		"print":       a.printCmd,
		"top":         a.topCmd,
		"view":        a.viewCmd,
		"ps":          a.psCmd,
		"counters":    a.countersCmd,
		"diff":        a.diffCmd,
		"filter":      a.filterCmd,
		"merge":       a.mergeCmd,
		"split":       a.splitCmd,
		"scrub":       a.scrubCmd,
		"verify":      a.verifyCmd,
		"dataset":     a.datasetCmd,
		"sql":         a.sqlCmd,
		"pipeline":    a.pipelineCmd,
		"version":     a.versionCmd,
		"man":         a.manCmd,
	}
}

// firstWord returns the first of several words, "" if there are none.
func firstWord(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// wordsAfter returns the words after the first occurrence of word, nil if there is none.
func wordsAfter(words []string, word string) []string {
	if i := slices.Index(words, word); i >= 0 {
		return words[i+1:]
	}
	return nil
}

// finish prints the error and the summary of the run and returns the exit code. cmd is the command for errors of usage.
func (a *app) finish(cmd *cobra.Command, err error) int {
	if err == nil {
		err = a.left
	}
	code := codeOf(err)
	if a.silent {
		return code
	}
	if a.report == reportJSON && code != exitUsage && a.sum != nil {
		a.sum.Exit = code
		if err != nil {
			a.sum.Error = message.Shorten(err.Error())
		}
		if werr := a.sum.WriteJSON(a.stderr); werr != nil && code == exitOK {
			code = exitOutput
		}
		return code
	}
	if err != nil && !errors.Is(err, errQuiet) {
		fmt.Fprintf(a.stderr, "ntconv: %s\n", message.Visible(message.Shorten(err.Error())))
		if code == exitUsage {
			fmt.Fprintf(a.stderr, "Run '%s --help' for usage and examples.\n", cmd.CommandPath())
		}
	}
	if a.sum != nil && !a.quiet && a.sum.Done {
		fmt.Fprintln(a.stderr, message.Line(message.Shorten(a.sum.Line())))
	}
	return code
}

// A textWriter writes help and completion scripts to standard output, and keeps the first error, which cobra ignores.
type textWriter struct {
	w   io.Writer
	n   int64
	err error // the first one, of type *fileio.Error
}

// Write implements io.Writer.
func (t *textWriter) Write(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.w.Write(p)
	if t.n += int64(n); err != nil {
		t.err = &fileio.Error{Name: fileio.StdoutName, Op: "write", Bytes: t.n, Err: err}
	}
	return n, t.err
}

// terminal reports whether a stream is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}

// readsOneInput reports whether an input is the only argument that a command needs, according to its usage.
func readsOneInput(cmd *cobra.Command) bool {
	arguments := slices.DeleteFunc(strings.Fields(cmd.Use)[1:], func(word string) bool {
		return strings.HasPrefix(word, "[") || strings.HasSuffix(word, "]")
	})
	return slices.Equal(arguments, []string{"IN"}) || slices.Equal(arguments, []string{"IN..."})
}
