// Command ntconv-duckdb is DuckDB for ntconv sql, for machines without DuckDB's own program: ntconv finds it beside itself.
//
// DuckDB itself executes the SQL, linked as a library. Arguments, forms of results and exit codes are those of DuckDB's program
// (https://duckdb.org/docs/stable/clients/cli/arguments), as far as ntconv sql and scripts need them: -init, -c, -f, -cmd, -bail,
// -batch, -readonly, -no-stdin, -nullvalue, -version and the forms -box, -csv, -json, -jsonlines, -markdown and -line. All others
// are rejected. Like the program since version 1.3, it prints "-- Loading resources from FILE" to standard error for -init.
//
// It is a module of its own, because it needs a C compiler and a library of 40 MB.
package main

import (
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/duckdb/duckdb-go/v2"
)

func main() {
	o, err := parseArguments(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := errors.Join(o.run(out, os.Stderr), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err) // the error begins with its kind, such as "Parser Error"
		os.Exit(1)
	}
}

// options are the parsed arguments of the command line.
type options struct {
	database string
	readOnly bool
	mode     string
	null     string
	initFile string
	commands []string // SQL of -cmd, executed before standard input
	scripts  []string // SQL of -c and -f, executed instead of standard input
	noStdin  bool
	version  bool
}

// parseArguments accepts options with one or two hyphens, like the program.
func parseArguments(args []string) (*options, error) {
	o := &options{mode: "box", null: "NULL"}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "" || arg[0] != '-' {
			if o.database != "" {
				return nil, fmt.Errorf("unknown option: %q", arg)
			}
			o.database = arg
			continue
		}
		name := arg[1:]
		if len(name) > 0 && name[0] == '-' {
			name = name[1:]
		}
		switch name {
		case "box", "csv", "json", "jsonlines", "markdown", "line":
			o.mode = name
			continue
		case "version":
			o.version = true
			continue
		case "bail", "batch":
			continue // an error always ends a script here
		case "readonly":
			o.readOnly = true
			continue
		case "no-stdin":
			o.noStdin = true
			continue
		}
		if len(args) == 0 {
			return nil, fmt.Errorf("unknown option or missing argument: %q", arg)
		}
		if err := o.take(name, args[0]); err != nil {
			return nil, err
		}
		args = args[1:]
	}
	return o, nil
}

// take sets an option with a value.
func (o *options) take(name, value string) error {
	switch name {
	case "init":
		o.initFile = value
	case "cmd":
		o.commands = append(o.commands, value)
	case "c":
		o.scripts = append(o.scripts, value)
	case "f":
		text, err := os.ReadFile(value)
		if err != nil {
			return err
		}
		o.scripts = append(o.scripts, string(text))
	case "nullvalue":
		o.null = value
	default:
		return fmt.Errorf("unknown option: -%s", name)
	}
	return nil
}

// run executes all scripts in the order used by the program.
func (o *options) run(out, messages io.Writer) error {
	if o.version {
		o.commands, o.scripts = nil, []string{"SELECT library_version AS version FROM pragma_version()"}
	}
	dsn := o.database
	if dsn == ":memory:" {
		dsn = ""
	}
	if o.readOnly {
		dsn += "?access_mode=read_only"
	}
	connector, err := duckdb.NewConnector(dsn, nil)
	if err != nil {
		return err
	}
	defer connector.Close()
	conn, err := connector.Connect(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()

	var scripts []string
	if o.initFile != "" {
		fmt.Fprintln(messages, "-- Loading resources from "+o.initFile)
		text, err := os.ReadFile(o.initFile)
		if err != nil {
			return err
		}
		scripts = append(scripts, string(text))
	}
	scripts = append(append(scripts, o.commands...), o.scripts...)
	if len(o.scripts) == 0 && !o.noStdin {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		scripts = append(scripts, string(text))
	}
	for _, script := range scripts {
		for _, statement := range split(script) {
			if err := o.execute(conn, statement, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// execute runs a statement and prints its rows, if it returns rows.
func (o *options) execute(conn driver.Conn, statement string, out io.Writer) error {
	ctx := context.Background()
	prepared, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer prepared.Close()
	kind, err := prepared.(*duckdb.Stmt).StatementType()
	if err != nil {
		return err
	}
	rows, err := prepared.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	switch kind {
	case duckdb.STATEMENT_TYPE_CREATE,
		duckdb.STATEMENT_TYPE_SET,
		duckdb.STATEMENT_TYPE_VARIABLE_SET,
		duckdb.STATEMENT_TYPE_DROP,
		duckdb.STATEMENT_TYPE_COPY,
		duckdb.STATEMENT_TYPE_LOAD:
		return nil // they succeed without output
	}
	result := &table{null: o.null, names: rows.Columns()}
	for i := range result.names {
		result.types = append(result.types, rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i))
	}
	values := make([]driver.Value, len(result.names))
	for {
		err := rows.Next(values)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		result.rows = append(result.rows, slices.Clone(values))
	}
	return result.print(out, o.mode)
}

// split returns the statements of a script. A semicolon in a string, a quoted name or a comment does not end a
// statement.
func split(script string) (statements []string) {
	start := 0
	add := func(end int) {
		if text := script[start:end]; !blank(text) {
			statements = append(statements, text)
		}
		start = end + 1
	}
	for i := 0; i < len(script); {
		switch {
		case script[i] == ';':
			add(i)
			i++
		default:
			i = skip(script, i)
		}
	}
	add(len(script))
	return statements
}

// skip returns the position after the string, quoted name, comment or byte at i.
func skip(s string, i int) int {
	until := func(from int, end string) int {
		for j := from; j < len(s); j++ {
			if len(s)-j >= len(end) && s[j:j+len(end)] == end {
				return j + len(end)
			}
		}
		return len(s)
	}
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch {
	case s[i] == '\'', s[i] == '"':
		return until(i+1, s[i:i+1]) // a doubled quote appears as two adjacent strings
	case s[i] == '$' && next == '$':
		return until(i+2, "$$")
	case s[i] == '-' && next == '-':
		return until(i+2, "\n")
	case s[i] == '/' && next == '*':
		return until(i+2, "*/")
	}
	return i + 1
}

// blank reports whether text consists of white space and comments.
func blank(text string) bool {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
		case c == '-' || c == '/':
			next := skip(text, i)
			if next == i+1 {
				return false
			}
			i = next
		default:
			return false
		}
	}
	return true
}
