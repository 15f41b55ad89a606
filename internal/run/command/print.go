package command

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/where"
	"github.com/ntconv/ntconv/internal/show/eventtext"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A printing is a request to print events.
type printing struct {
	in, out string
	json    bool
	lines   eventtext.Options
	frames  bool
	names   *symbol.Options
	stats   statistics
}

func (a *app) printCmd() *cobra.Command {
	var r printing
	cmd := &cobra.Command{
		Use:               "print IN",
		Short:             "Print events as text or as JSON lines",
		Long:              printDetails + "\n\n" + statsDetails,
		Example:           printExamples(),
		Args:              printInput,
		ValidArgsFunction: inputCompletion,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.in = args[0]
			r.frames = r.frames || cmd.Flags().Changed(formats.FlagSymbols)
			if err := r.stats.check(cmd); err != nil {
				return err
			}
			if r.stats.wanted {
				return a.printStats(cmd, &r)
			}
			return a.print(&r)
		},
	}
	return a.withFlags(cmd, func() {
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.BoolVar(&r.json, "json", false, "print JSON lines, with --stats one JSON object")
			flags.BoolVar(&r.lines.Hex, "hex", false, "print the bytes of payloads")
			flags.BoolVar(&r.lines.CRC, "crc", false, "print the CRC-32 of payloads")
			flags.BoolVar(&r.lines.Stacks, "stacks", false, "print the addresses of stacks, leaf first")
			flags.BoolVar(&r.frames, flagFrames, false, "print symbolized stacks; reads the input twice; implied by --"+formats.FlagSymbols)
			r.names = formats.NamesFlag(flags)
			r.stats.bind(flags)
			r.out = "-"
			flags.VarP((*fileName)(&r.out), "output", "o", "output `file`")
			flags.BoolVarP(&a.force, "force", "f", false, "overwrite an existing output")
		})
		a.addInputFlags(cmd)
		for _, name := range []string{flagBy, flagOf} {
			complete(cmd, name, where.OperandNames())
		}
	})
}

// flagFrames is the flag for symbolized stacks.
const flagFrames = "frames"

// printInput is the argument check of print. Its --symbols once took no value, so an old command line has no input.
func printInput(cmd *cobra.Command, args []string) error {
	if list, ok := cmd.Flags().Lookup(formats.FlagSymbols).Value.(pflag.SliceValue); ok && len(args) == 0 {
		if dirs := list.GetSlice(); len(dirs) > 0 {
			return fmt.Errorf("--symbols names a directory with symbols; to print symbolized stacks, run: ntconv print --%s %s",
				flagFrames, message.ShellWord(dirs[len(dirs)-1]))
		}
	}
	return oneInput(cmd, args)
}

// printDetails is the part of the help about lines of events.
const printDetails = "Print the events of a trace, one per line: the time since the start, process/thread, CPU, provider/event and fields.\n" +
	"With --json every line is a JSON object; its keys are ticks, time, pid, tid, cpu, provider, id, version, name, opcode,\n" +
	"level, keywords, activity_id, related_activity_id, trace_id, span_id, labels, size, crc32, payload_hex, payload, stack.\n\n" +
	"Times count from the start of the recording. Timelines (chrome, perfetto, firefox, speedscope) count from their first item.\n\n" +
	"Symbols usually come last in a trace: with --frames it is read twice, and standard input is copied to a\n" +
	"temporary file for that."

func printExamples() string {
	return examples(
		"exceptions with their stacks", "ntconv print --event ExceptionThrown --frames trace.nettrace",
		"as JSON, for jq", `ntconv print --json --provider 'System.Net.*' trace.nettrace | jq .payload`,
		"one thread in the last second", "ntconv print --tid 4711 --from-time -1s trace.nettrace",
		"allocated bytes by type",
		"ntconv print --stats --event GCAllocationTick --by TypeName --of AllocationAmount64 trace.nettrace",
		"exceptions by type and process",
		"ntconv print --stats --event ExceptionThrown --by 'ExceptionType,$process' trace.nettrace",
	)
}

func (a *app) print(r *printing) error {
	a.begin(&pass.Summary{Input: r.in, Flags: a.openers.Notes})
	a.lines = isStdout(r.out)
	if err := checkOutput(r.out, r.in); err != nil {
		return err
	}
	plan, err := a.plan()
	if err != nil {
		return err
	}
	if r.frames {
		r.lines.Stacks = true
		plan.Names, plan.NamesFirst = r.names, true
	}
	plan.Check = isStdout(r.out)
	return a.over([]string{r.in}, plan, func(p *pass.Pass) error {
		var sink *lineSink
		r.lines.Namer = p.Namer
		err := a.deliver(p, &delivery{
			name: r.out,
			create: func(out *fileio.Outputs) (ntconv.Sink, error) {
				w, err := out.Create("")
				sink = newLineSink(w, p, r)
				return sink, err
			},
			flush: func() { _ = sink.write() }, // the next write returns the error again
			done: func() error {
				if sink.n == 0 {
					return a.nothing(p, "events", "")
				}
				return nil
			},
		})
		if isStdout(r.out) {
			a.sum.Output = ""
		}
		return err
	})
}

// A lineSink writes events as lines. It is a sink for one pass of print.
type lineSink struct {
	out     *fileio.Member
	printer *eventtext.Printer
	json    bool
	mark    func(*ntconv.Event) bool // reports whether a mark is printed
	buf     []byte
	err     error // of the first write that failed
	n       int64 // events printed
}

func newLineSink(out *fileio.Member, p *pass.Pass, r *printing) *lineSink {
	return &lineSink{
		out:     out,
		printer: eventtext.New(p.Info.Clock, r.lines),
		json:    r.json,
		mark:    p.Selector.KeepMark,
	}
}

// lineBuffer is the number of bytes of lines that are buffered.
const lineBuffer = 64 << 10

// Write implements ntconv.Sink.
func (s *lineSink) Write(e *ntconv.Event) error {
	at := len(s.buf)
	switch {
	case !s.json && (e.Kind != ntconv.KindMark || s.mark(e)):
		s.buf = s.printer.AppendText(s.buf, e)
	case s.json && e.Kind == ntconv.KindEvent:
		s.buf = s.printer.AppendJSON(s.buf, e)
	}
	if e.Kind == ntconv.KindEvent {
		s.n++
		if err := s.printer.Err(); err != nil {
			s.buf = s.buf[:at]
			return fmt.Errorf("event %d: %w", s.n, errors.Join(err, s.write()))
		}
	}
	if len(s.buf) >= lineBuffer {
		return s.write()
	}
	return nil
}

// write returns the error of an earlier call again.
func (s *lineSink) write() error {
	if s.err == nil {
		_, s.err = s.out.Write(s.buf)
	}
	s.buf = s.buf[:0]
	return s.err
}

// Close implements ntconv.Sink.
func (s *lineSink) Close() error { return s.write() }
