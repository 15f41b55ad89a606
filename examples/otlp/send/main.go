// Send sends a trace to an OTLP receiver while it reads it:
//
//	go run ./examples/otlp/send app.nettrace http://localhost:4318/v1/traces
//
// It contains the reader of nettrace and no other format; package convert sends inputs of any format.
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
	sent, err := stream(context.Background(), trace, args[1])
	if err == nil && sent.Rejected > 0 {
		err = fmt.Errorf("receiver rejected %d of %d items: %s", sent.Rejected, sent.Items, sent.Message)
	}
	return err
}
