package record

import (
	"bytes"
	"context"
	"io"

	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// KnownNames teaches a table, which may be nil, the names of all methods that a process has compiled or loaded so far. A session begins without
// them, and ends with them; a second session that ends at once yields them before. It takes as long as a rundown: 35 to 105 ms
// for a small program, seconds for a large one. It returns the stream, a trace of its own.
func (t *Target) KnownNames(ctx context.Context, names *symbol.Table) ([]byte, error) {
	s, err := t.Client.Collect(ctx, diagnostics.Config{
		RundownKeywords: diagnostics.NamesRundown,
		Providers:       []diagnostics.Provider{{Name: clr.Runtime, Keywords: nameKeywords, Level: levelInformational}},
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	stop := make(chan error, 1)
	go func() { stop <- s.Stop(ctx) }()
	undo := context.AfterFunc(ctx, func() { s.Close() })
	defer undo()
	stream, err := io.ReadAll(io.LimitReader(s, maxNames))
	if err == nil {
		err = <-stop
	}
	if err != nil {
		return nil, err
	}
	if names == nil {
		return stream, nil
	}
	src, err := reader.New(bytes.NewReader(stream), &reader.Options{Order: reader.FileOrder})
	if err != nil {
		return nil, err
	}
	return stream, names.Scan(src)
}

// maxNames bounds the names of a process in memory. Processes with more get no names before the end of a recording.
const maxNames = 256 << 20
