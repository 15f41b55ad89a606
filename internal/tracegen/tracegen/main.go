// Tracegen writes a generated nettrace stream to standard output.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/tracegen"
	"github.com/ntconv/ntconv/internal/wire"
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
	flag.IntVar(&o.Depth, "depth", 0, "frames of a stack")
	flag.IntVar(&o.Payload, "payload", 0, "bytes of an event that is no sample")
	flag.IntVar(&o.Window, "window", 0, "events between sequence points, -1 for none")
	flag.BoolVar(&o.Unsorted, "unsorted", false, "blocks of one thread each, not sorted by time")
	shape := flag.String("shape", "", "write this hostile shape instead: "+strings.Join(shapeNames(), ", "))
	n := flag.Int("n", 1000, "size of the hostile shape, in what it has many of")
	flag.Parse()
	o.Version = wire.Version(*version)
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	if *shape != "" {
		for _, s := range tracegen.Shapes() {
			if s.Name == *shape {
				return finish(w, s.Write(w, *n))
			}
		}
		return fmt.Errorf("no shape %q", *shape)
	}
	stats, err := tracegen.Write(w, o)
	fmt.Fprintf(os.Stderr, "%d bytes, %d events, %d samples, %d methods\n", stats.Bytes, stats.Events, stats.Samples, stats.Methods)
	return finish(w, err)
}

func finish(w *bufio.Writer, err error) error {
	if err != nil {
		return err
	}
	return w.Flush()
}

func shapeNames() (names []string) {
	for _, s := range tracegen.Shapes() {
		names = append(names, s.Name)
	}
	return names
}

// size reads a number of bytes with an optional K, M or G for powers of 1,024.
func size(s string) (int64, error) {
	unit := 1.0
	for i, suffix := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, float64(int64(1)<<(10*(i+1)))
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f*unit > 1<<50 {
		return 0, fmt.Errorf("%q is no size", s)
	}
	return int64(f * unit), nil
}
