package tracker_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
)

// outline formats spans: name with the payload of the Start, times, and name of the parent.
func (tr *trace) outline() (out []string) {
	tr.t.Helper()
	spans, _ := tr.spans(nil)
	names := make(map[string]string)
	for _, s := range spans {
		id, _ := attribute(s, "id")
		names[s.ID.String()] = fmt.Sprint(s.Name, id.Int())
	}
	for _, s := range spans {
		out = append(out, fmt.Sprintf("%s<%s %d..%d", names[s.ID.String()], names[s.ParentID.String()], int64(s.Start-at(0)), int64(s.End-at(0))))
	}
	return out
}

var pairTests = []struct {
	name  string
	build func(tr *trace, a, b *ntconv.Thread)
	want  []string
}{
	{
		"nested on a thread",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1)
			tr.add(2, a, "PayStart", 2)
			tr.add(3, b, "PayStart", 3)
			tr.add(4, a, "PayStop", 2)
			tr.add(5, b, "PayStop", 3)
			tr.add(6, a, "OrderStop", 1)
		},
		[]string{"Pay2<Order1 2..4", "Pay3< 3..5", "Order1< 1..6"},
	},
	{
		"the same task on a thread: the latest ends first",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1)
			tr.add(2, a, "OrderStart", 2)
			tr.add(3, a, "OrderStop", 7)
			tr.add(4, a, "OrderStop", 8)
		},
		[]string{"Order2<Order1 2..3", "Order1< 1..4"},
	},
	{
		"fields identify the Start, also on another thread",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1)
			tr.add(2, b, "OrderStart", 2)
			tr.add(3, b, "OrderStart", 3)
			tr.add(4, b, "OrderStop", 1)
			tr.add(5, b, "OrderStop", 2)
			tr.add(6, a, "OrderStop", 3)
		},
		[]string{"Order1< 1..4", "Order2< 2..5", "Order3<Order2 3..6"},
	},
	{
		"a Start with an activity ID is not meant by a Stop without one",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1)
			tr.add(2, a, "OrderStart", 2, activityLabel(explicit))
			tr.add(3, a, "OrderStop", 9)
			tr.add(4, b, "OrderStop", 9, activityLabel(explicit))
		},
		[]string{"Order1< 1..3", "Order2<Order1 2..4"},
	},
	{
		"the same activity ID: the latest Start of the task",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1, activityLabel(explicit))
			tr.add(2, b, "PayStart", 2, activityLabel(explicit))
			tr.add(3, a, "OrderStop", 1, activityLabel(explicit))
			tr.add(4, a, "PayStop", 2, activityLabel(explicit))
		},
		[]string{"Order1< 1..3", "Pay2<Order1 2..4"},
	},
	{
		"a parent by its related activity ID",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1, activityLabel(explicit))
			tr.add(2, b, "HostStart", 3)
			tr.add(3, b, "PayStart", 2, activityLabel(ntconv.GUID{9}), relatedLabel(explicit))
			tr.add(4, b, "PayStop", 2, activityLabel(ntconv.GUID{9}))
			tr.add(5, b, "HostStop", 3)
			tr.add(6, a, "OrderStop", 1, activityLabel(explicit))
		},
		[]string{"Pay2<Order1 3..4", "Host3< 2..5", "Order1< 1..6"},
	},
	{
		"an ancestor whose child was not recorded",
		func(tr *trace, a, b *ntconv.Thread) {
			grandchild := activityID("00001111-0000-0000-0000-000007949d59") // //1/1/1/1, and path is //1/1
			tr.add(1, a, "OrderStart", 1, activityLabel(path))
			tr.add(2, b, "HostStart", 3)
			tr.add(3, b, "PayStart", 2, activityLabel(grandchild))
			tr.add(4, b, "PayStop", 2, activityLabel(grandchild))
			tr.add(5, b, "HostStop", 3)
			tr.add(6, a, "OrderStop", 1, activityLabel(path))
		},
		[]string{"Pay2<Order1 3..4", "Host3< 2..5", "Order1< 1..6"},
	},
	{
		"a path without a recorded ancestor begins a trace",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "HostStart", 1)
			tr.add(2, a, "OrderStart", 2, activityLabel(path))
			tr.add(3, a, "OrderStop", 2, activityLabel(path))
			tr.add(4, a, "HostStop", 1)
		},
		[]string{"Order2< 2..3", "Host1< 1..4"},
	},
	{
		"opcodes in labels",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "Order", 1, opcodeLabel(1))
			tr.add(2, a, "Order", 1, opcodeLabel(9))
			tr.add(3, a, "Order", 1, opcodeLabel(2))
		},
		[]string{"Order1< 1..3"},
	},
	{
		"a Stop without a Start",
		func(tr *trace, a, b *ntconv.Thread) { tr.add(3, a, "OrderStop", 1) },
		nil,
	},
}

func TestPairs(t *testing.T) {
	for _, test := range pairTests {
		t.Run(test.name, func(t *testing.T) {
			tr := newTrace(t)
			test.build(tr, tr.thread(1), tr.thread(2))
			if got := tr.outline(); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
