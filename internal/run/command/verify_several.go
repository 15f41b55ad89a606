package command

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/run/pass"
)

// Outcomes of a pair of traces.
const (
	statusEqual   = "equal"
	statusDiffers = "different"
	statusOnlyA   = "only in A"
	statusOnlyB   = "only in B"
)

// directories reports whether both traces are directories of traces.
func (a *app) directories(names [2]string) bool {
	for _, name := range names {
		if !fileio.IsDir(name) || !a.isExpanded(name) {
			return false
		}
	}
	return true
}

// verifyEach compares the traces in two directories that have the same path, except for the extensions of formats and
// compressions.
func (a *app) verifyEach(v *verification, jobs int) error {
	var found [2]*input.Found
	for i, dir := range v.names {
		var err error
		if found[i], err = input.Find([]string{dir}, formats.Readable()); err != nil {
			return inputFailure(err, false)
		}
	}
	b := &batch{app: a}
	if err := b.pair(found); err != nil {
		return err
	}
	a.begin(&pass.Summary{Input: v.names[0], Inputs: v.names[:], Result: &convertedResult{&b.rows}})
	b.run("comparing", jobs, func(_ int, o *outcome) error {
		pair := *v
		pair.names = [2]string{o.Input, o.Output}
		one, err := a.alone(func(one *app) error { return one.verify(&pair) })
		if one.sum != nil {
			o.Events = one.sum.Events
		}
		switch {
		case err == nil:
			o.Status = statusEqual
		case isDifference(err):
			o.Status = statusDiffers
		}
		return err
	})
	var text bytes.Buffer
	if err := writePairs(&text, b.list); err != nil {
		return fail(exitOutput, err)
	}
	a.sum.Done = false // the table is the summary
	if !a.quiet {
		if err := a.show(text.String()); err != nil {
			return err
		}
	}
	return b.err()
}

// pair makes a row for each pair of traces, and for each trace without a counterpart, in the order of A.
func (b *batch) pair(found [2]*input.Found) error {
	var byKey [2]map[string]string
	for i, f := range found {
		byKey[i] = map[string]string{}
		for j, name := range f.Names {
			key := pairKey(f.Below[j])
			if first, ok := byKey[i][key]; ok {
				return failf(exitUsage, "%s and %s have the same name without extensions; compare each by itself", first, name)
			}
			byKey[i][key] = name
		}
	}
	for i, name := range found[0].Names {
		o := outcome{Input: name, Output: byKey[1][pairKey(found[0].Below[i])]}
		if o.Output == "" {
			o.Status, o.Exit = statusOnlyA, exitDifferent
		}
		b.list = append(b.list, o)
	}
	for i, name := range found[1].Names {
		if byKey[0][pairKey(found[1].Below[i])] == "" {
			b.list = append(b.list, outcome{Output: name, Status: statusOnlyB, Exit: exitDifferent})
		}
	}
	return nil
}

// pairKey is equal for the names of traces that are compared with each other.
func pairKey(below string) string {
	return filepath.Join(filepath.Dir(below), strings.TrimSuffix(formats.DirFor(below), string(filepath.Separator)))
}

// writePairs writes a line per pair and a last one with the totals.
func writePairs(b *bytes.Buffer, rows []outcome) error {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "A\tB\tEVENTS\tTIME\tRESULT")
	equal := 0
	for _, o := range rows {
		events, passed := "-", "-"
		switch o.Status {
		case statusEqual:
			equal++
			fallthrough
		case statusDiffers, statusIncomplete:
			events, passed = message.Group(o.Events), message.Duration(time.Duration(o.Seconds*float64(time.Second)))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", message.Line(orDash(o.Input)), message.Line(orDash(o.Output)), events, passed, o.Status)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b, "%s of %s equal\n", message.Group(int64(equal)), message.Count(int64(len(rows)), "pair"))
	return nil
}
