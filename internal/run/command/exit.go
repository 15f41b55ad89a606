package command

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/run/formats"
)

// Exit codes. If a signal ends the process, the code is exitSignal plus the number of the signal.
const (
	exitOK         = 0
	exitUsage      = 1 // invalid usage
	exitInput      = 2 // the input cannot be read: not found, unknown format, unsupported, corrupt at its start
	exitIncomplete = 3 // converted, but the input was truncated or corrupt, or --fail-on-loss found losses; see also exitDifferent and exitAbove
	exitEmpty      = 4 // no matching data in the trace; nothing was written
	exitLimit      = 5 // a limit was exceeded; nothing was written
	exitOutput     = 6 // the output could not be written
	exitSignal     = 128
)

// exitCodes describes the codes in the help.
const exitCodes = `  0  complete
  1  invalid usage
  2  the input cannot be read: not found, unknown format or version, corrupt at its start
  3  converted, but incomplete: the input is truncated or corrupt (or events were lost, with --fail-on-loss); verify: the traces differ; diff: a value increased by more than --fail-above
  4  no matching data in the trace; nothing was written
  5  a limit was exceeded; nothing was written
  6  the output could not be written
  129, 130, 143 after signals (hangup, interrupt, terminate); 141 if the reader of standard output closed the pipe

"Nothing was written" applies to files and directories: an existing one is unchanged. Standard output and pipes cannot be taken back. With the
codes 2 and 5 they contain the output before the error: whole lines of print and of OTLP as JSON, or an unusable beginning of a file in other
formats. They contain nothing if a limit of the input is exceeded in a pass before the output, as with --frames, or with --strict, unless the
input is itself a pipe. After a signal, or if the output could not be written, they may end anywhere.
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

// codeOf returns the exit code of an error. Errors without a code come from parsing the command line.
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

// inputFailure returns the failure for an error of an input, such as an *input.Error, with the next step: exitLimit for
// a limit, else exitInput.
func inputFailure(err error, strict bool) error {
	var flag *formats.FlagError
	if errors.As(err, &flag) {
		return fail(exitUsage, err)
	}
	if temp := (*spool.Error)(nil); errors.As(err, &temp) {
		return fail(exitOutput, err) // not the fault of the input: a temporary file cannot be written
	}
	if isLimit(err) {
		if packed := (*fileio.Error)(nil); errors.As(err, &packed) && isLimit(packed) {
			err = packed // the position in the decompressed data adds nothing
		}
		return limitFailure(err)
	}
	if next := nextStep(err, strict); next != "" {
		err = &ntconv.AdviceError{Err: err, Advice: next}
	}
	return fail(exitInput, err)
}

// limitFailure returns the failure for an exceeded limit, with the flag that raises it, unless err has a next step.
func limitFailure(err error) error {
	var advised *ntconv.AdviceError
	if flag := formats.LimitFlag(err); flag != "" && !errors.As(err, &advised) {
		err = &ntconv.AdviceError{Err: err, Advice: "raise " + flag}
	}
	return fail(exitLimit, err)
}

func isLimit(err error) bool { return errors.Is(err, ntconv.ErrLimit) }

// show writes text to standard output. Its errors are those of an output.
func (a *app) show(text string) error {
	if err := a.quota.Spend(len(text)); err != nil {
		return limitFailure(&fileio.Error{Name: fileio.StdoutName, Op: "write", Bytes: 0, Err: err})
	}
	n, err := io.WriteString(a.stdout, text)
	if err != nil {
		return outputFailure(&fileio.Error{Name: fileio.StdoutName, Op: "write", Bytes: int64(n), Err: err})
	}
	return nil
}

// outputFailure returns the failure for an error of an output. If the reader of a pipe has closed it, as head does, the
// command ends without a message; a closed connection of an upload is reported.
func outputFailure(err error) error {
	if of := (*fileio.Error)(nil); errors.As(err, &of) && errors.Is(of, syscall.EPIPE) {
		return fail(exitSignal+int(syscall.SIGPIPE), errQuiet)
	}
	return fail(exitOutput, err)
}

// errQuiet is an error without a message.
var errQuiet = errors.New("")
