// Fleetgen writes the traces of a fleet: copies of recorded traces. The recording of each copy starts an hour after
// that of the previous one.
//
//	fleetgen DIR 1000 testdata/*.nettrace.zst
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: fleetgen DIR NUMBER TRACE...")
		os.Exit(1)
	}
	n, err := strconv.Atoi(os.Args[2])
	for i := 0; i < n && err == nil; i++ {
		err = write(os.Args[1], i, os.Args[3+i%(len(os.Args)-3)])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleetgen:", err)
		os.Exit(1)
	}
}

// write writes copy i of a trace.
func write(dir string, i int, name string) (err error) {
	in, err := fileio.Open(name, fileio.InputOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	stream, err := in.Stream()
	if err != nil {
		return err
	}
	defer stream.Close()
	src, err := reader.New(stream, &reader.Options{Order: reader.FileOrder})
	if err != nil {
		return err
	}
	info := *src.Info()
	info.Clock.Wall = info.Clock.Wall.Add(time.Duration(i) * time.Hour)
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("trace%05d.nettrace", i)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	sink, err := writer.New(w, &info, nil)
	if err != nil {
		return err
	}
	if _, err := ntconv.Copy(sink, src); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(sink.Close(), w.Flush())
}
