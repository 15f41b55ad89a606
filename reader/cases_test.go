package reader

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wiretext"
)

var update = flag.Bool("update", false, "rewrite the outcomes in testdata/cases; the test still fails")

// TestCases reads traces in text form. Each file contains a description, the trace, and the outcome in time order and
// in strict mode, and in file order where it matters: events, report and error.
func TestCases(t *testing.T) {
	files, _ := filepath.Glob("testdata/cases/*.txt")
	if len(files) < 20 {
		t.Fatalf("%d cases", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, rest, _ := strings.Cut(string(content), "== trace\n")
			trace, _, _ := strings.Cut(rest, "== lenient\n")
			data, err := wiretext.Assemble(trace)
			if err != nil {
				t.Fatal(err)
			}
			got := head + "== trace\n" + trace + "== lenient\n" + outcome(data, &Options{}) + "== strict\n" + outcome(data, &Options{Strict: true})
			if strings.Contains(rest, "== file order\n") {
				got += "== file order\n" + outcome(data, &Options{Order: FileOrder}) + "== file order, strict\n" + outcome(data, &Options{Order: FileOrder, Strict: true})
			}
			for _, o := range pathOptions() {
				if _, err := compareAccepted(data, o); err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
			if got == string(content) {
				return
			}
			t.Errorf("%s: got\n%s", file, got)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// outcome reads a trace in time order and returns its events, report and error as text.
func outcome(data []byte, opts *Options) string {
	var b strings.Builder
	opts.Report = &ntconv.Report{}
	r, err := New(bytes.NewReader(data), opts)
	if err == nil {
		for e, readErr := range ntconv.Events(r) {
			if err = readErr; err != nil {
				break
			}
			fmt.Fprintln(&b, describe(e))
		}
	}
	for _, e := range opts.Report.Entries() {
		fmt.Fprintf(&b, "%d x %s: %s\n", e.Count, e.Code, e.Detail)
	}
	if err != nil {
		fmt.Fprintln(&b, "error:", err)
		for _, sentinel := range []error{ntconv.ErrTruncated, ntconv.ErrCorrupt, ntconv.ErrLimit, ntconv.ErrUnsupported, ntconv.ErrFormat} {
			if errors.Is(err, sentinel) {
				fmt.Fprintln(&b, "which is:", sentinel)
			}
		}
	}
	return b.String()
}

// describe returns an event as one line.
func describe(e *ntconv.Event) string {
	switch e.Kind {
	case ntconv.KindDefine:
		if e.Type != nil {
			return fmt.Sprintf("define type %s/%s with %d fields", e.Type.Provider, e.Type.Name, len(e.Type.Fields))
		}
		return "define thread " + threadText(e.Thread)
	case ntconv.KindMark:
		s := fmt.Sprintf("%v at %d", e.Mark.Kind, e.Time)
		if e.Mark.Flags != 0 {
			s += fmt.Sprintf(" flags %d", e.Mark.Flags)
		}
		for _, ts := range e.Mark.Threads {
			s += fmt.Sprintf(", %s=%d", threadText(ts.Thread), ts.Seq)
		}
		return s
	case ntconv.KindLost:
		return fmt.Sprintf("lost %d of %s", e.Lost, threadText(e.Capture))
	case ntconv.KindOpaque:
		return fmt.Sprintf("block %d: %x", e.Seq, e.Payload)
	}
	s := fmt.Sprintf("event at %d: %q seq %d of %s, %d bytes", e.Time, e.Type.Provider+"/"+e.Type.Name, e.Seq, threadText(e.Thread), len(e.Payload))
	if e.Stack != nil {
		s += fmt.Sprintf(", stack %#x", e.Stack.PCs)
	}
	if e.Labels != nil {
		s += fmt.Sprintf(", %d labels", len(e.Labels.List()))
	}
	if e.Flags&ntconv.FlagPlaceholder != 0 {
		s += ", placeholder"
	}
	if e.Flags&ntconv.FlagLate != 0 {
		s += ", late"
	}
	for f, v := range e.Fields() {
		s += fmt.Sprintf(", %s=%v", f.Name, v)
	}
	return s
}

func threadText(t *ntconv.Thread) string {
	if t.TID == ntconv.TIDUnknown {
		return fmt.Sprintf("%d/?", t.Process.PID)
	}
	return fmt.Sprintf("%d/%d", t.Process.PID, t.TID)
}
