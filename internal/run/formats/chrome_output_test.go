package formats

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/pflag"
)

// v8Args are the args of an event of a profile of V8.
type v8Args struct {
	Data struct {
		CPUProfile struct {
			Nodes []struct {
				ID        int64
				CallFrame struct{ FunctionName string }
			}
			Samples []int64
		}
	}
}

// checkChrome counts what a file of Chrome's format holds.
func checkChrome(t *testing.T, out []byte, want int64) {
	t.Helper()
	var file struct {
		TraceEvents []struct {
			Ph, Name string
			Args     json.RawMessage
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	n, idle := int64(0), int64(-1)
	for i := range file.TraceEvents {
		switch e := &file.TraceEvents[i]; e.Ph {
		case "X", "b", "i", "C":
			n++
		case "B":
			if e.Name != "flow" { // the beginning of an arrow
				n++
			}
		case "P":
			var args v8Args
			if err := json.Unmarshal(e.Args, &args); err != nil {
				t.Fatal(err)
			}
			for _, node := range args.Data.CPUProfile.Nodes {
				if node.CallFrame.FunctionName == "(idle)" {
					idle = node.ID
				}
			}
			for _, id := range args.Data.CPUProfile.Samples {
				if id != idle {
					n++
				}
			}
		}
	}
	if n != want {
		t.Errorf("%d items, %d were counted", n, want)
	}
}

// TestChromeFlags: combinations without a meaning are errors of the flags, found before anything is read.
func TestChromeFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--array --stacks", "--stacks: the array form"},
		{"--array --samples stackframes", "--samples stackframes: the array form"},
		{"--split 1MB --samples stackframes", "cannot be split"},
		{"--split 1KiB", "--split 1KiB: want at least 64KiB"},
		{"--min-duration -1s", "--min-duration -1s: want"},
		{"--tracks gc,foo", `"foo": want a list of spans, gc`},
		{"--tracks gc,spans --samples slices --array --no-args --rundown --span-id-order le", ""},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		settings := chromeFormat().Out.Bind(flags)
		err := flags.Parse(strings.Fields(c.args))
		if err == nil {
			out, oerr := fileio.CreateOutputs(filepath.Join(t.TempDir(), "out.json"), fileio.OutputsOptions{})
			if oerr != nil {
				t.Fatal(oerr)
			}
			defer out.Abort()
			var sink Sink
			if sink, err = chromeFormat().Output(settings, "", false).Create(out, &ntconv.Info{}, &Target{Namer: symbol.New(nil)}); err == nil {
				err = sink.(Aborter).Abort()
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}
