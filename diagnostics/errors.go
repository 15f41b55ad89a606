package diagnostics

import (
	"errors"
	"fmt"
)

// Errors of requests. errors.Is finds the first group in an *Error, which is the answer of the process; the others are
// found without an answer.
var (
	// ErrUnknownCommand means that the runtime is older than the command.
	ErrUnknownCommand = errors.New("unknown command")
	// ErrBadEncoding means that the runtime rejects the contents of a request, such as the format of a session.
	ErrBadEncoding = errors.New("bad encoding")
	// ErrUnknownMagic means that the runtime speaks another version of the protocol.
	ErrUnknownMagic = errors.New("unknown version of the protocol")
	// ErrNotSupported means that the runtime has no support for the command, for example on this operating system.
	ErrNotSupported = errors.New("not supported")
	// ErrNotYetAvailable means that the runtime has not started far enough; repeat the request, or call Client.Resume
	// if the process waits for it.
	ErrNotYetAvailable = errors.New("not yet available")
	// ErrInvalidArgument means that the runtime rejects an argument.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrVariableNotFound means that the environment variable does not exist.
	ErrVariableNotFound = errors.New("environment variable not found")
	// ErrFailed means that the runtime could not execute the command. For Collect it usually has 64 sessions already.
	ErrFailed = errors.New("failed")

	// ErrProtocol means that the answer is not valid: the process at the other end may not be a .NET process.
	ErrProtocol = errors.New("invalid answer")
	// ErrGone means that the process has exited or closed the connection, or that the socket does not exist.
	ErrGone = errors.New("the process has exited or does not listen")
	// ErrTimeout means that the answer did not arrive within Client.Timeout or the deadline of the context. A process
	// answers one request at a time: another client that has not finished its own request delays all others.
	ErrTimeout = errors.New("no answer in time")
	// ErrTooLarge means that a request has more than 65,535 bytes, or more providers than the runtime accepts.
	ErrTooLarge = errors.New("request too large")
	// ErrRequest means that a request cannot be sent, because an argument is invalid.
	ErrRequest = errors.New("invalid request")
)

// An Error is an answer of the process that reports a failure.
type Error struct {
	Command string // name in the protocol, such as "CollectTracing4"
	HResult uint32 // see the table of hresults
}

// hresults are the codes that the runtime answers, from ipc-protocol.md and ds-rt-coreclr.h.
var hresults = map[uint32]struct {
	is   error
	text string
}{
	0x80131384: {ErrBadEncoding, "bad encoding"},
	0x80131385: {ErrUnknownCommand, "unknown command; the runtime is older than this command"},
	0x80131386: {ErrUnknownMagic, "unknown version of the protocol"},
	0x80131515: {ErrNotSupported, "not supported"},
	0x80004005: {ErrFailed, "failed; the process may have 64 sessions already"},
	0x8013135b: {ErrNotYetAvailable, "not yet available; the runtime is starting"},
	0x80131371: {ErrNotYetAvailable, "the runtime is not initialized; it is starting"},
	0x80070057: {ErrInvalidArgument, "invalid argument"},
	0x8007007a: {ErrInvalidArgument, "buffer too small"},
	0x800000cb: {ErrVariableNotFound, "environment variable not found"},
}

// Error states the command, the meaning of the code if it is known, and the code.
func (e *Error) Error() string {
	text := "failed"
	if h, ok := hresults[e.HResult]; ok {
		text = h.text
	}
	return fmt.Sprintf("%s: the process answers 0x%08x: %s", e.Command, e.HResult, text)
}

// Is reports whether target is the sentinel for the code.
func (e *Error) Is(target error) bool {
	h, ok := hresults[e.HResult]
	return ok && h.is == target
}
