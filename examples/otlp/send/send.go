package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/reader"
)

// send sends the spans of a trace to the OTLP receiver at url.
func send(ctx context.Context, trace io.Reader, url string) error {
	src, err := reader.New(trace, nil)
	if err != nil {
		return err
	}
	sink := otlp.New(ctx, client(url), src.Info(), nil, nil)
	_, err = ntconv.Copy(sink, src)
	err = errors.Join(err, sink.Close())
	if s := sink.Summary(); s.Rejected > 0 {
		err = errors.Join(err, fmt.Errorf("receiver rejected %d of %d spans: %s", s.Rejected, s.Items, s.Message))
	}
	return err
}

// A client is an otlp.Uploader that sends batches of spans to a URL.
type client string

func (url client) Upload(ctx context.Context, _ otlp.Signal, request []byte, _ int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, string(url), bytes.NewReader(request))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err // the receiver may have the spans; the sink reports that and stops
	}
	defer resp.Body.Close()
	switch response, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20)); {
	case resp.StatusCode == http.StatusRequestEntityTooLarge:
		return otlp.ErrTooLarge // the sink splits the batch
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %w", resp.Status, otlp.ErrNotReceived)
	case err != nil:
		return err
	default:
		return otlp.ParseResponse(response) // the receiver may have rejected some spans
	}
}
