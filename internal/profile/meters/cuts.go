package meters

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
)

// A cutReason is the reason why the begin or the end of an interval has no counterpart.
type cutReason = interval.Cut

const (
	cutEdge      = interval.CutEdge
	cutLoss      = interval.CutLoss
	cutOrder     = interval.CutOrder
	cutLimit     = interval.CutLimit
	cutSelection = interval.NumCuts // the selected time begins or ends in between

	numCutReasons = interval.NumCuts + 1
)

var cutTexts = [numCutReasons]string{
	"at the begin or end of the recording", "at lost events", "with an end before the begin",
	"because too many were open", "at the begin or end of the selected time",
}

// Cuts counts intervals that are in no sample, because their duration is unknown.
type cuts struct {
	n      [numCutReasons]uint64
	offset int64 // of the first one, or -1
}

func (c *cuts) add(r cutReason, offset int64) {
	if c.n[r]++; c.offset < 0 || offset < c.offset {
		c.offset = offset
	}
}

// Total returns the number of such intervals.
func (c *cuts) Total() (n uint64) {
	for _, count := range c.n {
		n += count
	}
	return n
}

// describe returns the counts by reason.
func (c *cuts) describe() string {
	var list []string
	for r, n := range c.n {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, cutTexts[r]))
		}
	}
	return strings.Join(list, ", ")
}

// note writes the counts to a report.
func (c *cuts) note(r *ntconv.Report, kind string) {
	if n := c.Total(); n > 0 {
		r.Note(ntconv.CodeUnpaired, n, c.offset, kind+": "+c.describe())
	}
}
