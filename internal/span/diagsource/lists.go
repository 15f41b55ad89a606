package diagsource

import (
	"encoding/hex"
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// .NET writes the events and links of an Activity as lists. A zero-width space (U+200B, here ~) follows each separator,
// so that a comma or a colon in a name or value is not a separator:
//
//	[(NAME,~TIME,~[KEY:~VALUE,~KEY:~VALUE]),~(...)]
//	[(TRACEID,~SPANID,~FLAGS,~TRACESTATE,~ISREMOTE,~[KEY:~VALUE]),~(...)]
const (
	invisible = "\u200b"
	comma     = "," + invisible
	colon     = ":" + invisible
	nextItem  = ")" + comma + "("
	listStart = "[("
	listEnd   = ")]"
)

// lists holds the events and links of one Activity. reset keeps their memory.
type lists struct {
	events     []span.Event
	links      []span.Link
	attributes []span.Attribute
	typed      bool // attributes have the types of conventions
}

func (l *lists) reset() {
	l.events, l.links, l.attributes = l.events[:0], l.links[:0], l.attributes[:0]
}

// small reports whether the memory of the lists is small enough to be retained.
func (l *lists) small() bool {
	return cap(l.events) <= maxFreeValues && cap(l.links) <= maxFreeValues && cap(l.attributes) <= maxFreeValues
}

// eachItem calls add with the text of each item. It returns false if text is not a list.
func eachItem(text string, add func(item string)) bool {
	if text == "" || text == "[]" {
		return true
	}
	if len(text) < len(listStart)+len(listEnd) || !strings.HasPrefix(text, listStart) ||
		!strings.HasSuffix(text, listEnd) {
		return false
	}
	text = text[len(listStart) : len(text)-len(listEnd)]
	for {
		item, rest, more := strings.Cut(text, nextItem)
		add(item)
		if !more {
			return true
		}
		text = rest
	}
}

// parseEvents appends the events in text and returns how many could not be decoded. The strings share the memory of
// text.
func (l *lists) parseEvents(text string) (dropped uint32) {
	if n, ok := countTypeNames(text); ok {
		return n
	}
	ok := eachItem(text, func(item string) {
		name, rest, ok1 := strings.Cut(item, comma)
		at, tags, _ := strings.Cut(rest, comma)
		when, ok2 := parseTimestamp(at)
		if !ok1 || !ok2 {
			dropped++
			return
		}
		l.events = append(l.events, span.Event{Time: uint64(when), Name: name, Attributes: l.parseAttributes(tags)})
	})
	if !ok {
		dropped++
	}
	return dropped
}

// parseLinks appends the links in text and returns how many could not be decoded. The strings share the memory of text.
func (l *lists) parseLinks(text string) (dropped uint32) {
	if n, ok := countTypeNames(text); ok {
		return n
	}
	ok := eachItem(text, func(item string) {
		var link span.Link
		var parts [5]string
		for i := range parts {
			parts[i], item, _ = strings.Cut(item, comma)
		}
		if !decodeHex(link.TraceID[:], parts[0]) || !decodeHex(link.ID[:], parts[1]) {
			dropped++
			return
		}
		link.Flags = traceFlags(parts[2])
		if parts[3] != "null" {
			link.TraceState = parts[3]
		}
		switch parts[4] {
		case "true":
			link.Flags |= span.FlagRemoteKnown | span.FlagRemote
		case "false":
			link.Flags |= span.FlagRemoteKnown
		}
		link.Attributes = l.parseAttributes(item)
		l.links = append(l.links, link)
	})
	if !ok {
		dropped++
	}
	return dropped
}

// parseAttributes returns the tags in text of the form [KEY:~VALUE,~KEY:~VALUE]. The result is valid until reset.
func (l *lists) parseAttributes(text string) []span.Attribute {
	if len(text) <= len("[]") || text[0] != '[' || text[len(text)-1] != ']' {
		return nil
	}
	start := len(l.attributes)
	for text, more := text[1:len(text)-1], true; more; {
		var tag string
		tag, text, more = strings.Cut(text, comma)
		key, value, _ := strings.Cut(tag, colon)
		l.attributes = append(l.attributes, span.Attribute{Key: key, Value: attributeValue(key, value, l.typed)})
	}
	return l.attributes[start:len(l.attributes):len(l.attributes)]
}

// countTypeNames returns the number of items in text that contains only the names of their types, as Events.*Enumerate
// does. It returns false for any other text.
func countTypeNames(text string) (uint32, bool) {
	switch {
	case !strings.HasPrefix(text, typeNames):
		return 0, false
	case !strings.HasPrefix(text, "System.Diagnostics.Activity"), strings.ContainsAny(text, "`[]+"):
		return 0, true // the type of the list, without the number of its items
	}
	return uint32(1 + strings.Count(text, ",")), true
}

// decodeHex sets dst to the bytes of a hexadecimal number. It returns false if text does not have exactly that many
// digits.
func decodeHex(dst []byte, text string) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}
