package diagsource

import (
	"strings"

	"github.com/ntconv/ntconv/internal/span"
)

// appendTags appends the tags in text to dst. There are two forms, neither of which escapes separators:
//
//	[key, value],[key, value]    TagObjects.*Enumerate
//	key:value, key:value         TagObjects in .NET 8 and later
//
// The first form is split at "],[" if the text up to the next "],[" has a separator ", ". A key ends at the first
// separator. A key with a comma, or a value with "],[", is therefore split differently than in the program. The second
// form is split at ", " if the text up to the next colon could be a key: at least one character, and no white space.
// Other text belongs to the preceding value. The strings share the memory of text.
func appendTags(dst []span.Attribute, text string) []span.Attribute {
	switch {
	case text == "":
		return dst
	case text[0] == '[' && text[len(text)-1] == ']' && len(text) > 1:
		return appendBracketed(dst, text[1:len(text)-1])
	case strings.HasPrefix(text, typeNames) && !strings.Contains(text, ":"):
		return dst // a type name: there are no tags, or this version of .NET does not format them
	}
	return appendPlain(dst, text)
}

// appendBracketed appends tags in the first form, given without the outermost brackets.
func appendBracketed(dst []span.Attribute, text string) []span.Attribute {
	const next, separator = "],[", ", "
	key, value, _ := strings.Cut(text, separator)
	for end := strings.Index(value, next); end >= 0; {
		after := end + len(next)
		piece := value[after:]
		n := strings.Index(piece, next) // possible start of the piece after this one
		if n >= 0 {
			piece = piece[:n]
		}
		name, _, ok := strings.Cut(piece, separator)
		switch {
		case ok:
			dst = append(dst, span.Attribute{Key: key, Value: span.String(value[:end])})
			key, value = name, value[after+len(name)+len(separator):]
			if end = n; n >= 0 {
				end -= len(name) + len(separator)
			}
		case n >= 0:
			end = after + n
		default:
			end = -1
		}
	}
	return append(dst, span.Attribute{Key: key, Value: span.String(value)})
}

// appendPlain appends tags in the second form.
func appendPlain(dst []span.Attribute, text string) []span.Attribute {
	const separator = ", "
	for text != "" {
		key, rest, ok := strings.Cut(text, ":")
		if !ok {
			return append(dst, span.Attribute{Key: text, Value: span.String("")})
		}
		end, next := len(rest), len(rest)
		for at := 0; ; {
			i := strings.Index(rest[at:], separator)
			if i < 0 {
				break
			}
			after := at + i + len(separator)
			if startsPlainTag(rest[after:]) {
				end, next = at+i, after
				break
			}
			at = after
		}
		dst = append(dst, span.Attribute{Key: key, Value: span.String(rest[:end])})
		text = rest[next:]
	}
	return dst
}

// startsPlainTag reports whether text begins with a possible key and a colon.
func startsPlainTag(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case ':':
			return i > 0
		case ' ', '\t', '\r', '\n':
			return false
		}
	}
	return false
}
