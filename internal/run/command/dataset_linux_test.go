package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// days writes n copies of a recording, whose starts are spread over 20 days, and returns their directory.
func days(t *testing.T, dir string, n int) string {
	t.Helper()
	data := bytes.Clone(unpacked(t, "threads"))
	year := bytes.Index(data, binary.LittleEndian.AppendUint16(nil, 2026)) // of the start: year, month, weekday, day, hour, minute, second
	if year < 0 {
		t.Fatal("no date")
	}
	in := filepath.Join(dir, "traces")
	must(t, os.MkdirAll(in, 0o777))
	for i := range n {
		binary.LittleEndian.PutUint16(data[year+6:], uint16(1+i%20))
		binary.LittleEndian.PutUint16(data[year+10:], uint16(i/20%60))
		binary.LittleEndian.PutUint16(data[year+12:], uint16(i/1200%60))
		write(t, in, fmt.Sprintf("%05d.nettrace", i), data)
	}
	return in
}

// The memory of a run does not grow with the number of traces, and neither does the number of files with that of small traces.
func TestDatasetOfThousand(t *testing.T) {
	if !corpus.Nightly() {
		t.Skip("make nightly adds a thousand traces")
	}
	memory := map[int]int64{}
	for _, n := range []int{250, 1000} {
		dir := t.TempDir()
		set := filepath.Join(dir, "fleet")
		cmd := command(t, dir, "to", "parquet", "-q", "--dataset", set, days(t, dir, n))
		must(t, cmd.Run())
		memory[n] = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		if got := len(tracesOf(t, dir, set)); got != n {
			t.Errorf("%d traces, want %d", got, n)
		}
		r := succeed(t, dir, "dataset", "verify", set)
		_, rest, _ := strings.Cut(r.stdout, "traces, ")
		files, err := strconv.Atoi(strings.ReplaceAll(strings.Fields(rest)[0], ",", ""))
		if err != nil || files > 191+(n/200+1)*20*60 { // per commit and day, at most 60 tables have rows
			t.Errorf("%d traces have %d files, %v", n, files, err)
		}
		t.Logf("%d traces: %d files, %d MB of memory", n, files, memory[n]>>20)
		if r := succeed(t, dir, "dataset", "optimize", "-q", set); !strings.Contains(r.stdout, "traces were joined") {
			t.Error(r.stdout)
		}
		if got := len(tracesOf(t, dir, set)); got != n {
			t.Errorf("%d traces after optimize, want %d", got, n)
		}
	}
	if memory[1000] > memory[250]*3/2+32<<20 {
		t.Errorf("1,000 traces took %d MB, 250 %d MB", memory[1000]>>20, memory[250]>>20)
	}
}
