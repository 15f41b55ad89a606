package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// progressLines decodes the lines of --progress json in the output to standard error and returns the other lines.
func progressLines(t *testing.T, stderr string) (records []progressRecord, others []string) {
	t.Helper()
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, `{"progress":`) {
			others = append(others, line)
			continue
		}
		var r progressRecord
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		records = append(records, r)
	}
	return records, others
}

// Each phase begins with a line and ends with one that has the final values: all bytes of the file, and all events of
// the trace. -q and --report json do not suppress what was asked for.
func TestProgressJSON(t *testing.T) {
	dir := t.TempDir()
	name := write(t, dir, "cpu-env.nettrace", unpacked(t, "cpu-env"))
	for _, args := range []string{"info", "info -q", "info --report json", "top", "print", "to folded -o -"} {
		r := invoke(t, dir, nil, append(strings.Fields(args), "--progress", "json", name)...)
		records, others := progressLines(t, r.stderr)
		if r.code != exitOK || len(records) < 2 {
			t.Fatalf("%s: code %d, %d lines of progress: %s", args, r.code, len(records), r.stderr)
		}
		first, last := records[0], records[len(records)-1]
		if first.Progress != "reading" || first.Done || first.Elapsed != 0 || first.Input != name {
			t.Errorf("%s: the first line is %+v", args, first)
		}
		if !last.Done || last.Events != 1786 || last.Read != last.Total || last.Total == 0 || last.Inputs != nil {
			t.Errorf("%s: the last line is %+v", args, last)
		}
		if strings.HasSuffix(args, "-q") && len(others) > 0 {
			t.Errorf("%s: also prints %q", args, others)
		}
		if strings.HasSuffix(args, "json") && (len(others) != 1 || !strings.HasPrefix(others[0], `{"input":`)) {
			t.Errorf("%s: the report is %q", args, others)
		}
	}
	for _, form := range []string{"none", "auto", "text"} { // too short for a line of text
		if r := invoke(t, dir, nil, "info", "-q", "--progress", form, name); r.code != exitOK || r.stderr != "" {
			t.Errorf("--progress %s: code %d, %q", form, r.code, r.stderr)
		}
	}
	if r := invoke(t, dir, nil, "info", "--progress", "xml", name); r.code != exitUsage || !strings.Contains(r.stderr, "json") {
		t.Errorf("--progress xml: code %d, %q", r.code, r.stderr)
	}
}

// Lines of JSON and of a log follow each other at fixed intervals, with the true rate, and end with stop.
func TestProgressIntervals(t *testing.T) {
	const speed = 50 << 20 // bytes per second
	for _, form := range []string{progressJSON, progressText} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			a := newApp(nil, &out)
			a.progressForm = form
			start := time.Now()
			count := &inputCount{total: 7}
			stop := a.showPhase(&progressPhase{name: "reading", size: 10 * speed, inputs: count, read: func() int64 {
				return int64(time.Since(start)) * speed / 1e9
			}})
			count.done.Store(2)
			time.Sleep(2500 * time.Millisecond)
			synctest.Wait()
			stop()
			drawn := out.String()
			time.Sleep(time.Second)
			if out.String() != drawn {
				t.Errorf("%s: a line after the end", form)
			}
			if form == progressText {
				if n := strings.Count(drawn, "(50 MiB/s)"); n != 2 || strings.Count(drawn, "2 of 7 traces") != 2 || strings.Contains(drawn, "\r") {
					t.Errorf("%q", drawn)
				}
				return
			}
			records, _ := progressLines(t, drawn)
			if len(records) != 14 { // the first one, one per 200 ms, the last one
				t.Fatalf("%d lines", len(records))
			}
			for i, r := range records[1:] {
				if r.Rate != speed || r.Inputs == nil || r.Inputs.Total != 7 || r.Inputs.Done != 2 || r.Done != (i == 12) {
					t.Errorf("line %d: %+v", i, r)
				}
			}
			if records[13].Elapsed != 2.5 || records[13].Read != speed*5/2 {
				t.Errorf("the last line is %+v", records[13])
			}
		})
	}
}

// The jobs of a run over several inputs count into one progress.
func TestProgressOfJobs(t *testing.T) {
	dir := t.TempDir()
	names := []string{write(t, dir, "cpu-env.nettrace", unpacked(t, "cpu-env")), write(t, dir, "counters.nettrace", unpacked(t, "counters"))}
	alone := int64(0)
	for _, name := range names {
		records, _ := progressLines(t, invoke(t, dir, nil, "info", "--progress", "json", name).stderr)
		alone += records[len(records)-1].Events
	}
	r := invoke(t, dir, nil, append([]string{"to", "parquet", "--dataset", "set", "--progress", "json"}, names...)...)
	records, _ := progressLines(t, r.stderr)
	last := records[len(records)-1]
	if last.Events < alone || last.Events == 0 || fmt.Sprint(*last.Inputs) != "{2 2 0}" {
		t.Errorf("%+v, want at least %d events", last, alone)
	}
}
