package formats

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// chromeIn returns the reading half of Chrome's trace event format.
func chromeIn() *In {
	return &In{
		Sniff:    isChrome,
		Hint:     hasEventsLater,
		Ordered:  true,
		Bind:     withoutFlags(openChrome),
		NoEvents: Advice{"a file of Chrome's trace event format without events", "check that the program that wrote it has recorded something"},
	}
}

func openChrome(r io.Reader, o *ReadOptions) (ntconv.Source, error) {
	opts := chrome.Options{Report: o.Report, MaxTemp: o.MaxTemp}
	opts.Limits.Stack = o.stackDepth(opts.Limits.Defaults().Stack)
	opts.Limits.Value = o.share(opts.Limits.Defaults().Value, valueShare)
	return chrome.New(r, &opts)
}

// isChrome reports whether a text that begins with head is in Chrome's trace event format or is a profile of V8: an
// array whose first element has a phase, or an object with a member that only such files have.
func isChrome(head []byte) bool {
	found, _ := sniffChrome(head)
	return found
}

// hasEventsLater reports whether head ends before the list of events, after the beginning of a member that programs
// write before the list.
func hasEventsLater(head []byte) bool {
	_, later := sniffChrome(head)
	return later
}

// sniffChrome reads members of the outermost object until one decides. later means that head ends before, but has one
// of the large members that Chrome (metadata) and PyTorch (the others) write before the list of events.
func sniffChrome(head []byte) (found, later bool) {
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	dec := jsonio.NewDecoder(bytes.NewReader(head))
	t, err := dec.ReadToken()
	if err != nil {
		return false, false
	}
	if t.Kind() == '[' {
		if dec.PeekKind() == ']' {
			return true, false
		}
		return firstHas(dec, "ph"), false
	}
	for t.Kind() == '{' && dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return false, later
		}
		text, kind := name.String(), dec.PeekKind()
		switch text {
		case "metadata", "distributedInfo":
			later = later || kind == '{'
		case "deviceProperties":
			later = later || kind == '['
		case "traceEvents", "stackFrames", "displayTimeUnit", "systemTraceEvents", "otherData":
			return kind == '[' || kind == '{' || kind == '"' || kind == 'n', false
		case "nodes":
			if kind != '[' {
				return false, false
			}
			_, _ = dec.ReadToken() // PeekKind has seen it
			return firstHas(dec, "callFrame"), false
		}
		if err := dec.SkipValue(); err != nil {
			return false, later && errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
	return false, later && dec.PeekKind() == 0
}

// firstHas reports whether the first element of a list is an object with a member of that name.
func firstHas(dec *jsontext.Decoder, name string) bool {
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if t.String() == name {
			return true
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
	return false
}
