// Send sends the spans of a trace to an OTLP receiver with an HTTP client of its own:
//
//	go run ./examples/otlp/send app.nettrace http://localhost:4318/v1/traces
//
// It compiles neither gRPC nor the SDK of OpenTelemetry.
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
