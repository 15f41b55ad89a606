package timeline

import (
	"errors"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/track"
)

// A Trace is what an exporter reads of a finished Timeline, whose methods have the comments.
type Trace interface {
	Each(emit func(*Item) error) error
	Start() time.Time
	End() int64
	Processes() []*Process
	Tracks() []*Track
	Nodes() int
	Node(Node) (parent Node, frame uint32)
	Frames() int
	Frame(frame uint32) ntconv.Frame
	Counts() track.Counts
}

// A Sink is the life cycle of all exporters of timelines: it collects a trace and writes it when it is closed.
type Sink struct {
	*Timeline
	ended bool
}

// NewSink returns an empty Sink. The arguments are those of New.
func NewSink(info *ntconv.Info, namer ntconv.Namer, o *Options) Sink {
	return Sink{Timeline: New(info, namer, o)}
}

// Close finishes the timeline, calls write and removes the temporary file. After Close or Abort it does nothing.
func (s *Sink) Close(write func() error) error {
	if s.ended {
		return nil
	}
	s.ended = true
	err := s.Finish()
	if err == nil {
		err = write()
	}
	return errors.Join(err, s.Timeline.Close())
}

// Abort removes the temporary file and writes nothing. After Close or Abort it does nothing.
func (s *Sink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.Timeline.Close()
}
