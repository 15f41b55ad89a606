package formats

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/trace/split"
)

// A processSplit is a sink that writes one trace per process into a directory.
//
//	before Create  Learn sees all events and assigns them to processes (split.ProcessSplit)
//	begin          sets out, namer and make
//	Write          create opens the member of a process with its first event
//	Close          completes all sinks, then all members
type processSplit struct {
	*split.ProcessSplit
	out   *fileio.Outputs
	namer ntconv.Namer
	make  func(io.Writer) (Sink, error)
	names map[string]bool // of members, in lower case, because file systems may ignore case
	sinks []Sink
	files []*fileio.Member
}

func newProcessSplit() *processSplit {
	p := &processSplit{names: make(map[string]bool)}
	p.ProcessSplit = split.NewProcessSplit(p.create)
	return p
}

// begin sets the output and returns p. create returns the sink for each member.
func (p *processSplit) begin(out *fileio.Outputs, t *Target, create func(io.Writer) (Sink, error)) *processSplit {
	p.out, p.namer, p.make = out, t.Namer, create
	p.Only(t.Kept)
	return p
}

// create opens the member of a process and returns its sink.
func (p *processSplit) create(process *ntconv.Process) (ntconv.Sink, error) {
	file, err := p.out.Create(p.member(process))
	if errors.Is(err, syscall.EMFILE) {
		return nil, &ntconv.AdviceError{
			Err:    err,
			Advice: "each process needs one; raise the limit with ulimit -n, or select fewer processes with --pid",
		}
	}
	if err != nil {
		return nil, err
	}
	sink, err := p.make(file)
	if err != nil {
		return nil, err
	}
	p.sinks, p.files = append(p.sinks, sink), append(p.files, file)
	return sink, nil
}

// member returns a unique name for the trace of a process: HOST-NAME-PID.nettrace, without unknown parts.
func (p *processSplit) member(process *ntconv.Process) string {
	name := "unknown"
	if process != nil {
		known := process.Name
		if n := p.namer.Process(process).Name; n != "" {
			known = n
		}
		name = fmt.Sprint(process.PID)
		for _, part := range []string{known, process.Host} {
			if part = FileName(part); part != "" {
				name = part + "-" + name
			}
		}
	}
	member := name + ".nettrace"
	for i := 2; p.names[strings.ToLower(member)]; i++ {
		member = fmt.Sprintf("%s-%d.nettrace", name, i)
	}
	p.names[strings.ToLower(member)] = true
	return member
}

// maxFileName is the maximum number of bytes of a process name that appear in a file name.
const maxFileName = 80

// FileName replaces characters that a file system may reject, because names in traces are untrusted.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-', r == '+':
			return r
		}
		return '_'
	}, strings.ToValidUTF8(name, "_"))
	return strings.Trim(name[:min(len(name), maxFileName)], "._-")
}

// Close completes the traces of all processes. It closes all members even if the sink fails.
func (p *processSplit) Close() error {
	err := p.ProcessSplit.Close()
	for _, f := range p.files {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

func (p *processSplit) Result() Result {
	all := newEventsResult(0, "")
	for _, s := range p.sinks {
		r, ok := s.Result().(*eventsResult)
		if !ok {
			continue
		}
		all.Used += r.Used
		all.Items += r.Items
		if !strings.Contains(all.Text, r.Text) {
			all.Remark(r.Text)
		}
	}
	all.Files = int64(len(p.sinks))
	if n := p.Opaque(); n > 0 {
		all.Remark(fmt.Sprintf("%d blocks of unknown kind omitted", n))
	}
	return all
}
