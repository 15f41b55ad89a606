package formats

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An unsupportedInput is a kind of file that users may give to ntconv, but that it cannot read.
type unsupportedInput struct {
	matches func(name string, head []byte) bool
	what    string
	next    string // what to do instead
}

func prefix(s string) func(string, []byte) bool {
	return func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(s)) }
}

// hasAt returns a test for a string at an offset.
func hasAt(offset int, s string) func(string, []byte) bool {
	return func(_ string, head []byte) bool {
		return len(head) > offset && bytes.HasPrefix(head[offset:], []byte(s))
	}
}

// unsupportedInputs returns the kinds of files that users of traces mistake for one, or that a trace is in. They are
// tried before hints, in this order. name is in lower case.
func unsupportedInputs(name string) []unsupportedInput {
	const perfScript = "perf script -i FILE > trace.perf writes a text that ntconv reads"
	const check = "check that this is the recorded file"
	const decompressOnce = "decompress it once, with gzip -dc or zstd -dc, and pass the output"
	const recordAgain = "record with ntconv collect, dotnet-trace collect or dotnet-trace collect-linux"
	const iconv = "convert it: iconv -f UTF-16 -t UTF-8 FILE | ntconv info -; PowerShell's > writes UTF-16, and destroys binary files"
	const dump = "dotnet-dump analyze reads core dumps of .NET programs"
	const viaSpeedscope = "open it in www.speedscope.app, save it there with Ctrl+S, and convert the saved file"
	decompress := func(command string) string { return "decompress it: " + command + " FILE | ntconv info -" }
	empty := Advice{"an empty file",
		"the recording may have been stopped before it began; record again, and end it with Enter or --duration"}
	if f := ByFile(Readable(), name); f != nil && f.In.NoBytes.Text != "" {
		empty = f.In.NoBytes
	}
	return []unsupportedInput{
		{func(_ string, h []byte) bool { return len(h) == 0 }, empty.Text, empty.Next},
		{prefix("\x1f\x8b\x08"), "a file that is compressed twice, inside with gzip", decompressOnce},
		{prefix("\x28\xb5\x2f\xfd"), "a file that is compressed twice, inside with zstd", decompressOnce},
		{func(_ string, h []byte) bool { return len(bytes.Trim(h, "\x00")) == 0 }, "a file that begins with zeros only",
			"the copy or the disk lost its content; copy or record it again"},
		{func(_ string, h []byte) bool { return len(h) < 8 && strings.HasPrefix("Nettrace", string(h)) },
			"a nettrace file truncated within its first 8 bytes", "the recording was stopped at its start; record again"},
		{prefix("PERFILE2"), "perf.data of Linux perf", perfScript},
		{prefix("2ELIFREP"), "perf.data of Linux perf, recorded on a big-endian machine", perfScript},
		{prefix("PERFFILE"), "perf.data of Linux perf before 3.9", perfScript},
		{isCallgrind, "a profile of callgrind, which has no stacks",
			"kcachegrind and callgrind_annotate show it; convert the trace that it was derived from"},
		{isOpenMetrics, "metrics in a text format of Prometheus, which ntconv only writes",
			"promtool and Prometheus read it; convert the trace that it was written from"},
		{isGCDump, "a gcdump, which holds a heap and no events", "dotnet-gcdump report reads it"},
		{func(_ string, h []byte) bool { return serializedType(h) == eventPipeFile }, // version 3 is netperf
			"netperf of .NET Core 2.0 (version 1 or 2)", "record with .NET Core 2.1 or later"},
		{isETLX, "an .etlx file, which PerfView and TraceEvent derive from a trace", "convert that trace"},
		{prefix(serialization), "a stream of .NET's FastSerialization that is not a trace", check},
		{prefix("\x7fELF"), "an ELF file: a program, a library or a core dump", dump},
		{prefix("MDMP"), "a Windows minidump", "dotnet-dump analyze reads it"},
		{prefix(zipMagic), "a zip archive",
			"extract it and convert the .nettrace file in it; for perf.data in an archive of perfcollect, perf script -i perf.data > trace.perf writes a text that ntconv reads"},
		{isGoTrace, "a Go execution trace",
			"go tool trace shows it; go tool trace -pprof=sched FILE > sched.pb writes a profile that ntconv reads"},
		{prefix("\xc1\x1f\xfc\xc1"), "an LTTng trace (CTF)", "babeltrace2 reads it; for .NET programs " + recordAgain},
		{prefix("FLR\x00"), "a recording of Java Flight Recorder (JFR)",
			"JDK Mission Control shows it; jfrconv of async-profiler writes folded stacks, which ntconv reads"},
		{prefix("*version\n"), "a method trace of Android (ART)", "Android Studio and profiler.firefox.com show it"},
		{prefix("v8-version,"), "a log of V8 (--prof)",
			"node --prof-process shows it; node --cpu-prof writes a profile that ntconv reads"},
		{isPerfetto, "a Perfetto trace",
			"ui.perfetto.dev shows it; traceconv json FILE writes Chrome's format, which ntconv reads"},
		{isETL, "an event trace log of Windows (.etl)",
			"PerfView reads it, and saves it as speedscope; for .NET programs " + recordAgain},
		{prefix("\xdc\xdfJSLB"), "a binary profile of the Firefox Profiler (JSLB)", "profiler.firefox.com shows it"},
		{hasPaths("head.callFrame"), "a heap profile of V8 (.heapprofile)", viaSpeedscope},
		{hasPaths("head.functionName"), "a .cpuprofile of an old version of V8", viaSpeedscope},
		{hasPaths("mode", "version", "interval"), "a profile of stackprof", viaSpeedscope},
		{hasPaths("dhatFileVersion"), "a heap profile of DHAT", "dh_view.html of Valgrind and profiler.firefox.com show it"},
		{hasPaths("projectId", "traceId", "spans[].spanId"), "a trace of Google Cloud Trace", "export the spans as OTLP"},
		{jsonWith(`"resourceSpans"`, `"resourceMetrics"`, `"resourceLogs"`, `"resourceProfiles"`), "JSON with OTLP in it",
			"extract the objects with the field resourceSpans, one per line"},
		{prefix("\xfd7zXZ\x00"), "an xz file", decompress("xz -dc")},
		{prefix("BZh"), "a bzip2 file", decompress("bzip2 -dc")},
		{prefix("\x04\x22\x4d\x18"), "an lz4 file", decompress("lz4 -dc")},
		{hasAt(257, "ustar"), "a tar archive", "extract the trace: tar -xOf FILE MEMBER | ntconv info -"},
		{prefix("version https://git-lfs.github.com/spec/"), "a Git LFS pointer in place of a file", "git lfs pull fetches the file"},
		{isHTML, "an HTML page",
			"a server may have answered with an error or a login page; download the file again"},
		{prefix("\xff\xfe"), "text in UTF-16", iconv},
		{prefix("\xfe\xff"), "text in UTF-16", iconv},
	}
}

// unsupportedText describes text of unknown formats. It is tried last.
func unsupportedText(head []byte) []unsupportedInput {
	flaw := flawInFolded(head)
	return []unsupportedInput{
		{func(string, []byte) bool { return flaw > 0 }, fmt.Sprintf("folded stacks, but line %d does not end in a space and a number", flaw),
			"remove the line, or skip it with --from folded"},
		{jsonWith(), "JSON", "convert the trace that it was derived from"},
		{isText, "text", "check that this is the recorded file, or name its format with --from"},
	}
}

// isCallgrind recognizes the first line that Valgrind writes, or the header that other programs write: lines "name: value"
// with the positions and events.
func isCallgrind(_ string, head []byte) bool {
	return bytes.HasPrefix(head, []byte("# callgrind format")) || bytes.HasPrefix(head, []byte("version: 1\n")) &&
		bytes.Contains(head, []byte("\npositions: ")) && bytes.Contains(head, []byte("\nevents: "))
}

func isGCDump(name string, head []byte) bool {
	t := serializedType(head)
	return strings.Contains(t, "GCHeapDump") || strings.Contains(t, "Graph") ||
		strings.HasSuffix(name, ".gcdump") && bytes.HasPrefix(head, []byte(serialization))
}

// isETL looks for the marker of a system trace header after the first buffer header (72 bytes): type 1 or 2 for 32 or
// 64 bits, flags 0xc0.
func isETL(_ string, head []byte) bool {
	return len(head) > 76 && (head[74] == 1 || head[74] == 2) && head[75] == 0xc0
}

// jsonWith returns a test for JSON that has one of the words within head. Without words it accepts any JSON.
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

// isText reports whether head is UTF-8 without control characters. The last character may be truncated.
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

func isETLX(name string, head []byte) bool {
	return strings.Contains(serializedType(head), "TraceLog") ||
		strings.HasSuffix(name, ".etlx") && bytes.HasPrefix(head, []byte(serialization))
}

// isGoTrace recognizes the header "go 1.22 trace", which is padded with zeros to 16 bytes.
func isGoTrace(_ string, head []byte) bool {
	version, ok := bytes.CutPrefix(head[:min(16, len(head))], []byte("go 1."))
	return ok && bytes.HasSuffix(bytes.TrimRight(version, "\x00"), []byte(" trace"))
}

// isPerfetto decides by name, because a protobuf message has no magic number. The first byte is the key of a packet.
func isPerfetto(name string, head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x0a}) &&
		(strings.HasSuffix(name, ".perfetto-trace") || strings.HasSuffix(name, ".pftrace"))
}

func isHTML(_ string, head []byte) bool {
	t := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"))
	return bytes.HasPrefix(t, []byte("<!doctype html")) || bytes.HasPrefix(t, []byte("<html"))
}
