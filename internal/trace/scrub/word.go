package scrub

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/rand/v2"
	"unicode"
	"unicode/utf8"
)

// KeySize is the size of a random key in bytes.
const KeySize = 32

// A dictionary returns the pseudonym of each word. It is not safe for concurrent use.
type dictionary struct {
	mac   hash.Hash
	words stringCache[[]rune]
	ascii stringCache[[]byte]
	perms map[permKey][]uint32
	// Scratch space.
	lower   []rune
	id, key []byte
	current stream
}

// A permKey identifies a permutation of short words: those of n characters of a kind whose number is at least lo.
type permKey struct {
	kind  wordKind
	n, lo int
}

// A wordKind is the alphabet of a word, and of its pseudonym.
type wordKind uint8

const (
	mixedWord  wordKind = iota // each character keeps its own kind
	digitWord                  // decimal digits; the first one is 0 only if it was
	hexWord                    // hexadecimal digits, letters and decimal digits among them
	letterWord                 // ASCII letters
	numberWord                 // digits that start with 0
	numWordKind
)

// maxCachedWords bounds each generation of the caches of words. maxKeyBytes bounds their bytes.
const maxCachedWords = 1 << 15

func newDictionary(key []byte) *dictionary {
	d := &dictionary{mac: hmac.New(sha256.New, key), perms: make(map[permKey][]uint32)}
	d.words.limit, d.ascii.limit = maxCachedWords, maxCachedWords
	return d
}

// isWordRune reports whether a character belongs to a word. Everything beyond ASCII does, because any of it may be part
// of a secret, except spaces and punctuation: .NET writes a zero-width space as a separator.
func isWordRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	case 0x2000 <= r && r <= 0x206f, 0x3000 <= r && r <= 0x3003, r == 0xa0:
		return false
	}
	return true
}

// wordBytes marks the ASCII characters of words.
var wordBytes = func() (set [256]bool) {
	for r := range rune(utf8.RuneSelf) {
		set[r] = isWordRune(r)
	}
	return set
}()

func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' && r < utf8.RuneSelf }
func isHex(r rune) bool    { return isDigit(r) || 'a' <= r|0x20 && r|0x20 <= 'f' && r < utf8.RuneSelf }

// kindOf returns the kind of a word.
func kindOf(word []rune) wordKind {
	digits, letters, hex := 0, 0, 0
	for _, r := range word {
		switch {
		case isDigit(r):
			digits++
		case isLetter(r):
			letters++
		}
		if isHex(r) {
			hex++
		}
	}
	switch {
	case digits == len(word) && word[0] == '0':
		return numberWord
	case digits == len(word):
		return digitWord
	case letters == len(word):
		return letterWord
	case hex == len(word):
		return hexWord
	}
	return mixedWord
}

// pseudonym returns the pseudonym of a word, which has at least one character. The result is shared and read-only. Its
// letters have the case of the word.
func (d *dictionary) pseudonym(word []rune) []rune {
	d.id = d.id[:0]
	for _, r := range word {
		d.id = utf8.AppendRune(d.id, r)
	}
	if s, ok := d.words.get(d.id); ok {
		return s
	}
	s := d.create(word, kindOf(word))
	d.words.put(d.id, s)
	return s
}

// plain is pseudonym for a word of ASCII characters.
func (d *dictionary) plain(word []byte) []byte {
	if s, ok := d.ascii.get(word); ok {
		return s
	}
	s := []byte(string(d.pseudonym([]rune(string(word)))))
	d.ascii.put(word, s)
	return s
}

// maxPermuted is the number of characters up to which words of a kind are permuted.
var maxPermuted = [numWordKind]int{digitWord: 4, numberWord: 4, letterWord: 3}

func (d *dictionary) create(word []rune, kind wordKind) []rune {
	d.lower = d.lower[:0]
	for _, r := range word {
		d.lower = append(d.lower, unicode.ToLower(r))
	}
	out := make([]rune, len(word))
	if len(word) <= maxPermuted[kind] {
		d.permute(out, d.lower, kind)
	} else {
		for attempt := byte(0); ; attempt++ {
			d.derive(out, word, kind, attempt)
			if string(out) != string(d.lower) || attempt == 8 {
				break
			}
		}
	}
	for i, r := range word {
		if unicode.IsUpper(r) {
			out[i] = upper(out[i])
		}
	}
	return out
}

// upper returns the upper case of a character of a pseudonym, in the same number of bytes.
func upper(r rune) rune {
	if isLetter(r) {
		return r &^ 0x20
	}
	if 0xe0 <= r && r <= 0xfe {
		return r - 0x20
	}
	return r
}

// derive fills out with the pseudonym of a word of any length, whose lower case is d.lower. attempt distinguishes the
// pseudonyms of one word.
func (d *dictionary) derive(out, word []rune, kind wordKind, attempt byte) {
	lower := d.lower
	s := d.stream("word", []byte(string(lower)), attempt)
	for i, r := range lower {
		n := s.next()
		switch {
		case kind == hexWord:
			out[i] = rune("0123456789abcdef"[n%16])
		case isDigit(r) && i == 0 && r != '0' && kind == digitWord && len(lower) >= 19:
			out[i] = r // a number of 64 bits must remain one
		case isDigit(r) && i == 1 && kind == digitWord && len(lower) >= 19:
			out[i] = rune('0' + n%uint32(max(1, r-'0'))) // not above the digit
		case isDigit(r) && i == 0 && r != '0':
			out[i] = rune('1' + n%9)
		case isDigit(r):
			out[i] = rune('0' + n%10)
		default:
			out[i] = sameSize(word[i], n) // lower case may have another size
		}
	}
}

// sameSize returns the letter with number n among those that have the size of r in UTF-8, in UTF-16 and, below 256, in
// Latin-1.
func sameSize(r rune, n uint32) rune {
	switch {
	case r < 0x80:
		return rune('a' + n%26)
	case r < 0x800:
		return [...]rune{
			0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xeb, 0xec, 0xed, 0xee, 0xef,
			0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe,
		}[n%30]
	case r < 0x10000:
		return rune(0x4e00 + n%0x5000)
	}
	return rune(0x20000 + n%0xa000)
}

// permute fills out with the pseudonym of a short word of ASCII characters: its image under a permutation of all words
// of the kind and length.
func (d *dictionary) permute(out, lower []rune, kind wordKind) {
	base, first := 10, '0'
	if kind == letterWord {
		base, first = 26, 'a'
	}
	at := 0
	for _, r := range lower {
		at = at*base + int(r-first)
	}
	lo, hi := domain(kind, len(lower), base)
	if kind == digitWord && len(lower) == 3 { // octets of addresses remain octets
		if at < 256 {
			hi = 256
		} else {
			lo = 256
		}
	}
	at = lo + int(d.permutation(permKey{kind, len(lower), lo}, hi-lo)[at-lo])
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = first + rune(at%base)
		at /= base
	}
}

// domain returns the range of the numbers that words of a kind and length represent.
func domain(kind wordKind, n, base int) (lo, hi int) {
	hi = 1
	for range n {
		hi *= base
	}
	switch kind {
	case digitWord:
		lo = hi / base
	case numberWord:
		hi /= base
	}
	return lo, hi
}

// permutation returns a random permutation of n numbers without fixed points, unless n is 1 (Sattolo's algorithm).
func (d *dictionary) permutation(k permKey, n int) []uint32 {
	if p := d.perms[k]; p != nil {
		return p
	}
	p := make([]uint32, n)
	for i := range p {
		p[i] = uint32(i)
	}
	s := d.stream("permutation", []byte{byte(k.kind), byte(k.n), byte(k.lo >> 8)}, 0)
	for i := n - 1; i > 0; i-- {
		j := s.next() % uint32(i)
		p[i], p[j] = p[j], p[i]
	}
	d.perms[k] = p
	return p
}

// bytes fills out with the pseudonym of bytes that are not text. domain separates uses.
func (d *dictionary) bytes(out []byte, domain string, secret []byte) {
	s := d.stream(domain, secret, 0)
	for i := range out {
		out[i] = byte(s.next())
	}
}

// A stream is a pseudo-random sequence of numbers: those of an HMAC, then those of ChaCha8 with the HMAC as its seed.
type stream struct {
	seed [sha256.Size]byte
	used int
	more *rand.ChaCha8
	half uint32 // of the latest number of more
	has  bool
}

// stream returns the sequence that a secret determines in a domain.
func (d *dictionary) stream(domain string, secret []byte, attempt byte) *stream {
	s := &d.current
	*s = stream{}
	d.key = append(append(append(d.key[:0], domain...), 0, attempt), secret...)
	d.mac.Reset()
	d.mac.Write(d.key)
	d.mac.Sum(s.seed[:0])
	return s
}

func (s *stream) next() uint32 {
	if s.used < len(s.seed) {
		s.used += 4
		return binary.LittleEndian.Uint32(s.seed[s.used-4:])
	}
	if s.has {
		s.has = false
		return s.half
	}
	if s.more == nil {
		s.more = rand.NewChaCha8(s.seed)
	}
	n := s.more.Uint64()
	s.half, s.has = uint32(n>>32), true
	return uint32(n)
}
