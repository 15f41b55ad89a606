package formats

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/profile/grouping"
	"github.com/spf13/pflag"
)

// Names of the flags that fold and group frames.
const (
	flagJustMyCode = "just-my-code"
	flagFold       = "fold"
	flagGroup      = "group"
	flagNative     = "native"
)

// groupingFlags are the flags that fold and group frames of stacks.
type groupingFlags struct{ rules grouping.Rules }

// bindGrouping defines the flags. native is the default of --native: true means fold.
func bindGrouping(flags *pflag.FlagSet, native bool) *groupingFlags {
	g := &groupingFlags{grouping.Rules{Native: native}}
	flags.BoolVar(&g.rules.JustMyCode, flagJustMyCode, false,
		"fold frames of the runtime, the framework and the operating system into the program's frames that called them")
	flags.Var(&expressions{add: g.rules.AddFold, values: g.rules.Folds}, flagFold,
		"fold frames whose function or MODULE!FUNCTION matches this `regexp` into their callers; repeatable")
	flags.Var(&expressions{add: g.rules.AddGroup, values: g.rules.Groups}, flagGroup,
		"show adjacent frames that match as one frame with this name: `REGEXP=NAME`, where $1 in NAME is a subexpression; "+
			"REGEXP=>NAME adds the function that was called first; repeatable")
	flags.Var(&choice[bool]{&g.rules.Native, []choiceValue[bool]{{"fold", true}, {"full", false}}}, flagNative,
		"code without symbols: fold shows one frame per module, such as [libc.so.6]; full shows each address")
	return g
}

// CopyGrouping sets the flags that fold and group frames to what the user chose for them in another set, which has them, too.
func CopyGrouping(to, from *pflag.FlagSet) error {
	for _, name := range []string{flagJustMyCode, flagFold, flagGroup, flagNative} {
		f := from.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if e, ok := f.Value.(*expressions); ok {
			values = e.values()
		}
		for _, v := range values {
			if err := to.Set(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// An expressions is a flag that may be repeated. Each value is checked when it is set.
type expressions struct {
	add    func(text string) error
	values func() []string
}

func (e *expressions) Set(text string) error { return e.add(text) }
func (e *expressions) Type() string          { return "regexp" }

// String returns "" for the zero value, which the help does not show as a default.
func (e *expressions) String() string {
	if e.values == nil {
		return ""
	}
	return strings.Join(e.values(), ", ")
}

// wrap returns a Namer that applies the flags to the stacks of a sink, and its counts. Without flags it returns namer
// and nil.
func (g *groupingFlags) wrap(namer ntconv.Namer) (ntconv.Namer, *grouped) {
	if g.rules.Empty() {
		return namer, nil
	}
	if namer == nil {
		namer = new(ntconv.NoNames)
	}
	n := g.rules.Namer(namer)
	return n, &grouped{n}
}

// grouped describes what the flags changed. Its methods are valid after Close of the sink. A nil *grouped describes no
// change.
type grouped struct{ namer *grouping.Namer }

// remarks returns a sentence per flag that changed something.
func (g *grouped) remarks() (list []string) {
	if g == nil {
		return nil
	}
	s := g.namer.Summary()
	add := func(n int64, flag, what string) {
		if n > 0 {
			list = append(list, fmt.Sprintf("--%s: %s of frames %s", flag, message.Percent(n, s.Frames), what))
		}
	}
	add(s.JustMyCode, flagJustMyCode, "folded")
	for _, e := range s.Folds {
		add(e.Frames, flagFold+" "+message.ShellWord(e.Text), "folded")
	}
	for _, e := range s.Groups {
		add(e.Frames, flagGroup+" "+message.ShellWord(e.Text), "grouped")
	}
	add(s.Native, flagNative+" fold", "have no symbol and are shown as their modules (--"+flagNative+" full shows addresses)")
	return list
}

// notes returns a note per flag of the user that changed nothing.
func (g *grouped) notes() (list []string) {
	if g == nil {
		return nil
	}
	s := g.namer.Summary()
	if g.namer.Rules().JustMyCode && s.JustMyCode == 0 {
		list = append(list, fmt.Sprintf("--%s: no frame is known to belong to the runtime or the framework", flagJustMyCode))
	}
	for _, e := range []struct {
		flag string
		list []grouping.Expression
	}{{flagFold, s.Folds}, {flagGroup, s.Groups}} {
		for _, x := range e.list {
			if x.Frames == 0 {
				list = append(list, fmt.Sprintf("--%s %s: no frame matches", e.flag, message.ShellWord(x.Text)))
			}
		}
	}
	return list
}

// members returns the counts for the JSON form of the summary, nil if nothing changed.
func (g *grouped) members() *groupedJSON {
	if g == nil {
		return nil
	}
	s := g.namer.Summary()
	j := &groupedJSON{Frames: s.Frames, Shown: s.Shown, JustMyCode: s.JustMyCode, Native: s.Native}
	for _, e := range s.Folds {
		j.Fold = append(j.Fold, expressionJSON{e.Text, e.Frames})
	}
	for _, e := range s.Groups {
		j.Group = append(j.Group, expressionJSON{e.Text, e.Frames})
	}
	if s.JustMyCode+s.Native == 0 && len(j.Fold)+len(j.Group) == 0 {
		return nil
	}
	return j
}

// groupedJSON is a member of the summary as JSON. A frame counts once per event with it.
type groupedJSON struct {
	Frames     int64            `json:"frames"`
	Shown      int64            `json:"shown"`
	JustMyCode int64            `json:"just_my_code,omitempty"`
	Native     int64            `json:"native,omitempty"`
	Fold       []expressionJSON `json:"fold,omitempty"`
	Group      []expressionJSON `json:"group,omitempty"`
}

type expressionJSON struct {
	Expression string `json:"expression"`
	Frames     int64  `json:"frames"`
}
