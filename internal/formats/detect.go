package formats

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
)

const (
	// SniffSize is how many bytes of an input are enough to recognize a live trace, which may not have more yet.
	SniffSize = 8
	// HeadSize is how many bytes Detect should see; inputs that are shorter are given whole.
	HeadSize = 4096
)

// An unsupportedInput is something that users give to a trace converter and that it cannot read.
type unsupportedInput struct {
	is   func(name string, head []byte) bool
	what string
	next string // what to do instead
}

func prefix(s string) func(string, []byte) bool {
	return func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(s)) }
}

// unsupportedInputs returns what an input of that name may be, in the order in which it is tried.
func unsupportedInputs(name string) []unsupportedInput {
	const unpackOnce = "unpack it once, with gzip -dc or zstd -dc, and give what comes out"
	const recordAgain = "record with dotnet-trace collect or dotnet-trace collect-linux"
	const throughSpeedscope = "open it in www.speedscope.app, save it there with Ctrl+S, and give the saved file"
	empty := Advice{
		"an empty file",
		"was the recording stopped before it began? record again, and end it with Enter or --duration",
	}
	if f := ByFile(Readable(), name); f != nil && f.In.NoBytes.Text != "" {
		empty = f.In.NoBytes
	}
	return []unsupportedInput{
		{func(_ string, h []byte) bool { return len(h) == 0 }, empty.Text, empty.Next},
		{prefix("\x1f\x8b\x08"), "a file that is packed twice, inside with gzip", unpackOnce},
		{prefix("\x28\xb5\x2f\xfd"), "a file that is packed twice, inside with zstd", unpackOnce},
		{func(_ string, h []byte) bool { return len(bytes.Trim(h, "\x00")) == 0 }, "a file that begins with zeros only",
			"the copy or the disk lost its content; copy or record it again"},
		{
			func(_ string, h []byte) bool { return len(h) < 8 && strings.HasPrefix("Nettrace", string(h)) },
			"a nettrace file that ends inside its first word",
			"the recording was cut off at once; record again",
		},
		{prefix("PERFILE2"), "perf.data of Linux perf", "perf script reads it; for .NET programs " + recordAgain},
		{prefix("2ELIFREP"), "perf.data of Linux perf from a big-endian machine", "perf script reads it"},
		{isGCDump, "a gcdump, which holds a heap and no events", "dotnet-gcdump report reads it"},
		{
			func(_ string, h []byte) bool { return serializedType(h) == "Microsoft.DotNet.Runtime.EventPipeFile" },
			"netperf of .NET Core 2.0 (version 1 or 2)",
			"record with .NET Core 2.1 or later",
		},
		{
			prefix(serialization),
			"a stream of .NET's FastSerialization that is no trace",
			"check that this is the file that was recorded",
		},
		{
			prefix("\x7fELF"),
			"an ELF file: a program, a library or a core dump",
			"dotnet-dump analyze reads core dumps of .NET programs",
		},
		{prefix("MZ"), "a Windows program or library", "check that this is the file that was recorded"},
		{prefix("MDMP"), "a Windows minidump", "dotnet-dump analyze reads it"},
		{
			prefix("PK\x03\x04"),
			"a zip archive",
			"unpack it and give the .nettrace file in it; of perfcollect's .trace.zip nothing can be read",
		},
		{prefix("FLR\x00"), "a Java flight recording", "jfr reads it"},
		{prefix("SIMPLEPERF"), "perf.data of Android's simpleperf", "simpleperf report reads it"},
		{
			isETL,
			"an event trace log of Windows (.etl)",
			"PerfView reads it, and saves it as speedscope; for .NET programs " + recordAgain,
		},
		{isBinlog, "a binary log of MSBuild (.binlog)", "the MSBuild Structured Log Viewer reads it"},
		{prefix("\xdc\xdfJSLB"), "a binary profile of the Firefox Profiler (JSLB)", "profiler.firefox.com shows it"},
		{hasPaths("snapshot.meta"), "a heap snapshot of V8", "Chrome DevTools shows it"},
		{hasPaths("head.callFrame"), "a heap profile of V8 (.heapprofile)", throughSpeedscope},
		{hasPaths("recording", "version"), "a recording of Safari", throughSpeedscope},
		{hasPaths("label", "duration", "ticks"), "a recording of Firefox's former performance tool", throughSpeedscope},
		{hasPaths("log.version"), "an HTTP archive (HAR), which is no trace", "a browser's developer tools show it"},
		{
			jsonWith(`"resourceSpans"`, `"resourceMetrics"`, `"resourceLogs"`, `"resourceProfiles"`),
			"JSON with OTLP in it",
			"give the objects with the field resourceSpans, one per line",
		},
	}
}

// unsupportedText returns what an input of no known format may be.
func unsupportedText() []unsupportedInput {
	return []unsupportedInput{
		{jsonWith(), "JSON", "give the trace that it came from"},
		{isText, "text", "check that this is the file that was recorded, or name its format with --from"},
	}
}

// SniffDir returns the format of the table whose directories have these members, or nil.
func SniffDir(table []*Format, members []string) *Format {
	for _, f := range table {
		if f.In.SniffDir != nil && f.In.SniffDir(members) {
			return f
		}
	}
	return nil
}

// Sniff returns the format of the table whose inputs begin with head, or nil.
func Sniff(table []*Format, head []byte) *Format {
	for _, f := range table {
		if f.In.Sniff != nil && f.In.Sniff(head) {
			return f
		}
	}
	return nil
}

// Detect returns the format of the table that an input is of. head is its beginning, decompressed: if that is packed
// still, the input is packed twice. name is the input's name; its extension decides nothing, but serves to name what
// cannot be read. The error says what the input seems to be and what to do with it; it wraps ntconv.ErrFormat.
func Detect(table []*Format, name string, head []byte) (*Format, error) {
	if f := Sniff(table, head); f != nil {
		return f, nil
	}
	want := "expected " + strings.Join(NamesOf(table), " or ")
	unsupported := func(list []unsupportedInput) error {
		for _, f := range list {
			if f.is(strings.ToLower(name), head) {
				return &Unknown{
					What: f.what,
					Err:  fmt.Errorf("this is %s, %s: %w; %s", f.what, want, ntconv.ErrFormat, f.next),
				}
			}
		}
		return nil
	}
	if err := unsupported(unsupportedInputs(strings.ToLower(name))); err != nil {
		return nil, err
	}
	for _, f := range table {
		if f.In.Hint != nil && f.In.Hint(head) {
			return f, nil
		}
	}
	if err := unsupported(unsupportedText()); err != nil {
		return nil, err
	}
	return nil, &Unknown{
		Err: fmt.Errorf(
			"%s, and found % x: %w; check that this is the file that was recorded, or name its format with --from",
			want,
			head[:min(8, len(head))],
			ntconv.ErrFormat,
		),
	}
}

// Unknown is the error of Detect.
type Unknown struct {
	What string // what the input seems to be; "" if that is unknown too
	Err  error
}

func (e *Unknown) Error() string { return "byte 0: " + e.Err.Error() }

// Unwrap returns the cause, which wraps ntconv.ErrFormat.
func (e *Unknown) Unwrap() error { return e.Err }

// IsUnknown reports whether err says that the format of an input is not known.
func IsUnknown(err error) bool {
	var u *Unknown
	return errors.As(err, &u)
}

func isGCDump(name string, head []byte) bool {
	t := serializedType(head)
	return strings.Contains(t, "GCHeapDump") || strings.Contains(t, "Graph") ||
		strings.HasSuffix(name, ".gcdump") && bytes.HasPrefix(head, []byte(serialization))
}

// isETL looks behind the first buffer header (72 bytes) for the marker of a system trace header: type 1 or 2 for 32 or
// 64 bits, flags 0xc0.
func isETL(_ string, head []byte) bool {
	return len(head) > 76 && (head[74] == 1 || head[74] == 2) && head[75] == 0xc0
}

// isBinlog: a file version and, since version 18, the version that a reader must have, both small.
func isBinlog(name string, head []byte) bool {
	if len(head) < 8 || head[1]|head[2]|head[3] != 0 || head[0] == 0 || head[0] > 64 {
		return false
	}
	return strings.HasSuffix(name, ".binlog") ||
		head[0] >= 18 && head[4] >= 18 && head[4] <= head[0] && head[5]|head[6]|head[7] == 0
}

// jsonWith returns a test for JSON that has one of the words near its beginning; without words, for any JSON.
func jsonWith(words ...string) func(string, []byte) bool {
	return func(_ string, head []byte) bool {
		t := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
		if len(t) == 0 || t[0] != '{' && t[0] != '[' || !isText("", head) {
			return false
		}
		for _, w := range words {
			if bytes.Contains(t, []byte(w)) {
				return true
			}
		}
		return len(words) == 0
	}
}

// isText: no control characters, and UTF-8 but for a character cut at the end.
func isText(_ string, head []byte) bool {
	some := len(head) > 0
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(head)
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		head = head[n:]
	}
	return some
}
