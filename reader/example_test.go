package reader_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
)

// A truncated trace yields all complete events, then an error that wraps ErrTruncated. The report counts the
// truncation.
func ExampleNew() {
	file, err := os.Open("../testdata/stress-cut.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	report := new(ntconv.Report)
	src, err := reader.New(file, &reader.Options{Order: reader.FileOrder, Report: report})
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	for e, err := range ntconv.Events(src) {
		switch {
		case errors.Is(err, ntconv.ErrTruncated):
			fmt.Println("truncated after", n, "events of", src.Info().Format)
		case err != nil:
			log.Fatal(err)
		case e.Kind == ntconv.KindEvent:
			n++
		}
	}
	fmt.Println(report.Worst())
	// Output:
	// truncated after 2902 events of nettrace 4
	// error
}

// readSmall reads a trace that must not decompress to more than 100 KiB.
func readSmall(trace io.Reader) (events int64, err error) {
	src, err := reader.New(trace, &reader.Options{
		Decompression: ntconv.DecompressionLimits{Bytes: 100 << 10},
	})
	if err != nil {
		return 0, err
	}
	return ntconv.Copy(ntconv.Tee(), src)
}

// Limits bound the memory that a reader uses for a trace. The error names the limit that the trace exceeded.
func ExampleLimits() {
	file, err := os.Open("../testdata/cpu-env.nettrace.zst")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	_, err = readSmall(file)
	var exceeded *ntconv.LimitError
	if errors.As(err, &exceeded) && exceeded.Limit == reader.LimitOutput {
		fmt.Println("at most", exceeded.Value, "bytes of", exceeded.Limit)
	}
	// Output: at most 102400 bytes of decompressed data
}
