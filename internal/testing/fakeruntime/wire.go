package fakeruntime

import (
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
)

// Codes of error answers.
const (
	BadEncoding    uint32 = 0x80131384
	UnknownCommand uint32 = 0x80131385
)

const magic = "DOTNET_IPC_V1\x00"

// A request is a message of a client.
type request struct {
	set, id byte
	payload []byte
}

// readRequest reads a message.
func readRequest(r io.Reader) (request, error) {
	header := make([]byte, 20)
	if _, err := io.ReadFull(r, header); err != nil {
		return request{}, err
	}
	size := binary.LittleEndian.Uint16(header[14:])
	if string(header[:14]) != magic || size < 20 {
		return request{}, errors.New("not a request")
	}
	payload := make([]byte, size-20)
	if _, err := io.ReadFull(r, payload); err != nil {
		return request{}, err
	}
	return request{header[16], header[17], payload}, nil
}

// message returns an answer with the ID 0 (success) or 0xff (error).
func message(id byte, payload []byte) []byte {
	b := append([]byte(magic), 0, 0, 0xff, id, 0, 0)
	b = append(b, payload...)
	binary.LittleEndian.PutUint16(b[14:], uint16(len(b)))
	return b
}

// failed returns an error answer.
func failed(hresult uint32) []byte {
	return message(0xff, binary.LittleEndian.AppendUint32(nil, hresult))
}

// appendText appends a string.
func appendText(b []byte, s string) []byte {
	units := append(utf16.Encode([]rune(s)), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// A decoder reads a payload. It panics with errShort at its end, which answer recovers.
type decoder struct{ b []byte }

var errShort = errors.New("the request is too short")

func (d *decoder) next(n int) []byte {
	if n < 0 || n > len(d.b) {
		panic(errShort)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.next(4)) }
func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.next(8)) }
func (d *decoder) bool() bool     { return d.next(1)[0] != 0 }

// text returns a string, and whether there is one.
func (d *decoder) text() (string, bool) {
	n := int(d.uint32())
	if n == 0 {
		return "", false
	}
	b := d.next(2 * n)
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	if units[n-1] != 0 {
		panic(errShort)
	}
	return string(utf16.Decode(units[:n-1])), true
}
