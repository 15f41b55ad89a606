package diagnostics

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A Session is a running recording of a process, and an io.Reader of the trace.
//
// Keep reading until io.EOF: if nobody reads, the process drops events once its buffer is full, and the end of the session
// waits, together with all other clients of the process. Read and Stop may be called by different goroutines; Read itself
// is not safe for concurrent use. Close the Session after use.
type Session struct {
	// Unfiltered means that the runtime cannot filter by event ID (before .NET 10), so that the trace has all events of
	// the keywords and levels.
	Unfiltered bool
	// RundownChanged means that the runtime cannot choose rundown keywords (before .NET 9) and writes DefaultRundown
	// instead; for RundownKeywords 0, that it cannot do without (.NET Core 3.0).
	RundownChanged bool
	// StacksAdded means that the runtime cannot omit stacks (before .NET 9).
	StacksAdded bool

	client  *Client
	conn    connection
	command int
	id      uint64 // an address in the process, which a later session may have again

	mu       sync.Mutex // guards the fields below; held while StopTracing is written, so that it is never sent after the end
	ended    bool       // Read has returned an error, or Close was called
	stopping bool       // StopTracing has been sent, or is about to be
	stop     connection // on which the answer to StopTracing arrives

	answered chan struct{}
	answer   error // to StopTracing; valid when answered is closed
}

// Command returns the number of the CollectTracing command that the runtime accepted, 1 to 6.
func (s *Session) Command() int { return s.command }

// Read reads bytes of the trace as they arrive: pieces may end anywhere. It waits without limit, because a process without
// events sends nothing. The error is io.EOF when the session has ended: after Stop, because the process has exited, or
// because it was killed, which truncates the trace. After Close the error is ErrGone.
func (s *Session) Read(p []byte) (int, error) {
	n, err := s.conn.Read(p)
	if err == nil {
		return n, nil
	}
	s.end()
	if err != io.EOF {
		err = fmt.Errorf("stream of the session: %w: %w", ErrGone, err)
	}
	return n, err
}

// end notes that the stream has ended. The answer to StopTracing is due from then on.
func (s *Session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && s.stop != nil {
		_ = s.stop.SetDeadline(time.Now().Add(s.client.timeout()))
	}
	s.ended = true
}

// Stop asks the process to end the session: it writes the rundown and closes the stream, so that Read returns io.EOF. That
// may take minutes in a large process. Stop returns once the request is sent, without waiting for the answer, which comes
// only after the last byte of the stream has been read. So one goroutine may call Stop and then Read; StopAnswer waits for
// the answer.
//
// Stop does nothing if the stream has ended or a previous call has sent the request: session IDs are reused, so a late
// request could end the session of another client. If the error is ErrGone, the process has exited, and Read returns what
// is left of the stream. After other errors the session continues; call Stop again, or Close.
func (s *Session) Stop(ctx context.Context) error {
	if !s.claimStop() {
		return nil
	}
	conn, err := s.sendStop(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if conn == nil {
		s.stopping = false
		return err
	}
	return nil
}

// claimStop reports whether the caller is to send StopTracing.
func (s *Session) claimStop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.stopping {
		return false
	}
	s.stopping = true
	return true
}

// sendStop sends StopTracing and starts to wait for the answer. It returns nil and no error if the stream has ended before.
func (s *Session) sendStop(ctx context.Context) (connection, error) {
	r := newRequest(stopTracing)
	r.uint64(s.id)
	message, err := r.message()
	if err != nil {
		return nil, err
	}
	x, err := s.client.open(ctx, stopTracing)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || hasHungUp(s.conn) {
		return nil, x.end(nil)
	}
	if _, err := x.Write(message); err != nil {
		return nil, x.end(err)
	}
	if s.stop, err = x.release(); err != nil {
		s.stop = nil
		return nil, err
	}
	go s.awaitAnswer(s.stop)
	return s.stop, nil
}

// awaitAnswer reads the answer to StopTracing. It ends at the latest when the time limit of the client has passed after
// the end of the stream.
func (s *Session) awaitAnswer(c connection) {
	defer close(s.answered)
	payload, err := readAnswer(c, stopTracing)
	if err == nil && (len(payload) < 8 || binary.LittleEndian.Uint64(payload) != s.id) {
		err = fmt.Errorf("%w: another session was stopped", ErrProtocol)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ErrTimeout
	case isGone(err):
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	if answered := (*Error)(nil); err != nil && !errors.As(err, &answered) {
		err = fmt.Errorf("%s: %w", stopTracing.name, err)
	}
	s.answer = err
	_ = c.Close()
}

// StopAnswer waits until the process has answered the request of Stop, and returns the error that it reports. Another
// goroutine must read the stream, because the answer comes after its end. It returns nil at once if Stop has sent no
// request.
func (s *Session) StopAnswer(ctx context.Context) error {
	s.mu.Lock()
	sent := s.stop != nil
	s.mu.Unlock()
	if !sent {
		return nil
	}
	select {
	case <-s.answered:
		return s.answer
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the stream. A session that is running ends at the next event without a rundown, and its trace has no end.
// Call Stop and read until io.EOF before it for a complete trace. Close may be called while Read waits, which then returns.
func (s *Session) Close() error {
	s.end()
	return s.conn.Close()
}
