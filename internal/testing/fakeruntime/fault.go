package fakeruntime

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
)

// A Fault replaces the answer to a command.
type Fault struct {
	Edit func(answer []byte) []byte // returns the bytes to write for the right answer; nil writes that one
	Then End                        // what follows the bytes
}

// An End is what a process does after an answer.
type End int

// What a process does after an answer.
const (
	Close   End = iota // close the connection
	Silence            // nothing, until the client closes the connection
	Endless            // write more and more
)

// play writes an answer with the fault.
func (f Fault) play(c net.Conn, answer []byte) {
	defer func() { _ = c.Close() }()
	if f.Edit != nil {
		answer = f.Edit(slices.Clone(answer))
	}
	if _, err := c.Write(answer); err != nil {
		return
	}
	switch f.Then {
	case Silence:
		_, _ = io.Copy(io.Discard, c)
	case Endless:
		for {
			if _, err := c.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}
}

// Cut returns the fault that only n bytes of an answer are written.
func Cut(n int, then End) Fault {
	return Fault{func(b []byte) []byte { return b[:min(n, len(b))] }, then}
}

// Fail returns the fault of an error answer.
func Fail(hresult uint32) Fault {
	return Fault{Edit: func([]byte) []byte { return failed(hresult) }}
}

// Size returns the fault that the header states another size.
func Size(n uint16, then End) Fault {
	return Fault{func(b []byte) []byte {
		binary.LittleEndian.PutUint16(b[14:], n)
		return b
	}, then}
}

// Put returns the fault that other bytes are at an offset in the answer.
func Put(offset int, bytes string) Fault {
	return Fault{Edit: func(b []byte) []byte {
		copy(b[min(offset, len(b)):], bytes)
		return b
	}}
}

// Payload returns the fault of a successful answer with another payload.
func Payload(payload []byte, then End) Fault {
	return Fault{func([]byte) []byte { return message(0, payload) }, then}
}
