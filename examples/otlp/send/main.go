// Send sends the spans of a trace to an OTLP receiver with its own HTTP client:
//
//	go run ./examples/otlp/send app.nettrace http://localhost:4318/v1/traces
//
// It depends on neither the OpenTelemetry SDK nor protobuf.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "send:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a trace and a URL, got %d arguments", len(args))
	}
	trace, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer trace.Close()
	return send(context.Background(), trace, args[1])
}
