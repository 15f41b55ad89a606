package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/memlimit"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/summary"
	"github.com/spf13/cobra"
)

// An app is one run of the command: what the verbs share.
type app struct {
	stdout, stderr io.Writer
	help           textWriter

	quiet      bool
	force      bool
	failOnLoss bool
	report     string // reportText or reportJSON
	lines      bool   // lines go to standard output while the input is read
	from       string // format of the input, "" to recognize it
	read       formats.ReadOptions
	openers    *formats.Openers
	limits     iox.Limits
	quota      iox.Quota
	memory     *memlimit.Limit // of the process: jobs share it
	pick       pickFlags
	given      []givenFlag // flags of the command line for proposed commands
	piped      string      // the command that a proposed pipe ends with
	words      []string    // words of the command line, nil to build the flags of all commands
	spans      spanUse

	ended            atomic.Bool                   // a signal or the limit on memory is about to end the process
	several          bool                          // the run makes several outputs visible, one after the other
	interruptMessage atomic.Pointer[func() string] // what to say if the user interrupts now, nil for nothing
	kept             atomic.Pointer[func() string] // what stays of the run if it is ended early, nil for nothing
	sent             atomic.Pointer[func() string] // what the progress bar shows of an upload, nil for nothing
	cleaner          *iox.Cleaner
	temps            *temps
	left             error                           // of the first output that could not be removed
	sum              *summary.Summary                // nil until a verb has something to sum up
	begun            atomic.Pointer[summary.Summary] // what sum was when the verb began, for other goroutines
}

const (
	reportText = "text"
	reportJSON = "json"
)

// newApp returns a run with the defaults of all flags.
func newApp(stdout, stderr io.Writer) *app {
	return &app{
		stdout: stdout, stderr: stderr, help: textWriter{w: stdout}, read: formats.ReadOptions{MaxTemp: formats.DefaultTemp},
		limits: *iox.DefaultLimits(), piped: "ntconv info", openers: new(formats.Openers), cleaner: new(iox.Cleaner), temps: new(temps),
		memory: &memlimit.Limit{Max: memlimit.Default, Advice: "raise --" + formats.FlagMemory},
	}
}

// run is the command: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	a := newApp(stdout, stderr)
	stop := a.catchSignals()
	defer stop()
	defer a.temps.remove()
	defer func() {
		if r := recover(); r != nil {
			_ = a.cleaner.AbortAll() // the panic says more
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
		select {} // the error is a consequence of the signal, whose handler has the last word
	}
	return a.finish(cmd, err)
}

// command returns the root of the commands. args are the words of the command line: commands that they do not name have
// no flags. With nil all commands have their flags.
func (a *app) command(args []string) *cobra.Command {
	a.words = args
	root := &cobra.Command{
		Use:   "ntconv",
		Short: "Convert and inspect .NET traces",
		Long: "ntconv reads .NET traces (nettrace, netperf), pprof profiles and other formats, and writes what other tools\n" +
			"understand. An input may be compressed with gzip or zstd, and - is standard input. In the usage of a command, IN\n" +
			"is the name of an input.",
		Example: examples(
			formats.Example{Remark: "where the time went", Line: "ntconv top trace.nettrace"},
			formats.Example{Remark: "a flame graph of it, in a browser", Line: "ntconv view trace.nettrace"},
			formats.Example{Remark: "what else is in the trace", Line: "ntconv info trace.nettrace"},
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noVerb(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.given = givenFlags(cmd)
			if cmd.Args != nil && cmd.Args(cmd, []string{"-"}) == nil {
				a.piped = cmd.CommandPath()
			}
			a.read.Memory = a.memory.Max
			a.memory.End = a.outOfMemory
			a.memory.Start()
			a.onInterrupt("interrupted, nothing written")
		},
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
	}
	root.SetOut(&a.help)
	root.SetErr(a.stderr)
	root.SetHelpFunc(showHelp)
	root.SetVersionTemplate("{{.Version}}")
	root.AddCommand(
		a.convertCmd(),
		a.toCmd(nil),
		a.fromCmd(args),
		a.infoCmd(),
		a.printCmd(),
		a.topCmd(),
		a.viewCmd(),
		a.filterCmd(),
		a.verifyCmd(),
		a.datasetCmd(),
		a.sqlCmd(),
		versionCmd(a),
	)
	root.AddCommand(topics()...)
	addStandardCommands(root)
	addSuggestions(root)
	if isCompletion(args) {
		prepareCompletion(root)
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err, args) })
	return root
}

// finish tells how the run ended and returns the exit code. cmd is for errors of usage.
func (a *app) finish(cmd *cobra.Command, err error) int {
	if err == nil {
		err = a.left
	}
	code := codeOf(err)
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

// A textWriter writes help and completion scripts to standard output, and keeps the error of the library's writes.
type textWriter struct {
	w   io.Writer
	n   int64
	err error // the first one, of type *iox.Error
}

// Write implements io.Writer.
func (t *textWriter) Write(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.w.Write(p)
	if t.n += int64(n); err != nil {
		t.err = &iox.Error{Name: iox.StdoutName, Op: "write", Bytes: t.n, Err: err}
	}
	return n, t.err
}

// terminal reports whether a stream is one that a person looks at.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}
