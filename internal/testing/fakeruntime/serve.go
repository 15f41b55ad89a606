package fakeruntime

import (
	"bufio"
	"encoding/binary"
	"net"
	"slices"
	"strings"
)

// commands are the commands by set and ID, with the release of .NET that has them first.
var commands = map[[2]byte]struct {
	name    string
	release int
}{
	{2, 1}: {"StopTracing", 3},
	{2, 2}: {"CollectTracing", 3},
	{2, 3}: {"CollectTracing2", 3},
	{2, 4}: {"CollectTracing3", 9},
	{2, 5}: {"CollectTracing4", 9},
	{2, 6}: {"CollectTracing5", 10},
	{2, 7}: {"CollectTracing6", 11},
	{4, 0}: {"ProcessInfo", 5},
	{4, 1}: {"ResumeRuntime", 5},
	{4, 2}: {"ProcessEnvironment", 6},
	{4, 3}: {"SetEnvironmentVariable", 6},
	{4, 4}: {"ProcessInfo2", 7},
	{4, 5}: {"EnablePerfMap", 8},
	{4, 6}: {"DisablePerfMap", 8},
	{4, 8}: {"ProcessInfo3", 8},
}

// serve answers the request of a connection. It calls received, if it is not nil, when the request has been read: the
// client makes the request when it wants, and delays nobody until then.
func (r *Runtime) serve(c net.Conn, received func()) {
	in := bufio.NewReader(c)
	if received != nil {
		_, _ = in.Peek(1)
	}
	r.serving.Lock()
	q, err := readRequest(in)
	if received != nil {
		received()
	}
	if err != nil {
		_, _ = c.Write(failed(BadEncoding))
		_ = c.Close()
		r.serving.Unlock()
		return
	}
	name, answer, s := r.answer(q)
	r.serving.Unlock()
	if fault, ok := r.fault(name); ok {
		fault.play(c, answer)
		return
	}
	if _, err := c.Write(answer); err == nil && s != nil {
		r.stream(c, s)
	}
	_ = c.Close()
}

// fault returns the fault of a command.
func (r *Runtime) fault(name string) (Fault, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.Faults[name]; ok {
		return f, true
	}
	f, ok := r.Faults[""]
	return f, ok
}

// answer returns the name of a request and the answer, and a session if the request starts one.
func (r *Runtime) answer(q request) (name string, answer []byte, started *Session) {
	known, ok := commands[[2]byte{q.set, q.id}]
	release := r.Release
	if release == 0 {
		release = 10
	}
	r.mu.Lock()
	r.requests = append(r.requests, known.name)
	r.mu.Unlock()
	if !ok || known.release > release {
		return known.name, failed(UnknownCommand), nil
	}
	defer func() {
		if p := recover(); p == errShort {
			name, answer, started = known.name, failed(BadEncoding), nil
		} else if p != nil {
			panic(p)
		}
	}()
	d := &decoder{q.payload}
	if strings.HasPrefix(known.name, "CollectTracing") {
		s := r.start(d, int(q.id)-1)
		if s == nil {
			return known.name, failed(BadEncoding), nil
		}
		return known.name, message(0, binary.LittleEndian.AppendUint64(nil, s.ID)), s
	}
	return known.name, r.process(known.name, d), nil
}

// process returns the answer to a command about the process or a session.
func (r *Runtime) process(name string, d *decoder) []byte {
	done := message(0, make([]byte, 4))
	switch name {
	case "StopTracing":
		return r.stop(d.uint64())
	case "ProcessInfo", "ProcessInfo2", "ProcessInfo3":
		return message(0, r.info(name))
	case "ProcessEnvironment":
		env := binary.LittleEndian.AppendUint32(nil, uint32(len(r.Environ)))
		for _, v := range r.Environ {
			env = appendText(env, v)
		}
		payload := binary.LittleEndian.AppendUint32(nil, uint32(len(env)))
		return append(message(0, append(payload, 0, 0)), env...)
	case "SetEnvironmentVariable":
		key, _ := d.text()
		value, set := d.text()
		r.Environ = slices.DeleteFunc(r.Environ, func(v string) bool { return strings.HasPrefix(v, key+"=") })
		if set {
			r.Environ = append(r.Environ, key+"="+value)
		}
	case "ResumeRuntime":
		r.mu.Lock()
		defer r.mu.Unlock()
		select {
		case <-r.resumed:
		default:
			close(r.resumed)
		}
	case "EnablePerfMap":
		if kind := d.uint32(); kind == 0 || kind > 3 {
			return failed(BadEncoding)
		}
	}
	return done
}

// info returns the payload of ProcessInfo, ProcessInfo2 or ProcessInfo3.
func (r *Runtime) info(name string) []byte {
	var b []byte
	if name == "ProcessInfo3" {
		b = binary.LittleEndian.AppendUint32(b, 1)
	}
	b = binary.LittleEndian.AppendUint64(b, r.PID)
	b = append(b, r.Cookie[:]...)
	for _, text := range []string{r.CommandLine, r.OS, r.Arch} {
		b = appendText(b, text)
	}
	if name != "ProcessInfo" {
		b = appendText(appendText(b, r.Assembly), r.Version)
	}
	if name == "ProcessInfo3" {
		b = appendText(b, r.RID)
	}
	return b
}
