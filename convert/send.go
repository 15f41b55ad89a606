package convert

import (
	"context"
	"errors"
	"io"

	"github.com/ntconv/ntconv/exporters/otlp"
)

// Send reads an input of any format, selects events and sends what they describe through to, as the command ntconv to
// otlp does: the spans of the trace with the name of its service. It reads a file twice if that is necessary. Several
// inputs are not merged. o may be nil; its Settings have the names of the command's flags, such as service-name.
//
//	client, err := otlpclient.New(nil)
//	res, err := convert.Send(ctx, client, nil, "trace.nettrace")
//
// Result.Sent states what became of every item. Errors are those of File, and an *otlp.UploadError with the same counts
// if not all items were received; then the Result is nil. Send does not close to.
func Send(ctx context.Context, to otlp.Uploader, o *Options, inputs ...string) (*Result, error) {
	if to == nil {
		return nil, errNoUploader
	}
	f := &file{to: to, out: Output{Format: otlpName}}
	return f.convert(ctx, o, inputs, files(inputs))
}

// SendReader is Send for a reader, such as a pipe to which a recorder writes; see OpenReader. Errors use name. Spans
// leave while the reader delivers events. It reads to the end of r, or until ctx is canceled.
func SendReader(ctx context.Context, to otlp.Uploader, name string, r io.Reader, o *Options) (*Result, error) {
	if to == nil {
		return nil, errNoUploader
	}
	f := &file{to: to, out: Output{Format: otlpName}}
	return f.convert(ctx, o, []string{name}, stream(ctx, name, r))
}

var errNoUploader = errors.New("convert: no uploader given; otlpclient.New returns one")

// otlpName is the name of the format that can be sent.
const otlpName = "otlp"
