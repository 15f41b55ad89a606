package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/otlp/otlpclient"
	"github.com/ntconv/ntconv/reader"
)

// stream sends what a stream in the nettrace format describes to the OTLP receiver at url, while it arrives. The summary
// states what became of every item.
func stream(ctx context.Context, trace io.Reader, url string) (s otlp.Summary, err error) {
	client, err := otlpclient.New(&otlpclient.Config{Endpoint: url})
	if err != nil {
		return s, err
	}
	defer client.Close()
	src, err := reader.New(trace, nil)
	if err != nil {
		return s, err
	}
	sink := otlp.New(ctx, client, src.Info(), nil, &otlp.Options{FlushEvery: time.Second})
	_, err = ntconv.Copy(sink, src)
	if errors.Is(err, context.Canceled) {
		err = nil // the end of reader.Follow; Close reports a cancellation of ctx
	}
	err = errors.Join(err, sink.Close())
	return sink.Summary(), err
}
