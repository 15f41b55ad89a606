package reader

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
	"github.com/ntconv/ntconv/internal/wire/legacy"
)

// tolerate counts a fault and goes on, or returns it as an error in strict mode.
func (r *Reader) tolerate(code ntconv.Code, offset int64, where string, err error) error {
	if r.opts.Strict {
		return &ntconv.FormatError{
			Format: r.frame.format,
			Offset: offset,
			Where:  where,
			Err:    fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err),
		}
	}
	if r.report.Count(code) > 0 {
		r.report.Add(code, 1, offset) // has a text, and there may be as many as events
	} else if r.report != nil {
		r.report.Note(code, 1, offset, where+": "+err.Error())
	}
	return nil
}

// undefined is a reference to something that has no definition. It is formatted only where it is shown.
type undefined struct {
	what string
	id   uint64
}

func (u undefined) Error() string {
	return u.what + " " + strconv.FormatUint(u.id, 10) + " is not defined"
}

// damaged gives up the rest of a block, or the trace in strict mode.
func (r *Reader) damaged(kind wire.Kind, err error) error {
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

// blockError is damaged for blocks of rows. In a block that the input cuts off, missing bytes are no news.
func (r *Reader) blockError(b *block, err error) error {
	if b.partial {
		return nil
	}
	return r.damaged(b.kind, err)
}

// rowError handles a row that is whole but not understood in full.
func (r *Reader) rowError(err error) error {
	located := r.frame.at(err, ntconv.ErrCorrupt).(*ntconv.FormatError)
	if limit := limitOf(err); limit != nil {
		located.Err = limit
		return located
	}
	if at := (*bin.Error)(nil); errors.As(err, &at) {
		err = at.Err // the place is told already
	}
	return r.tolerate(ntconv.CodeRowSkipped, located.Offset, located.Where, err)
}

// fieldError is rowError for the field lists of versions 3 to 5, which Microsoft's reader drops without failing.
func (r *Reader) fieldError(err error) error {
	if r.opts.Strict && !errors.Is(err, bin.ErrLimit) {
		r.report.Note(ntconv.CodeRowSkipped, 1, r.frame.in.offset, err.Error())
		return nil
	}
	return r.rowError(err)
}

// exceeded returns the error of a limit at a place of the input.
func (r *Reader) exceeded(offset int64, where string, limit ntconv.LimitError) error {
	return &ntconv.FormatError{Format: r.frame.format, Offset: offset, Where: where, Err: &limit}
}

// limitOf returns the limit that an error of the wire reports as one of the model, or nil.
func limitOf(err error) *ntconv.LimitError {
	var l *bin.LimitError
	if !errors.As(err, &l) {
		return nil
	}
	return &ntconv.LimitError{Limit: l.Limit, Value: l.Value, Asked: l.Asked, Unit: l.Unit}
}

// ErrPrerelease means that a file was written by a preview of .NET Core 3.0 and that Options.AllowPrerelease is not
// set. The error also wraps ntconv.ErrUnsupported.
var ErrPrerelease = errors.New("written by a preview of .NET Core 3.0, whose event headers have no processor number")

// prereleaseProbes is how many blocks are looked at for signs of a pre-release: the first one tells in all known files.
const prereleaseProbes = 8

// checkPrerelease recognizes files of pre-release runtimes by their first event and metadata blocks, whose events fit
// the block only without the processor number, and refuses them unless Options.AllowPrerelease is set.
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
	return &ntconv.FormatError{
		Format: r.frame.format,
		Offset: b.offset,
		Where:  b.kind.String() + " block",
		Err: &ntconv.AdviceError{
			Err: fmt.Errorf(
				"%w: %w",
				ntconv.ErrUnsupported,
				ErrPrerelease,
			), Advice: "record again with a released runtime",
		},
	}
}
