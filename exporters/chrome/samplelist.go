package chrome

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// sampleList writes the member samples. Because it follows the events, the encoder reads the timeline a second time.
func (e *encoder) sampleList() {
	e.out.buf = append(e.out.buf, `,"samples":[`...)
	first := true
	err := e.trace.Each(func(it *timeline.Item) error {
		if it.Kind != timeline.Sample {
			return nil
		}
		b := e.out.buf
		if !first {
			b = append(b, ',')
		}
		first = false
		e.out.buf = e.listedSample(append(b, '\n'), it)
		return e.out.drain()
	})
	if e.err == nil {
		e.err = err
	}
	e.out.buf = append(e.out.buf, ']')
}

// listedSample appends a sample. Its weight is the time until Weight.Until in microseconds, or else its first value, or
// else 1.
func (e *encoder) listedSample(b []byte, it *timeline.Item) []byte {
	track := it.Track
	if it.Thread != nil {
		track = it.Thread
	}
	b = e.text(append(b, `{"name":`...), sampleName(it))
	b = e.time(append(b, e.trackOf(track).where...), it.Time)
	sf := uint64(it.Stack)
	if it.Stack == timeline.NoStack { // chrome://tracing needs a frame
		e.stackless, sf = true, e.stacklessFrame()
	}
	e.scratch = e.frames.addStack(e.trace, it.Stack, e.scratch[:0])
	b = strconv.AppendUint(append(b, `,"sf":"`...), sf, 10)
	b = append(b, `","weight":`...)
	switch {
	case it.Weight.Until > it.Time:
		b = chromeevent.AppendMicros(b, it.Weight.Until-it.Time)
	case len(it.Weight.Values) > 0:
		b = strconv.AppendInt(b, it.Weight.Values[0], 10)
	default:
		b = append(b, '1')
	}
	return append(b, '}')
}

// sampleName returns the name of a sample. Readers recognize from the name whether the weight is a time, so an imported
// sample with a time gets the name of that time.
func sampleName(it *timeline.Item) string {
	w := it.Weight
	switch {
	case w.Kind != sample.Imported:
		return w.Kind.String()
	case w.Until > it.Time:
		for _, t := range w.Types {
			if t.Type == "cpu" || t.Type == "off_cpu" {
				return t.Type
			}
		}
		return sample.Wall.String()
	case len(w.Types) > 0:
		return w.Types[0].Type
	}
	return sample.Imported.String()
}

// stacklessFrame returns the ID of the frame of samples without a stack: one more than any node.
func (e *encoder) stacklessFrame() uint64 { return uint64(e.trace.Nodes()) + 1 }

// stackFrames writes the member stackFrames: the frames of all nodes that the part refers to. The IDs are node numbers.
// None is 0, which speedscope would read as "no parent".
func (e *encoder) stackFrames() {
	e.out.buf = append(e.out.buf, `,"stackFrames":{`...)
	first := true
	for node := range e.frames.all() {
		parent, frame := e.trace.Node(node)
		b := e.out.buf
		if !first {
			b = append(b, ',')
		}
		first = false
		b = strconv.AppendUint(append(b, '\n', '"'), uint64(node), 10)
		f := e.trace.Frame(frame)
		b = e.text(append(b, `":{"name":`...), functionName(&f))
		if module := moduleOf(&f); module != "" {
			b = e.text(append(b, `,"category":`...), module)
		}
		if parent != timeline.NoStack {
			b = append(strconv.AppendUint(append(b, `,"parent":"`...), uint64(parent), 10), '"')
		}
		e.out.buf = append(b, '}')
		if e.err == nil {
			e.err = e.out.drain()
		}
	}
	if e.stackless {
		if !first {
			e.out.buf = append(e.out.buf, ',')
		}
		e.out.buf = strconv.AppendUint(append(e.out.buf, '\n', '"'), e.stacklessFrame(), 10)
		e.out.buf = append(e.out.buf, `":{"name":"`+noStackName+`"}`...)
	}
	e.out.buf = append(e.out.buf, '}')
}
