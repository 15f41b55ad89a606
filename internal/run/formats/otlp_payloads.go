package formats

import (
	"bytes"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/sample"
)

// payloads makes the original payloads of OTLP profiles: a profile of pprof's format per kind. A nil *payloads makes none.
type payloads struct {
	sink  *pprof.Sink
	kinds map[sample.Kind]*payload
}

type payload struct{ bytes.Buffer }

func (*payload) Close() error { return nil }

// payloads returns what makes the payloads for a sink with these options, and sets their source.
func (c *otlpSettings) payloads(info *ntconv.Info, namer ntconv.Namer, o *otlp.Options) *payloads {
	if !c.original || !c.profiles() {
		return nil
	}
	p := &payloads{kinds: make(map[sample.Kind]*payload)}
	own := o.Profiles
	own.Create = func(k sample.Kind) (io.WriteCloser, error) {
		p.kinds[k] = new(payload)
		return p.kinds[k], nil
	}
	p.sink = pprof.New(nil, info, namer, &pprof.Options{Options: own})
	o.Original = func(k sample.Kind) (format, data string) {
		if b := p.kinds[k]; b != nil {
			return "pprof", b.String()
		}
		return "", ""
	}
	return p
}

func (p *payloads) write(e *ntconv.Event) error {
	if p == nil {
		return nil
	}
	return p.sink.Write(e)
}

func (p *payloads) watch(e *ntconv.Event) {
	if p != nil {
		p.sink.Watch(e)
	}
}

// close completes the payloads. Call it before the sink of OTLP is closed.
func (p *payloads) close() error {
	if p == nil {
		return nil
	}
	return p.sink.Close()
}
