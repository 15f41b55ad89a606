package reader

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// tolerate counts a format violation and returns nil, or returns it as an error in strict mode.
func (r *Reader) tolerate(code ntconv.Code, offset int64, where string, err error) error {
	if r.opts.Strict {
		return &ntconv.FormatError{Format: r.frame.format, Offset: offset, Where: where,
			Err: fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err)}
	}
	if r.report.Count(code) > 0 {
		r.report.Add(code, 1, offset) // do not format err: there may be one per event
	} else if r.report != nil {
		r.report.Note(code, 1, offset, where+": "+err.Error())
	}
	return nil
}

// undefined is the error of an ID that has no definition. It is formatted only if it is shown.
type undefined struct {
	what string
	id   uint64
}

func (u undefined) Error() string {
	return u.what + " " + strconv.FormatUint(u.id, 10) + " is not defined"
}

// corrupt reports that the rest of a block is skipped, or returns the error in strict mode or for a limit.
func (r *Reader) corrupt(kind wire.Kind, err error) error {
	located := r.frame.at(err, ntconv.ErrCorrupt).(*ntconv.FormatError)
	located.Where = kind.String() + " block: " + located.Where
	if limit := limitOf(err); limit != nil {
		located.Err = limit
		return located
	}
	if r.opts.Strict {
		return located
	}
	r.report.Note(ntconv.CodeCorrupt, 1, located.Offset, located.Error())
	return nil
}

// blockError is corrupt for blocks of rows. It returns nil if the input ends inside the block, because advance reports
// the missing bytes.
func (r *Reader) blockError(b *block, err error) error {
	if b.partial {
		return nil
	}
	return r.corrupt(b.kind, err)
}

// rowError reports a complete row that could not be fully decoded, or returns the error in strict mode or for a limit.
func (r *Reader) rowError(err error) error {
	located := r.frame.at(err, ntconv.ErrCorrupt).(*ntconv.FormatError)
	if limit := limitOf(err); limit != nil {
		located.Err = limit
		return located
	}
	if at := (*bin.Error)(nil); errors.As(err, &at) {
		err = at.Err // located has the offset and the field
	}
	return r.tolerate(ntconv.CodeRowSkipped, located.Offset, located.Where, err)
}

// fieldError is rowError for the field lists of versions 3 to 5. TraceEvent drops such a list without an error, so
// strict mode only reports it.
func (r *Reader) fieldError(err error) error {
	if r.opts.Strict && !errors.Is(err, bin.ErrLimit) {
		r.report.Note(ntconv.CodeRowSkipped, 1, r.frame.in.offset, err.Error())
		return nil
	}
	return r.rowError(err)
}

// exceeded returns the error for an exceeded limit. offset is in the decompressed input.
func (r *Reader) exceeded(offset int64, where string, limit ntconv.LimitError) error {
	return &ntconv.FormatError{Format: r.frame.format, Offset: offset, Where: where, Err: &limit}
}

// limitOf returns the limit in an error of package wire as an *ntconv.LimitError, or nil if err has none.
func limitOf(err error) *ntconv.LimitError {
	var l *bin.LimitError
	if !errors.As(err, &l) {
		return nil
	}
	return &ntconv.LimitError{Limit: l.Limit, Value: l.Value, Asked: l.Asked, Unit: l.Unit}
}

// ErrPrerelease means that a file was written by a preview of .NET Core 3.0 and that Options.AllowPrerelease is not
// set. Errors of Next that wrap it also wrap ntconv.ErrUnsupported.
var ErrPrerelease = errors.New("written by a preview of .NET Core 3.0, whose event headers have no CPU number")

// prereleaseProbes is the number of blocks that are examined for signs of a preview. In all known files the first block
// decides.
const prereleaseProbes = 8

// checkPrerelease detects files of .NET Core 3.0 previews by their first event and metadata blocks: the events fit the
// block only if headers have no CPU number. It returns ErrPrerelease unless Options.AllowPrerelease is set.
func (r *Reader) checkPrerelease(b *block) error {
	if !r.legacy || r.prerelease || r.probes >= prereleaseProbes || b.partial || r.frame.header.Version == wire.V3 {
		return nil
	}
	r.probes++
	c := b.cursor()
	head, err := wire.ParseEventBlockHeader(&c)
	if err != nil || !head.Compressed() {
		return nil
	}
	preview, sure := legacy.IsPreRelease(b.body[len(b.body)-c.Len():], &head)
	if sure {
		r.probes = prereleaseProbes
	}
	if !preview {
		return nil
	}
	if r.prerelease = r.opts.AllowPrerelease; r.prerelease {
		return nil
	}
	return &ntconv.FormatError{Format: r.frame.format, Offset: b.offset, Where: b.kind.String() + " block",
		Err: &ntconv.AdviceError{
			Err:    fmt.Errorf("%w: %w", ntconv.ErrUnsupported, ErrPrerelease),
			Advice: "record again with a released runtime",
		}}
}
