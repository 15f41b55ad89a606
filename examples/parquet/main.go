// Parquet writes the events of one type of a trace to a Parquet file with one column per field:
//
//	go run ./examples/parquet app.nettrace Microsoft-Windows-DotNETRuntime/GCAllocationTick ticks.parquet
//
// It depends on neither the command nor any other exporter.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "parquet:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("want a trace, a provider/event and a file, got %d arguments", len(args))
	}
	trace, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer trace.Close()
	file, err := os.Create(args[2])
	if err != nil {
		return err
	}
	if err := errors.Join(writeTable(file, trace, args[1]), file.Close()); err != nil {
		return errors.Join(err, os.Remove(args[2]))
	}
	return nil
}
