package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/iox"
)

// An input is a trace that was found and recognized. Each pass over it is a source of its own.
type input struct {
	app    *app
	raw    *iox.Input
	file   *os.File // to be closed in the end, if not nil: the input's file, or its copy
	format *formats.Format

	first io.ReadCloser // the stream that was looked at, for the first pass
	head  *bufio.Reader // over it

	others []*input // that are read together with it
	unit   string   // of the weights, if it is one of several profiles

	last  ntconv.Ticks // time of the last event, if ended is set: see app.lastOf
	ended bool
}

// openInput opens an input and recognizes its format in the table. again says that it will be read more than once:
// what cannot be, as a pipe, is copied to a temporary file.
func (a *app) openInput(name string, table []*formats.Format, again bool) (*input, error) {
	if name == "" {
		return nil, failf(exitUsage, "input: %w; name a trace, or - for standard input", errNoName)
	}
	in := &input{app: a}
	var err error
	if again {
		err = in.openAgain(name)
	} else {
		in.raw, err = iox.Open(name, iox.InputOptions{Limits: &a.limits})
	}
	if err != nil {
		return nil, a.notOpened(name, err)
	}
	if err := in.recognize(table); err != nil {
		in.close()
		var f *failure
		if !errors.As(err, &f) {
			err = inputFailure(in.raw.Name(), err, false)
		}
		return nil, err
	}
	return in, nil
}

// notOpened explains why an input could not be opened.
func (a *app) notOpened(name string, err error) error {
	var f *failure
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, os.ErrNotExist) && formats.ByName(formats.Writable(), name) != nil:
		return fail(exitInput, fmt.Errorf("%w; to write %s, say: ntconv to %s IN", err, name, name))
	}
	return inputFailure(name, err, false)
}

// openAgain opens an input so that it can be read more than once. It opens it only once: the writer of a FIFO would take a
// reader that goes away for the last one.
func (in *input) openAgain(name string) error {
	opts := iox.InputOptions{Limits: &in.app.limits}
	f, shown := os.Stdin, iox.StdinName
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return &iox.Error{Name: name, Op: "open", Bytes: -1, Err: err}
		}
		in.file, shown = f, name
	}
	raw, err := iox.FromReader(shown, f, opts)
	if err == nil && !raw.Again() {
		var temp *os.File
		if temp, err = in.app.spool(f); err == nil {
			in.close()
			in.file = temp
			raw, err = iox.FromReader(shown, temp, opts)
		}
	}
	if err != nil {
		in.close()
		return err
	}
	in.raw = raw
	return nil
}

// spool copies what can be read only once to a temporary file, which has no name any more where the system allows that.
func (a *app) spool(src io.Reader) (*os.File, error) {
	f, err := a.temps.create()
	if err != nil {
		return nil, fail(exitOutput, fmt.Errorf("no place for a copy of the input, which is needed to read it twice: %w; set TMPDIR", err))
	}
	if _, err := io.Copy(f, src); err != nil {
		f.Close()
		var path *os.PathError
		if errors.As(err, &path) && path.Op == "write" {
			return nil, fail(exitOutput, fmt.Errorf("copy of the input, which is needed to read it twice: %w; set TMPDIR to a place with more room", err))
		}
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// recognize looks at the beginning of the input. It waits for no more than that takes: eight bytes of a nettrace stream.
func (in *input) recognize(table []*formats.Format) error {
	s, err := in.raw.Stream()
	if err != nil {
		return err
	}
	in.first, in.head = s, bufio.NewReaderSize(s, formats.HeadSize)
	if in.app.from != "" {
		if in.format = formats.ByName(table, in.app.from); in.format == nil {
			return fail(exitUsage, fmt.Errorf("--from %s: no such format; these can be read: %s", in.app.from, formats.List(table)))
		}
		return nil
	}
	head, err := in.head.Peek(formats.QuickSize)
	if err == nil {
		if in.format = formats.Sniff(table, head); in.format != nil {
			return nil
		}
		head, err = in.head.Peek(formats.HeadSize)
	}
	if err != nil && err != io.EOF && !isTruncated(err) {
		return err
	}
	format, unknown := formats.Detect(table, in.raw.Name(), head)
	if unknown != nil && isTruncated(err) {
		return err // the compressed data ends before it tells anything
	}
	in.format = format
	return unknown
}

// source begins a pass. The closer ends it.
func (in *input) source(report *ntconv.Report) (src ntconv.Source, closer io.Closer, err error) {
	if len(in.others) > 0 {
		src, closer, err = in.merged(report)
	} else {
		src, closer, err = in.one(report)
	}
	if err != nil {
		return nil, nil, err
	}
	return in.app.memory.watch(src), closer, nil
}

// one begins a pass over the input alone.
func (in *input) one(report *ntconv.Report) (ntconv.Source, io.Closer, error) {
	var r io.Reader
	s := in.first
	if s != nil {
		r, in.first = in.head, nil
	} else {
		var err error
		if s, err = in.raw.Stream(); err != nil {
			return nil, nil, inputFailure(in.raw.Name(), err, false)
		}
		r = s
	}
	o := in.app.read
	o.Report = report
	src, err := in.format.Open(r, &o)
	if err != nil {
		s.Close()
		return nil, nil, inputFailure(in.raw.Name(), err, false)
	}
	return src, s, nil
}

// close ends the use of the input. Errors of that say nothing about what was read.
func (in *input) close() {
	for _, other := range in.others {
		other.close()
	}
	if in.first != nil {
		in.first.Close()
	}
	if in.raw != nil {
		in.raw.Close()
	}
	if in.file != nil {
		in.file.Close()
	}
}

// name returns what the user called the input, and tells of others that it was opened with.
func (in *input) name() string { return severalName(in.raw.Name(), len(in.others)) }
