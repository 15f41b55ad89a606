package formats

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/spf13/pflag"
)

// settingsOf returns settings with flags.
func settingsOf(t *testing.T, args ...string) *otlpSettings {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("output", "", "")
	c := bindOTLP(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c
}

// Each flag sets its option and no other.
func TestOTLPOptions(t *testing.T) {
	report := new(ntconv.Report)
	for flag, set := range map[string]func(*otlp.Options){
		"--output=x":            func(*otlp.Options) {},
		"--spans=gc":            func(o *otlp.Options) { o.Sources = otlp.GC | otlp.Imported | otlp.Chrome },
		"--name-wait=7s":        func(o *otlp.Options) { o.NameWait = 7 * time.Second },
		"--name-wait=0":         func(o *otlp.Options) { o.NameWait = -1 },
		"--signals=logs":        func(o *otlp.Options) { o.Signals = otlp.SignalSet(otlp.Logs) },
		"--signals=logs,traces": func(o *otlp.Options) { o.Signals = otlp.SignalSet(otlp.Logs, otlp.Traces) },
		"--semantic-metrics":    func(o *otlp.Options) { o.SemanticMetrics = true },
		"--attributes=text":     func(o *otlp.Options) { o.Attributes = otlp.Text },
		"--unfinished=open":     func(o *otlp.Options) { o.Unfinished = otlp.OpenUnfinished },
		"--unfinished=close":    func(o *otlp.Options) { o.Unfinished = otlp.CloseUnfinished },
		"--span-id-order=le":    func(o *otlp.Options) { o.SpanIDOrder = otlp.LittleEndian },
		"--max-span-events=7":   func(o *otlp.Options) { o.MaxEvents = 7 },
		"--max-open-spans=7":    func(o *otlp.Options) { o.MaxOpen = 7 },
		"--omit-exporter":       func(o *otlp.Options) { o.OmitExporter = true },
		"--service-name=x": func(o *otlp.Options) {
			o.ServiceName, o.ImportedResource = "x", ntconv.Attrs{{Key: "service.name", Value: "x"}}
		},
		"--resource=a=b=c": func(o *otlp.Options) {
			o.Resource = ntconv.Attrs{{Key: "a", Value: "b=c"}}
			o.ImportedResource = o.Resource
		},
		"--thread-attributes": func(o *otlp.Options) { o.ThreadAttributes = true },
		"--profile-id":        func(o *otlp.Options) { o.ProfileIDs = true },
		"--batch=7":           func(o *otlp.Options) { o.BatchItems = 7 },
		"--batch-bytes=7KiB":  func(o *otlp.Options) { o.BatchBytes = 7 << 10 },
		"--flush-every=7s":    func(o *otlp.Options) { o.FlushEvery = 7 * time.Second },
	} {
		c := settingsOf(t, flag)
		if err := c.complete(&Target{Report: report}); err != nil {
			t.Fatal(err)
		}
		want := otlp.Options{Report: report}
		set(&want)
		if !reflect.DeepEqual(c.options, want) {
			t.Errorf("%s: got %+v, want %+v", flag, c.options, want)
		}
	}
}

// A span is sent although no other follows it, because someone may be waiting for it.
func TestOTLPSendsAtOnce(t *testing.T) {
	arrived := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		arrived <- struct{}{}
	}))
	defer server.Close()
	out, err := fileio.CreateOutputs("-", fileio.OutputsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	sink, err := settingsOf(t, "--endpoint="+server.URL+"/v1/traces").create(out, &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, &Target{Report: new(ntconv.Report)})
	if err != nil {
		t.Fatal(err)
	}
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	for i, name := range []string{"WorkStart", "WorkStop"} {
		e := &ntconv.Event{Type: &ntconv.Type{Provider: "Shop", Name: name, ID: uint32(i + 1)}, Thread: thread, Capture: thread, Time: ntconv.Ticks(i)}
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-arrived:
	case <-time.After(30 * time.Second):
		t.Error("the span waits for others")
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
}
