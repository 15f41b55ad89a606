package formats

import (
	"bytes"
	"unicode/utf8"
)

// isFolded reports whether an input that begins with head consists of folded stacks: lines of frames separated by
// semicolons, a space and a number. The format has no magic number, so every complete line must be a stack, and at
// least one must have two frames. Frames without a letter or with spaces around them occur in tables and source code
// separated by semicolons, but not in stacks.
func isFolded(head []byte) bool {
	f := examineFolded(head)
	return f.deep && f.flaws == 0 && !isOpenMetrics("", head)
}

// isOpenMetrics reports whether an input begins with the metadata of a metric, in the text formats of Prometheus. Its
// lines end with numbers, as stacks do.
func isOpenMetrics(_ string, head []byte) bool {
	return bytes.HasPrefix(head, []byte("# TYPE ")) || bytes.HasPrefix(head, []byte("# HELP ")) || bytes.HasPrefix(head, []byte("# EOF"))
}

// flawInFolded returns the number of the only line of head, from 1, that is not a folded stack. It returns 0 if the
// other lines are not folded stacks either, or fewer than three.
func flawInFolded(head []byte) (line int) {
	if f := examineFolded(head); f.deep && f.flaws == 1 && f.stacks >= 3 {
		return f.flaw
	}
	return 0
}

// foldedLines states how many lines are folded stacks. deep means that one has two frames.
type foldedLines struct {
	deep                bool
	stacks, flaws, flaw int // flaw is the number of the first line that is not a stack, from 1
}

func examineFolded(head []byte) (f foldedLines) {
	if !isFoldedText(head) {
		return f
	}
	whole := len(head) < HeadSize
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	for number := 1; len(head) > 0; number++ {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && !whole && f.stacks+f.flaws > 0 {
			break
		}
		head = rest
		line = bytes.TrimRight(line, " \t\r")
		if len(line) == 0 || line[0] == '#' && (len(line) == 1 || line[1] == ' ') {
			continue
		}
		if !ended && !whole { // a stack of more than HeadSize bytes: the number is beyond head
			f.deep = bytes.Count(line, []byte(";")) > 4 && areFrames(line)
			break
		}
		stack, ok := cutNumber(line)
		if !ok || !areFrames(stack) {
			if f.flaws++; f.flaws == 1 {
				f.flaw = number
			}
			continue
		}
		f.deep = f.deep || bytes.IndexByte(stack[:len(stack)-1], ';') > 0
		f.stacks++
	}
	return f
}

// isFoldedText reports whether head has no control characters except tabs and line ends. Names need not be UTF-8,
// because some producers write the bytes of names unchanged.
func isFoldedText(head []byte) bool {
	invalid := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return false
		}
		if r == utf8.RuneError && n == 1 {
			invalid++
		}
		i += n
	}
	return invalid <= 1+len(head)/16
}

// cutNumber removes the last word of a line, which must be a number, and the white space before it.
func cutNumber(line []byte) (stack []byte, ok bool) {
	at := bytes.LastIndexAny(line, " \t")
	if at <= 0 {
		return nil, false
	}
	whole, fraction, _ := bytes.Cut(line[at+1:], []byte("."))
	if len(whole) == 0 || len(whole) > 18 ||
		len(bytes.Trim(whole, "0123456789"))+len(bytes.Trim(fraction, "0123456789")) > 0 {
		return nil, false
	}
	stack = bytes.TrimRight(line[:at], " \t")
	return stack, len(stack) > 0
}

// areFrames reports whether the parts of a stack could be function names. It accepts a trailing semicolon.
func areFrames(stack []byte) bool {
	for first := true; len(stack) > 0; first = false {
		var name []byte
		name, stack, _ = bytes.Cut(stack, []byte(";"))
		if first {
			name = bytes.TrimLeft(name, " \t") // dtrace indents lines
		}
		if len(name) == 0 || len(bytes.TrimSpace(name)) < len(name) || !hasLetter(name) {
			return false
		}
	}
	return true
}

// hasLetter reports whether a name has a character other than those of numbers, dates and amounts.
func hasLetter(name []byte) bool {
	return len(bytes.Trim(name, "0123456789.,:+-/%$'\"")) > 0
}
