package main

import (
	"context"
	"io"

	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/reader"
)

// follow sends a trace while a recorder writes it, until ctx ends. The sink outlives ctx, so that it can send the last
// batch.
func follow(ctx context.Context, trace io.Reader, url string) (otlp.Summary, error) {
	return stream(context.WithoutCancel(ctx), reader.Follow(ctx, trace), url)
}
