package main

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/input"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/reader"
)

// nextStep returns what a user can do about an input that could not be read, and "" if the error says so itself. strict
// tells that --strict is why nothing was kept.
func nextStep(err error, strict bool) string {
	var advised *ntconv.AdviceError
	damaged := errors.Is(err, ntconv.ErrCorrupt) || errors.Is(err, iox.ErrCorrupt) || input.IsTruncated(err)
	var set *input.DatasetError
	switch {
	case errors.As(err, &set):
		return "ntconv dataset ls " + message.ShellWord(
			set.Dir,
		) + " lists the directories of its traces, each of which is an input"
	case errors.Is(err, reader.ErrPrerelease):
		return "or try --allow-prerelease"
	case errors.As(err, &advised), formats.IsUnknown(err), errors.Is(err, fs.ErrNotExist):
		return ""
	case errors.Is(err, fs.ErrPermission):
		return "make it readable for your user"
	case errors.Is(err, syscall.EISDIR):
		return "pass a file in it"
	case damaged && strict:
		return "without --strict the valid part is read"
	case damaged:
		return "copy the file again, or record again"
	case errors.Is(err, ntconv.ErrFormat):
		return "check that this is the file that was recorded"
	case errors.Is(err, ntconv.ErrUnsupported):
		return "a newer release of ntconv may read it"
	}
	return ""
}
