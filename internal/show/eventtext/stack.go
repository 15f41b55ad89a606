package eventtext

import (
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/dotnet"
)

// appendStack appends the stack, leaf first: addresses without a Namer, and otherwise [address, module, name].
func (p *Printer) appendStack(dst []byte, e *ntconv.Event) []byte {
	dst = append(dst, `,"stack":[`...)
	if p.opts.Namer == nil && len(e.Stack.PCs) > 0 {
		for i, pc := range e.Stack.PCs {
			dst = appendHex(appendComma(dst, i), pc)
		}
		return append(dst, ']')
	}
	for i, f := range p.framesOf(e) {
		if p.full(dst) {
			break
		}
		dst = append(appendComma(dst, i), '[')
		dst = append(appendHex(dst, f.PC), ',')
		dst = append(appendQuoted(dst, module(&f)), ',')
		dst = append(appendQuoted(dst, funcName(&f)), ']')
	}
	return append(dst, ']')
}

// framesOf returns the frames of the event's stack. They are borrowed until the next call.
func (p *Printer) framesOf(e *ntconv.Event) []ntconv.Frame {
	if p.opts.Namer == nil {
		return e.Stack.Frames
	}
	p.frames = p.opts.Namer.AppendFrames(p.frames[:0], e.Thread.Process, e.Stack, e.Time)
	return p.frames
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendHex(dst []byte, pc uint64) []byte {
	return append(strconv.AppendUint(append(dst, '"'), pc, 16), '"')
}

func funcName(f *ntconv.Frame) string {
	if f.Func == nil {
		return ""
	}
	return f.Func.Name
}

// module returns the short name of the frame's file: shop for shop.dll, but libc.so.6 unchanged.
func module(f *ntconv.Frame) string {
	if f.Mapping == nil {
		return ""
	}
	return dotnet.ShortModule(f.Mapping.File)
}
