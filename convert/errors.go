package convert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/select/selection"
)

// plain converts an error of an input, a selection or a sink for library users: it removes names of flags and advice to
// use them. It keeps an ntconv.LimitError in the chain, which identifies the exceeded limit.
func plain(name string, err error) error {
	var unknown *formats.Unknown
	var expression *selection.ExpressionError
	var flag *formats.FlagError
	var sink *pass.SinkError
	var advised *ntconv.AdviceError
	var set *input.DatasetError
	switch {
	case errors.As(err, &unknown):
		return unknownFormat(name, unknown)
	case errors.As(err, &set):
		return fmt.Errorf("%s: %w; open its traces one by one, as DIR/trace=UID", name, set)
	case errors.As(err, &expression):
		member := "Selection.Where"
		if expression.Flag == selection.DuringFlag {
			member = "Selection.During"
		}
		return fmt.Errorf("%s: %w", member, expression.Err)
	case errors.As(err, &flag):
		return &settingError{flag}
	case errors.As(err, &sink) && errors.As(sink.Err, &advised) && sink.Err == error(advised):
		return advised.Err
	}
	return err
}

// unknownFormat returns the error for an input of an unknown format.
func unknownFormat(name string, u *formats.Unknown) error {
	got := ""
	if u.What != "" {
		got = ", got " + u.What
	}
	want := strings.Join(formats.NamesOf(formats.Readable()), ", ")
	return fmt.Errorf("%s: %w: want %s%s", name, ntconv.ErrFormat, want, got)
}

// A settingError is an error of a value in Options.Settings.
type settingError struct{ err *formats.FlagError }

// Error replaces the names of flags by those of settings.
func (e *settingError) Error() string { return e.err.Setting() }

// Unwrap returns the error with the names of flags.
func (e *settingError) Unwrap() error { return e.err }
