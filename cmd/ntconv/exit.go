package main

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/tempfile"
)

// Exit codes. Signals end the process with exitSignal plus their number.
const (
	exitOK         = 0
	exitUsage      = 1 // the command line
	exitInput      = 2 // nothing could be read: not found, unknown format, unsupported, damaged from the start
	exitIncomplete = 3 // converted, but the input was truncated or damaged, or --fail-on-loss found a loss; see exitDifferent too
	exitEmpty      = 4 // nothing in the trace is what was asked for; no output was made
	exitLimit      = 5 // a limit was reached; no output was made
	exitOutput     = 6 // the destination failed
	exitSignal     = 128
)

// exitCodes is the text of the codes for the help.
const exitCodes = `  0  complete
  1  wrong usage
  2  the input cannot be read: not found, unknown format or version, damaged from the start
  3  converted, but incomplete: the input is truncated or damaged (or --fail-on-loss, and events were lost); verify: the traces differ
  4  nothing in the trace is what was asked for, and nothing was written
  5  a limit was reached, and nothing was written
  6  the destination failed
  129, 130, 143 after signals (hangup, interrupt, terminate); 141 if the reader of standard output went away

"Nothing was written" is about files and directories: one that existed is as before. Standard output and pipes cannot be taken back. With the
codes 2 and 5 they hold what was written before the error: whole lines of print and of OTLP as JSON, or the beginning of a file in other formats,
which is of no use. A limit of the input that a reading before the output reaches, as with --symbols, leaves nothing there, and neither does
--strict, unless the input is itself a pipe. After a signal, or if the destination failed, they may end anywhere.
`

// A failure is an error that has an exit code.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(code int, err error) error { return &failure{code, err} }

func failf(code int, format string, args ...any) error {
	return &failure{code, fmt.Errorf(format, args...)}
}

// codeOf returns the exit code of an error: errors without one come from parsing the command line.
func codeOf(err error) int {
	var f *failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	}
	return exitUsage
}

// inputFailure is an error of an input, as of type *input.Error: a limit, or nothing could be read. The next step is
// put after it.
func inputFailure(err error, strict bool) error {
	var flag *formats.FlagError
	if errors.As(err, &flag) {
		return fail(exitUsage, err)
	}
	if temp := (*tempfile.Error)(nil); errors.As(err, &temp) {
		return fail(exitOutput, err) // the input is not to blame if it cannot be sorted
	}
	if isLimit(err) {
		if packed := (*iox.Error)(nil); errors.As(err, &packed) && isLimit(packed) {
			err = packed // the position of the reader in the decompressed data adds nothing
		}
		return limitFailure(err)
	}
	if next := nextStep(err, strict); next != "" {
		err = &ntconv.AdviceError{Err: err, Advice: next}
	}
	return fail(exitInput, err)
}

// limitFailure is an error of a limit. The flag that raises it is put after it, unless the error has a next step.
func limitFailure(err error) error {
	var advised *ntconv.AdviceError
	if flag := formats.LimitFlag(err); flag != "" && !errors.As(err, &advised) {
		err = &ntconv.AdviceError{Err: err, Advice: "raise " + flag}
	}
	return fail(exitLimit, err)
}

func isLimit(err error) bool { return errors.Is(err, ntconv.ErrLimit) }

// show writes to standard output what a verb makes at once. Its errors are those of an output.
func (a *app) show(text string) error {
	if err := a.quota.Spend(len(text)); err != nil {
		return limitFailure(&iox.Error{Name: iox.StdoutName, Op: "write", Bytes: 0, Err: err})
	}
	n, err := io.WriteString(a.stdout, text)
	if err != nil {
		return outputFailure(&iox.Error{Name: iox.StdoutName, Op: "write", Bytes: int64(n), Err: err})
	}
	return nil
}

// outputFailure is an error of a destination. A pipe whose reader went away, as head does, ends the command without
// words. The connection of an upload is not such a pipe.
func outputFailure(err error) error {
	if of := (*iox.Error)(nil); errors.As(err, &of) && errors.Is(of, syscall.EPIPE) {
		return fail(exitSignal+int(syscall.SIGPIPE), errQuiet)
	}
	return fail(exitOutput, err)
}

// errQuiet is an error that is not shown.
var errQuiet = errors.New("")
