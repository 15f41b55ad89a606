package scrub

import (
	"bytes"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// An encoding is that of a text in a payload.
type encoding uint8

const (
	encUTF8 encoding = iota
	encUTF16
	encLatin1
)

// A rewriter replaces encoded texts. It caches results. It is not safe for concurrent use.
type rewriter struct {
	texts
	cache   stringCache[[]byte]
	key     []byte
	decoded []byte
	out     []byte
}

// Bounds of the cache: each generation has at most maxCached texts of at most maxCachedText bytes.
const (
	maxCached     = 1 << 12
	maxCachedText = 1 << 10
)

func newRewriter(p *Policy, key []byte, hashIDs bool) *rewriter {
	r := &rewriter{texts: texts{policy: p, dict: newDictionary(key), hashIDs: hashIDs}}
	r.cache.limit = maxCached
	return r
}

// replace returns the replacement of an encoded text, which has the same size. The result is raw itself if nothing
// changes, and otherwise valid until the next call.
func (r *rewriter) replace(raw []byte, enc encoding, c *class) []byte {
	if len(raw) == 0 {
		return raw
	}
	if c.action == actionKeep && (!c.names || bytes.IndexByte(raw, '/') < 0 && bytes.IndexByte(raw, '\\') < 0) {
		return raw
	}
	if len(raw) > maxCachedText {
		return r.rewrite(raw, enc, c)
	}
	r.key = append(append(r.key[:0], byte(c.index), byte(c.index>>8), byte(enc)), raw...)
	if out, ok := r.cache.get(r.key); ok {
		if out == nil {
			return raw
		}
		return out
	}
	out := r.rewrite(raw, enc, c)
	if bytes.Equal(out, raw) {
		r.cache.put(r.key, nil)
		return raw
	}
	out = bytes.Clone(out)
	r.cache.put(r.key, out)
	return out
}

// rewrite is replace without the cache.
func (r *rewriter) rewrite(raw []byte, enc encoding, c *class) []byte {
	if c.action == actionZero {
		r.out = append(r.out[:0], make([]byte, len(raw))...)
		return r.out
	}
	text := r.decode(raw, enc)
	out := r.texts.append(r.out[:0], text, c)
	r.out = out
	switch {
	case bytes.Equal(out, text) && enc != encUTF8:
		return raw
	case enc == encUTF16:
		r.decoded = bin.AppendUTF16(r.decoded[:0], out)
		out = r.decoded
	case enc == encLatin1:
		r.decoded = r.decoded[:0]
		for len(out) > 0 {
			c, n := utf8.DecodeRune(out)
			r.decoded, out = append(r.decoded, byte(c)), out[n:]
		}
		out = r.decoded
	}
	if len(out) != len(raw) { // cannot happen; the size of a payload matters more than its text
		return make([]byte, len(raw))
	}
	return out
}

// decode returns a text as valid UTF-8.
func (r *rewriter) decode(raw []byte, enc encoding) []byte {
	switch enc {
	case encUTF16:
		r.decoded = bin.DecodeUTF16(r.decoded[:0], raw)
		return r.decoded
	case encLatin1:
		r.decoded = bin.DecodeLatin1(r.decoded[:0], raw)
		return r.decoded
	}
	return validUTF8(raw)
}

// string returns the replacement of a string.
func (r *rewriter) string(s string, c *class) string {
	if out := r.replace([]byte(s), encUTF8, c); string(out) != s {
		return string(out)
	}
	return s
}
