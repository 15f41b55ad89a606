package tracker

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/fields"
)

// appendArgs appends the members of args as attributes to dst, and returns how many were dropped. Args that are not an
// object become the attribute args. If restored is set, it omits the facts, which restore has set.
func (t *Tracker) appendArgs(dst []span.Attribute, args []byte, restored bool) (_ []span.Attribute, dropped uint32) {
	if len(args) == 0 {
		return dst, 0
	}
	if args[0] != '{' {
		return t.fields.AppendJSON(dst, "args", args)
	}
	limit := len(dst) + fields.MaxAttributes
	for members := jsonio.MembersOf(args); ; {
		name, value, ok := members.Next()
		if !ok {
			return dst, dropped
		}
		if restored {
			if _, isFact := factOf(name); isFact {
				continue
			}
		}
		if len(dst) == limit {
			dropped++
			continue
		}
		key := t.fields.Unquoted(name)
		if restored {
			key = ownKey(key)
		}
		var n uint32
		dst, n = t.fields.AppendJSON(dst, key, value)
		dropped += n
	}
}

// ownKey returns the key of an attribute that a timeline has renamed because a fact has the same name.
func ownKey(key string) string {
	if own, ok := strings.CutPrefix(key, "attributes."); ok {
		if _, isFact := factOf(strconv.AppendQuote(nil, own)); isFact {
			return own
		}
	}
	return key
}
