package formats

import (
	"bytes"
	"encoding/binary"
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

// unsupportedInputs returns the kinds of files that are tried before hints, in this order. name is in lower case.
func unsupportedInputs(name string) []unsupportedInput {
	const decompressOnce = "decompress it once, with gzip -dc or zstd -dc, and pass the output"
	const check = "check that this is the recorded file"
	const recordAgain = "record with dotnet-trace collect or dotnet-trace collect-linux"
	const throughSpeedscope = "open it in www.speedscope.app, save it there with Ctrl+S, and convert the saved file"
	empty := Advice{
		"an empty file",
		"the recording may have been stopped before it began; record again, and end it with Enter or --duration",
	}
	if f := ByFile(Readable(), name); f != nil && f.In.NoBytes.Text != "" {
		empty = f.In.NoBytes
	}
	return []unsupportedInput{
		{func(_ string, h []byte) bool { return len(h) == 0 }, empty.Text, empty.Next},
		{prefix("\x1f\x8b\x08"), "a file that is compressed twice, inside with gzip", decompressOnce},
		{prefix("\x28\xb5\x2f\xfd"), "a file that is compressed twice, inside with zstd", decompressOnce},
		{func(_ string, h []byte) bool { return len(bytes.Trim(h, "\x00")) == 0 }, "a file that begins with zeros only",
			"the copy or the disk lost its content; copy or record it again"},
		{
			func(_ string, h []byte) bool { return len(h) < 8 && strings.HasPrefix("Nettrace", string(h)) },
			"a nettrace file truncated within its first 8 bytes",
			"the recording was stopped at its start; record again",
		},
		{prefix("PERFILE2"), "perf.data of Linux perf", "perf script reads it; for .NET programs " + recordAgain},
		{prefix("2ELIFREP"), "perf.data of Linux perf from a big-endian machine", "perf script reads it"},
		{isGCDump, "a gcdump, which holds a heap and no events", "dotnet-gcdump report reads it"},
		{
			func(_ string, h []byte) bool { return serializedType(h) == eventPipeFile }, // version 3 is netperf
			"netperf of .NET Core 2.0 (version 1 or 2)",
			"record with .NET Core 2.1 or later",
		},
		{isPreviewNetperf, "netperf of a .NET Core preview (EventTrace)", "record with .NET Core 2.1 or later"},
		{isETLX, "an .etlx file, which PerfView and TraceEvent derive from a trace", "convert that trace"},
		{prefix(serialization), "a stream of .NET's FastSerialization that is not a trace", check},
		{
			prefix("\x7fELF"),
			"an ELF file: a program, a library or a core dump",
			"dotnet-dump analyze reads core dumps of .NET programs",
		},
		{prefix("MZ"), "a Windows program or library", check},
		{prefix("MDMP"), "a Windows minidump", "dotnet-dump analyze reads it"},
		{prefix("PAGEDU"), "a Windows kernel dump", "WinDbg reads it"},
		{isMachO, "a macOS program, library or core dump (Mach-O)", check},
		{prefix("Microsoft C/C++ MSF "), "a Windows PDB file, which holds symbols", check},
		{prefix("BSJB"), "a portable PDB file, which holds symbols", check},
		{
			prefix("PK\x03\x04"),
			"a zip archive",
			"extract it and convert the .nettrace file in it; .trace.zip files of perfcollect are not supported",
		},
		{prefix("FLR\x00"), "a Java flight recording", "jfr reads it"},
		{prefix("JAVA PROFILE 1."), "a Java heap dump (HPROF)", "Eclipse Memory Analyzer reads it"},
		{
			isGoTrace,
			"a Go execution trace",
			"go tool trace shows it; go tool trace -pprof=sched FILE > sched.pb writes a profile that ntconv reads",
		},
		{prefix("\x17\x08\x44tracing"), "a recording of trace-cmd (trace.dat)", "trace-cmd report or KernelShark reads it"},
		{prefix("\xc1\x1f\xfc\xc1"), "an LTTng trace (CTF)", "babeltrace2 reads it; for .NET programs " + recordAgain},
		{
			isPerfetto,
			"a Perfetto trace",
			"ui.perfetto.dev shows it; traceconv json FILE writes Chrome's format, which ntconv reads",
		},
		{prefix("SIMPLEPERF"), "perf.data of Android's simpleperf", "simpleperf report reads it"},
		{
			isETL,
			"an event trace log of Windows (.etl)",
			"PerfView reads it, and saves it as speedscope; for .NET programs " + recordAgain,
		},
		{prefix("SQLite format 3\x00"), "an SQLite database", "sqlite3 reads it"},
		{hasAt(8, "DUCK"), "a DuckDB database", "duckdb reads it"},
		{isBinlog, "a binary log of MSBuild (.binlog)", "the MSBuild Structured Log Viewer reads it"},
		{prefix("\xdc\xdfJSLB"), "a binary profile of the Firefox Profiler (JSLB)", "profiler.firefox.com shows it"},
		{hasPaths("snapshot.meta"), "a heap snapshot of V8", "Chrome DevTools shows it"},
		{hasPaths("head.callFrame"), "a heap profile of V8 (.heapprofile)", throughSpeedscope},
		{hasPaths("recording", "version"), "a recording of Safari", throughSpeedscope},
		{hasPaths("label", "duration", "ticks"), "a recording of Firefox's former performance tool", throughSpeedscope},
		{hasPaths("log.version"), "an HTTP archive (HAR), which is not a trace", "a browser's developer tools show it"},
		{
			jsonWith(`"resourceSpans"`, `"resourceMetrics"`, `"resourceLogs"`, `"resourceProfiles"`),
			"JSON with OTLP in it",
			"extract the objects with the field resourceSpans, one per line",
		},
	}
}

// compressedInputs returns compressed files and archives that ntconv does not decompress.
func compressedInputs() []unsupportedInput {
	pipe := func(command string) string { return "decompress it: " + command + " FILE | ntconv info -" }
	const extract = "extract the trace and convert it"
	return []unsupportedInput{
		{prefix("\xfd7zXZ\x00"), "an xz file", pipe("xz -dc")},
		{isBzip2, "a bzip2 file", pipe("bzip2 -dc")},
		{prefix("\x04\x22\x4d\x18"), "an lz4 file", pipe("lz4 -dc")},
		{func(name string, h []byte) bool {
			return strings.HasSuffix(name, ".lzma") && bytes.HasPrefix(h, []byte("]\x00\x00"))
		},
			"an lzma file", pipe("xz -dc --format=lzma")},
		{prefix("\xff\x06\x00\x00sNaPpY"), "a snappy file", pipe("snzip -dc")},
		{prefix("LZIP\x01"), "an lzip file", pipe("lzip -dc")},
		{prefix("\x1f\x9d"), "a file of compress (.Z)", pipe("gzip -dc")},
		{hasAt(257, "ustar"), "a tar archive", "extract the trace: tar -xOf FILE MEMBER | ntconv info -"},
		{prefix("7z\xbc\xaf\x27\x1c"), "a 7-Zip archive", extract},
		{prefix("Rar!\x1a\x07"), "a RAR archive", extract},
		{prefix("MSCF\x00\x00\x00\x00"), "a Windows cabinet file", extract},
	}
}

// documentInputs returns files that are not recordings.
func documentInputs() []unsupportedInput {
	const check = "check that this is the recorded file"
	const iconv = "convert it: iconv -f UTF-16 -t UTF-8 FILE | ntconv info -; PowerShell's > writes UTF-16, " +
		"and destroys binary files"
	const download = "a server may have answered with an error or a login page; download the file again"
	return []unsupportedInput{
		{
			prefix("version https://git-lfs.github.com/spec/"),
			"a Git LFS pointer in place of a file",
			"git lfs pull fetches the file",
		},
		{prefix("\x89PNG\r\n\x1a\n"), "a PNG image", check},
		{prefix("\xff\xd8\xff"), "a JPEG image", check},
		{prefix("GIF8"), "a GIF image", check},
		{prefix("%PDF-"), "a PDF document", check},
		{isHTML, "an HTML page", download},
		{prefix("\xff\xfe"), "text in UTF-16", iconv},
		{prefix("\xfe\xff"), "text in UTF-16", iconv},
	}
}

// unsupportedText describes text of unknown formats. It is tried last.
func unsupportedText() []unsupportedInput {
	return []unsupportedInput{
		{jsonWith(), "JSON", "convert the trace that it was derived from"},
		{isText, "text", "check that this is the recorded file, or name its format with --from"},
	}
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

// isBinlog recognizes a file version and, since version 18, the minimum version of a reader. Both are small numbers.
func isBinlog(name string, head []byte) bool {
	if len(head) < 8 || head[1]|head[2]|head[3] != 0 || head[0] == 0 || head[0] > 64 {
		return false
	}
	return strings.HasSuffix(name, ".binlog") ||
		head[0] >= 18 && head[4] >= 18 && head[4] <= head[0] && head[5]|head[6]|head[7] == 0
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

// isPreviewNetperf recognizes the names that previews of .NET Core used for the stream or for its first object.
func isPreviewNetperf(_ string, head []byte) bool {
	return hasAt(4, "!EventTrace.")("", head) || serializedType(head) == "EventTrace"
}

func isETLX(name string, head []byte) bool {
	return strings.Contains(serializedType(head), "TraceLog") ||
		strings.HasSuffix(name, ".etlx") && bytes.HasPrefix(head, []byte(serialization))
}

// isMachO recognizes both byte orders and sizes, and universal binaries. Java classes begin like universal binaries,
// with a version in place of the small number of architectures.
func isMachO(_ string, head []byte) bool {
	if len(head) < 8 {
		return false
	}
	switch binary.BigEndian.Uint32(head) {
	case 0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe:
		return true
	case 0xcafebabe:
		return binary.BigEndian.Uint32(head[4:]) < 40
	}
	return false
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

// isBzip2 recognizes the block size in the header and the first block, or the end of an empty file.
func isBzip2(_ string, head []byte) bool {
	return len(head) >= 10 && string(head[:3]) == "BZh" && '1' <= head[3] && head[3] <= '9' &&
		(string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

func isHTML(_ string, head []byte) bool {
	t := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"))
	return bytes.HasPrefix(t, []byte("<!doctype html")) || bytes.HasPrefix(t, []byte("<html"))
}
