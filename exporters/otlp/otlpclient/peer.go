package otlpclient

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
)

// Errors of connections without TLS to a peer that does not understand the request. net/http has none that shows that
// the receiver does not have what was sent.
var (
	errHTTP1 = errors.New("the receiver answers with HTTP/1")
	errHTTP2 = errors.New("the receiver answers with HTTP/2, as receivers of gRPC do")
	errTLS   = errors.New("the receiver answers with TLS")
)

// recognizePeer makes a transport for connections without TLS fail with one of these errors. It calls found with the error,
// because net/http may return another one for the request: HTTP/2 has several goroutines for a connection.
func recognizePeer(t *http.Transport, http2 bool, found func(error)) {
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &peerConn{Conn: conn, http2: http2, found: found}, nil
	}
}

// A peerConn is a connection whose Read fails if the first bytes of the peer are not those of the protocol.
type peerConn struct {
	net.Conn
	http2 bool
	found func(error)
	begun bool // the peer has sent something
}

func (c *peerConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.begun && n > 0 {
		if other := c.recognize(p[:n]); other != nil {
			c.found(other)
			return 0, other
		}
		c.begun = true
	}
	return n, err
}

// recognize returns an error if b is the start of an answer in another protocol.
func (c *peerConn) recognize(b []byte) error {
	const (
		alert    = 21 // TLS record (RFC 8446, section 5.1), followed by the major version 3
		settings = 4  // HTTP/2 frame (RFC 9113, section 4.1): length in 3 bytes, type, flags; always the first frame
	)
	switch {
	case len(b) > 1 && b[0] == alert && b[1] == 3:
		return errTLS
	case c.http2 && bytes.HasPrefix(b, []byte("HTTP/")):
		return errHTTP1
	case !c.http2 && len(b) > 3 && b[0] == 0 && b[1] == 0 && b[3] == settings:
		return errHTTP2
	}
	return nil
}
