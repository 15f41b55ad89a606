package fakeruntime

import (
	"encoding/binary"
	"net"
	"time"
)

// Advertisement returns what a runtime writes to a port.
func Advertisement(pid uint64, cookie [16]byte) []byte {
	b := append([]byte("ADVR_V1\x00"), cookie[:]...)
	b = binary.LittleEndian.AppendUint64(b, pid)
	return append(b, 0, 0)
}

// Advertise connects to the port of a tool as a runtime with DOTNET_DiagnosticPorts does, until the process ends: it
// connects again as soon as it has read a request, and every 10 ms if it cannot connect.
func (r *Runtime) Advertise(path string) {
	go func() {
		for r.advertise(path) {
			time.Sleep(time.Millisecond)
		}
	}()
}

// advertise makes one connection and waits for its request. It returns false if the process has ended.
func (r *Runtime) advertise(path string) bool {
	c, err := net.Dial("unix", path)
	if err != nil {
		select {
		case <-r.exiting:
			return false
		case <-time.After(10 * time.Millisecond):
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return !r.killed
	}
	if !r.keep(c) {
		return false
	}
	if _, err := c.Write(Advertisement(r.PID, r.Cookie)); err != nil {
		_ = c.Close()
		return true
	}
	received := make(chan struct{})
	go r.serve(c, func() { close(received) })
	<-received
	return true
}
