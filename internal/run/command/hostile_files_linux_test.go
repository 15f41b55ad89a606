package command

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// attacksOnFiles are on temporary files and on decompression.
var attacksOnFiles = []attack{
	{file: "unresolved.nettrace", args: "to parquet --max-spool 1MiB -o OUT IN", code: exitLimit, out: 0, mib: 700, says: "raise --max-spool"},
	// 32 KB that are compressed twice and hold 1.1 GB.
	{file: "gz-in-gz.gz", args: "info --from nettrace --max-ratio 50 IN", code: exitLimit, out: 0, mib: 100, says: "raise --max-ratio"},
	{file: "gz-in-gz.gz", args: "info --from nettrace IN", code: exitLimit, out: 0, mib: 100, says: "raise --max-ratio"},
	{file: "gz-in-gz.gz", args: "top --from pprof IN", code: exitLimit, out: 0, mib: 300, says: "raise --max-ratio"},
	{file: "gz-in-gz.gz", args: "info IN", code: exitInput, out: 0, mib: 60, says: "compressed twice"},
}

// A frame is a zstd frame of uncompressed data that needs a window of 128 MiB, and an rleFrame one of many blocks of
// 128 KiB of one byte.
//
// Source: RFC 8878, section 3.1.1.
func frame(data string) string {
	header := len(data)<<3 | 1
	return "\x28\xb5\x2f\xfd\x00\x88" + string([]byte{byte(header), byte(header >> 8), byte(header >> 16)}) + data
}

func rleFrame(value byte, blocks int) string {
	var b strings.Builder
	b.WriteString("\x28\xb5\x2f\xfd\x00\x88")
	for i := range blocks {
		header := 128<<10<<3 | 1<<1
		if i == blocks-1 {
			header |= 1
		}
		b.Write([]byte{byte(header), byte(header >> 8), byte(header >> 16), value})
	}
	return b.String()
}

// gzipMembers returns compressed parts, one member each.
func gzipMembers(t *testing.T, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		z, err := fileio.NewGzip(&b, 1)
		if err == nil {
			_, err = z.Write([]byte(part))
		}
		if err == nil {
			err = z.Close()
		}
		must(t, err)
	}
	return b.String()
}

// zipArchive returns an archive of that many members without content.
func zipArchive(t *testing.T, members int) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range members {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	must(t, z.Close())
	return b.String()
}

// Compressed inputs of some kilobytes cost little memory if they hold little, regardless of the sizes in their headers,
// and in proportion to what they hold otherwise. Before, 60 KB cost 350 MiB.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: the race detector multiplies time and memory")
	}
	const mib = 1 << 20
	zeros, letters := strings.Repeat("\x00", 60*mib), strings.Repeat("a", 60*mib)
	for i, tt := range []struct {
		name, data, args string
		code             int
		mib              int64
	}{
		{"window", frame("0123456789"), "info", exitInput, 60},
		{"frames", strings.Repeat(frame("0"), 4000), "info", exitInput, 60},
		{"empty frames", strings.Repeat(frame(""), 100_000), "info", exitInput, 60},
		{"frames of a trace", frame("Nettrace") + rleFrame(0, 600), "info", exitInput, 60},
		{"repeated byte", rleFrame(0, 512), "info", exitInput, 60},
		{"skippable frames", strings.Repeat("\x50\x2a\x4d\x18\x00\x00\x00\x00", 20_000), "info", exitInput, 60},
		{"skippable frame without end", "\x50\x2a\x4d\x18\xff\xff\xff\xff", "info", exitInput, 60},
		{"empty members", strings.Repeat(gzipMembers(t, ""), 20_000), "info", exitInput, 60},
		{"members", strings.Repeat(gzipMembers(t, "x"), 20_000), "info", exitInput, 60},
		{"zeros", gzipMembers(t, zeros), "info", exitInput, 60},
		{"trace of zeros", gzipMembers(t, "Nettrace"+zeros), "info", exitInput, 60},
		{"zstd in gzip", gzipMembers(t, rleFrame(0, 16<<10)), "info --from pprof", exitLimit, 300},
		{"gzip in zstd", frame(gzipMembers(t, zeros, zeros)), "info --from pprof", exitLimit, 300},
		{"members of a zip archive", zipArchive(t, 65_535), "info", exitInput, 60},
		{"string of Firefox", gzipMembers(t, `{"meta":{"preprocessedProfileVersion":40,"version":24,"interval":1,"processType":0,"product":"x"},"x":"`+letters), "info", exitLimit, 180},
		{"string of speedscope", gzipMembers(t, `{"$schema":"https://www.speedscope.app/file-format-schema.json","x":"`+letters), "info", exitLimit, 180},
	} {
		if corpus.IsOmitted(i, 3) {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			in := write(t, dir, "in", []byte(tt.data))
			cmd := command(t, dir, append(strings.Fields(tt.args), in)...)
			var out counter
			var errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			peak, err := measure(t, cmd)
			if code := exitCode(t, err); code != tt.code || out > 0 {
				t.Errorf("exit code %d, want %d, and %d bytes of output: %s", code, tt.code, out, errs.String())
			}
			if peak > tt.mib {
				t.Errorf("%d MiB of memory for %d bytes, want at most %d", peak, len(tt.data), tt.mib)
			}
			t.Logf("%d bytes, %d MiB: %s", len(tt.data), peak, errs.String())
		})
	}
}
