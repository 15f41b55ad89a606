package diagnostics

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// Command set and IDs of answers.
const (
	answerSet   = 0xff
	answerOK    = 0x00
	answerError = 0xff
)

// readAnswer reads the answer to a command and returns its payload. It reads no byte after the answer, and allocates in
// proportion to what has arrived. If the process closes the connection before the first byte, the error is io.EOF.
func readAnswer(r io.Reader, c command) ([]byte, error) {
	header, err := readExactly(r, headerSize)
	if err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint16(header[len(magic):]))
	set, id := header[len(magic)+2], header[len(magic)+3]
	switch {
	case string(header[:len(magic)]) != magic:
		return nil, fmt.Errorf("%w: header begins with %q", ErrProtocol, header[:len(magic)])
	case size < headerSize:
		return nil, fmt.Errorf("%w: size %d, want at least %d", ErrProtocol, size, headerSize)
	case set != answerSet || id != answerOK && id != answerError:
		return nil, fmt.Errorf("%w: command set 0x%02x, command 0x%02x", ErrProtocol, set, id)
	}
	payload, err := readExactly(r, size-headerSize)
	if err == io.EOF && size > headerSize {
		err = truncated(0, size-headerSize)
	}
	if err != nil {
		return nil, err
	}
	if id == answerOK {
		return payload, nil
	}
	p := parser{b: payload}
	code := p.uint32()
	if p.err != nil {
		return nil, p.err
	}
	return nil, &Error{c.name, code}
}

// readExactly reads n bytes. Its buffer grows as bytes arrive. The error is io.EOF if the input ends before the first.
func readExactly(r io.Reader, n int) ([]byte, error) {
	var b bytes.Buffer
	got, err := io.CopyN(&b, r, int64(n))
	if err == io.EOF && got > 0 {
		err = truncated(int(got), n)
	}
	return b.Bytes(), err
}

func truncated(got, want int) error {
	return fmt.Errorf("%w: %w after %d of %d bytes", ErrProtocol, io.ErrUnexpectedEOF, got, want)
}

// A parser decodes a payload. After the first error, all methods return zero values. Bytes after the last field are
// ignored, because later versions may add fields.
type parser struct {
	b   []byte
	err error
}

// next returns the next n bytes, nil if there are fewer.
func (p *parser) next(n int, what string) []byte {
	if p.err != nil {
		return nil
	}
	if n > len(p.b) {
		p.err = fmt.Errorf("%w: %s needs %d bytes, and %d are left", ErrProtocol, what, n, len(p.b))
		return nil
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *parser) uint32() uint32 {
	if b := p.next(4, "a 32-bit number"); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (p *parser) uint64() uint64 {
	if b := p.next(8, "a 64-bit number"); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *parser) guid() (g [16]byte) {
	copy(g[:], p.next(len(g), "a GUID"))
	return g
}

// text decodes a string, "" for none. Surrogates without a partner become U+FFFD.
func (p *parser) text() string {
	n := p.uint32()
	if uint64(n)*2 > uint64(len(p.b)) && p.err == nil {
		p.err = fmt.Errorf("%w: a string has %d characters, and %d bytes are left", ErrProtocol, n, len(p.b))
	}
	if n == 0 || p.err != nil {
		return ""
	}
	b := p.next(int(n)*2, "a string")
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	if units[n-1] == 0 {
		units = units[:n-1]
	}
	return string(utf16.Decode(units))
}

// parseResult returns the error for the payload of a command that answers an HRESULT. The document of the protocol has no
// payload for some of these commands, so it may be empty.
func parseResult(payload []byte, c command) error {
	if len(payload) == 0 {
		return nil
	}
	p := parser{b: payload}
	if code := p.uint32(); int32(code) < 0 {
		return &Error{c.name, code}
	}
	return p.err
}

// parseInfo decodes the payload of ProcessInfo, ProcessInfo2 or ProcessInfo3. The runtime writes the cookie after the
// process ID, although a table in ipc-protocol.md has it after the architecture.
func parseInfo(payload []byte, c command) (Info, error) {
	p := parser{b: payload}
	if c == processInfo3 {
		if version := p.uint32(); version == 0 && p.err == nil {
			p.err = fmt.Errorf("%w: version 0", ErrProtocol)
		}
	}
	i := Info{PID: p.uint64(), Cookie: p.guid(), CommandLine: p.text(), OS: p.text(), Arch: p.text()}
	if c != processInfo {
		i.Assembly, i.Runtime = p.text(), p.text()
	}
	if c == processInfo3 {
		i.RID = p.text()
	}
	return i, p.err
}

// maxEnvironment is the maximum size in bytes of an environment.
const maxEnvironment = 16 << 20

// readEnvironment reads the environment that follows the answer to ProcessEnvironment.
func readEnvironment(r io.Reader, payload []byte) ([]string, error) {
	p := parser{b: payload}
	size := p.uint32()
	if p.err != nil {
		return nil, p.err
	}
	if size > maxEnvironment {
		return nil, fmt.Errorf("%w: environment of %d bytes, limit %d", ErrProtocol, size, maxEnvironment)
	}
	b, err := readExactly(r, int(size))
	if errors.Is(err, io.EOF) && size > 0 {
		err = truncated(0, int(size))
	}
	if err != nil {
		return nil, err
	}
	return parseEnvironment(b)
}

// parseEnvironment decodes an array of strings.
func parseEnvironment(b []byte) ([]string, error) {
	p := parser{b: b}
	n := p.uint32()
	if uint64(n)*4 > uint64(len(p.b)) && p.err == nil {
		p.err = fmt.Errorf("%w: %d variables, and %d bytes are left", ErrProtocol, n, len(p.b))
	}
	var list []string
	for i := uint32(0); i < n && p.err == nil; i++ {
		list = append(list, p.text())
	}
	if p.err != nil {
		return nil, p.err
	}
	return list, nil
}
