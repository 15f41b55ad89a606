package command

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// topics returns the topics of help, which are commands that cannot be run.
func topics() []*cobra.Command {
	return []*cobra.Command{exitCodesTopic(), formatsTopic(), limitsTopic(), whereTopic()}
}

// formatsTopic is the help topic on formats.
func formatsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "Formats that ntconv reads and writes",
		Long: "Reads:\n" + readLines(formats.Readable()) + "\nWrites:\n" + formatLines(formats.Writable()) + `
The format of an input is recognized by its content; --from FORMAT names it. Inputs may be compressed with gzip or
zstd, and - is standard input. The format of an output follows from its extension, or from the command:
ntconv to FORMAT, whose help describes the format's own flags.`,
		Example: examples(
			"by extension", "ntconv convert trace.nettrace trace.pb.gz",
			"by name, with flags of the format", "ntconv to pprof --kind cpu trace.nettrace",
		),
	}
}

// limitsTopic is the help topic on the limits of all commands that read a trace.
func limitsTopic() *cobra.Command {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	newApp(nil, nil).bindLimits(flags)
	return &cobra.Command{
		Use:   "limits",
		Short: "Limits on memory and sizes, and the flags that change them",
		Long: "Inputs are untrusted: limits prevent a corrupt or malicious input from filling memory or disk.\n" +
			"The defaults suit large traces. If an input exceeds a limit, the error names the flag of the limit, and the exit\n" +
			"code is 5. Every command that reads a trace has these flags:\n\n" +
			flags.FlagUsagesWrapped(helpWidth) + "\n" +
			"Sizes are numbers of bytes, which may end in KiB, MiB, GiB or TiB.",
		Example: examples(
			"with more memory", "ntconv top --max-memory 4GiB large.nettrace",
			"with more threads", "ntconv info --max-threads 5000000 trace.nettrace",
		),
	}
}

// exitCodesTopic is the help topic on exit codes.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Exit codes and what they mean",
		Long:  exitCodes,
		Example: examples(
			"accept the profile of a truncated trace", "ntconv to pprof trace.nettrace || test $? = 3",
		),
	}
}

// readLines describes formats as inputs, one per line.
func readLines(table []*formats.Format) string {
	var b strings.Builder
	for _, f := range table {
		fmt.Fprintf(&b, "  %-10s %-24s %s\n", f.Name, strings.Join(f.Exts, " "), f.Doc)
	}
	return b.String()
}

// whereTopic is the help topic on expressions.
func whereTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "where",
		Short: "The expressions of --where and --during",
		Long:  whereHelp,
		Example: examples(
			"large objects of some types",
			"ntconv print --where 'ObjectSize > 85000 && TypeName =~ \"Buffer|Stream\"' trace.nettrace",
			"methods that ran in slow requests",
			"ntconv top --during 'span.name =~ \"GET /cart\" && span.duration > 100ms' trace.nettrace",
			"what happened during collections of generation 2 that took long",
			"ntconv print --during 'gc.generation == 2 && gc.duration > 50ms' trace.nettrace",
			"the first five seconds of two threads",
			"ntconv print --where '$time < 5s && $tid in (4711, 4712)' trace.nettrace",
		),
	}
}

// whereHelp describes the expressions. The help wraps its paragraphs.
const whereHelp = `--where 'EXPRESSION' selects events by their contents, in addition to the other flags of a selection.
If it is given more than once, all expressions must be true.

A comparison has a field or a property on its left and a value on its right:

  Size, Payload.Mean          a field of the payload, as ntconv print shows it; a field of an object in it
  "field with spaces"         the same, quoted
  $time                       since the start of the trace: 1.5s, 200ms, or "2026-11-21T06:52:53.5Z"
  $tid $pid $cpu              thread, process, CPU: numbers
  $provider $event            names
  $level $opcode $keywords $id $version $size   numbers; $size is the size of the payload in bytes
  $activity_id $related_activity_id $trace_id $span_id   IDs as strings
  $label.KEY                  a label of the event

  == != < <= > >=             numbers (15, 0xff, 1.5e3), strings in quotes, durations, true, false
  =~                          a regular expression that matches a part of the string
  in (a, b, c)                one of several values
  has(Field)                  whether there is a value
  && || ! ( )                 and, or, not

Strings can also be compared with IDs, dates, and the names of the runtime's numbers: Type == "Managed". A comparison
with something that an event does not have is false, even with !=. In a list, one element must match. If a comparison
cannot be true for any event, for example because no event has the field, the summary says so.

--during 'EXPRESSION' selects events that were recorded while something was open for which the expression is true. The
operators are the same. An expression is about one kind of interval, and its properties begin with the name of the kind;
the name alone, as in --during gc, means any interval of the kind. If --during is given more than once, expressions about
one kind must be true for the same interval, and an event must be during an interval of each kind.

  gc                          garbage collections: gc.generation gc.number, numbers; gc.reason (Induced, AllocSmall)
                              gc.type, words; gc.pause, how long it suspended the program
  pause                       suspensions for a collection: pause.generation pause.number (of it) pause.reason
  suspension                  suspensions for another reason, such as a debugger: suspension.reason
  contention                  waits for locks: contention.kind (managed, native) contention.lock_id
                              contention.owner_thread_id
  wait                        waits for wait handles: wait.source wait.object_id
  jit                         compilations: jit.method jit.il_size jit.code_size
  exception                   from the throw to the handler: exception.type exception.message
  typeload                    loads of types: typeload.type typeload.level
  task                        tasks while they run: task.id
  pair                        all of these, and all other pairs of events, such as AssemblyLoad: pair.name pair.provider
  request                     HTTP requests: request.route (else the path) request.path request.method request.host
                              request.status request.side (server, client) request.attributes.KEY
  span                        spans: span.name; span.scope, the ActivitySource or event source that recorded the span;
                              span.kind (internal, server, client, producer, consumer); span.status (unset, ok, error);
                              span.trace_id span.span_id span.parent_span_id, in hexadecimal; span.attributes.KEY

  KIND.duration               of all kinds: 100ms, 1.5s
  KIND.start                  since the start of the trace, or a date and time
  KIND.fields.KEY             of all kinds but request and span: a field of the event that begins or ends the interval

The keys of fields and attributes may contain dots, or be quoted. If no interval matches, the summary lists what the
trace has.

A collection, a pause, and the time in a queue concern all threads of the process. Other intervals concern the thread on
which they begin and end, or all threads of the process if they end on another thread. An interval whose begin or end is
not in the trace is ignored. Spans and requests concern the events of their activity and thread, and of the spans within
them: a span is active on the thread that started and ended it. If only its end was recorded, that is the thread of the
end. --span-link chooses the evidence: labels of the event, activity IDs, threads.`
