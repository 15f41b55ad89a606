package convert_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A collector is an Uploader that counts the spans of each service.
type collector struct {
	mu       sync.Mutex
	services map[string]int
	err      error
}

func (c *collector) Upload(_ context.Context, signal otlp.Signal, request []byte, _ int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var data tracepb.TracesData
	if err := proto.Unmarshal(request, &data); err != nil || signal != otlp.Traces {
		return errors.Join(err, errors.New("not a request of traces"))
	}
	for _, r := range data.ResourceSpans {
		for _, a := range r.Resource.Attributes {
			for _, s := range r.ScopeSpans {
				if a.Key == "service.name" {
					c.services[a.Value.GetStringValue()] += len(s.Spans)
				}
			}
		}
	}
	return c.err
}

// TestSend sends a file, a stream, and an input of another format: all spans arrive with the name of their service, and
// the result counts them. Failures have the counts, too.
func TestSend(t *testing.T) {
	file := corpus.Path("spans-stop.nettrace.zst")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func(to otlp.Uploader) (*convert.Result, error){
		"file": func(to otlp.Uploader) (*convert.Result, error) { return convert.Send(t.Context(), to, nil, file) },
		"stream": func(to otlp.Uploader) (*convert.Result, error) {
			r, w := io.Pipe()
			go func() {
				_, err := w.Write(data)
				w.CloseWithError(err)
			}()
			return convert.SendReader(t.Context(), to, "pipe", r, nil)
		},
		"batches": func(to otlp.Uploader) (*convert.Result, error) {
			return convert.Send(t.Context(), to, &convert.Options{Settings: map[string]string{"batch": "7"}}, file)
		},
	} {
		c := &collector{services: map[string]int{}}
		res, err := send(c)
		if err != nil || c.services["shop"] != 41 || len(c.services) != 1 || res.Sent.Sent != 41 || res.Sent.Signals[otlp.Traces].Items != 41 || res.Format != "otlp" {
			t.Errorf("%s: %v, %v, %+v", name, err, c.services, res)
		}
		c = &collector{services: map[string]int{}, err: otlp.ErrNotReceived}
		var upload *otlp.UploadError
		if res, err := send(c); !errors.As(err, &upload) || res != nil || upload.Items != 41 && name != "stream" || upload.Unsent != upload.Items || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
	}
	if _, err := convert.Send(t.Context(), nil, nil, file); err == nil {
		t.Error("sent through nothing")
	}
	if _, err := convert.Send(t.Context(), new(collector), nil, corpus.Path("empty.nettrace.zst")); !errors.Is(err, convert.ErrEmpty) {
		t.Errorf("an empty trace: %v", err)
	}
}
