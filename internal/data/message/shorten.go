package message

import (
	"strings"
	"unicode/utf8"
)

// A message has at most maxMessage bytes, because names in a trace may have 64 KiB and a message may quote many of
// them.
const (
	maxMessage = 8 << 10
	maxHead    = 6 << 10 // the remaining bytes keep the end of the message, which has the next step
)

// Shorten returns s, without its middle if s exceeds 8 KiB. It never splits a UTF-8 sequence.
func Shorten(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	head, tail := maxHead, len(s)-(maxMessage-maxHead)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return strings.Join([]string{s[:head], "(" + Count(int64(tail-head), "byte") + " omitted)", s[tail:]}, " ... ")
}
