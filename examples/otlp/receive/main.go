// Receive is an OTLP/HTTP receiver. It writes the received spans to a nettrace file until it is interrupted:
//
//	go run ./examples/otlp/receive localhost:4318 spans.nettrace
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "receive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want an address and a file, got %d arguments", len(args))
	}
	file, err := os.Create(args[1])
	if err != nil {
		return err
	}
	spans := newRecorder(file)
	mux := http.NewServeMux()
	mux.Handle("POST /v1/traces", spans)
	server := &http.Server{Addr: args[0], Handler: mux}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.WithoutCancel(ctx)) })
	if err = server.ListenAndServe(); errors.Is(err, http.ErrServerClosed) {
		err = <-stopped
	}
	return errors.Join(err, spans.close(), file.Close())
}
