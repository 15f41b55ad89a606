package command

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/job"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// An uploadFormat is a format whose sinks write no file.
func uploadFormat(sent *int64) *formats.Format {
	return &formats.Format{Name: "upload", Exts: []string{".upload"}, Out: &formats.Out{
		Doc: "a trace that is sent", Bind: func(*pflag.FlagSet) formats.Settings {
			return func(o *formats.Output) {
				o.Destination, o.Flag = formats.ToNothing, "to upload"
				o.Create = func(out *fileio.Outputs, _ *ntconv.Info, _ *formats.Target) (formats.Sink, error) {
					return &uploadSink{out: out, sent: sent}, nil
				}
			}
		},
	}}
}

type uploadSink struct {
	out  *fileio.Outputs
	sent *int64
}

func (s *uploadSink) Write(e *ntconv.Event) error {
	if e.Kind == ntconv.KindEvent {
		*s.sent++
	}
	return nil
}

func (s *uploadSink) Close() error           { return nil }
func (s *uploadSink) Result() formats.Result { return uploadResult(*s.sent) }

// An uploadResult renders itself in words of its own.
type uploadResult int64

func (r uploadResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int64{"sent": int64(r)})
}
func (r uploadResult) Empty() string                   { return "" }
func (r uploadResult) Line(formats.Read) string        { return "sent everything" }
func (r uploadResult) Detail() (string, []ntconv.Code) { return "", nil }
func (r uploadResult) Remark(string)                   {}
func (r uploadResult) Notes() []string                 { return nil }

// An output without a file leaves none, and its result has the last word in the summary, as a line and as JSON.
func TestUpload(t *testing.T) {
	dir, in := t.TempDir(), trace(t, "cpu-env")
	t.Chdir(dir)
	for _, report := range []string{reportText, reportJSON} {
		var sent int64
		var out, errs bytes.Buffer
		a := newApp(&out, &errs)
		a.report = report
		a.memory.Start()
		c := &conversion{Job: job.Job{To: uploadFormat(&sent)}, in: in}
		c.bind(pflag.NewFlagSet("", pflag.ContinueOnError))
		must(t, a.prepare(new(cobra.Command), c))
		if code := a.finish(nil, a.convert(c)); code != exitOK || sent != 1786 {
			t.Fatalf("code %d, %d sent: %s", code, sent, errs.String())
		}
		want := "sent everything (nettrace 4)\n"
		if report == reportJSON {
			want = `"selected":1786,"sent":1786,"report":[]`
		}
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%s, want %s", errs.String(), want)
		}
		c.out = "x"
		if err := a.convert(c); codeOf(err) != exitUsage {
			t.Errorf("an upload to a file: %v", err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
