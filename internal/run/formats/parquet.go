package formats

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/pflag"
)

// parquetFormat returns the row of Parquet.
func parquetFormat() *Format {
	return &Format{
		Name: "parquet",
		Exts: []string{".parquet"},
		Doc:  "tables of a trace for DuckDB, Spark, ClickHouse and polars",
		In:   parquetIn(),
		Out: &Out{
			Doc:    "the whole trace as tables, for DuckDB, Spark, ClickHouse and polars",
			Help:   parquetHelp,
			Binary: true,
			Merges: true, Dataset: true,
			Needs: Needs{
				Names: NamesLast,
				Order: reader.ByTime, // so that a time filter reads only a part of each table
			},
			Advice: noEvents.Next,
			Bind:   func(flags *pflag.FlagSet) Settings { return bindParquet(flags).output },
			Examples: []string{
				"a directory of tables, and the events per type",
				`ntconv to parquet trace.nettrace -o trace.parquet/ && duckdb -c "SELECT event, count(*) FROM 'trace.parquet/events.parquet' GROUP BY ALL"`,
				"one file of events with all names", "ntconv to parquet trace.nettrace -o events.parquet",
				"the same to standard output",
				"ntconv to parquet --single trace.nettrace -o - | ssh host 'cat > events.parquet'",
				"all traces of a directory into one dataset",
				"ntconv to parquet --dataset warehouse --partition day,service traces/",
				"payloads as bytes instead of JSON", "ntconv to parquet --raw trace.nettrace -o trace.parquet/",
			},
		},
	}
}

const parquetHelp = `Without -o, and with -o DIR/, the output is a directory with one file per table; ntconv to nettrace DIR/ restores the trace from it.
With -o FILE.parquet, standard output and --single it is one file of events with all names, which does not restore the trace.

With --dataset DIR, the tables of all inputs are in DIR: one directory per table, which query engines read as a partitioned table, with
typed tables for all events of the runtime and those of --typed. Inputs are files, directories with traces, and quoted patterns such as
'traces/**/*.nettrace.zst'. A trace appears complete or not at all; one that the dataset has, whatever its name and compression, is
skipped. So a run that was interrupted or killed is continued by the same command, and several runs can add to one dataset at the same
time. An input that cannot be read keeps no other from being added; the exit code is the worst of all. ntconv dataset lists, removes and
verifies traces.`

// A parquetSettings has the flags of ntconv to parquet, and for one output the index of spans of its input.
type parquetSettings struct {
	options parquet.Options
	flags   *pflag.FlagSet
	link    active.Evidence // evidence that may link a sample to a span; 0 means no links
	kinds   kindFlags
	single  bool // --single was given
}

const (
	flagSingle = "single"
	flagRaw    = "raw"

	FlagTyped     = "typed"
	FlagTypedRows = "typed-rows"
)

func bindParquet(flags *pflag.FlagSet) *parquetSettings {
	c := &parquetSettings{flags: flags}
	flags.BoolVar(&c.single, flagSingle, false, "write one file of events with all names instead of a directory of tables")
	flags.BoolVar(&c.options.Raw, flagRaw, false, "write the payloads of events as bytes instead of JSON")
	flags.StringSliceVar(&c.options.Typed, FlagTyped, nil, "write a table with a column per field for this `provider/event`, "+
		"for all, or for none; repeatable (default: frequent events)")
	flags.Int64Var(&c.options.TypedRows, FlagTypedRows, 0,
		"minimum number of events that makes a type frequent (default 1000)")
	c.kinds.bindSamples(flags)
	bindSpanLink(flags, &c.link)
	return c
}

// output implements Settings. A directory is the default, which no flag asks for.
func (c *parquetSettings) output(o *Output) {
	own := *c
	o.ByName, o.Create = true, own.create
	if c.single || namesParquet(o) {
		o.Needs.Names = NamesFirst
		return
	}
	o.Destination = ToDir
	if c.link != 0 {
		o.Needs.Lookaheads = []Lookahead{spanLookahead(c.link, c.flags.Changed(FlagSpanLink), func(spans *activeSpans) { own.options.Active = spans.find })}
	}
}

// namesParquet reports whether the name of an output is that of one file.
func namesParquet(o *Output) bool {
	if o.Name == "" || o.IsDir || strings.HasSuffix(o.Name, "/") || strings.HasSuffix(o.Name, string(filepath.Separator)) {
		return false
	}
	return o.Name == "-" || strings.EqualFold(filepath.Ext(o.Name), ".parquet") || strings.HasPrefix(o.Name, "/dev/")
}

func (c *parquetSettings) create(out *fileio.Outputs, info *ntconv.Info, t *Target) (Sink, error) {
	if err := c.kinds.check(); err != nil {
		return nil, err
	}
	o := c.options
	o.MaxTemp = t.MaxTemp
	o.Kinds, o.KindOptions, o.Window = c.kinds.sampleKinds(), c.kinds.options, t.Window
	o.Report, o.Ordered, o.Selection, o.Source, o.Version = t.Report, t.Ordered, t.Filtered, t.Input, t.Version
	o.Uniform = t.Uniform || t.Trace != nil
	if t.Trace != nil {
		o.TraceUID, o.Service = t.Trace.UID, t.Trace.Service
		o.Typed, o.Source = t.Trace.Typed, cmp.Or(t.Trace.Source, o.Source)
	}
	if c.options.TypedRows < 1 && c.flags.Changed(FlagTypedRows) {
		return nil, fmt.Errorf("--%s %d: want at least 1", FlagTypedRows, c.options.TypedRows)
	}
	if out.IsDir() {
		sink, err := parquet.New(func(table string) (io.WriteCloser, error) { return out.Create(table + ".parquet") },
			info, t.Namer, &o)
		if err != nil {
			return nil, err
		}
		return parquetSink{sink, o.Raw, o.Active != nil}, nil
	}
	if o.Raw {
		return nil, fmt.Errorf("--%s: one file of events has no column for it; write a directory with -o DIR/, or omit --%s",
			flagRaw, flagRaw)
	}
	for _, name := range []string{FlagTyped, FlagTypedRows} {
		if c.flags.Changed(name) {
			return nil, fmt.Errorf("--%s: one file of events has no typed tables; write a directory with -o DIR/, or omit --%s",
				name, name)
		}
	}
	w, err := out.Create("")
	if err != nil {
		return nil, err
	}
	sink, err := parquet.NewSingle(w, info, t.Namer, &o)
	if err != nil {
		return nil, err
	}
	return singleSink{sink}, nil
}

type parquetSink struct {
	*parquet.Sink
	raw    bool
	linked bool // samples were linked to the spans of the trace
}

func (s parquetSink) Result() Result {
	d := s.Summary()
	r := &tablesResult{
		eventsResult: *newEventsResult(d.Events, ""), Tables: len(d.Tables), Typed: d.TypedTables, Samples: d.Samples, Spans: d.Spans, RawPayloads: d.Raw,
	}
	var notes []string
	if s.linked && d.Samples > 0 {
		notes = append(notes,
			fmt.Sprintf("%s of %s linked to spans", message.Group(d.Linked), message.Count(d.Samples, "sample")))
	}
	if d.Raw > 0 && !s.raw {
		notes = append(notes,
			message.Count(d.Raw, "payload")+" kept as bytes in addition, because JSON does not restore them")
	}
	if len(d.Unmatched) > 0 {
		notes = append(notes, fmt.Sprintf("no event with fields matches --%s %s", FlagTyped, strings.Join(d.Unmatched, ",")))
	}
	r.Text = strings.Join(notes, "; ")
	return r
}

type singleSink struct{ *parquet.SingleSink }

func (s singleSink) Result() Result { return newEventsResult(s.Summary().Events, "") }

// tablesResult is the result of a directory of tables.
type tablesResult struct {
	eventsResult
	Tables      int   `json:"tables"`
	Typed       int   `json:"typed_tables"`
	Samples     int64 `json:"samples"`
	Spans       int64 `json:"spans"`
	RawPayloads int64 `json:"raw_payloads"` // payloads that JSON does not restore
}

func (t *tablesResult) Line(r Read) string {
	line := message.Count(int64(t.Tables), "table")
	if t.Typed > 0 {
		line += fmt.Sprintf(" (%d typed)", t.Typed)
	}
	return line + ", " + t.eventsResult.Line(r)
}
