package convert_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/symbol"
)

// count opens an input of any format and counts its events by type.
func count(ctx context.Context, name string) (map[string]int, error) {
	src, err := convert.Open(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	counts := make(map[string]int)
	for e, err := range ntconv.Events(src) {
		if err != nil {
			return counts, err
		}
		if e.Kind == ntconv.KindEvent {
			counts[e.Type.Provider]++
		}
	}
	return counts, nil
}

// profileThread writes a profile of one thread, in a part of the recording. The samples of other threads, and those
// outside of the part, do not change the weights.
func profileThread(ctx context.Context, profile *os.File, name string, tid uint64) error {
	src, err := convert.Open(ctx, name, &convert.Options{
		Select:  convert.Selection{TIDs: []uint64{tid}, From: convert.AfterStart(100 * time.Millisecond)},
		Symbols: new(symbol.Options),
	})
	if err != nil {
		return err
	}
	defer src.Close()
	sink := pprof.New(profile, src.Info(), src.Namer(), nil)
	if _, err := ntconv.Copy(sink, src); err != nil {
		return err
	}
	return sink.Close()
}

// send sends the spans of a trace to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, or to one on this machine.
func send(ctx context.Context, trace string) error {
	client, err := otlpclient.New(nil)
	if err != nil {
		return err
	}
	defer client.Close()
	res, err := convert.Send(ctx, client, nil, trace)
	if err != nil {
		return err // an *otlp.UploadError has the numbers of items that were received and that were not
	}
	fmt.Printf("%d sent, %d rejected: %s\n", res.Sent.Sent, res.Sent.Rejected, res.Sent.Message)
	return nil
}

// Send sends the spans of a trace to a collector, here one that accepts everything.
func ExampleSend() {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	os.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	os.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	if err := send(context.Background(), "../testdata/spans-stop.nettrace.zst"); err != nil {
		fmt.Println(err)
	}
	// Output: 41 sent, 0 rejected:
}

// sendAll sends the spans, log records, data points and profiles of a trace.
func sendAll(ctx context.Context, client otlp.Uploader, trace string) error {
	res, err := convert.Send(ctx, client, &convert.Options{Settings: map[string]string{"signals": "all"}}, trace)
	if err != nil {
		return err
	}
	for signal := range otlp.NumSignals {
		if c := res.Sent.Signals[signal]; c.Items > 0 {
			fmt.Println(signal, c.Sent, "of", c.Items)
		}
	}
	return nil
}

// Send sends all signals that the settings select, here also profiles, whose protocol is in development.
func ExampleSend_signals() {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	client, err := otlpclient.New(&otlpclient.Config{Endpoint: collector.URL, Protocol: otlpclient.HTTPProtobuf})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := sendAll(context.Background(), client, "../testdata/otel-cpu.nettrace.zst"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// traces 66 of 66
	// profiles 4 of 4
}

// busiest returns the function with the most time of threads, from a profile in memory.
func busiest(ctx context.Context, trace string) (string, error) {
	p, err := convert.Profile(ctx, &convert.Options{Settings: map[string]string{"kind": "cpu"}}, trace)
	if err != nil {
		return "", err
	}
	totals := make(map[string]int64)
	best := ""
	for _, s := range p.Sample {
		if len(s.Location) == 0 || len(s.Location[0].Line) == 0 {
			continue
		}
		name := s.Location[0].Line[0].Function.Name
		if totals[name] += s.Value[len(s.Value)-1]; totals[name] > totals[best] {
			best = name
		}
	}
	return best, nil
}

// Profile returns a profile in memory, with symbols.
func ExampleProfile() {
	fmt.Println(busiest(context.Background(), "../testdata/cpu-v6.nettrace.zst"))
	// Output: Shop.Cpu.Spin(double) <nil>
}

// fold writes folded stacks of one thread's samples, in milliseconds, and returns what was written.
func fold(ctx context.Context, out, name string) (string, error) {
	res, err := convert.File(ctx, out, &convert.Options{
		Select:   convert.Selection{Where: []string{`$tid == 15673 && $provider =~ "Sample"`}},
		Settings: map[string]string{"unit": "milliseconds"},
	}, nil, name)
	if err != nil {
		return "", err
	}
	return res.Summary, nil
}

// Open recognizes the format of an input by its content.
func ExampleOpen() {
	for _, name := range []string{"../testdata/activities.nettrace.zst", "../testdata/go-cpu.pb.gz"} {
		counts, err := count(context.Background(), name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(filepath.Base(name), counts)
	}
	// Output:
	// activities.nettrace.zst map[Microsoft-DotNETCore-EventPipe:1 Shop-Activities:32]
	// go-cpu.pb.gz map[Universal.Events:99]
}

// A selection chooses events by the rules of the command's flags.
func ExampleSource_Watch() {
	file, err := os.CreateTemp("", "*.pb.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := profileThread(context.Background(), file, "../testdata/cpu-env.nettrace.zst", 15673); err != nil {
		log.Fatal(err)
	}
	samples, err := count(context.Background(), file.Name())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(samples)
	// Output: map[Universal.Events:6]
}

// File converts as the command does. The format follows from the name of the output.
func ExampleFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	done, err := fold(context.Background(), filepath.Join(dir, "cpu.folded"), "../testdata/cpu-env.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done)
	// Output: wall profile, 27 distinct stacks from 80 of 1,786 events in ../testdata/cpu-env.nettrace.zst (nettrace 4)
}
