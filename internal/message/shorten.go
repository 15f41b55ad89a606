package message

import (
	"strings"
	"unicode/utf8"
)

// A message has at most maxMessage bytes: names of a trace may have 64 KiB, and a line may quote many of them.
const (
	maxMessage = 8 << 10
	maxHead    = 6 << 10 // the rest is the end, where the next step stands
)

// Shorten returns s without its middle if s is too long for a message.
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
