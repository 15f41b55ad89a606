package diagnostics

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// A message has a header of 20 bytes: magic, uint16 size of header and payload, uint8 command set, uint8 command, uint16
// 0. Integers are little-endian. A string has a uint32 count of UTF-16 code units that includes a final NUL, and the
// units; a count of 0 means no string. An array has a uint32 count.
const (
	magic      = "DOTNET_IPC_V1\x00"
	headerSize = 20
	maxMessage = 65535 // bytes of a message, because the size is a uint16
)

// A command identifies a request.
type command struct {
	set, id uint8
	name    string // in the protocol
}

// Commands by their names in the protocol.
var (
	stopTracing         = command{2, 1, "StopTracing"}
	processInfo         = command{4, 0, "ProcessInfo"}
	resumeRuntime       = command{4, 1, "ResumeRuntime"}
	processEnvironment  = command{4, 2, "ProcessEnvironment"}
	setEnvironment      = command{4, 3, "SetEnvironmentVariable"}
	processInfo2        = command{4, 4, "ProcessInfo2"}
	enablePerfMap       = command{4, 5, "EnablePerfMap"}
	disablePerfMap      = command{4, 6, "DisablePerfMap"}
	processInfo3        = command{4, 8, "ProcessInfo3"}
	collectTracingFirst = 2 // ID of CollectTracing; CollectTracing2 to 6 follow
)

// collectTracing returns the command CollectTracing n.
func collectTracing(n int) command {
	c := command{2, uint8(collectTracingFirst + n - 1), "CollectTracing"}
	if n > 1 {
		c.name = fmt.Sprintf("CollectTracing%d", n)
	}
	return c
}

// A request builds a message.
type request struct {
	command
	b       []byte // with the header
	largest string // description of the largest part of variable length
	size    int    // of that part, in bytes
	err     error  // the first one
}

func newRequest(c command) *request {
	return &request{command: c, b: append(make([]byte, 0, 256), magic+"\x00\x00"+string([]byte{c.set, c.id, 0, 0})...)}
}

func (r *request) uint32(v uint32) { r.b = binary.LittleEndian.AppendUint32(r.b, v) }
func (r *request) uint64(v uint64) { r.b = binary.LittleEndian.AppendUint64(r.b, v) }

func (r *request) bool(v bool) {
	if v {
		r.b = append(r.b, 1)
	} else {
		r.b = append(r.b, 0)
	}
}

// text appends a string. what describes it in errors. The runtime would ignore what follows a NUL in it.
func (r *request) text(what, s string) {
	if strings.ContainsRune(s, 0) && r.err == nil {
		r.err = fmt.Errorf("%s: %w: %s has a NUL character", r.name, ErrRequest, what)
	}
	start := len(r.b)
	units := utf16.Encode([]rune(s))
	r.uint32(uint32(len(units)) + 1)
	for _, u := range append(units, 0) {
		r.b = binary.LittleEndian.AppendUint16(r.b, u)
	}
	r.part(what, start)
}

// noText appends the encoding of no string, which is not that of an empty one.
func (r *request) noText() { r.uint32(0) }

// ids appends an array. what describes it in errors.
func (r *request) ids(what string, list []uint32) {
	start := len(r.b)
	r.uint32(uint32(len(list)))
	for _, id := range list {
		r.uint32(id)
	}
	r.part(what, start)
}

// part notes the size of a part that began at a byte offset in the message.
func (r *request) part(what string, start int) {
	if n := len(r.b) - start; n > r.size {
		r.largest, r.size = what, n
	}
}

// message returns the message, or ErrTooLarge with the largest part.
func (r *request) message() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	if len(r.b) > maxMessage {
		return nil, fmt.Errorf("%s: %w: %d bytes, limit %d; the largest part is %s with %d bytes",
			r.name, ErrTooLarge, len(r.b), maxMessage, r.largest, r.size)
	}
	binary.LittleEndian.PutUint16(r.b[len(magic):], uint16(len(r.b)))
	return r.b, nil
}
