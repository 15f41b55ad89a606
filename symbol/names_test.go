package symbol_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/symbol"
)

// TestNames plays the scripts of testdata/names.txt, which explains them.
func TestNames(t *testing.T) {
	for _, c := range corpus.Cases(t, filepath.Join("testdata", "names.txt")) {
		t.Run(c.Name, func(t *testing.T) {
			report := new(ntconv.Report)
			p := player{t: t, stream: newStream(t, symbol.New(&symbol.Options{Names: symbol.NamesRaw, Report: report})), report: report}
			for _, line := range c.Input {
				p.play(line)
			}
		})
	}
}

// A player executes the lines of a script.
type player struct {
	t      *testing.T
	stream *stream
	report *ntconv.Report
}

func (p *player) play(line string) {
	word, rest, _ := strings.Cut(line, " ")
	w := strings.Fields(rest)
	switch {
	case word == "process":
		p.stream = p.stream.in(&ntconv.Process{PID: p.number(w[0], 10), PointerSize: 8, Host: strings.Join(w[1:], "")})
	case word == "epochs":
		for _, a := range w[:len(w)-1] {
			if e := p.stream.epoch(p.number(a, 16)); (e == 0) != (w[len(w)-1] == "0") {
				p.t.Errorf("%s: epoch %d", line, e)
			}
		}
	case word == "bad":
		if n := p.report.Count(ntconv.CodePayload); n != p.number(w[0], 10) {
			p.t.Errorf("%s: %d are counted", line, n)
		}
	case strings.Contains(word, "@"):
		address, at, _ := strings.Cut(word, "@")
		if name, ok := strings.CutSuffix(rest, "!"); ok {
			rest = raw(name)
		}
		p.stream.want(p.number(address, 16), p.time(at), rest)
	default:
		p.event(p.time(word), w)
	}
}

// event plays an event of a time.
func (p *player) event(at ntconv.Ticks, w []string) {
	s, hex, text := p.stream, func(i int) uint64 { return p.number(w[i], 16) }, func(i int) string { return strings.Join(w[i:], " ") }
	switch w[0] {
	case "module":
		s.module(at, hex(1), text(2), ntconv.GUID{})
	case "mapping":
		s.mapping(at, hex(1), hex(2), hex(3), hex(4), text(6), hex(5))
	case "symbol":
		s.symbol(at, hex(1), hex(2), hex(3), text(4))
	case "metadata":
		s.metadata(at, hex(1), text(2))
	default:
		action, bare := strings.CutPrefix(w[0], "bare-")
		actions := map[string]clr.MethodAction{
			"load": clr.MethodLoaded, "unload": clr.MethodUnloaded, "start": clr.MethodRundownStart, "rundown": clr.MethodRundownEnd,
		}
		start, size, _ := strings.Cut(w[1], "+")
		method := s.method
		if bare {
			method = s.bareMethod
		}
		method(at, actions[action], code{p.number(start, 16), uint32(p.number(size, 16)), hex(2), w[3]})
	}
}

func (p *player) number(text string, base int) uint64 {
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *player) time(text string) ntconv.Ticks {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return ntconv.Ticks(n)
}
