package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/formats"
	"github.com/ntconv/ntconv/internal/inventory"
	"github.com/ntconv/ntconv/internal/iox"
	"github.com/ntconv/ntconv/internal/message"
	"github.com/ntconv/ntconv/internal/pass"
)

// nothing is the error of a pass that leaves nothing to write: it says what to do, and what there is instead. advice
// says how to record something, for inputs that tools of .NET record; "" means that recording again does not help.
func (a *app) nothing(p *pass.Pass, what, advice string) error {
	sel, format := p.Plan.Selection, p.Input.Format.In
	if advice != "" && !format.Recorded {
		advice = format.NoEvents.Next
	}
	text := fmt.Sprintf("no %s among %s", what, message.Count(p.Total, "event"))
	switch {
	case p.Total == 0:
		text, advice = format.NoEvents.Text, format.NoEvents.Next
	case !sel.Empty():
		text = fmt.Sprintf("no %s match %s (%s read)", what, sel, message.Count(p.Total, "event"))
		if _, _, known := p.Recorded(); known && sel.Timed() {
			text += "; " + times(p)
		}
		advice = strings.Join(append(p.Selector.Notes(), a.inventoryAdvice(p)), "; ")
	case p.Input.Rereadable():
		has, use, kinds := a.content(p)
		if kind := formats.ProfileKind(a.sum.Result); len(kinds) > 0 && kind != "" {
			text = fmt.Sprintf("no %s %s among %s; %s", kind, what, message.Count(p.Total, "event"), otherKinds(kinds))
			advice = ""
			break
		}
		text += " (" + has + ")"
		if advice != "" && use != "" {
			advice += "; "
		}
		advice += use
	}
	if p.Cause != nil {
		text += "; the trace is incomplete: " + p.Cause.Error()
	}
	if advice != "" {
		text += "; " + advice
	}
	return failf(exitEmpty, "%s: %s", p.Input.Name(), text)
}

// times says when the input was recorded.
func times(p *pass.Pass) string {
	c := p.Info.Clock
	first, last, _ := p.Recorded()
	s := fmt.Sprintf("its events are %s after the start",
		message.Range(time.Duration(c.Nanos(first)), time.Duration(c.Nanos(last))))
	if !c.Wall.IsZero() {
		s += ", " + message.Time(c.Wall)
	}
	return s
}

// inventoryAdvice says how to see what the input holds. What came through a pipe is gone.
func (a *app) inventoryAdvice(p *pass.Pass) string {
	if p.Input.FirstName() == iox.StdinName {
		return "ntconv info lists what there is; keep the input in a file for that, or send it once more"
	}
	return "ntconv info " + a.inputWords(p.Input.FirstName(), groupInput, groupLimits) + " lists what there is"
}

// otherKinds says which samples an input has, and which flag selects them.
func otherKinds(samples []inventory.Extractable) string {
	var has, flags []string
	for _, x := range samples {
		has = append(has, message.Count(x.Events, x.Kind+" sample"))
		flags = append(flags, "--kind "+x.Kind)
	}
	return "the trace has " + strings.Join(has, " and ") + ": use " + strings.Join(flags, " or ")
}

// content reads the input once more and says what it holds: the largest providers, what can be extracted, and the
// samples of each kind.
func (a *app) content(p *pass.Pass) (has, use string, samples []inventory.Extractable) {
	v := inventory.New(p.Info)
	_, err := p.Plan.Scan(p.Input, func(e *ntconv.Event) { _ = v.Write(e) }) // an inventory accepts everything
	if err != nil {
		return err.Error(), "", nil
	}
	_ = v.Close() // as above
	list := v.Providers()
	for i, provider := range list {
		if i == 3 {
			has += fmt.Sprintf(", %d more", len(list)-i)
			break
		}
		if i > 0 {
			has += ", "
		}
		has += provider.Name + " " + message.Group(provider.Events)
	}
	for i, x := range v.Extract(a.inputWords(p.Input.FirstName(), groupInput, groupLimits)) {
		same := func(other inventory.Extractable) bool { return other.Kind == x.Kind }
		if x.Kind != "" && !slices.ContainsFunc(samples, same) {
			samples = append(samples, x)
		}
		if i >= 2 {
			continue
		}
		if i > 0 {
			use += "; "
		}
		use += "for its " + x.What + ": " + x.Command
	}
	return has, use, samples
}
