package main

import (
	"errors"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/symbol"
)

// errNamesLate says that methods were passed over that a stack later in the trace needed.
var errNamesLate = errors.New("the trace samples methods after it has named them all")

// retryNames runs a conversion that learns names as the trace goes on, and once more with all names learned first if that
// was not enough. In traces as recorders write them it is: the names of all methods come behind the last sample.
func (a *app) retryNames(o passOptions, run func(passOptions) error) error {
	err := run(o)
	if !errors.Is(err, errNamesLate) {
		return err
	}
	a.read.Report = new(ntconv.Report)
	o.first = true
	return run(o)
}

// A patientSink does not finish where another run would find more names.
type patientSink struct {
	formats.Sink
	pass *pass
}

func (s patientSink) Close() error {
	if t, ok := s.pass.namer.(*symbol.Table); ok && t.Missed() > 0 && s.pass.in.raw.Again() {
		return errNamesLate
	}
	return s.Sink.Close()
}
