package repository_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ntconv/ntconv"

// importRules say which package may know which, and why. Patterns are those of the go command, relative to this module
// where they begin with "./"; "std" is the standard library. They hold for everything that is compiled into a program,
// however far away, unless direct is set. Tests may import what they like.
var importRules = []importRule{
	{
		of: []string{"./"}, only: []string{"std", "./internal/bin"},
		why: "all packages share the model, so it must cost no user a dependency; payloads need the primitives of bin, which imports nothing else",
	},
	{
		of: []string{"./internal/bin"}, only: []string{"std"},
		why: "bytes and numbers only; the model imports it",
	},
	{
		of: []string{"./kind"}, only: []string{"std"},
		why: "a list of names: exporters, the command and users of the library share it",
	},
	{
		of: []string{"./internal/glob"}, only: []string{"std"},
		why: "a pattern is text: selections and exporters share it, so it must know neither",
	},
	{
		of: []string{"./internal/intern"}, only: []string{"std"},
		why: "numbers, pointers and bytes only: codecs, symbols and profiles share it, so it must know none of them",
	},
	{
		of: []string{"./internal/ecma", "./internal/ilmap"}, only: []string{"std"},
		why: "bytes of assemblies to names, and offsets to offsets: the packages that find the files and the table of symbols share them",
	},
	{
		of: []string{"./internal/readytorun", "./internal/portablepdb"}, only: []string{"std", "./internal/ecma", "./internal/ilmap"},
		why: "formats of files: where a file comes from, and what a trace says about it, is the business of managedcode",
	},
	{
		of: []string{"./internal/wire/...", "./internal/testing/wirestream", "./internal/testing/wiretext"}, only: []string{
			"std", "./internal/bin", "./internal/wire/...", "./internal/testing/wirestream", "./internal/testing/wiretext",
		},
		why: "bytes to rows knows nothing of the model: whoever reads the wire must not need to know what events are",
	},
	{
		of: []string{"./internal/filelock"}, only: []string{"std", "golang.org/x/sys/..."},
		why: "a lock is a lock of the operating system: outputs and datasets share it",
	},
	{
		of: []string{"./internal/iox"}, only: []string{"std", "./", "./internal/filelock", "github.com/klauspost/compress/...", "golang.org/x/sys/..."},
		why: "inputs and outputs work for any format; of the model they know its LimitError, so that library users can read which limit ended the decompression",
	},
	{
		of: []string{"./internal/tempfile"}, only: []string{"std", "./", "./internal/bin"},
		why: "a temporary file is bytes: whoever sorts or keeps more than fits into memory shares it; of the model it knows its LimitError",
	},
	{
		of: []string{"./internal/timesort"}, only: []string{"std", "./", "./internal/timesort"},
		why: "which event comes first depends on neither the format that it came from nor the one that is written",
	},
	{
		of: []string{"./internal/spool"}, only: []string{"std", "./", "./internal/bin", "./internal/spool", "./internal/tempfile"},
		why: "records are bytes and keys: exporters, importers and timelines share the sorting, so it must know none of them",
	},
	{
		of: []string{"./internal/dataset"}, only: []string{"std", "./", "./internal/iox", "./internal/filelock", "github.com/klauspost/compress/...", "golang.org/x/sys/..."},
		why: "a dataset is directories, manifests and locks: what the tables in it hold is decided by others",
	},
	{
		of: []string{"./internal/dotnet"}, only: []string{"std"},
		why: "the notation of .NET names is text to text",
	},
	{
		of: []string{"./internal/elfsym"}, only: []string{"std", "github.com/ianlancetaylor/demangle", "github.com/klauspost/compress/...", "github.com/ulikunitz/xz/..."},
		why: "an ELF file is bytes and addresses: which process mapped it, and where it was found, is decided by others",
	},
	{
		of: []string{"./internal/symbolfiles"}, direct: true, only: []string{"std", "./", "./internal/elfsym", "./internal/iox", "./symbol"},
		why: "which file belongs to a mapping does not depend on the command, nor on the format that the mapping came from",
	},
	{
		of: []string{"./symbol"}, never: []string{"./internal/elfsym", "./internal/symbolfiles"},
		why: "a table learns from events; files outside the trace are those of a symbol.Native, so that a library user reads none by accident",
	},
	{
		of: []string{"./reader"}, only: []string{"std", "./", "./internal/intern", "./internal/wire/...", "./internal/filelock", "./internal/iox", "github.com/klauspost/compress/...", "golang.org/x/sys/..."},
		why: "a codec does not look up to what events mean, and a user of the reader compiles no exporter and no command line",
	},
	{
		of: []string{"./writer"}, only: []string{"std", "./", "./internal/intern", "./internal/wire/..."},
		why: "a codec does not look up to what events mean, and a user of the writer compiles no reader",
	},
	{
		of: []string{"./internal/streameq"}, only: []string{"std", "./", "./internal/origin"},
		why: "whether traces are equal does not depend on their format; origin describes the values of samples, which profiles add up",
	},
	{
		of: []string{"./internal/clr"}, only: []string{"std", "./"},
		why: "what .NET events mean does not depend on the file that they came from",
	},
	{
		of: []string{"./internal/recording"}, only: []string{"std", "./"},
		why: "which events are facts, and when they were recorded, is the same for all that count or measure them",
	},
	{
		of: []string{"./internal/operation"}, only: []string{"std"},
		why: "what operations there are is a table of facts, which packages from schema to the command share",
	},
	{
		of: []string{"./schema"}, only: []string{"std", "./", "./internal/operation", "./schema", "./internal/clr"},
		why: "a description of events is for users of any source and sink, who compile neither reader nor writer for it",
	},
	{
		of: []string{"./internal/payload"}, only: []string{"std", "./", "./internal/payload", "./internal/jsonio", "./internal/operation", "./internal/bin", "./internal/clr", "./schema"},
		why: "payloads as JSON are those of any source, whichever table or line they are written to",
	},
	{
		of: []string{"./internal/chromeevent"}, only: []string{"std", "./", "./internal/bin", "./internal/jsonio"},
		why: "what an event of Chrome's format is as an event of a trace is shared by all who read and write either, so it must know none of them",
	},
	{
		of: []string{"./importers/chrome"}, only: []string{
			"std", "./", "./importers/chrome", "./internal/bin", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/origin", "./internal/sampled", "./internal/spool", "./internal/tempfile",
			"golang.org/x/sys/...",
		},
		why: "an importer does not know what becomes of its events, and its user compiles no other format",
	},
	{
		of: []string{"./internal/procinfo"}, only: []string{"std", "./", "./internal/operation", "./internal/procinfo", "./internal/clr", "./schema"},
		why: "the description of a process comes from its events, whichever source they came from and whatever is made of it",
	},
	{
		of: []string{"./internal/where"}, only: []string{"std", "./", "./internal/operation", "./internal/where", "./internal/clr", "./schema"},
		why: "an expression is about events, whichever source they came from",
	},
	{
		of: []string{"./internal/distribution"}, only: []string{"std", "./", "./internal/bin"},
		why: "numbers only, and the values that they are read from: whatever they measure",
	},
	{
		of: []string{"./internal/eventstats"}, only: []string{"std", "./", "./internal/jsonio", "./internal/operation", "./internal/recording", "./internal/eventstats", "./internal/clr", "./internal/distribution", "./internal/message", "./internal/where", "./schema"},
		why: "a table of groups of events is the same for events of any source, and knows of the command only the fields that it asks for",
	},
	{
		of: []string{"./internal/sqlviews"}, direct: true, only: []string{"std", "./internal/tables"},
		why: "views are text about the tables of the schema, whoever runs it",
	},
	{
		of: []string{"./internal/message"}, only: []string{"std"},
		why: "the spelling of numbers and names is text to text",
	},
	{
		of: []string{"./internal/memlimit"}, only: []string{"std", "./"},
		why: "how much memory is in use is known without the packages that use it",
	},
	{
		of: []string{"./internal/formats"}, never: []string{"./internal/input", "./internal/pass", "./internal/selection"},
		why: "a format gets an input and a sink's target, and does not decide how often an input is read or what is selected of it",
	},
	{
		of: []string{"./internal/input"}, never: []string{"./internal/pass", "./internal/selection"},
		why: "an input can be read as often as it allows; what is read of it and why is decided by the pass",
	},
	{
		of: []string{"./internal/pass"}, direct: true, only: []string{
			"std", "./", "./internal/interval", "./internal/clr", "./internal/formats", "./internal/input", "./internal/iox", "./internal/procinfo", "./internal/profile", "./internal/recording", "./kind", "./internal/selection", "./reader", "./symbol",
		},
		why: "how an input is read does not depend on the format that is written, nor on flags and messages",
	},
	{
		of: []string{"./convert"}, direct: true, only: []string{
			"std", "./", "./internal/interval", "./internal/during", "./internal/formats", "./internal/input", "./internal/iox", "./internal/pass", "./internal/procinfo", "./internal/profile", "./internal/recording", "./kind", "./internal/selection",
			"./internal/span/active", "./internal/subset", "./internal/symbolfiles", "./internal/where", "./reader", "./symbol", "github.com/spf13/pflag",
		},
		why: "the library converts by the same table and passes as the command: it adds no rule of its own, and names no format",
	},
	{
		of: []string{"./..."}, except: []string{"./cmd/...", "./examples/..."}, never: []string{"./convert"},
		why: "convert compiles all formats, so no package that knows fewer may need it",
	},
	{
		of: []string{"./internal/summary"}, direct: true, only: []string{
			"std", "./", "./internal/formats", "./internal/input", "./internal/iox", "./internal/message", "./internal/pass",
		},
		why: "what a run did is stated in the same way whichever command did it",
	},
	{
		of: []string{"./internal/origin"}, only: []string{"std", "./"},
		why: "an imported profile is described in the same words whatever format it had",
	},
	{
		of: []string{"./internal/pproflegacy"}, only: []string{"std", "github.com/google/pprof/profile"},
		why: "the older formats are translated to profile.proto, bytes to bytes",
	},
	{
		of: []string{"./internal/viewer"}, only: []string{"std"},
		why: "a server hands out a file, whatever is in it: the command converts, and names formats to it by their names",
	},
	{
		of: []string{"./internal/pprofview"}, direct: true, only: []string{
			"std", "./internal/message", "./internal/origin", "github.com/google/pprof/driver", "github.com/google/pprof/profile", "golang.org/x/sys/unix",
		},
		why: "pprof shows a profile, whichever trace it was converted from; origin names sample types, and unix bounds the memory of dot",
	},
	{
		of: []string{"./internal/profilediff"}, direct: true, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./internal/clr", "./internal/counter", "./internal/distribution", "./internal/message", "./internal/overview",
			"./internal/profile", "./internal/recording", "./internal/span", "./internal/span/tracker", "./internal/split", "./kind",
			"github.com/google/pprof/profile",
		},
		why: "two profiles are compared as numbers by function, and two traces as totals, whichever formats they came from; the command reads them",
	},
	{
		of: []string{"./internal/counter"}, only: []string{"std", "./", "./internal/operation", "./internal/clr", "./schema"},
		why: "values of counters are made of events, whichever source they came from and whatever is made of them",
	},
	{
		of: []string{"./internal/timeline"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./internal/bin", "./internal/clr", "./internal/jsonio", "./internal/chromeevent", "./internal/counter", "./internal/dotnet", "./internal/intern", "./internal/origin",
			"./internal/payload", "./internal/procinfo", "./internal/profile", "./internal/recording", "./kind", "./internal/span/...", "./internal/spool", "./internal/tempfile", "./internal/timeline", "./schema",
		},
		why: "a trace is arranged in one way for all viewers: formats encode the items, and names come from the Namer",
	},
	{
		of: []string{"./internal/profile"}, only: []string{"std", "./", "./internal/operation", "./internal/interval", "./internal/recording", "./internal/clr", "./internal/intern", "./internal/origin", "./internal/dotnet", "./kind", "./schema"},
		why: "samples are made of events, whichever source they came from and whatever is made of them",
	},
	{
		of: []string{"./internal/grouping"}, only: []string{"std", "./", "./internal/dotnet", "./internal/grouping", "./internal/intern"},
		why: "which frames are shown depends on their names and modules, whoever resolves them and whatever is made of the stacks",
	},
	{
		of: []string{"./internal/inventory"}, only: []string{"std", "./", "./internal/operation", "./internal/interval", "./internal/inventory", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/intern", "./internal/message", "./internal/profile", "./internal/recording", "./kind", "./internal/origin", "./internal/bin", "./internal/dotnet",
			"./internal/span", "./internal/span/tracker", "./internal/span/diagsource", "./schema"},
		why: "the contents of a trace and their description as text depend neither on its format nor on the command; whether it has spans is decided by what makes them",
	},
	{
		of: []string{"./internal/overview"}, only: []string{"std", "./", "./internal/operation", "./internal/interval", "./internal/overview", "./internal/bin", "./internal/clr", "./internal/counter", "./internal/distribution", "./internal/dotnet", "./internal/intern", "./internal/message", "./internal/origin",
			"./internal/profile", "./internal/recording", "./kind", "./schema"},
		why: "what happened in a trace depends neither on its format nor on the command; kinds of profiles are added up as profiles do",
	},
	{
		of: []string{"./internal/subset"}, only: []string{"std", "./", "./internal/operation", "./internal/interval", "./internal/subset", "./internal/intern", "./internal/clr", "./internal/profile", "./internal/recording", "./internal/dotnet", "./kind", "./schema", "./internal/origin"},
		why: "which events a smaller trace needs depends neither on the formats nor on the command",
	},
	{
		of: []string{"./internal/clocks"}, only: []string{"std", "./"},
		why: "clocks are related by what traces state about them, whichever format they have",
	},
	{
		of: []string{"./internal/scrub"}, only: []string{
			"std", "./", "./internal/operation", "./internal/bin", "./internal/chromeevent", "./internal/clr", "./internal/glob", "./internal/jsonio",
			"./internal/message", "./internal/scrub", "./internal/span", "./schema",
		},
		why: "what is a secret in an event depends neither on the format of a file nor on the command",
	},
	{
		of: []string{"./internal/split"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./internal/split", "./internal/clr", "./internal/dotnet", "./internal/intern", "./internal/origin",
			"./internal/profile", "./internal/recording", "./internal/streameq", "./internal/where", "./kind", "./schema",
		},
		why: "how a trace is divided and joined depends neither on the format of the parts nor on the command; what makes types and threads equal is that of streameq",
	},
	{
		of: []string{"./internal/span"}, only: []string{"std", "./", "./internal/jsonio", "./internal/operation"},
		why: "what a span is, and the event that holds one, depend neither on where spans come from nor on a format",
	},
	{
		of: []string{"./internal/span/tracker", "./internal/span/diagsource", "./internal/span/active"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./internal/recording", "./internal/bin", "./internal/span", "./internal/span/tracker", "./internal/span/diagsource", "./internal/span/active", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/dotnet", "./internal/intern", "./schema",
		},
		why: "spans are made of events of any source, whatever is made of them: exporters of spans and labels of samples share this",
	},
	{
		of: []string{"./internal/span/match"}, only: []string{"std", "./", "./internal/jsonio", "./internal/operation", "./internal/span", "./internal/span/match", "./internal/where", "./internal/clr", "./schema"},
		why: "an expression is about a span, whichever events it was made of",
	},
	{
		of: []string{"./internal/interval"}, only: []string{"std", "./", "./internal/operation", "./internal/recording", "./internal/interval", "./internal/clr", "./internal/intern", "./schema"},
		why: "which events delimit an interval, and which are in it, depends neither on expressions nor on who asks",
	},
	{
		of: []string{"./internal/during"}, direct: true, only: []string{
			"std", "./", "./internal/operation", "./internal/clr", "./internal/dotnet", "./internal/interval", "./internal/message", "./internal/span", "./internal/span/active", "./internal/span/match",
			"./internal/span/tracker", "./internal/where", "./schema",
		},
		why: "what was open when an event was recorded depends neither on the format nor on the command",
	},
	{
		of: []string{"./internal/selection"}, only: []string{
			"std", "./", "./internal/operation", "./internal/selection", "./internal/clr", "./internal/glob", "./internal/procinfo", "./internal/where", "./schema",
		},
		why: "a selection is about events, whichever source they came from; what was open at their time is an interface",
	},
	{
		of: []string{"./importers/otlp"}, only: []string{
			"std", "./", "./internal/jsonio", "./internal/operation", "./importers/otlp", "./internal/span", "./internal/timesort", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/...",
		},
		why: "OTLP is decoded without generated code, so that a user of the importer compiles neither gRPC nor an exporter",
	},
	{
		of: []string{"./symbol"}, never: []string{"./reader", "./writer", "./exporters/...", "./internal/profile", "./kind", "./internal/wire/...", "./internal/formats"},
		why: "names are learned from events of any source and asked for by any sink",
	},
	{
		of: []string{"./exporters/..."}, never: []string{"./reader", "./writer", "./symbol", "./internal/wire/...", "./internal/formats"},
		why: "a sink takes events of any source, and knows names through Namer alone",
	},
	{
		of: []string{"./exporters/pprof"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./exporters/pprof", "./internal/clr", "./internal/intern", "./internal/filelock", "./internal/iox", "./internal/origin", "./internal/procinfo", "./internal/profile", "./internal/recording", "./internal/dotnet", "./kind", "./schema", "github.com/klauspost/compress/...", "golang.org/x/sys/...", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/...",
		},
		why: "a user of one exporter compiles neither the others nor the command line",
	},
	{
		of: []string{"./exporters/folded"}, only: []string{"std", "./", "./internal/operation", "./internal/interval", "./exporters/folded", "./internal/intern", "./internal/clr", "./internal/origin", "./internal/profile", "./internal/recording", "./internal/dotnet", "./kind", "./schema"},
		why: "text needs no protobuf and no compression: a user of this exporter compiles the standard library, the model and what computes samples from events",
	},
	{
		of: []string{"./importers/chrome"}, only: []string{
			"std", "./", "./importers/chrome", "./internal/bin", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/origin", "./internal/sampled", "./internal/spool", "./internal/tempfile",
		},
		why: "an importer is a source: what becomes of its events is for others to know",
	},
	{
		of: []string{"./importers/firefox"}, only: profileImporter("./importers/firefox"),
		why: "an importer is a source: what becomes of its events is for others to know",
	},
	{
		of: []string{"./importers/speedscope"}, only: profileImporter("./importers/speedscope"),
		why: "an importer is a source: what becomes of its events is for others to know",
	},
	{
		of: []string{"./exporters/chrome"}, only: timelineExporter("./exporters/chrome", "github.com/go-json-experiment/json/..."),
		why: "a user of one exporter of timelines compiles neither the others nor protobuf",
	},
	{
		of: []string{"./exporters/perfetto"}, only: timelineExporter("./exporters/perfetto", "github.com/go-json-experiment/json/...", "github.com/klauspost/compress/..."),
		why: "a user of this exporter compiles the timeline and no other format; names come through the Namer",
	},
	{
		of: []string{"./exporters/speedscope"}, only: timelineExporter("./exporters/speedscope", "./internal/jsoncolumns", "github.com/go-json-experiment/json/..."),
		why: "a user of one exporter of timelines compiles neither the others nor protobuf",
	},
	{
		of: []string{"./exporters/firefox"}, only: timelineExporter("./exporters/firefox", "./internal/jsoncolumns", "github.com/go-json-experiment/json/..."),
		why: "a user of one exporter of timelines compiles neither the others nor protobuf",
	},
	{
		of: []string{"./internal/jsoncolumns"}, only: []string{"std", "./", "./internal/jsonio", "./internal/bin", "./internal/jsoncolumns", "./internal/spool", "./internal/tempfile"},
		why: "columns are those of any format: they know of the model its LimitError only, and not what the values are",
	},
	{
		of: []string{"./exporters/otlp"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./internal/recording", "./exporters/otlp", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/dotnet", "./internal/intern", "./internal/procinfo", "./internal/span/...", "./schema", "go.opentelemetry.io/proto/otlp/common/v1", "go.opentelemetry.io/proto/otlp/resource/v1",
			"go.opentelemetry.io/proto/otlp/trace/v1", "google.golang.org/protobuf/...",
		},
		why: "spans leave through an Uploader: a user of this exporter chooses the client, and compiles gRPC only with one that needs it",
	},
	{
		of: []string{"./exporters/parquet"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./exporters/parquet", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/dotnet", "./internal/glob", "./internal/intern", "./internal/parquetwriter", "./internal/payload", "./internal/procinfo", "./internal/profile", "./internal/recording", "./kind", "./internal/origin", "./internal/counter",
			"./internal/span/...", "./internal/tables", "./internal/tempfile", "./schema", "github.com/parquet-go/...", "github.com/klauspost/compress/...", "github.com/andybalholm/brotli/...", "github.com/pierrec/lz4/...", "github.com/google/uuid", "github.com/twpayne/go-geom/...", "golang.org/x/sys/...", "google.golang.org/protobuf/...",
		},
		why: "tables are made of events of any source; the library of Parquet and its compressors are all that a user of this exporter compiles in addition",
	},
	{
		of: []string{"./..."}, except: []string{"./internal/parquetwriter", "./internal/testing/agreement"}, direct: true, never: []string{"github.com/parquet-go/..."},
		why: "one package knows the library of Parquet; files that others made are read without it",
	},
	{
		of: []string{"./internal/tables"}, only: []string{"std", "./", "./internal/jsonio", "./internal/tables"},
		why: "exporter, importer and documentation share the schema of the tables, whichever library stores them",
	},
	{
		of: []string{"./examples/otlp/send"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./internal/recording", "./exporters/otlp", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/dotnet", "./internal/intern", "./internal/filelock", "./internal/iox", "./internal/procinfo", "./internal/span/...", "./internal/wire/...",
			"./reader", "./schema", "github.com/klauspost/compress/...", "go.opentelemetry.io/proto/otlp/common/v1", "go.opentelemetry.io/proto/otlp/resource/v1",
			"go.opentelemetry.io/proto/otlp/trace/v1", "golang.org/x/sys/...", "google.golang.org/protobuf/...",
		},
		why: "a program that reads traces and sends spans compiles the model, the reader, spans and protobuf: no gRPC, no SDK, no command line, no other format",
	},
	{
		of: []string{"./examples/parquet"}, only: []string{
			"std", "./", "./internal/operation", "./internal/interval", "./exporters/parquet", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/counter", "./internal/dotnet", "./internal/glob", "./internal/intern", "./internal/filelock", "./internal/iox", "./internal/origin", "./internal/parquetwriter",
			"./internal/payload", "./internal/procinfo", "./internal/profile", "./internal/recording", "./kind", "./internal/span/...", "./internal/tables", "./internal/tempfile", "./internal/wire/...", "./reader", "./schema", "github.com/parquet-go/...",
			"github.com/klauspost/compress/...", "github.com/andybalholm/brotli/...", "github.com/pierrec/lz4/...", "github.com/google/uuid", "github.com/twpayne/go-geom/...", "golang.org/x/sys/...", "google.golang.org/protobuf/...",
		},
		why: "a program that reads traces and writes tables compiles the model, the reader and the library of Parquet: no command line, no other format",
	},
	{
		of: []string{"./importers/..."}, never: []string{"./reader", "./writer", "./symbol", "./exporters/...", "./internal/wire/...", "./internal/formats"},
		why: "a source gives events to any sink, and names in its stacks: who needs addresses for them asks package symbol",
	},
	{
		of: []string{"./importers/pprof"}, only: []string{
			"std", "./", "./importers/pprof", "./internal/clr", "./internal/dotnet", "./internal/intern", "./internal/filelock", "./internal/iox", "./internal/origin", "./internal/pproflegacy", "github.com/google/pprof/profile",
			"github.com/klauspost/compress/...", "golang.org/x/sys/...", "google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/...",
		},
		why: "a user of one importer compiles neither the others nor the command line",
	},
	{
		of: []string{"./importers/parquet"}, only: []string{
			"std", "./", "./internal/jsonio", "./internal/operation", "./importers/parquet", "./internal/clr", "./internal/intern", "./internal/origin", "./internal/parquetreader", "./internal/payload", "./internal/spool", "./internal/tables", "./internal/tempfile", "./internal/timesort",
			"./schema", "github.com/klauspost/compress/...", "github.com/andybalholm/brotli/...", "github.com/pierrec/lz4/..."},
		why: "a user of one importer compiles neither the others nor the command line, and no exporter; nor does it compile parquet-go, because the decoders are those of parquetreader",
	},
	{
		of: []string{"./importers/speedscope"}, only: []string{
			"std", "./", "./importers/speedscope", "./internal/bin", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/origin",
			"./internal/sampled", "./internal/spool", "./internal/tempfile",
		},
		why: "a user of one importer compiles neither the others nor the command line",
	},
	{
		of: []string{"./importers/firefox"}, only: []string{
			"std", "./", "./importers/firefox", "./internal/bin", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/origin",
			"./internal/sampled", "./internal/spool", "./internal/tempfile",
		},
		why: "a user of one importer compiles neither the others nor the command line",
	},
	{
		of: []string{"./internal/jsonio"}, only: []string{"std", "./", "./internal/jsonio"},
		why: "tokens, numbers and places are those of any JSON: of the model they know errors and the report",
	},
	{
		of: []string{"./internal/sampled"}, only: []string{"std", "./", "./internal/bin", "./internal/clr", "./internal/origin", "./internal/sampled", "./internal/spool", "./internal/tempfile"},
		why: "samples are collected and delivered in the same way whichever format they came in",
	},
	{
		of: []string{"./importers/folded"}, only: []string{"std", "./", "./importers/folded", "./internal/clr", "./internal/origin"},
		why: "text needs no protobuf and no compression: a user of this importer compiles the standard library and the model",
	},
	{
		of: []string{"./importers/otlp"}, only: []string{
			"std", "./", "./internal/jsonio", "./internal/operation", "./importers/otlp", "./internal/span", "./internal/timesort",
			"google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal/...",
		},
		why: "a user of one importer compiles neither the others nor the command line, and no generated messages: it decodes them itself, within limits",
	},
	{
		of: []string{"./internal/span"}, only: []string{"std", "./", "./internal/jsonio", "./internal/operation", "./internal/span"},
		why: "what a span is, and the event that holds one, do not depend on the format that either came from",
	},
	{
		of: []string{"./importers/..."}, never: []string{"github.com/google/pprof/profile"}, direct: true,
		why: "importers decode profile.proto themselves, within limits and with places in errors; internal/pproflegacy has the older formats",
	},
	{
		of: []string{"./..."}, except: []string{"./internal/formats"}, never: []string{"./internal/otlpclient"}, direct: true,
		why: "the clients of gRPC and HTTP are for the command alone, which has them through its table of formats: who uses the exporter brings a client",
	},
	{
		of: []string{"./..."}, except: []string{"./internal/otlpclient", "./examples/..."}, direct: true, never: []string{
			"google.golang.org/grpc/...", "go.opentelemetry.io/otel/...",
		},
		why: "one package knows how spans are sent",
	},
	{
		of: []string{"./..."}, except: []string{"./cmd/..."}, never: []string{"github.com/spf13/cobra", "golang.org/x/term"},
		why: "only the command talks to a terminal",
	},
	{
		of: []string{"./..."}, except: []string{"./cmd/...", "./convert", "./internal/formats", "./internal/pprofview", "./internal/testing/tracegen/tracegen"}, never: []string{"flag", "github.com/spf13/pflag", "log", "log/..."}, direct: true,
		why: "only the command logs and parses flags; the table of formats says which flags there are, convert sets their values by name and parses none, and pprofview passes arguments to pprof's driver as flags and discards the log of its server",
	},
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
		},
		why: "outputs are read with other code than that which wrote them, so that a mistake is not in both",
	},
	{
		of: []string{"./internal/testing/tracegen"}, only: []string{"std", "./internal/bin", "./internal/wire/...", "./internal/testing/wirestream"},
		why: "generated traces are bytes of the wire: they must not agree with a reader or a writer because they share its code",
	},
}

type importRule struct {
	of     []string // the packages that the rule is about
	except []string // and those it is not about
	only   []string // what they may import; nil: anything but never
	never  []string
	direct bool // concerns only the imports of the packages' own files
	why    string
}

// A listed is the part of the output of go list for a package.
type listed struct {
	ImportPath, Name, Dir string
	Standard              bool
	GoFiles, Imports      []string
	Deps                  []string
	DepOnly               bool
}

func listPackages(t *testing.T) map[string]*listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Dir,Standard,GoFiles,Imports,Deps,DepOnly", "./...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Skipf("the go command cannot be run: %v", err)
	}
	all := map[string]*listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := dec.Decode(p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// matches reports whether a package is one of those that patterns describe.
func matches(p *listed, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == "std" {
			return p.Standard
		}
		if rest, ok := strings.CutPrefix(pattern, "./"); ok {
			pattern = strings.TrimSuffix(module+"/"+rest, "/")
		}
		prefix, tree := strings.CutSuffix(pattern, "/...")
		return p.ImportPath == prefix || tree && strings.HasPrefix(p.ImportPath, prefix+"/")
	})
}

func TestImportRules(t *testing.T) {
	all := listPackages(t)
	for _, rule := range importRules {
		concerned := 0
		for _, p := range all {
			if p.DepOnly || !matches(p, rule.of) || matches(p, rule.except) {
				continue
			}
			concerned++
			imports := p.Deps
			if rule.direct {
				imports = p.Imports
			}
			for _, path := range imports {
				q := all[path]
				if q == nil {
					if path != "C" {
						t.Fatalf("%s imports %s, which is not listed", p.ImportPath, path)
					}
					continue
				}
				if only := withModel(rule.only); only != nil && !matches(q, only) || matches(q, rule.never) {
					t.Errorf("%s must not import %s (%s): %s", p.ImportPath, path, chain(all, p, path), rule.why)
				}
			}
		}
		if concerned == 0 {
			t.Errorf("no package matches %q: the rule is out of date", rule.of)
		}
	}
}

// profileImporter returns what importers of profiles in JSON may import, and more.
func profileImporter(more ...string) []string {
	return append(more, "std", "./", "./internal/bin", "./internal/chromeevent", "./internal/clr", "./internal/jsonio", "./internal/origin", "./internal/sampled", "./internal/spool",
		"./internal/tempfile")
}

// timelineExporter returns what an exporter on package timeline may import.
func timelineExporter(more ...string) []string {
	return append(more, "std", "./", "./internal/operation", "./internal/interval", "./internal/bin", "./internal/chromeevent", "./internal/clr", "./internal/counter", "./internal/dotnet", "./internal/intern", "./internal/jsonio",
		"./internal/origin", "./internal/payload", "./internal/procinfo", "./internal/profile", "./internal/recording", "./kind", "./internal/span", "./internal/span/...", "./internal/spool",
		"./internal/tempfile", "./internal/timeline", "./schema")
}

// TestFormatsHaveImportRules checks that each exporter and importer has its own rule that lists all permitted imports.
func TestFormatsHaveImportRules(t *testing.T) {
	for path, p := range listPackages(t) {
		name, ok := strings.CutPrefix(path, module)
		if p.DepOnly || !ok || !strings.HasPrefix(name, "/exporters/") && !strings.HasPrefix(name, "/importers/") {
			continue
		}
		if !slices.ContainsFunc(importRules, func(r importRule) bool { return r.only != nil && slices.Equal(r.of, []string{"." + name}) }) {
			t.Errorf("imports_test.go has no rule that lists what .%s may import", name)
		}
	}
}

// withModel adds what the root package, jsonio, payload and schema import to patterns that allow these.
func withModel(only []string) []string {
	if slices.Contains(only, "./") {
		only = append(slices.Clip(only), "./internal/bin")
	}
	if slices.Contains(only, "./internal/payload") {
		only = append(only, "./internal/jsonio")
	}
	if slices.Contains(only, "./schema") {
		only = append(only, "./internal/layout")
	}
	if slices.Contains(only, "./internal/jsonio") {
		only = append(only, "github.com/go-json-experiment/json/jsontext", "github.com/go-json-experiment/json/internal/...")
	}
	return only
}

// chain returns a way by which p comes to import path.
func chain(all map[string]*listed, p *listed, path string) string {
	from := map[string]string{p.ImportPath: ""}
	for queue := []string{p.ImportPath}; len(queue) > 0; queue = queue[1:] {
		for _, next := range all[queue[0]].Imports {
			if _, seen := from[next]; seen || all[next] == nil {
				continue
			}
			from[next] = queue[0]
			queue = append(queue, next)
		}
	}
	way := path
	for at := from[path]; at != ""; at = from[at] {
		way = at + " -> " + way
	}
	return way
}

// eachFile parses every Go file of the module that is not a test.
func eachFile(t *testing.T, visit func(p *listed, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	for _, p := range listPackages(t) {
		if p.DepOnly {
			continue
		}
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			visit(p, fset, f)
		}
	}
}

// TestPackagesDoNothingOnTheirOwn checks that no package acts because it is imported, and that only commands exit.
func TestPackagesDoNothingOnTheirOwn(t *testing.T) {
	eachFile(t, func(p *listed, fset *token.FileSet, f *ast.File) {
		for _, imp := range f.Imports {
			if path, _ := strconv.Unquote(imp.Path.Value); imp.Name != nil && imp.Name.Name == "_" && path != "embed" {
				t.Errorf("%v: blank import of %s", fset.Position(imp.Pos()), path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%v: func init", fset.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "os" && p.Name != "main" && slices.Contains([]string{"Exit", "Stderr", "Args"}, n.Sel.Name) {
					t.Errorf("%v: os.%s outside a program", fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	})
}

// TestFormatsAreNotNamed checks that only the table of formats contains "pprof"; all others use the user's choice.
func TestFormatsAreNotNamed(t *testing.T) {
	calls := 0
	eachFile(t, func(p *listed, fset *token.FileSet, f *ast.File) {
		if p.ImportPath == module+"/internal/formats" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != "ByName" {
				return true
			}
			calls++
			if _, literal := call.Args[1].(*ast.BasicLit); literal {
				t.Errorf("%v: a format is asked for by its name", fset.Position(call.Pos()))
			}
			return true
		})
	})
	if calls == 0 {
		t.Error("no package asks for a format by name; update this test")
	}
}
