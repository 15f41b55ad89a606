package fakeruntime

import (
	"encoding/binary"
	"net"
	"slices"
	"sync"
)

// A Session is a session of a client, with what the client asked for.
type Session struct {
	ID        uint64
	Command   int // n of CollectTracingN
	BufferMB  uint32
	Format    uint32
	Rundown   uint64 // the keywords, or 1 for the yes of older commands
	Stacks    bool
	Block     bool
	Providers []Provider

	stopping chan struct{}
	once     sync.Once
	done     chan struct{} // closed when the stream has ended
}

// A Provider is a provider of a Session.
type Provider struct {
	Keywords        uint64
	Level           uint32
	Name, Arguments string
	Enable          bool
	Events          []uint32
}

// firstID is the ID of the first session. A session has the lowest ID that is free, as addresses of memory are reused.
const firstID = 0x7f00_0000_1000

// start starts the session of a request, nil if the request is not valid.
func (r *Runtime) start(d *decoder, n int) *Session {
	s := &Session{Command: n, Rundown: 1, Stacks: true, stopping: make(chan struct{}), done: make(chan struct{})}
	if n >= 5 && d.uint32() != 0 {
		return nil
	}
	s.BufferMB, s.Format = d.uint32(), d.uint32()
	switch {
	case n >= 4:
		s.Rundown = d.uint64()
	case n >= 2:
		if !d.bool() {
			s.Rundown = 0
		}
	}
	if n >= 3 {
		s.Stacks = d.bool()
	}
	count := d.uint32()
	for range min(count, 1001) {
		p := Provider{Keywords: d.uint64(), Level: d.uint32()}
		p.Name, _ = d.text()
		p.Arguments, _ = d.text()
		if n >= 5 {
			p.Enable = d.bool()
			for range d.uint32() {
				p.Events = append(p.Events, d.uint32())
			}
		}
		if p.Level > 5 {
			return nil
		}
		s.Providers = append(s.Providers, p)
	}
	if n >= 6 {
		s.Block = d.uint32() == 1
	}
	if s.BufferMB == 0 || s.Format > 1 || count == 0 || count > 1000 || len(d.b) > 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for s.ID = firstID; r.running(s.ID) != nil; {
		s.ID += 0x1000
	}
	r.sessions = append(r.sessions, s)
	return s
}

// running returns the session with an ID that has not ended, nil if there is none.
func (r *Runtime) running(id uint64) *Session {
	i := slices.IndexFunc(r.sessions, func(s *Session) bool {
		select {
		case <-s.done:
			return false
		default:
			return s.ID == id
		}
	})
	if i < 0 {
		return nil
	}
	return r.sessions[i]
}

// stop ends a session and returns the answer when the whole stream has been written. A runtime answers the same if there
// is no such session.
func (r *Runtime) stop(id uint64) []byte {
	r.mu.Lock()
	r.stops = append(r.stops, id)
	s := r.running(id)
	r.mu.Unlock()
	if s != nil {
		s.End()
		<-s.done
	}
	return message(0, binary.LittleEndian.AppendUint64(nil, id))
}

// End makes the process end the session, as StopTracing of any client does.
func (s *Session) End() { s.once.Do(func() { close(s.stopping) }) }

// Done is closed when the whole stream has been written or the client has closed it.
func (s *Session) Done() <-chan struct{} { return s.done }

// stream writes the trace: its head at once, the rest when the session ends.
func (r *Runtime) stream(c net.Conn, s *Session) {
	defer close(s.done)
	head := min(r.Head, len(r.Trace))
	if !r.write(c, r.Trace[:head]) {
		return
	}
	closed := make(chan struct{})
	go func() {
		_, _ = c.Read(make([]byte, 1)) // clients write nothing
		close(closed)
	}()
	select {
	case <-s.stopping:
	case <-r.exiting:
	case <-closed:
		return
	}
	if r.write(c, r.Trace[head:]) {
		_ = c.Close() // before the answer to StopTracing
	}
}

// write writes bytes in pieces, and reports whether that succeeded.
func (r *Runtime) write(c net.Conn, b []byte) bool {
	size := r.Piece
	if size <= 0 {
		size = 512
	}
	for piece := range slices.Chunk(b, size) {
		if _, err := c.Write(piece); err != nil {
			return false
		}
	}
	return true
}
