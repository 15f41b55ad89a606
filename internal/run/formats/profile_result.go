package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/sample"
)

// A profileResult is the result of an output of aggregated samples.
type profileResult struct {
	Kind string `json:"kind,omitempty"`
	File string `json:"file,omitempty"` // in a directory
	made
	pushed
	// Estimate says how the values were estimated; "" if they are counts.
	Estimate string        `json:"estimate,omitempty"`
	Others   []otherKind   `json:"other_kinds,omitempty"`
	Grouping *groupedJSON  `json:"grouping,omitempty"`
	asked    []sample.Kind // by name
	notes    []string
}

// Detail implements Result. An estimate comes first, so that no reader mistakes its values for counts.
func (p *profileResult) Detail() (string, []ntconv.Code) {
	text, covers := p.made.Detail()
	if p.Estimate != "" && text != "" {
		text = "; " + text
	}
	return p.Estimate + text, p.covered(covers)
}

func (p *profileResult) Line(r Read) string {
	if r.Events == 0 {
		return fmt.Sprintf("%s of %s", message.Count(p.Items, p.Unit), r.Input)
	}
	name := ""
	if p.Kind != "" {
		name = p.Kind + " profile, "
	}
	return fmt.Sprintf("%s%s%s from %s of %s in %s", p.pushed.line(), name, message.Count(p.Items, "distinct "+p.Unit),
		message.Group(p.Used), message.Count(r.Events, "event"), r.Input)
}

func (p *profileResult) Notes() []string { return p.notes }

// ProfileKind returns the name of the kind of the profile in a result of a sink of Profile.Create. It returns "" for
// other results.
func ProfileKind(r Result) string {
	if p, ok := r.(*profileResult); ok {
		return p.Kind
	}
	return ""
}

// ChosenKinds returns the kinds of profiles that flags chose by name, none for other results.
func ChosenKinds(r Result) []sample.Kind {
	switch r := r.(type) {
	case *profileResult:
		return r.asked
	case *kindsResult:
		return r.asked
	}
	return nil
}

// Estimate returns how the values of the profile in a result were estimated, "" if they are counts.
func Estimate(r Result) string {
	if p, ok := r.(*profileResult); ok {
		return p.Estimate
	}
	return ""
}

// A kindsResult is the result of a directory with one profile per kind.
type kindsResult struct {
	Profiles []*profileResult `json:"profiles"`
	made
	pushed
	Files    int64         `json:"files,omitempty"`
	Grouping *groupedJSON  `json:"grouping,omitempty"`
	asked    []sample.Kind // by name
	notes    []string
}

// newKindsResult returns the result for one profile per kind. asked are the kinds that flags name, g what the flags
// have changed in the stacks of all files.
func newKindsResult(asked []sample.Kind, list []*profileResult, as *profileFormat, g *grouped) *kindsResult {
	k := &kindsResult{Profiles: list, made: made{Unit: as.unit}, Files: int64(len(list)), asked: asked}
	var missing []string
	for i, p := range list {
		p.File = p.Kind + as.ext
		if i == 0 && p.Text != "" { // the same modules lack symbols in all kinds
			k.Remark(p.Kind + ": " + p.Text)
		}
		k.Used += p.Used
		k.Items += p.Items
		if p.Estimate != "" {
			k.Remark(p.Kind + " " + p.Estimate)
		}
	}
	for _, remark := range g.remarks() {
		k.Remark(remark)
	}
	k.Grouping = g.members()
	if len(list) == 0 { // an error says so
		k.notes = g.notes()
		return k
	}
	k.notes = append(list[0].notes, g.notes()...) // those on flags are the same for all kinds
	for _, kind := range asked {
		if !slices.ContainsFunc(list, func(p *profileResult) bool { return p.Kind == kind.String() }) {
			missing = append(missing, "no "+kind.Noun(0))
		}
	}
	if len(missing) > 0 {
		k.notes = append(k.notes, "the trace has "+message.List(missing))
	}
	return k
}

// Notes implements Result.
func (k *kindsResult) Notes() []string { return k.notes }

// Line implements Result.
func (k *kindsResult) Line(r Read) string {
	var list []string
	for _, p := range k.Profiles {
		n := message.Group(p.Used)
		if of, err := sample.Parse(p.Kind); err == nil {
			n += " " + of.Noun(p.Used)
		}
		list = append(list, p.Kind+" ("+n+")")
	}
	return fmt.Sprintf("%s%s from %s in %s: %s", k.pushed.line(), message.Count(k.Files, "profile"), message.Count(r.Events, "event"), r.Input,
		strings.Join(list, ", "))
}

// Detail implements Result.
func (k *kindsResult) Detail() (string, []ntconv.Code) {
	if len(k.Profiles) > 0 && k.Profiles[0].Text != "" {
		text, covers := k.made.Detail()
		return text, k.covered(covers)
	}
	return k.Text, k.covered(nil)
}
