package otlpclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/reader"
)

// A client sends the spans of a trace to a collector, here one that accepts everything.
func Example() {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	client, err := otlpclient.New(&otlpclient.Config{Endpoint: collector.URL, Protocol: otlpclient.HTTPProtobuf, Gzip: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	trace, err := os.Open("../../../testdata/spans-stop.nettrace.zst")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer trace.Close()
	src, err := reader.New(trace, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	sink := otlp.New(context.Background(), client, src.Info(), nil, nil)
	_, err = ntconv.Copy(sink, src)
	fmt.Println(errors.Join(err, sink.Close(), client.Close()), sink.Summary().Sent)
	// Output: <nil> 41
}
