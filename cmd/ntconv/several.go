package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/cobra"
)

// someInputs is the argument check of verbs that make one output of all inputs.
func someInputs(_ *cobra.Command, args []string) error {
	if i := slices.Index(args, "-"); i >= 0 && slices.Contains(args[i+1:], "-") {
		return errors.New("only one of the inputs can be standard input")
	}
	return oneInput(nil, args[:min(1, len(args))])
}

// readSeveral checks what several inputs need.
func (a *app) readSeveral(cmd *cobra.Command, out string) error {
	if out == "" {
		err := errors.New("several inputs: name the output with -o")
		if last := cmd.Flags().Args()[cmd.Flags().NArg()-1]; meantAsOutput(cmd, last) {
			err = fmt.Errorf("%w; if that is %s, say -o %s", err, last, shellWord(last))
		}
		return fail(exitUsage, err)
	}
	if a.read.Order != reader.ByTime && cmd.Flags().Changed("order") {
		return fail(exitUsage, errors.New("several inputs go into one output in the order of time; leave out --order"))
	}
	a.read.Order, a.anyOrder = reader.ByTime, false
	return nil
}

// openInputs opens inputs as if they were one: its source has the events of all in the order of time.
func (a *app) openInputs(names []string, again bool) (*input, error) {
	in, err := a.openInput(names[0], formats.Readable(), again)
	if err != nil {
		return nil, err
	}
	for _, name := range names[1:] {
		next, err := a.openInput(name, formats.Readable(), again)
		if err != nil {
			in.close()
			return nil, err
		}
		in.others = append(in.others, next)
	}
	return in, nil
}

// merged begins a pass over an input and the others that it was opened with.
func (in *input) merged(report *ntconv.Report) (ntconv.Source, io.Closer, error) {
	var sources []ntconv.Source
	var all closers
	for _, one := range append([]*input{in}, in.others...) {
		src, closer, err := one.one(report)
		if err != nil {
			_ = all.Close() // nothing was read
			return nil, nil, err
		}
		sources, all = append(sources, &namedSource{Source: src, in: one}), append(all, closer)
	}
	return ntconv.Merge(sources...), all, nil
}

// A namedSource says whose errors are its own, and notes the unit of its weights.
type namedSource struct {
	ntconv.Source
	in   *input
	seen *ntconv.Type
}

func (s *namedSource) Next() (*ntconv.Event, error) {
	e, err := s.Source.Next()
	if err != nil && err != io.EOF {
		return e, &inputError{s.in.raw.Name(), err}
	}
	if e != nil && e.Type != s.seen {
		s.seen = e.Type
		if unit := formats.WeightUnit(e.Type); unit != "" {
			s.in.unit = unit
		}
	}
	return e, err
}

// An inputError is an error of one of several inputs.
type inputError struct {
	name string
	err  error
}

func (e *inputError) Error() string { return withName(e.name, e.err).Error() }
func (e *inputError) Unwrap() error { return e.err }

// severalName is what several inputs are called together.
func severalName(first string, others int) string {
	if others == 0 {
		return first
	}
	return fmt.Sprintf("%s and %d more", first, others)
}

// units tells which weights are in which unit, if several inputs have different ones.
func (in *input) units() []string {
	var units, names []string
	for _, one := range append([]*input{in}, in.others...) {
		if one.unit == "" {
			continue
		}
		i := slices.Index(units, one.unit)
		if i < 0 {
			i = len(units)
			units, names = append(units, one.unit), append(names, one.unit+" in ")
		} else {
			names[i] += " and "
		}
		names[i] += one.raw.Name()
	}
	if len(units) < 2 {
		return nil
	}
	return []string{"weights are " + strings.Join(names, ", ")}
}

type closers []io.Closer

func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
