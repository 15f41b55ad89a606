package command

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/files/store"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/ntconv/ntconv/reader"
)

// nextStep returns the next step for an input that could not be read, or "" if the error states it. strict means that
// --strict is the reason why no output was kept.
func nextStep(err error, strict bool) string {
	var advised *ntconv.AdviceError
	damaged := errors.Is(err, ntconv.ErrCorrupt) || errors.Is(err, fileio.ErrCorrupt) || input.IsTruncated(err)
	var set *input.DatasetError
	switch {
	case errors.As(err, &set):
		list := "ntconv dataset ls " + message.ShellWord(set.Dir)
		return list + " lists its traces, each of which is an input: " + message.ShellWord(store.Join(set.Dir, dataset.TraceKey+"=UID"))
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
		return "check that this is the recorded file"
	case errors.Is(err, ntconv.ErrUnsupported):
		return "a newer release of ntconv may read it"
	}
	return ""
}
