package record

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/diagnostics"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/reader"
)

// KnownNames returns a trace with the names of all methods that a process has compiled or loaded so far. A session begins
// without them, and ends with them; a second session that ends at once yields them before. It takes as long as a rundown: 35 to
// 105 ms for a small program, seconds for a large one. The whole trace is in memory.
func (t *Target) KnownNames(ctx context.Context) (ntconv.Source, error) {
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
	src, err := reader.New(bytes.NewReader(stream), &reader.Options{Order: reader.FileOrder})
	if err != nil {
		return nil, err // not a nil *reader.Reader in a Source
	}
	return src, nil
}

const (
	// maxNames bounds the names of a process in memory. Processes with more get no names before the end of a recording.
	maxNames = 256 << 20
	// NamesWithin bounds how long a process may take to state the names of its methods.
	NamesWithin = time.Minute
	// namesShare is the part of the time that a process may spend on that, because a rundown delays its threads.
	namesShare = 0.1
)

// KeepNames calls learn with the names of all methods whenever needed reports that some are missing, until ctx ends: no event
// names precompiled methods when they are first used. It asks needed at once, and then at the given interval, or less often if
// the process takes long to answer. The source is valid until learn returns.
func (t *Target) KeepNames(ctx context.Context, every time.Duration, needed func() bool, learn func(ntconv.Source)) {
	for {
		wait := every
		if needed() {
			begin := time.Now()
			within, cancel := context.WithTimeout(ctx, NamesWithin)
			if src, err := t.KnownNames(within); err == nil {
				learn(src)
			}
			cancel()
			wait = max(wait, time.Duration(float64(time.Since(begin))/namesShare))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
