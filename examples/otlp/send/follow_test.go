package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// A file that grows is sent while it grows, and the end of the context loses nothing of it.
func TestFollow(t *testing.T) {
	data := corpus.Trace(t, "spans-stop").Data
	arrived := make(chan struct{}, 1000)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
	defer receiver.Close()
	whole := filepath.Join(t.TempDir(), "whole.nettrace")
	if err := os.WriteFile(whole, data, 0o600); err != nil {
		t.Fatal(err)
	}
	send := func(ctx context.Context, f func(context.Context, *os.File) (otlp.Summary, error)) otlp.Summary {
		trace, err := os.Open(whole)
		if err != nil {
			t.Fatal(err)
		}
		defer trace.Close()
		s, err := f(ctx, trace)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := send(t.Context(), func(ctx context.Context, f *os.File) (otlp.Summary, error) {
		return stream(ctx, f, receiver.URL+"/v1/traces")
	})
	for len(arrived) > 0 {
		<-arrived
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := os.WriteFile(whole, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(whole, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, _ = f.Write(data[len(data)/2:])
			f.Close()
		}
		<-arrived
		time.Sleep(time.Second) // ten intervals of Follow
		stop()
	}()
	got := send(ctx, func(ctx context.Context, f *os.File) (otlp.Summary, error) {
		return follow(ctx, f, receiver.URL+"/v1/traces")
	})
	if got.Items != want.Items || got.Sent != want.Sent || got.Sent == 0 {
		t.Errorf("followed: %d of %d items sent, want %d of %d", got.Sent, got.Items, want.Sent, want.Items)
	}
}
