package diagnostics

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

// An advertisement is what a runtime writes on each connection to a port: magic, GUID cookie, uint64 process ID, uint16 0.
const (
	advertisementMagic = "ADVR_V1\x00"
	advertisementSize  = 34
)

// Limits of a Port, against processes that connect and do not behave as runtimes.
const (
	advertisementTime = 5 * time.Second // for an advertisement to arrive
	maxGreeting       = 64              // connections whose advertisement has not arrived
	maxInstances      = 1024            // runtime instances
)

// A Port is a socket to which .NET processes connect: the reverse of Process.Socket. A process that is started with
//
//	DOTNET_DiagnosticPorts=PATH
//
// connects to it and waits for Client.Resume before it runs the program; with PATH,nosuspend it does not wait. Its children
// inherit the variable, connect, and wait, too. A Port is safe for concurrent use. Close it after use.
type Port struct {
	listener *net.UnixListener
	fresh    chan *Advertised // not yet returned by Accept
	open     context.Context  // until Close
	close    context.CancelFunc

	mu        sync.Mutex
	instances map[[16]byte]*instance
}

// An Advertised is a runtime instance that has connected to a Port. PID and Cookie are what the process states.
type Advertised struct {
	PID    uint64   // in the PID namespace of the process
	Cookie [16]byte // random number of the runtime instance, as in Info
	Client *Client  // its requests use connections to the port, and wait for the next one within their time limit
}

// An instance has the connections of one runtime. The runtime connects again as soon as it has read a request. So there
// is one connection that waits, and a later one means that the runtime has given up the earlier one.
type instance struct {
	waiting chan connection
	open    context.Context // of the port
}

// Listen creates a Unix socket with the mode 0600 and accepts connections from then on. The directory should belong to the
// user alone (0700), and the path may have 107 bytes. On Windows, where runtimes expect a named pipe, the error is
// ErrNotSupported.
func Listen(path string) (*Port, error) {
	if runtime.GOOS == "windows" {
		return nil, fmt.Errorf("listen at %s: %w: diagnostic ports are named pipes on Windows", path, ErrNotSupported)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	p := &Port{listener: l, fresh: make(chan *Advertised, maxInstances), instances: make(map[[16]byte]*instance)}
	p.open, p.close = context.WithCancel(context.Background())
	go p.serve()
	return p, nil
}

// serve accepts connections until the port is closed.
func (p *Port) serve() {
	greeting := make(chan struct{}, maxGreeting)
	for {
		select {
		case greeting <- struct{}{}:
		case <-p.open.Done():
			return
		}
		c, err := p.listener.Accept()
		if err != nil {
			<-greeting
			select { // closed, or for example too many open files
			case <-time.After(dialRetry):
			case <-p.open.Done():
				return
			}
			continue
		}
		go func() {
			defer func() { <-greeting }()
			p.greet(c)
		}()
	}
}

// greet reads the advertisement of a connection and makes the connection available to the Client of the instance. It
// closes connections without a valid one.
func (p *Port) greet(c net.Conn) {
	stop := context.AfterFunc(p.open, func() { _ = c.Close() })
	defer stop()
	_ = c.SetDeadline(time.Now().Add(advertisementTime))
	b, err := readExactly(c, advertisementSize)
	if err == nil {
		var a Advertised
		if a, err = parseAdvertisement(b); err == nil {
			_ = c.SetDeadline(time.Time{})
			p.offer(a, c)
			return
		}
	}
	_ = c.Close()
}

// parseAdvertisement decodes an advertisement, without the Client.
func parseAdvertisement(b []byte) (Advertised, error) {
	if len(b) != advertisementSize || !bytes.HasPrefix(b, []byte(advertisementMagic)) {
		return Advertised{}, fmt.Errorf("%w: not an advertisement", ErrProtocol)
	}
	b = b[len(advertisementMagic):]
	a := Advertised{PID: binary.LittleEndian.Uint64(b[16:])}
	copy(a.Cookie[:], b)
	return a, nil
}

// offer makes a connection available to the instance that advertises, and the instance to Accept if it is new.
func (p *Port) offer(a Advertised, c connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hasHungUp(c) {
		_ = c.Close()
		return
	}
	i := p.instances[a.Cookie]
	if i == nil {
		if len(p.instances) >= maxInstances {
			p.sweep()
		}
		if p.open.Err() != nil || len(p.instances) >= maxInstances || len(p.fresh) == cap(p.fresh) {
			_ = c.Close() // the runtime tries again
			return
		}
		i = &instance{make(chan connection, 1), p.open}
		p.instances[a.Cookie] = i
		a.Client = &Client{connector: i}
		p.fresh <- &a
	}
	i.drop()
	i.waiting <- c
	if p.open.Err() != nil {
		i.drop()
	}
}

// sweep removes instances whose process has exited.
func (p *Port) sweep() {
	for cookie, i := range p.instances {
		select {
		case c := <-i.waiting:
			if hasHungUp(c) {
				_ = c.Close()
				delete(p.instances, cookie)
				continue
			}
			i.waiting <- c
		default:
		}
	}
}

// drop closes the connection that waits, if there is one.
func (i *instance) drop() {
	select {
	case c := <-i.waiting:
		_ = c.Close()
	default:
	}
}

// connect implements connector: it waits for the next connection of the runtime.
func (i *instance) connect(ctx context.Context) (connection, error) {
	for {
		select {
		case c := <-i.waiting:
			if !hasHungUp(c) {
				return c, nil
			}
			_ = c.Close()
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-i.open.Done():
			return nil, fmt.Errorf("port: %w", net.ErrClosed)
		}
	}
}

// Accept waits for a runtime instance that has not been returned yet: each cookie once. Later connections of the same
// instance serve the requests of its Client. After Close the error is net.ErrClosed.
func (p *Port) Accept(ctx context.Context) (*Advertised, error) {
	select {
	case a := <-p.fresh:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.open.Done():
		return nil, fmt.Errorf("port %s: %w", p.listener.Addr(), net.ErrClosed)
	}
}

// Close removes the socket and closes the connections that wait. Sessions continue, but cannot be stopped through a Client
// of the port; processes that wait for Client.Resume continue to wait.
func (p *Port) Close() error {
	p.close()
	err := p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.instances {
		i.drop()
	}
	return err
}
