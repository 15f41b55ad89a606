// Tracegen writes a generated nettrace stream to standard output, or to a command that it starts and measures:
//
//	tracegen -version 4 -bytes 4.5G
//	tracegen -version 6 -bytes 4.5G ntconv to pprof - -o /tmp/big.pb.gz
//	tracegen -spans 1000000 ntconv to otlp - -o /dev/null
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tracegen:", err)
		os.Exit(1)
	}
}

func run() error {
	var o tracegen.Options
	version := flag.Int("version", 4, "of the format, 4 or 6")
	flag.Func("bytes", "length of the trace, as 64M or 4.5G", func(s string) (err error) {
		o.Bytes, err = size(s)
		return err
	})
	flag.Int64Var(&o.Events, "events", 0, "number of events, instead of -bytes")
	flag.IntVar(&o.Threads, "threads", 0, "number of threads")
	flag.IntVar(&o.Stacks, "stacks", 0, "number of distinct stacks")
	flag.IntVar(&o.Depth, "depth", 0, "frames per stack")
	flag.IntVar(&o.Payload, "payload", 0, "payload `bytes` of events other than samples")
	flag.IntVar(&o.Window, "window", 0, "events between sequence points, -1 for none")
	flag.BoolVar(&o.Unsorted, "unsorted", false, "write blocks of one thread each, not sorted by time")
	flag.BoolVar(&o.Runtime, "runtime", false, "allocations, exceptions and waits for locks instead of other events")
	shape := flag.String("shape", "", "write this hostile shape instead: "+strings.Join(shapeNames(), ", "))
	spans := tracegen.SpanOptions{}
	flag.Int64Var(&spans.Spans, "spans", 0, "write a trace of this number of Activities instead")
	flag.IntVar(&spans.Starts, "starts", 0, "with -spans: one in this number of Activities also has a Start event, 0 for none")
	n := flag.Int("n", 1000, "size of the hostile shape, in what it has many of")
	flag.Parse()
	o.Version = wire.Version(*version)
	write := func(w io.Writer) error {
		stats, err := tracegen.Write(w, o)
		fmt.Fprintf(os.Stderr, "%d bytes, %d events, %d samples, %d methods\n", stats.Bytes, stats.Events, stats.Samples, stats.Methods)
		return err
	}
	if spans.Spans > 0 {
		spans.Version, spans.Threads = o.Version, o.Threads
		write = func(w io.Writer) error {
			stats, err := tracegen.WriteSpans(w, spans)
			fmt.Fprintf(os.Stderr, "%d bytes, %d events, %d spans\n", stats.Bytes, stats.Events, stats.Samples)
			return err
		}
	}
	if *shape != "" {
		i := slices.IndexFunc(tracegen.Shapes(), func(s tracegen.Shape) bool { return s.Name == *shape })
		if i < 0 {
			return fmt.Errorf("no shape %q", *shape)
		}
		write = func(w io.Writer) error { return tracegen.Shapes()[i].Write(w, *n) }
	}
	if flag.NArg() > 0 {
		return measure(flag.Args(), write)
	}
	return buffered(os.Stdout, write)
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// measure starts a command with the stream as its standard input and prints its cost. It starts the command while this
// process is still small, because the system counts the parent's memory at the time of the start for the child.
func measure(args []string, write func(io.Writer) error) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	err = errors.Join(buffered(in, write), in.Close(), cmd.Wait())
	s := cmd.ProcessState
	fmt.Fprintf(os.Stderr, "%.2f s, %.2f s of CPU time, peak %d KiB\n",
		time.Since(begin).Seconds(), (s.UserTime() + s.SystemTime()).Seconds(), peak(s)>>10)
	return err
}

func shapeNames() (names []string) {
	for _, s := range tracegen.Shapes() {
		names = append(names, s.Name)
	}
	return names
}

// size parses a number of bytes with an optional K, M or G for powers of 1,024.
func size(s string) (int64, error) {
	unit := 1.0
	for i, suffix := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, float64(int64(1)<<(10*(i+1)))
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f*unit > 1<<50 {
		return 0, fmt.Errorf("%q is not a size; want a number such as 64M", s)
	}
	return int64(f * unit), nil
}
