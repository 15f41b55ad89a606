package pass

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
)

// The summary of several runs adds up their counts.
func TestAdd(t *testing.T) {
	run := func(in string, events int64, codes ...ntconv.Code) *Summary {
		var r ntconv.Report
		for _, c := range codes {
			r.Add(c, 1, 7)
		}
		return &Summary{Input: in, Format: "nettrace 4", Events: events, Selected: events - 1, Notes: []string{"same", in}, Report: Entries(&r)}
	}
	var all Summary
	all.Add(run("a", 10, ntconv.CodeEventsLost))
	all.Add(run("b", 20, ntconv.CodeEventsLost, ntconv.CodePayload))
	all.Add(run("c", 30))
	if all.Events != 60 || all.Selected != 57 || all.Input != "a" || !slices.Equal(all.Inputs, []string{"a", "b", "c"}) {
		t.Errorf("%+v", all)
	}
	if !slices.Equal(all.Notes, []string{"same", "a", "b", "c"}) {
		t.Errorf("notes: %q", all.Notes)
	}
	if len(all.Report) != 2 || all.Report[0].Count != 2 || all.Report[1].Count != 1 || all.Report[0].Offset != nil {
		t.Errorf("report: %+v", all.Report)
	}
}
