package command

import (
	"strings"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// scrubbed returns an error after the last event of a pass if a flag selected nothing, because a misspelled name would
// leave secrets in the output, and if all events were dropped.
func (a *app) scrubbed(f *scrubFlags, p *pass.Pass) error {
	list := f.scrubber.Unmatched()
	if len(list) == 0 {
		if dropped := f.scrubber.Result().Dropped; dropped > 0 && p.Total == 0 {
			by := "--drop-provider"
			if len(f.opts.Drop) == 0 {
				by = "--policy"
			}
			return failf(exitEmpty, "%s: no events left: %s drops all %s", p.Input.Name(), by, message.Count(dropped, "event"))
		}
		return nil
	}
	var parts []string
	advice := ""
	for _, u := range list {
		what, next := "provider", a.inventoryAdvice(p)
		if u.Flag == "field" {
			what, next = "field", a.listAdvice(p, "scrub --dry-run", "the fields with text")
		}
		part := "no " + what + " matches --" + u.Flag + " " + message.ShellWord(u.Value)
		if len(u.Similar) > 0 {
			part += "; similar: " + strings.Join(u.Similar, ", ")
		} else {
			advice = "; " + next
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, "; ") + advice
	if p.Cause != nil {
		text += "; the trace is incomplete: " + p.Cause.Error()
	}
	return failf(exitEmpty, "%s: %s", p.Input.Name(), message.Line(text))
}
