package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/show/inventory"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

func TestInfo(t *testing.T) {
	for _, name := range []string{"cpu-v6", "sources-netperf3", "stress-drop", "three-processes-v6"} {
		r := invoke(t, t.TempDir(), nil, "info", "--json", trace(t, name))
		var d description
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || r.code != exitOK {
			t.Fatalf("%s: %v, code %d: %s", name, err, r.code, r.stderr)
		}
		printed := lines(t, invoke(t, t.TempDir(), nil, "print", "--json", trace(t, name)).stdout)
		size := 0.0
		for _, m := range printed {
			size += m["size"].(float64)
		}
		if d.Events.Events != int64(len(printed)) || d.Events.Bytes != int64(size) {
			t.Errorf("%s: %d events and %d bytes, printed are %d and %v", name, d.Events.Events, d.Events.Bytes, len(printed), size)
		}
		var types, providers inventory.Tally
		for _, p := range d.Providers {
			providers.Add(p.Tally)
			for _, e := range p.Types {
				types.Add(e.Tally)
			}
		}
		ofThreads, ofProcesses := int64(0), int64(0)
		for _, th := range d.Threads {
			ofThreads += th.Events
		}
		for _, p := range d.Processes {
			ofProcesses += p.Events
		}
		if types != d.Events.Tally || providers != d.Events.Tally || ofThreads != d.Events.Events || ofProcesses != d.Events.Events {
			t.Errorf("%s: sums differ: %+v, %+v, %+v, %d, %d", name, d.Events.Tally, types, providers, ofThreads, ofProcesses)
		}
		text := invoke(t, t.TempDir(), nil, "info", trace(t, name))
		for _, p := range d.Providers {
			if !strings.Contains(text.stdout, p.Name) {
				t.Errorf("%s: no %s in the text", name, p.Name)
			}
		}
		if name == "stress-drop" && (d.Lost != 19336 || !strings.Contains(text.stdout, "19,336")) {
			t.Errorf("%d lost events", d.Lost)
		}
	}
}

// JSON has all of a name that is too long for the text.
func TestInfoJSON(t *testing.T) {
	name := strings.Repeat("é", 2000)
	d := description{Description: inventory.Description{Processes: []inventory.Process{{PID: 2, CommandLine: name}}}}
	var b bytes.Buffer
	if err := writeJSON(&b, &d); err != nil || !strings.Contains(b.String(), name) {
		t.Errorf("%v: %s", err, b.String())
	}
}

// The commands that info proposes print as many events as their rows say.
func TestProposedCommandsPrintWhatInfoCounts(t *testing.T) {
	checked := 0
	for _, name := range []string{"waits", "waits-v6", "exceptions", "gcdump", "counters", "alloc-verbose", "cpu-v6"} {
		dir := t.TempDir()
		in := trace(t, name)
		var d struct {
			Extract []inventory.Extractable `json:"extract"`
		}
		if r := invoke(t, dir, nil, "info", "--json", in); json.Unmarshal([]byte(r.stdout), &d) != nil || len(d.Extract) == 0 {
			t.Fatalf("%s: %s%s", name, r.stdout, r.stderr)
		}
		for _, x := range d.Extract {
			args, isPrint := strings.CutPrefix(x.Command, "ntconv print ")
			if !isPrint {
				continue
			}
			want := x.Events
			if x.Printed > 0 {
				want = x.Printed
			}
			args = strings.ReplaceAll(strings.ReplaceAll(args, "--frames ", ""), "'", "")
			r := invoke(t, dir, nil, append([]string{"print"}, strings.Fields(args)...)...)
			if n := int64(strings.Count(r.stdout, "\n")); n != want {
				t.Errorf("%s: %d events, want %d", x.Command, n, want)
			}
			checked++
		}
	}
	if checked < 2 {
		t.Errorf("only %d commands", checked)
	}
}

// Totals of intervals that end on another thread than they begin are right for a file, and for a pipe in time order.
// For a pipe in file order, a note says that they may not be.
func TestInfoOrder(t *testing.T) {
	const note = "may be inexact"
	data := corpus.SharedTrace(t, "own/async-tpl").Data
	in := corpus.Shared(t, "data", "own", "async-tpl.nettrace.zst")
	kinds := func(stdin []byte, args ...string) (totals string, noted bool) {
		t.Helper()
		r := invoke(t, t.TempDir(), stdin, append([]string{"info", "--json"}, args...)...)
		var d struct {
			Kinds []struct {
				Kind    string
				Samples int64
				Values  []struct {
					Type       string
					Total, Max int64
				}
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || len(d.Kinds) < 2 {
			t.Fatalf("%q: %v: %s%s", args, err, r.stdout, r.stderr)
		}
		return fmt.Sprint(d.Kinds), strings.Contains(r.stdout, note)
	}
	file, noted := kinds(nil, in)
	if noted {
		t.Error("a note for a file")
	}
	if piped, noted := kinds(data, "--order", "time", "-"); piped != file || noted {
		t.Errorf("from a pipe in time order, with a note: %v:\n%s\nfrom a file:\n%s", noted, piped, file)
	}
	if piped, noted := kinds(data, "-"); piped == file || !noted {
		t.Errorf("from a pipe, with a note: %v:\n%s\nfrom a file:\n%s", noted, piped, file)
	}
}
