package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// The frames that are left of the framework are those that no code of the program called.
func TestJustMyCode(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cpu-env", "cpu-default", "cpu-v6", "waits-v6"} {
		path := filepath.Join(dir, name+".folded")
		if r := invoke(t, dir, nil, "to", "folded", "--just-my-code", trace(t, name), "-o", path); r.code != exitOK {
			t.Fatalf("%s: %s", name, r.stderr)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for _, line := range lines {
			stack := line[:strings.LastIndexByte(line, ' ')]
			for frame := range strings.SplitSeq(stack, ";") {
				mine := strings.HasPrefix(frame, "Shop.") || frame == "[no stack]" || strings.HasPrefix(frame, "0x")
				if !mine && (frame != "[framework]" || stack != frame) {
					t.Errorf("%s: %s in %s", name, frame, stack)
				}
			}
		}
		if len(lines) < 2 {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// top has one row per module for code without symbols, and to pprof has addresses; the flag selects the other form.
func TestNative(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "cpu-v6")
	for _, c := range []struct {
		flags              []string
		modules, addresses bool
	}{{nil, true, false}, {[]string{"--native=full"}, false, true}} {
		o := topJSON(t, dir, append(c.flags, in)...)
		modules, addresses := false, false
		for _, r := range o.Rows {
			modules = modules || r.Function == "[libcoreclr.so]"
			addresses = addresses || strings.Contains(r.Function, "+0x")
		}
		if modules != c.modules || addresses != c.addresses {
			t.Errorf("%q: modules %v, addresses %v", c.flags, modules, addresses)
		}
	}
}

// pprof shows a location without lines as its module, as --native fold does: the rows of an imported profile do not
// depend on the flag.
func TestNativeAsPprof(t *testing.T) {
	dir, n := t.TempDir(), 0
	for _, file := range corpus.GoogleFiles(t) {
		if !strings.HasPrefix(filepath.Base(file), "cppbench.") || strings.Contains(file, ".string") || strings.Contains(file, "thread") {
			continue
		}
		n++
		folded, full := topJSON(t, dir, file), topJSON(t, dir, "--native=full", file)
		if !slices.Equal(folded.Rows, full.Rows) || folded.Total != full.Total {
			t.Errorf("%s: %+v, with addresses %+v", file, folded.Rows, full.Rows)
		}
	}
	if n < 3 {
		t.Errorf("only %d profiles", n)
	}
}

// What was folded is part of the report: each frame counts once per sample with it.
func TestGroupingReport(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "cpu-v6")
	r := invoke(t, dir, nil, "to", "pprof", "--report", "json", "--just-my-code", "--native", "fold", "--fold", "Sort",
		"--group", "Spin=spin", in, "-o", "x.pb.gz")
	if r.code != exitOK {
		t.Fatal(r.stderr)
	}
	var report struct {
		Used     int64 `json:"used"`
		Grouping struct {
			Frames, Shown, Native int64
			JustMyCode            int64 `json:"just_my_code"`
			Fold, Group           []struct {
				Expression string
				Frames     int64
			}
		} `json:"grouping"`
	}
	if err := json.Unmarshal([]byte(r.stderr), &report); err != nil {
		t.Fatal(err, r.stderr)
	}
	g := report.Grouping
	if g.JustMyCode <= 0 || g.Shown <= report.Used || g.Frames < g.Shown+g.JustMyCode ||
		len(g.Fold) != 1 || g.Fold[0].Expression != "Sort" || len(g.Group) != 1 || g.Group[0].Frames <= 0 {
		t.Errorf("%+v", report)
	}
	r = invoke(t, dir, nil, "to", "pprof", "--report", "json", in, "-o", "y.pb.gz")
	if strings.Contains(r.stderr, "grouping") {
		t.Errorf("without flags: %s", r.stderr)
	}
}
