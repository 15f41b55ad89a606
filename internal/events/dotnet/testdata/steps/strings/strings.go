// Package strings wraps the functions of the standard library that package dotnet uses, and counts the bytes that they
// examine.
package strings

import (
	"iter"
	"strings"
)

// Steps is the number of bytes examined.
var Steps int

// found counts a search for sub in s that ended at index i, or at the end of s if i is negative.
func found(s, sub string, i int) int {
	if i < 0 {
		Steps += len(s) + 1
	} else {
		Steps += i + len(sub)
	}
	return i
}

// foundLast is found for a search from the end.
func foundLast(s string, i int) int {
	Steps += len(s) - max(i, 0)
	return i
}

func compare(s, sub string) { Steps += min(len(s), len(sub)) + 1 }

func less(s, t string) string {
	Steps += len(s) - len(t) + 1
	return t
}

func Index(s, sub string) int              { return found(s, sub, strings.Index(s, sub)) }
func IndexByte(s string, c byte) int       { return found(s, "c", strings.IndexByte(s, c)) }
func IndexAny(s, chars string) int         { return found(s, "c", strings.IndexAny(s, chars)) }
func Contains(s, sub string) bool          { return Index(s, sub) >= 0 }
func ContainsAny(s, chars string) bool     { return IndexAny(s, chars) >= 0 }
func ContainsRune(s string, r rune) bool   { return found(s, "c", strings.IndexRune(s, r)) >= 0 }
func LastIndexByte(s string, c byte) int   { return foundLast(s, strings.LastIndexByte(s, c)) }
func LastIndexAny(s, chars string) int     { return foundLast(s, strings.LastIndexAny(s, chars)) }
func HasPrefix(s, p string) bool           { compare(s, p); return strings.HasPrefix(s, p) }
func HasSuffix(s, p string) bool           { compare(s, p); return strings.HasSuffix(s, p) }
func CutPrefix(s, p string) (string, bool) { compare(s, p); return strings.CutPrefix(s, p) }
func CutSuffix(s, p string) (string, bool) { compare(s, p); return strings.CutSuffix(s, p) }
func TrimPrefix(s, p string) string        { compare(s, p); return strings.TrimPrefix(s, p) }
func TrimSuffix(s, p string) string        { compare(s, p); return strings.TrimSuffix(s, p) }
func EqualFold(s, t string) bool           { compare(s, t); return strings.EqualFold(s, t) }
func TrimSpace(s string) string            { return less(s, strings.TrimSpace(s)) }
func Trim(s, chars string) string          { return less(s, strings.Trim(s, chars)) }
func TrimLeft(s, chars string) string      { return less(s, strings.TrimLeft(s, chars)) }
func TrimRight(s, chars string) string     { return less(s, strings.TrimRight(s, chars)) }
func Count(s, sub string) int              { Steps += len(s); return strings.Count(s, sub) }
func ToLower(s string) string              { Steps += len(s); return strings.ToLower(s) }
func Clone(s string) string                { Steps += len(s); return strings.Clone(s) }
func Split(s, sep string) []string         { Steps += len(s); return strings.Split(s, sep) }
func FieldsSeq(s string) iter.Seq[string]  { Steps += len(s); return strings.FieldsSeq(s) }
func ReplaceAll(s, old, by string) string  { Steps += len(s); return strings.ReplaceAll(s, old, by) }
func Cut(s, sep string) (a, b string, ok bool) {
	Index(s, sep)
	return strings.Cut(s, sep)
}
