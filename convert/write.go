package convert

import (
	"bytes"
	"context"
	"io"

	"github.com/google/pprof/profile"
)

// Write is File for a writer: it writes an output of one file, without a temporary one. name is that of the format, such
// as "pprof", or has the extension that determines the format and the compression, such as "x.pb.zst", unless out states
// the format; no file of this name is used. Write does not close w. After an error, w may have got a part of the output.
func Write(ctx context.Context, w io.Writer, name string, o *Options, out *Output, inputs ...string) (*Result, error) {
	if out == nil {
		out = new(Output)
	}
	f := &file{name: name, out: *out, w: w}
	return f.convert(ctx, o, inputs, files(inputs))
}

// Profile returns the samples of an input as a profile of package github.com/google/pprof/profile, which belongs to the
// caller: those of one kind, which Options.Settings selects, such as {"kind": "alloc"}, with selection and symbols. The
// error may be an *IncompleteError; then there is a profile, too.
func Profile(ctx context.Context, o *Options, inputs ...string) (*profile.Profile, error) {
	var b bytes.Buffer
	_, err := Write(ctx, &b, "profile.pb.gz", o, nil, inputs...)
	if err != nil && b.Len() == 0 {
		return nil, err
	}
	p, parseErr := profile.Parse(&b)
	if parseErr != nil {
		if err == nil {
			err = parseErr
		}
		return nil, err
	}
	return p, err
}
