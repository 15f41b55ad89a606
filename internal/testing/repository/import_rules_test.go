package repository_test

// importRules say which packages may import which, and why. Patterns are those of the go command; those that begin with
// "./" are relative to this module, and "std" is the standard library. A rule holds for everything that is compiled into
// a program, including indirect imports, unless direct is set. Tests may import anything.
//
// A package of internal is in a group of its directory. The groups form layers: groupRules lists what each may import.
// The rules in importRules are for public packages, and for what the layers do not express.
var importRules = append(groupRules, []importRule{
	{
		of: []string{"./"}, only: []string{"std", "./internal/data/bin"},
		why: "all packages share the model, so it must cost no user a dependency; payloads need the primitives of bin, which imports nothing else",
	},
	{
		of: []string{"./internal/data/bin", "./internal/data/intern", "./internal/data/message", "./internal/events/operation", "./internal/events/dotnet"}, only: []string{"std"},
		why: "names, numbers and text: packages of all layers share them",
	},
	{
		of: []string{"./merge"}, only: []string{"std", "./"},
		why: "sources of any format are merged",
	},
	{
		of: []string{"./sample", "./track"}, only: []string{"std", "./", "./internal/data/bin", "./internal/events/operation", "./sample"},
		why: "options and counts of profiles and timelines are facts that exporters and their users share",
	},
	{
		of: []string{"./diagnostics"}, only: []string{"std"},
		why: "a program that only finds, records or resumes processes compiles neither the model nor a reader",
	},
	{
		of: []string{"./samples"}, only: []string{"std", "./", "./internal/data/...", "./internal/events/...", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./sample", "./schema", "github.com/google/pprof/profile", "golang.org/x/sys/..."},
		why: "samples are computed by the same rules as profiles, for exporters of any format",
	},
	{
		of: []string{"./internal/trace/wire/...", "./internal/testing/wirestream", "./internal/testing/wiretext"}, only: []string{
			"std", "./internal/data/bin", "./internal/trace/wire/...", "./internal/testing/wirestream", "./internal/testing/wiretext",
		},
		why: "bytes to rows knows nothing of the model: whoever reads the wire must not need to know what events are",
	},
	{
		of: []string{"./reader"}, only: []string{"std", "./", "./internal/data/...", "./internal/files/fileio", "./internal/files/store", "./internal/trace/wire/...", "github.com/klauspost/compress/...", "golang.org/x/sys/..."},
		why: "a codec does not look up to what events mean, and a user of the reader compiles no exporter and no command line",
	},
	{
		of: []string{"./writer"}, only: []string{"std", "./", "./internal/data/...", "./internal/trace/wire/..."},
		why: "a codec does not look up to what events mean, and a user of the writer compiles no reader",
	},
	{
		of: []string{"./schema"}, only: []string{"std", "./", "./internal/data/...", "./internal/events/...", "./schema"},
		why: "a description of events is for users of any source and sink, who compile neither reader nor writer for it",
	},
	{
		of: []string{"./symbol"}, only: []string{"std", "./", "./internal/data/...", "./internal/events/...", "./schema"},
		why: "a table learns from events of any source; files outside the trace are those of a symbol.Native, so that a library user reads none by accident",
	},
	{
		of: []string{"./convert"}, direct: true, never: []string{"./exporters/...", "./importers/...", "./internal/show/...", "github.com/spf13/cobra"}, but: []string{"./exporters/otlp"},
		why: "the library converts by the same table and passes as the command: it names no format but that which it sends",
	},
	{
		of: []string{"./..."}, except: []string{"./cmd/...", "./internal/run/command", "./examples/..."}, never: []string{"./convert"},
		why: "convert compiles all formats, so no package that knows fewer may need it",
	},
	{
		of: []string{"./internal/run/formats"}, never: []string{"./internal/run/input", "./internal/run/pass", "./internal/select/selection"},
		why: "a format gets an input and a sink's target, and does not decide how often an input is read or what is selected of it",
	},
	{
		of: []string{"./internal/run/input"}, never: []string{"./internal/run/pass", "./internal/select/selection"},
		why: "an input can be read as often as it allows; what is read of it and why is decided by the pass",
	},

	// Formats. A user of one of them compiles neither the others nor the command line, and only the named modules.
	exporterRule("./exporters/pprof", "./internal/files/...", "./internal/profile/...", "./internal/span/...", "./sample", "github.com/klauspost/compress/...", "golang.org/x/sys/...", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/..."),
	exporterRule("./exporters/pprof/pprofpush", "./exporters/otlp/...", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./sample", "github.com/klauspost/compress/...", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/..."),
	exporterRule("./exporters/callgrind", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./sample"),
	exporterRule("./exporters/folded", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./sample"),
	exporterRule("./exporters/chrome", timelines...),
	exporterRule("./exporters/speedscope", timelines...),
	exporterRule("./exporters/firefox", timelines...),
	exporterRule("./exporters/perfetto", append(timelines, "github.com/klauspost/compress/...")...),
	exporterRule("./exporters/otlp", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./sample"),
	exporterRule("./exporters/otlp/otlpclient", "./exporters/otlp", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./sample", "github.com/klauspost/compress/..."),
	exporterRule("./exporters/prometheus", "./internal/files/spool", "./internal/span/..."),
	exporterRule("./exporters/parquet", append(parquetModules, "./internal/files/spool", "./internal/profile/...", "./internal/select/where", "./internal/span/...", "./internal/tables/...", "./sample")...),
	exporterRule("./exporters/html", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./internal/tables", "./internal/tables/rows", "./sample", "golang.org/x/sys/..."),
	importerRule("./importers/pprof", "./internal/files/fileio", "./internal/files/store", "github.com/google/pprof/profile", "github.com/klauspost/compress/...", "golang.org/x/sys/...", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/..."),
	importerRule("./importers/folded", "./internal/files/lines"),
	importerRule("./importers/perf", "./internal/files/lines"),
	importerRule("./importers/chrome"),
	importerRule("./importers/speedscope"),
	importerRule("./importers/firefox"),
	importerRule("./importers/otlp", "./internal/span", "./internal/span/fields", "./internal/span/logs", "./internal/span/metrics", "./internal/span/profiles", "./internal/span/stored", "./schema", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/..."),
	importerRule("./importers/parquet", "./internal/tables/...", "./schema", "github.com/klauspost/compress/...", "github.com/andybalholm/brotli/...", "github.com/pierrec/lz4/..."),
	{
		of: []string{"./importers/..."}, never: []string{"github.com/google/pprof/profile"}, direct: true,
		why: "importers decode profile.proto themselves, within limits and with places in errors; internal/profile/pproflegacy has the older formats",
	},
	{
		of: []string{"./examples/otlp/send"}, only: []string{
			"std", "./", "./exporters/otlp/...", "./internal/data/...", "./internal/events/...", "./internal/files/fileio", "./internal/files/store", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./internal/trace/wire/...", "./reader", "./sample", "./schema",
			"github.com/klauspost/compress/...", "golang.org/x/sys/...",
		},
		why: "a program that reads traces and sends spans compiles the model, the reader, spans and profiles: no gRPC, no SDK, no protobuf, no command line, no other format",
	},
	{
		of: []string{"./examples/parquet"}, only: append([]string{
			"std", "./", "./exporters/parquet", "./internal/data/...", "./internal/events/...", "./internal/files/...", "./internal/profile/...", "./internal/select/where", "./internal/span/...",
			"./internal/tables/...", "./internal/trace/wire/...", "./sample", "./reader", "./schema",
		}, parquetModules...),
		why: "a program that reads traces and writes tables compiles the model, the reader and the library of Parquet: no command line, no other format",
	},

	// Modules that one package knows.
	{
		of: []string{"./..."}, except: []string{"./internal/tables/parquetwriter", "./internal/testing/agreement", "./internal/testing/datasetrows"}, direct: true, never: []string{"github.com/parquet-go/..."},
		why: "one package knows the library of Parquet; files that others made are read without it",
	},
	{
		of: []string{"./..."}, except: []string{"./internal/testing/..."}, direct: true, never: []string{
			"google.golang.org/grpc/...", "go.opentelemetry.io/...",
		},
		why: "spans are encoded, decoded and sent without generated code: only tests compare with it",
	},
	{
		of: []string{"./..."}, except: []string{"./cmd/...", "./internal/run/command"}, never: []string{"github.com/spf13/cobra", "golang.org/x/term", "github.com/gdamore/tcell/..."},
		why: "only the command talks to a terminal",
	},
	{
		of: []string{"./..."}, except: []string{"./cmd/...", "./internal/run/command", "./convert", "./internal/run/formats", "./internal/show/web", "./internal/testing/readable", "./internal/testing/tracegen/tracegen"}, never: []string{"flag", "github.com/spf13/pflag", "log", "log/..."}, direct: true,
		why: "only the command logs and parses flags; the table of formats says which flags there are, convert sets their values by name and parses none, and show/web passes arguments to pprof's driver as flags and discards the log of its server",
	},

	// Packages for tests.
	{
		of: []string{"./..."}, except: []string{"./internal/testing/...", "./ntconvtest"}, never: []string{"testing", "testing/...", "pgregory.net/rapid", "./ntconvtest", "./internal/testing/..."},
		why: "what is for tests stays in tests",
	},
	{
		of: []string{"./..."}, except: []string{"./internal/testing/..."}, never: []string{"pgregory.net/rapid"},
		why: "generators are for the tests of this module: who tests with ntconvtest does not get the library of generators with it",
	},
	{
		of: []string{"./internal/testing/mutate", "./internal/testing/laws"}, never: []string{"./reader", "./writer", "./symbol", "./exporters/...", "./importers/..."},
		why: "the tests of a reader use mutants and laws, so these must not know one; the tests of package mutate know all",
	},
	{
		of: []string{"./internal/testing/wiretest", "./internal/testing/wiretext", "./internal/testing/corpus"}, never: []string{"./"},
		why: "the tests of bytes and rows know no more of the model than these do",
	},
	{
		of: []string{"./internal/testing/agreement"}, direct: true, only: []string{
			"std", "github.com/google/pprof/profile", "github.com/parquet-go/parquet-go", "go.opentelemetry.io/proto/...", "google.golang.org/protobuf/...",
			"./internal/testing/pagedata",
		},
		why: "outputs are read with other code than that which wrote them, so that a mistake is not in both",
	},
	{
		of: []string{"./internal/testing/tracegen"}, only: []string{"std", "./internal/data/bin", "./internal/trace/wire/...", "./internal/testing/wirestream"},
		why: "generated traces are bytes of the wire: they must not agree with a reader or a writer because they share its code",
	},
}...)

// groupRules are the layers of internal, lowest first. A group imports itself, the groups that its rule names, and the
// modules of others that are named there.
var groupRules = []importRule{
	groupRule("data", "bytes, numbers and text: whatever they mean"),
	groupRule("files", "bytes in files: whatever their format", "./internal/data/...", "github.com/klauspost/compress/...", "golang.org/x/sys/..."),
	groupRule("events", "what an event means does not depend on the file that it came from, nor on what is made of it", "./schema", "./internal/data/..."),
	groupRule("symbols", "which function an address belongs to depends on files of programs, not on formats of traces or on the command",
		"./symbol", "./schema", "./internal/data/...", "./internal/events/...", "./internal/files/...", "github.com/ianlancetaylor/demangle", "github.com/klauspost/compress/...", "github.com/ulikunitz/xz/...", "golang.org/x/sys/..."),
	groupRule("span", "spans are made of events of any source, whatever is made of them", "./schema", "./internal/data/...", "./internal/events/..."),
	groupRule("profile", "samples are made of events of any source, and of the spans that events form, whatever is made of them", "./sample", "./schema", "./internal/data/...", "./internal/events/...", "./internal/files/spool", "./internal/span/...", "github.com/google/pprof/profile", "golang.org/x/sys/..."),
	groupRule("timeline", "a trace is arranged in one way for all viewers: formats encode the items, and names come from the Namer",
		"./sample", "./schema", "./track", "./internal/data/...", "./internal/events/...", "./internal/files/spool", "./internal/profile/...", "./internal/span/..."),
	groupRule("select", "which events are selected depends neither on a format nor on the command", "./schema", "./internal/data/...", "./internal/events/...", "./internal/span/..."),
	without(groupRule("tables", "tables are rows and columns: exporter, importer and documentation share their schema, whichever library stores them; columns of typed tables are fields of schemas",
		append(parquetModules, "./schema", "./internal/data/...", "./internal/events/...", "./internal/files/...")...), "./internal/tables/rows"),
	{
		of: []string{"./internal/tables/rows"}, only: []string{
			"std", "./", "./schema", "./sample", "./internal/data/...", "./internal/events/...", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./internal/tables", "./internal/tables/rows", "golang.org/x/sys/...",
		},
		why: "rows are made of events, of samples and of spans, once for all exporters: with no library of Parquet, for those that write no files of it",
	},
	groupRule("trace", "traces are divided, joined, compared and scrubbed whatever their format",
		"./sample", "./schema", "./internal/data/...", "./internal/events/...", "./internal/files/spool", "./internal/profile/...", "./internal/select/...", "./internal/span/...", "github.com/google/pprof/profile"),
	groupRule("show", "what is shown of a trace depends neither on its format nor on flags; kinds of profiles are added up as profiles do",
		"./sample", "./schema", "./internal/data/...", "./internal/events/...", "./internal/files/spool", "./internal/profile/...", "./internal/select/...", "./internal/span/...", "./internal/trace/...",
		"github.com/google/pprof/...", "github.com/ianlancetaylor/demangle", "golang.org/x/sys/..."),
}

// groupRule returns the rule of a group.
func groupRule(name, why string, more ...string) importRule {
	return importRule{of: []string{"./internal/" + name + "/..."}, only: append([]string{"std", "./", "./internal/" + name + "/..."}, more...), why: why}
}

// without returns a rule that does not hold for some packages, which have a rule of their own.
func without(r importRule, packages ...string) importRule {
	r.except = append(r.except, packages...)
	return r
}

// exporterRule and importerRule return the rule of a format.
func exporterRule(path string, more ...string) importRule {
	return importRule{
		of: []string{path}, only: append([]string{"std", "./", path, "./internal/data/...", "./internal/events/...", "./schema"}, more...),
		why: "a sink takes events of any source, and knows names through Namer alone; a user of one exporter compiles neither the others nor the command line",
	}
}

func importerRule(path string, more ...string) importRule {
	return importRule{
		of: []string{path}, only: append([]string{"std", "./", path, "./internal/data/...", "./internal/events/...", "./internal/files/spool", "./internal/profile/imported", "./internal/profile/pproflegacy", "./sample"}, more...),
		why: "a source does not know what becomes of its events; a user of one importer compiles neither the others nor the command line",
	}
}

var (
	// timelines are what exporters of timelines may import.
	timelines = []string{
		"./internal/files/jsoncolumns", "./internal/files/spool", "./internal/profile/...", "./internal/span/...", "./internal/timeline/...", "./sample", "./track", "golang.org/x/sys/...",
	}
	// parquetModules are the library of Parquet and its compressors.
	parquetModules = []string{
		"github.com/parquet-go/...", "github.com/klauspost/compress/...", "github.com/andybalholm/brotli/...", "github.com/pierrec/lz4/...", "github.com/google/uuid", "github.com/twpayne/go-geom/...",
		"golang.org/x/sys/...", "google.golang.org/protobuf/...",
	}
)
