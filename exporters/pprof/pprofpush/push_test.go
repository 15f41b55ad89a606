package pprofpush_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/exporters/pprof/pprofpush"
	"github.com/ntconv/ntconv/sample"
)

func TestEndpoint(t *testing.T) {
	for _, c := range []struct{ endpoint, want, err string }{
		{"pyroscope+http://localhost:4040", "http://localhost:4040/push.v1.PusherService/Push", ""},
		{"Pyroscope+https://user:password@cloud.example/base/", "https://cloud.example:443/base/push.v1.PusherService/Push", ""},
		{"pyroscope+http://localhost/push.v1.PusherService/Push", "http://localhost:80/push.v1.PusherService/Push", ""},
		{"parca+http://localhost:7070", "http://localhost:7070", ""},
		{"parca+grpcs://localhost:7070", "https://localhost:7070", ""},
		{"parca+http://localhost:7070/base", "", "gRPC has no path"},
		{"pyroscope+grpc://localhost:4040", "", "exclude each other"},
		{"http://localhost:4040", "", "want pyroscope+http://HOST:4040"},
		{"pyroscope+localhost:4040", "", "want pyroscope+http://HOST:4040"},
		{"pyroscope+http://localhost:0", "", "want 1 to 65535"},
		{"", "", "want pyroscope+http://HOST:4040"},
	} {
		client, err := pprofpush.New(c.endpoint, nil)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.endpoint, err, c.err)
			}
			continue
		}
		if err != nil || client.Endpoint() != c.want || client.Plain() != strings.HasPrefix(c.want, "http:") {
			t.Errorf("%s: %v, %v, want %s", c.endpoint, client, err, c.want)
		}
	}
}

// The queries of both receivers accept the names of all kinds.
func TestName(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range sample.All() {
		name := pprofpush.Name(k)
		if !regexp.MustCompile(`^[a-z_]+$`).MatchString(name) || seen[name] {
			t.Errorf("%s: name %q", k, name)
		}
		seen[name] = true
	}
}

func TestLabels(t *testing.T) {
	for key, ok := range map[string]bool{"env": true, "_x9": true, "": false, "9a": false, "a-b": false, "é": false, "service_name": false, "__name__": false} {
		if err := pprofpush.CheckLabel(key); (err == nil) != ok {
			t.Errorf("%q: %v", key, err)
		}
	}
	client, err := pprofpush.New("pyroscope+http://localhost:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = client.Push(t.Context(), &pprofpush.Series{Name: "wall", Labels: ntconv.Attrs{{Key: "a-b", Value: "1"}}})
	if err == nil || !strings.Contains(err.Error(), "label a-b") {
		t.Error(err)
	}
}

// The receiver's message and the next step are those of its method, not of OTLP.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   []string
		is     error
	}{
		{http.StatusNotFound, "404 page not found", []string{"which ends with /push.v1.PusherService/Push"}, otlp.ErrUnsupportedSignal},
		{http.StatusUnauthorized, `{"code":"unauthenticated","message":"no org id"}`, []string{"no org id", "check the credentials in Config.Headers"}, nil},
		{http.StatusRequestEntityTooLarge, "", nil, otlp.ErrTooLarge},
		{http.StatusOK, "<html>", []string{"web page"}, nil},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if kind := r.Header.Get("Content-Type"); kind != "application/proto" {
				t.Errorf("content type %q", kind)
			}
			w.Header().Set("Content-Type", "application/json")
			if strings.HasPrefix(c.body, "<") {
				w.Header().Set("Content-Type", "text/html")
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		client, err := pprofpush.New("pyroscope+"+s.URL, &otlpclient.Config{})
		if err != nil {
			t.Fatal(err)
		}
		err = client.Push(t.Context(), &pprofpush.Series{Name: "wall", Samples: 1})
		text := fmt.Sprint(err)
		if advice := (*ntconv.AdviceError)(nil); errors.As(err, &advice) {
			text += " " + advice.Advice
		}
		if err == nil || c.is != nil && !errors.Is(err, c.is) || strings.Contains(text, "OTLP") || strings.Contains(text, "v1development") {
			t.Errorf("status %d: %s", c.status, text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("status %d: %s, want %s", c.status, text, want)
			}
		}
		s.Close()
	}
}

func ExampleClient_Push() {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("received at", r.URL.Path)
	}))
	defer receiver.Close()
	client, err := pprofpush.New("pyroscope+"+receiver.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var profile []byte // of convert.Write or exporters/pprof
	err = client.Push(context.Background(), &pprofpush.Series{Name: pprofpush.Name(sample.CPU), Service: "shop", Profile: profile})
	fmt.Println(errors.Join(err, client.Close()))
	// Output:
	// received at /push.v1.PusherService/Push
	// <nil>
}
