package grouping

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Rules describe how stacks are shown. The zero value changes nothing. Rules must not change while a Namer uses them.
type Rules struct {
	// JustMyCode folds frames of the runtime, the framework and the operating system into the frames of the program
	// that called them.
	JustMyCode bool
	// Native shows adjacent unresolved frames of a module as one frame with the name of the module, such as
	// [libc.so.6].
	Native bool

	folds  []fold
	groups []group
}

// Empty reports whether the rules change nothing.
func (r *Rules) Empty() bool {
	return !r.JustMyCode && !r.Native && len(r.folds) == 0 && len(r.groups) == 0
}

// A fold removes the frames that match.
type fold struct {
	text string // as the user wrote it
	re   *regexp.Regexp
}

// A group replaces the frames that match.
type group struct {
	text  string // as the user wrote it
	re    *regexp.Regexp
	name  string // a template of package regexp
	entry bool   // the name includes the function through which the group was entered
}

// AddFold adds a regular expression. Matching frames are folded into their callers.
func (r *Rules) AddFold(text string) error {
	re, err := compile(text)
	if err == nil {
		r.folds = append(r.folds, fold{text, re})
	}
	return err
}

// AddGroup adds a group. The forms are those of PerfView with = in place of ->:
//
//	REGEXP=NAME    matching frames have the name NAME
//	REGEXP=>NAME   as before, but NAME <<FUNCTION>>, where FUNCTION is the outermost of adjacent matching frames
//
// NAME may refer to parenthesized subexpressions by $1 or ${1}; $$ is a dollar sign. The last = of text separates the
// two parts. A group with a name that is empty for a frame does not apply to that frame.
func (r *Rules) AddGroup(text string) error {
	pattern, name := text, ""
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		pattern, name = text[:i], text[i+1:]
	}
	g := group{text: text}
	if g.name, g.entry = strings.CutPrefix(name, ">"); pattern == "" || g.name == "" {
		return errors.New("want REGEXP=NAME or REGEXP=>NAME")
	}
	var err error
	if g.re, err = compile(pattern); err != nil {
		return err
	}
	if err = checkTemplate(g.re, g.name); err == nil {
		r.groups = append(r.groups, g)
	}
	return err
}

// Folds and Groups return the arguments of AddFold and AddGroup.
func (r *Rules) Folds() (list []string) {
	for i := range r.folds {
		list = append(list, r.folds[i].text)
	}
	return list
}

// Groups returns the arguments of AddGroup.
func (r *Rules) Groups() (list []string) {
	for i := range r.groups {
		list = append(list, r.groups[i].text)
	}
	return list
}

// compile parses a regular expression that must not be empty: the empty one matches every frame.
func compile(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, errors.New("want a regular expression")
	}
	return regexp.Compile(text)
}

// reference is a reference of a template, in the syntax of regexp.Expand.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\$|\w+|\{\w+\})`) })

// checkTemplate rejects references to subexpressions that do not exist, which regexp.Expand replaces by nothing.
func checkTemplate(re *regexp.Regexp, template string) error {
	for _, m := range reference().FindAllStringSubmatch(template, -1) {
		name := strings.Trim(m[1], "{}")
		if name == "$" {
			continue
		}
		n, err := strconv.Atoi(name)
		if err == nil && n <= re.NumSubexp() || err != nil && slices.Contains(re.SubexpNames(), name) {
			continue
		}
		hint := ""
		if name != m[1] || err == nil {
			return fmt.Errorf("%s: the expression has no such subexpression, only %d", m[0], re.NumSubexp())
		}
		if digits := len(name) - len(strings.TrimLeft(name, "0123456789")); digits > 0 {
			hint = fmt.Sprintf("; write ${%s} if text follows", name[:digits])
		}
		return fmt.Errorf("%s: the expression has no subexpression of that name%s", m[0], hint)
	}
	return nil
}
