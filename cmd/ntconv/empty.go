package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/pass"
	"github.com/ntconv/ntconv/internal/show/inventory"
	"github.com/ntconv/ntconv/kind"
)

// nothing returns the error of a pass without output: the next step, and the contents of the input. advice says how to
// record a trace with such contents; "" means that recording again does not help. It applies to inputs recorded by
// tools of .NET.
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
		if chosen := formats.ChosenKinds(a.sum.Result); len(chosen) > 0 {
			text = fmt.Sprintf("%s among %s", noneOf(chosen), message.Count(p.Total, "event"))
			if len(kinds) > 0 {
				text += "; " + otherKinds(kinds)
			}
			advice = ""
			if format.Recorded {
				advice = formats.RecordAdvice(chosen...)
			}
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

// noneOf returns what is missing in a trace without samples of kinds.
func noneOf(kinds []kind.Kind) string {
	var list []string
	for _, k := range kinds {
		list = append(list, "no "+k.Noun(0))
	}
	return message.List(list)
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

// otherKinds returns the kinds of profiles of an input, and the flags that select them.
func otherKinds(kinds []inventory.Extractable) string {
	var has []string
	for _, x := range kinds {
		k, _ := kind.Parse(x.Kind) // the inventory takes its names from package kind
		has = append(has, formats.CountOfKind(k, x.Events))
	}
	return "the trace has " + message.List(has)
}

// content reads the input again and returns its largest providers, what can be extracted, and the samples of each kind.
func (a *app) content(p *pass.Pass) (has, use string, samples []inventory.Extractable) {
	v := inventory.New(p.Info)
	_, err := p.Plan.Scan(p.Input, func(e *ntconv.Event) { _ = v.Write(e) }) // Sink.Write of an inventory returns no errors
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
