package command

import (
	"fmt"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/show/inventory"
	"github.com/ntconv/ntconv/sample"
)

// nothing returns the error of a pass without output: what is missing, and the next step. advice says how to record a
// trace with such contents; "" means that recording again does not help. It applies to inputs recorded by tools of
// .NET.
func (a *app) nothing(p *pass.Pass, what, advice string) error {
	sel, format := p.Plan.Selection, p.Input.Format.In
	if !format.Recorded && advice != "" {
		advice = format.NoEvents.Next
	}
	read := message.Count(p.Total, "event")
	text := "no " + what + " among " + read
	steps := []string{advice}
	switch chosen := formats.ChosenKinds(a.sum.Result); {
	case p.Total == 0:
		text, steps = format.NoEvents.Text, []string{format.NoEvents.Next}
	case !sel.Empty():
		text = fmt.Sprintf("no %s match %s (%s read)", what, sel, read)
		if _, _, known := p.Recorded(); known && sel.Timed() {
			text += "; " + times(p)
		}
		steps = append(p.Selector.Notes(), a.inventoryAdvice(p))
	case p.Input.Rereadable():
		list := a.extractable(p)
		if len(chosen) > 0 {
			text, steps = noneOf(chosen)+" among "+read+otherKinds(list), nil
			if format.Recorded {
				steps = []string{formats.RecordAdvice(chosen...)}
			}
			break
		}
		for _, x := range list[:min(2, len(list))] {
			steps = append(steps, "for its "+x.What+": "+x.Command)
		}
	}
	if p.Cause != nil {
		text += "; the trace is incomplete: " + p.Cause.Error()
	}
	for _, step := range steps {
		if step != "" {
			text += "; " + step
		}
	}
	return failf(exitEmpty, "%s: %s", p.Input.Name(), text)
}

// noneOf returns what is missing in a trace without samples of kinds.
func noneOf(kinds []sample.Kind) string {
	var list []string
	for _, k := range kinds {
		list = append(list, "no "+k.Noun(0))
	}
	return message.List(list)
}

// otherKinds returns the kinds of profiles of an input, and the flags that select them, to append to a message.
func otherKinds(list []inventory.Extractable) string {
	var has []string
	for i, x := range list {
		same := func(other inventory.Extractable) bool { return other.Kind == x.Kind }
		if k, err := sample.Parse(x.Kind); err == nil && slices.IndexFunc(list, same) == i {
			has = append(has, formats.CountOfKind(k, x.Events))
		}
	}
	if len(has) == 0 {
		return ""
	}
	return "; the trace has " + message.List(has)
}

// times states when the input was recorded.
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

// inventoryAdvice returns the command that lists the contents of the input.
func (a *app) inventoryAdvice(p *pass.Pass) string {
	return a.listAdvice(p, "info", "processes and events")
}

// listAdvice returns the command that lists what the input contains. A pipe cannot be read again.
func (a *app) listAdvice(p *pass.Pass, command, what string) string {
	if p.Input.FirstName() == fileio.StdinName {
		return "save the input to a file, or send it again; ntconv " + command + " IN lists " + what
	}
	return "ntconv " + command + " " + a.inputWords(p.Input.FirstName(), groupInput, groupLimits) + " lists " + what
}

// extractable reads the input again and returns what can be extracted from it, or nil if it cannot be read.
func (a *app) extractable(p *pass.Pass) []inventory.Extractable {
	v := inventory.New(p.Info)
	_, err := p.Plan.Scan(p.Input, func(e *ntconv.Event) { _ = v.Write(e) }) // Sink.Write of an inventory returns no errors
	if err != nil {
		return nil
	}
	_ = v.Close() // as above
	return v.Extract(a.inputWords(p.Input.FirstName(), groupInput, groupLimits))
}
