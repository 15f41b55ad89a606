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

// A truncated trace yields all events before its end, then an error that says so. The report has counted it.
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

// Limits bound what a trace can make the reader hold. The error says which limit was exceeded, and by what.
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
