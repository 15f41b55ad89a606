// Package record records running .NET processes through their diagnostic ports.
//
//	names of profiles, kinds, --providers ─→ Request: which events the runtime must write
//	PID, name, a program to start         ─→ Target: a client of one process
//	Target + Request                      ─→ Recording: the bytes of a nettrace stream, and its proper end
//	Recording                             ─→ Status: what the stream has so far, for a screen and for --stop-on
//
// The package knows no flags and no outputs: whoever reads a Recording decides what becomes of its bytes.
package record
