package command

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// A described is an element of the output of ntconv info --json for several inputs: the description of a trace, or why
// there is none. A trace that is incomplete has both.
type described struct {
	*description
	Name  string `json:"input"`
	Exit  int    `json:"exit"`
	Error string `json:"error,omitempty"`
}

// infoEach prints a table of several inputs, or a JSON array of their descriptions.
func (a *app) infoEach(in *inputs, jobs int, anyOrder bool, form infoOptions) error {
	b := newBatch(a, in.Names)
	list := make([]described, len(in.Names))
	for i, name := range in.Names {
		list[i].Name = name
	}
	a.begin(&pass.Summary{Input: in.Names[0], Inputs: in.Names})
	b.run("reading", jobs, func(i int, o *outcome) error {
		d := &list[i]
		_, err := a.alone(func(one *app) error {
			return one.info(o.name, anyOrder, func(_ *pass.Pass, of *description) error {
				d.description = of
				return nil
			})
		})
		if d.Exit = codeOf(err); err != nil {
			d.Error = errorOf(o.Input, err)
		}
		if d.description != nil {
			o.Events = d.Events.Events
		}
		return err
	})
	b.note(in.Found)
	var text bytes.Buffer
	var err error
	if form.json {
		err = writeJSON(&text, list)
	} else {
		err = writeInfoTable(&text, list, a.sum.Notes)
	}
	if err != nil {
		return fail(exitOutput, err)
	}
	a.sum.Done = false // the table is the summary; JSON reports have one anyway
	if err := a.show(text.String()); err != nil {
		return err
	}
	return b.err()
}

// writeInfoTable writes a line per input and a last one with the totals.
func writeInfoTable(b *bytes.Buffer, list []described, notes []string) error {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INPUT\tFORMAT\tEVENTS\tLOST\tSIZE\tDURATION\tPROCESSES\tPROFILES")
	var events, size int64
	var lost uint64
	for _, d := range list {
		if d.description == nil {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\t-\t%s\n", message.Line(d.Name), infoFailure(d.Exit))
			continue
		}
		mark := ""
		if d.Exit == exitIncomplete {
			mark = "*"
		}
		fmt.Fprintf(w, "%s\t%s\t%s%s\t%s\t%s\t%s\t%s\t%s\n", message.Line(d.Name), message.Line(d.Format),
			message.Group(d.Events.Events), mark, message.Group(int64(d.Lost)), message.Bytes(d.Size),
			message.Duration(time.Duration(d.Recorded)), processNames(d.description), profileNames(d.description))
		events, size, lost = events+d.Events.Events, size+d.Size, lost+d.Lost
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b, "%s, %s, %s lost, %s%s\n", message.Count(int64(len(list)), "input"), message.Count(events, "event"),
		message.Group(int64(lost)), message.Bytes(size), message.Line(strings.Join(append([]string{""}, notes...), "; ")))
	return nil
}

// infoFailure is the last column of an input that could not be read.
func infoFailure(code int) string {
	if code == exitEmpty {
		return "no selected events"
	}
	return "failed"
}

// maxListed is the number of processes and of profiles that the table names for a trace.
const maxListed = 3

// processNames returns the names of the first processes, and the number of the others.
func processNames(d *description) string {
	var names []string
	for _, p := range d.Processes {
		name := p.Name
		if name == "" {
			name = fmt.Sprint(p.PID)
		}
		names = append(names, message.Line(name))
	}
	return shortList(names)
}

// profileNames returns the kinds of profiles of a trace.
func profileNames(d *description) string {
	var names []string
	for _, e := range d.Extract {
		if name := message.Line(e.Kind); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return shortList(names)
}

// shortList joins the first of several names and adds the number of the others; "-" means none.
func shortList(names []string) string {
	if len(names) > maxListed {
		names = append(names[:maxListed:maxListed], fmt.Sprintf("+%d", len(names)-maxListed))
	}
	return orDash(strings.Join(names, ","))
}
