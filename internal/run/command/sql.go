package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A question is a request to run a query over the tables of traces.
type question struct {
	query  string
	file   fileName // with the query, "" if it is an argument
	views  bool     // print the views instead
	form   string
	duckdb string
	traces []string
}

// sqlForms are the forms of results: the value of the flag and the option of DuckDB.
var sqlForms = []struct{ name, option string }{
	{"table", "-box"}, {"csv", "-csv"}, {"json", "-json"}, {"jsonlines", "-jsonlines"}, {"markdown", "-markdown"},
	{"line", "-line"},
}

// sqlHelp is the help of ntconv sql.
const sqlHelp = "Run a query in SQL over the tables of traces. DuckDB runs it: its program duckdb (" + duckdbPlace + "),\n" +
	"or " + companion + " next to ntconv.\n\n" +
	"A TRACE is a trace or a profile, a directory of these or a quoted pattern, a directory of tables (ntconv to parquet), a dataset\n" +
	"(ntconv to parquet --dataset), or a trace of one. Traces and profiles are converted to a temporary directory (in TMPDIR), with a\n" +
	"typed table for every event type; to run more than one query, convert once. Every table is a view over all traces, with a column\n" +
	"trace: the name of the file. IDs count from 1 in every trace, so joins compare that column, too: JOIN stacks USING (trace,\n" +
	"stack_id). Only the tables that the query names are bound.\n\n" +
	"In addition to the tables there are\n" +
	"  stack_frames      one row per frame of a stack; position 1 is the innermost\n" +
	"  stack_text        each stack as one line\n" +
	"  own_functions     the innermost function of each stack that is not in a module of .NET\n" +
	"  sample_functions  one row per sample and function of its stack, to add up by thread, span or time\n" +
	"  methods('wall')   self and total values of functions\n\n" +
	"The result is a table on a terminal and CSV elsewhere; --format chooses."

func (a *app) sqlCmd() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "sql QUERY TRACE...",
		Short: "Run a query in SQL over the tables of traces, with DuckDB",
		Long:  sqlHelp,
		Example: examples(
			"list the tables", "ntconv sql 'SHOW TABLES' trace.nettrace",
			"where the time went", "ntconv sql \"FROM methods('wall') ORDER BY self DESC LIMIT 10\" trace.nettrace",
			"two recordings, as CSV",
			"ntconv sql --format csv 'SELECT trace, event, count(*) FROM events GROUP BY ALL' before.nettrace after.nettrace",
			"the same views in a DuckDB of your own",
			"ntconv sql --views app.parquet/ > views.sql && duckdb -init views.sql",
		),
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, s string) ([]string, cobra.ShellCompDirective) {
			return inputCompletion(cmd, nil, s)
		},
		Args: func(_ *cobra.Command, args []string) error { return q.take(args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.views {
				return a.sqlViews(&q)
			}
			return a.sql(cmd, &q)
		},
	}
	return a.withFlags(cmd, func() {
		forms := []string{formAuto}
		for _, f := range sqlForms {
			forms = append(forms, f.name)
		}
		addGroup(cmd, groupOwn, func(flags *pflag.FlagSet) {
			flags.VarP(&q.file, "file", "f", "read the query from a `file` instead of the argument; - is standard input")
			flags.Var(formats.Choice(&q.form, forms...), "format",
				"form of the result: "+strings.Join(forms[1:], ", ")+"; auto is table on a terminal, else csv")
			flags.BoolVar(&q.views, "views", false,
				"print the statements that create the views; all arguments are directories of tables or datasets")
			flags.StringVar(&q.duckdb, "duckdb", "", "`program` to run (default: duckdb, else ntconv-duckdb, which may be next to ntconv)")
		})
		a.addInputFlags(cmd)
	})
}

// formAuto is a table on a terminal and CSV elsewhere.
const formAuto = "auto"

// duckdbPlace says where to get DuckDB.
const duckdbPlace = "https://duckdb.org/docs/installation"

// take sets query and traces from the arguments [QUERY] TRACE...
func (q *question) take(args []string) error {
	if q.file == "" && !q.views {
		if len(args) == 0 {
			return errors.New("missing query; ntconv sql 'SHOW TABLES' TRACE lists the tables")
		}
		q.query, args = args[0], args[1:]
	}
	if q.file != "" && q.views {
		return errors.New("--views takes no query; omit --file")
	}
	if len(args) == 0 {
		if exists(q.query) {
			return fmt.Errorf("missing query before %s; ntconv sql 'SHOW TABLES' %s lists the tables", q.query,
				message.ShellWord(q.query))
		}
		return errors.New("missing trace; name a trace, a directory of tables or a dataset")
	}
	q.traces = args
	if q.file == "-" && slices.Contains(args, "-") {
		return errors.New("standard input cannot be both the query and a trace")
	}
	return someInputs(nil, args)
}

// sqlViews prints the views over directories of tables.
func (a *app) sqlViews(q *question) error {
	inputs, err := a.sqlInputs(q.traces)
	if err != nil {
		return err
	}
	sources := make([]tables.Source, 0, len(inputs))
	for _, name := range inputs {
		s, err := tablesAt(name)
		if err != nil {
			return err
		}
		if s == nil {
			return failf(exitUsage, "%s: not a directory of tables; to create one, run: ntconv to parquet %s", name,
				message.ShellWord(name))
		}
		for i := range s.Tables {
			s.Tables[i].Files = nil // the views are for other days, too
		}
		sources = append(sources, *s)
	}
	if err := nameTraces(inputs, sources); err != nil {
		return err
	}
	return a.show(tables.Views(sources, nil))
}

// sql runs a query.
func (a *app) sql(cmd *cobra.Command, q *question) error {
	program, err := findDuckDB(q.duckdb)
	if err != nil {
		return err
	}
	if q.file != "" {
		if q.query, err = readQuery(string(q.file)); err != nil {
			return fail(exitInput, err)
		}
	}
	if strings.TrimSpace(q.query) == "" {
		return failf(exitUsage, "the query is empty; ntconv sql 'SHOW TABLES' TRACE lists the tables")
	}
	a.severalOutputs = true // the tables are temporary
	a.begin(new(pass.Summary))
	inputs, err := a.sqlInputs(q.traces)
	if err != nil {
		return err
	}
	sources, partial, err := a.tablesOf(cmd, inputs)
	if err != nil {
		return err
	}
	named := tables.Named(q.query)
	for _, note := range append(missingTables(inputs, sources, q.query), sharedTraces(inputs, sources)...) {
		a.printLine("ntconv: " + message.Line(note) + "\n")
	}
	if err := a.fetchTables(sources, named); err != nil {
		return err
	}
	converted := a.sum.Input != ""
	if !converted {
		a.sum.Input = inputs[0]
	}
	if err := a.ask(program, q, tables.Setup+tables.Views(sources, named)+emptyViews(sources, named)); err != nil {
		return err
	}
	a.sum.Done = converted // without a conversion there is no summary
	return partial
}

// companion is the program with DuckDB that make sql builds, and that packages have next to ntconv.
const companion = "ntconv-duckdb"

// findDuckDB returns the program that runs queries: the one that --duckdb names, else DuckDB's own, else the companion next to this
// program or on the PATH.
func findDuckDB(name string) (string, error) {
	names := []string{name}
	if name == "" {
		names = []string{"duckdb"}
		if own, err := os.Executable(); err == nil {
			if real, err := filepath.EvalSymlinks(own); err == nil {
				own = real
			}
			names = append(names, filepath.Join(filepath.Dir(own), companion))
		}
		names = append(names, companion)
	}
	var first error
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err == nil {
			return program, nil
		}
		first = cmp.Or(first, err)
	}
	return "", failf(exitUsage, "%w; ntconv sql needs DuckDB: get its program from %s, build %s with make sql, or name a program with --duckdb",
		first, duckdbPlace, companion)
}

func readQuery(name string) (string, error) {
	if name == "-" {
		b, err := io.ReadAll(os.Stdin)
		return string(b), err
	}
	b, err := os.ReadFile(name)
	return string(b), err
}

// ask runs DuckDB with the views and the query. The query is passed through standard input, because arguments have a
// limit. The views are passed as a file with -init, which also prevents DuckDB from reading the user's settings, which
// could change the form of the result.
func (a *app) ask(program string, q *question, views string) error {
	dir, err := a.temps.createDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "views.sql"), []byte(views), 0o600)
	}
	if err != nil {
		return noTemp(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out := &resultWriter{to: a.stdout, quota: &a.quota, stop: stop, escape: terminal(a.stdout)}
	var messages bytes.Buffer
	cmd := exec.CommandContext(ctx, program,
		append(a.resultOptions(q), "-init", filepath.Join(dir, "views.sql"), "-batch", "-bail", ":memory:")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(q.query+"\n;\n"), out, &messages
	err = a.temps.run(cmd)
	out.flush()
	if out.err != nil {
		if isLimit(out.err) {
			return limitFailure(out.err)
		}
		return outputFailure(out.err)
	}
	for line := range strings.Lines(messages.String()) {
		if !strings.HasPrefix(line, "-- Loading resources from ") { // -init
			fmt.Fprint(a.stderr, message.Visible(line))
		}
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		missing := ""
		if bytes.Contains(messages.Bytes(), []byte("Catalog Error: Table with name ")) {
			missing = "; tables of events that are not the runtime's are only in inputs that were converted with ntconv to parquet --typed"
		}
		if bytes.Contains(messages.Bytes(), []byte("IO Error: ")) {
			missing = "; if another command removed or joined files of a dataset meanwhile, run the query again"
		}
		return failf(
			exitUsage,
			"the query failed: %s ended with %w; ntconv sql 'SHOW TABLES' TRACE lists the tables, 'DESCRIBE samples' the columns of one%s",
			filepath.Base(program),
			err,
			missing,
		)
	case err != nil:
		return failf(exitOutput, "%s: %w", program, err)
	}
	return nil
}

// resultOptions returns the options of DuckDB for the form of the result.
func (a *app) resultOptions(q *question) []string {
	form := q.form
	if form == formAuto && terminal(a.stdout) {
		form = "table"
	}
	for _, f := range sqlForms {
		if f.name == form {
			return []string{f.option}
		}
	}
	return []string{"-csv", "-nullvalue", ""}
}

// A resultWriter passes the output of DuckDB to standard output.
type resultWriter struct {
	to    io.Writer
	quota *fileio.Quota
	stop  func() // ends DuckDB
	n     int64
	err   error // the first one, which names the output
	// escape means that standard output is a terminal: control characters are escaped, line by line.
	escape bool
	rest   []byte // incomplete last line, if escape is set
}

// maxRest is the maximum number of bytes of an incomplete line that are buffered.
const maxRest = 1 << 20

// Write implements io.Writer. After an error it kills DuckDB, which may ignore that its pipe is closed.
func (w *resultWriter) Write(p []byte) (int, error) {
	if !w.escape {
		return w.pass(p)
	}
	w.rest = append(w.rest, p...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	if end == 0 && len(w.rest) < maxRest {
		return len(p), nil
	}
	if end == 0 {
		end = len(w.rest)
	}
	_, err := w.pass([]byte(message.Visible(string(w.rest[:end]))))
	w.rest = append(w.rest[:0], w.rest[end:]...)
	return len(p), err
}

// flush writes the incomplete last line.
func (w *resultWriter) flush() {
	if len(w.rest) > 0 && w.err == nil {
		_, _ = w.pass([]byte(message.Visible(string(w.rest)))) // the error is w.err
		w.rest = nil
	}
}

// pass writes p and keeps the first error.
func (w *resultWriter) pass(p []byte) (int, error) {
	n, err := 0, w.quota.Spend(len(p))
	if err == nil {
		n, err = w.to.Write(p)
	}
	w.n += int64(n)
	if err != nil && w.err == nil {
		w.err = &fileio.Error{Name: fileio.StdoutName, Op: "write", Bytes: w.n, Err: err}
		w.stop()
	}
	return n, err
}
