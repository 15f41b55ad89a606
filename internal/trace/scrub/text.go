package scrub

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// texts replaces texts by the rules of a policy. It is not safe for concurrent use.
type texts struct {
	policy  *Policy
	dict    *dictionary
	hashIDs bool
	word    []rune // buffers of scanners
	forms   []form
}

// append appends the replacement of a text, which is valid UTF-8, to dst. Each character is replaced by one of the same
// size in UTF-8, UTF-16 and Latin-1.
func (t *texts) append(dst, text []byte, c *class) []byte {
	switch c.action {
	case actionKeep:
		if c.names && looksLikePath(text) {
			return t.appendPath(dst, text)
		}
		return append(dst, text...)
	case actionNumber:
		if isNumbers(text) || c.words[string(text)] {
			return append(dst, text...)
		}
	case actionOneOf:
		if c.keepsWhole(text) {
			return append(dst, text...)
		}
	case actionID:
		if out, ok := t.appendIDs(dst, text); ok {
			return out
		}
	case actionFile:
		return t.appendFile(dst, text, c)
	case actionZero:
		return append(dst, make([]byte, len(text))...)
	case actionHash:
		if looksLikePath(text) {
			return t.appendPath(dst, text)
		}
	}
	if c.matchesGlob(text) {
		return append(dst, text...)
	}
	return t.appendWords(dst, text, c)
}

// looksLikePath reports whether a symbol is or contains an absolute path or an address, as the names of generated code
// may.
func looksLikePath(text []byte) bool {
	if len(text) > 1 && (text[0] == '/' || text[0] == '[' && text[1] == '/') {
		return true
	}
	for i := 1; i < len(text); i++ {
		if b := text[i]; (b == '/' || b == '\\') && bytes.IndexByte([]byte(`: ("'\/=@`), text[i-1]) >= 0 &&
			(i+1 == len(text) || text[i+1] != ' ') { // 5 / s is a unit
			return true
		}
	}
	return false
}

// appendPath replaces a symbol that contains a path. It keeps the name of a file with a known extension.
func (t *texts) appendPath(dst, text []byte) []byte {
	source := t.policy.class(classSource)
	cut := bytes.LastIndexAny(text, `/\`) + 1
	name := text[cut:]
	if dot := bytes.IndexByte(name, '.'); dot >= 0 && t.policy.hasExtension(name[dot+1:]) {
		return t.appendFile(dst, text, source)
	}
	return t.appendWords(dst, text, source)
}

// appendFile replaces the directories of a path and treats the rest as a name of the class method, or of the class
// process if it is that of a program, because processes have the names of their programs.
func (t *texts) appendFile(dst, text []byte, c *class) []byte {
	end := len(text)
	if q := bytes.IndexByte(text, '?'); q >= 0 {
		end = q
	}
	cut := bytes.LastIndexAny(text[:end], `/\`) + 1
	if bytes.HasSuffix(text[:cut], []byte("//")) { // the rest is a host
		cut = end
	}
	dst = t.appendWords(dst, text[:cut], c)
	switch name, methods := text[cut:end], t.policy.class(classMethod); {
	case isSpecialMapping(name) && methods.action != actionKeep:
		dst = t.appendWords(dst, name, t.policy.class(classMapped))
	case !isSpecialMapping(name) && (cut > 0 || c.name == classMapped) && t.isProgram(name):
		deleted := bytes.TrimSuffix(name, []byte(" (deleted)"))
		dst = t.append(dst, deleted, t.policy.class(classProcess))
		dst = append(dst, name[len(deleted):]...)
	case methods.action == actionKeep:
		dst = append(dst, name...)
	default:
		dst = t.appendWords(dst, name, methods)
	}
	return t.appendWords(dst, text[end:], c)
}

// isProgram reports whether the name of a file is that of a program, which has no known extension, or exe.
func (t *texts) isProgram(name []byte) bool {
	for i, b := range name {
		if b == '.' && t.policy.hasExtension(name[i+1:]) {
			return string(name[i+1:]) == "exe"
		}
	}
	return true
}

// isSpecialMapping reports whether the last part of the name of a mapping is not that of a file: [heap], [vdso],
// [anon:NAME], memfd:NAME, vmlinux. Readers recognize some of these names, whose words class module keeps.
func isSpecialMapping(name []byte) bool {
	return len(name) > 0 && name[0] == '[' || bytes.HasPrefix(name, []byte("memfd:")) || string(name) == "vmlinux"
}

// appendIDs copies a text that consists of trace IDs (32 hexadecimal digits), span IDs (16) and flags (up to 2), as in
// traceparent, or replaces the trace and span IDs. It returns false for other texts.
func (t *texts) appendIDs(dst, text []byte) (out []byte, ok bool) {
	if len(text) > 64 {
		return dst, false
	}
	for i := 0; i < len(text); i++ {
		n := i
		for n < len(text) && isHex(rune(text[n])) {
			n++
		}
		if n-i > 2 && n-i != 16 && n-i != 32 || n < len(text) && bytes.IndexByte([]byte("-|._"), text[n]) < 0 {
			return dst, false
		}
		i = n
	}
	if !t.hashIDs {
		return append(dst, text...), true
	}
	for len(text) > 0 {
		n := 0
		for n < len(text) && isHex(rune(text[n])) {
			n++
		}
		if n == 16 || n == 32 {
			var id, hashed [16]byte
			_, _ = hex.Decode(id[:], text[:n])
			t.hashID(hashed[:n/2], id[:n/2])
			dst = hex.AppendEncode(dst, hashed[:n/2])
		} else {
			dst = append(dst, text[:n]...)
		}
		if text = text[n:]; len(text) > 0 {
			dst, text = append(dst, text[0]), text[1:]
		}
	}
	return dst, true
}

// hashID sets out to the pseudonym of a trace or span ID. An ID of zeros, which means that there is none, stays.
func (t *texts) hashID(out, id []byte) {
	if len(bytes.Trim(id, "\x00")) == 0 {
		clear(out)
		return
	}
	t.dict.bytes(out, "id", id)
}

// isNumbers reports whether a text consists of numbers, times and their separators.
func isNumbers(text []byte) bool {
	for i := 0; i < len(text); {
		if !isWordRune(rune(text[i])) {
			i++
			continue
		}
		n := i
		for n < len(text) && isWordRune(rune(text[n])) {
			n++
		}
		if !isNumberWord(string(text[i:n])) {
			return false
		}
		i = n
	}
	return true
}

// isNumberWord reports whether a word is part of a number or a time: 12, 1e5, 0x7f, 2026-11-23T10:00:00Z, 5 PM.
func isNumberWord(w string) bool {
	switch w {
	case "NaN", "Infinity", "AM", "PM", "true", "false", "null", "True", "False", "e", "E":
		return true
	}
	if hex, ok := strings.CutPrefix(w, "0x"); ok {
		return len(hex) <= 16 && strings.Trim(hex, "0123456789abcdefABCDEF") == ""
	}
	return isDigit(rune(w[0])) && len(strings.Trim(w, "0123456789")) <= 1 &&
		strings.Trim(w, "0123456789eETZ") == ""
}

// looksLikeJSON reports whether a text is treated as JSON: its strings have escapes, and its numbers remain numbers.
func looksLikeJSON(text []byte) bool {
	s := bytes.TrimLeft(text, " \t\r\n")
	return len(s) > 1 && (s[0] == '{' || s[0] == '[' || s[0] == '"')
}

// appendWords replaces the words of a text, except those that the class keeps.
func (t *texts) appendWords(dst, text []byte, c *class) []byte {
	s := scanner{texts: t, class: c, text: text, dst: dst, json: looksLikeJSON(text)}
	if !s.json && isExponential(text) {
		s.number(len(text))
		return s.dst
	}
	s.run()
	return s.dst
}

// isExponential reports whether a text is one number with an exponent.
func isExponential(text []byte) bool {
	if len(text) > 32 || bytes.IndexAny(text, "eE") < 1 || !isDigit(rune(text[len(text)-1])) {
		return false
	}
	if first := bytes.TrimLeft(text, "+-"); !isDigit(rune(first[0])) || bytes.ContainsAny(text, "xX_") {
		return false
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return err == nil && !math.IsInf(f, 0)
}

// keepsWhole reports whether a class of the action one-of keeps a text.
func (c *class) keepsWhole(text []byte) bool {
	return len(text) == 0 || c.words[string(text)] || c.matchesGlob(text)
}

// validUTF8 returns text, or a copy in which each byte that is not UTF-8 is an ASCII letter.
func validUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := bytes.Clone(text)
	for i := 0; i < len(out); {
		r, n := utf8.DecodeRune(out[i:])
		if r == utf8.RuneError && n == 1 {
			out[i] = 'x'
		}
		i += n
	}
	return out
}
