package profile_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// A work item that both the runtime and the framework report is counted once. I/O is always counted.
func TestWorkItemsOfTwoSources(t *testing.T) {
	const framework = "System.Diagnostics.Eventing.FrameworkEventSource"
	id := field("workID", ntconv.TypeInt64)
	enqueue, dequeue := sourceType(framework, "ThreadPoolEnqueueWork", 30, id), sourceType(framework, "ThreadPoolDequeueWork", 31, id)
	work := func(typ *ntconv.Type, thread int) step { return step{typ, thread, fields(uint64(6), uint16(0)), false} }
	io := func(typ *ntconv.Type, thread int) step {
		return step{typ, thread, fields(uint64(6), uint64(7), uint32(0), uint16(0)), false}
	}
	framed := []step{work(enqueue, 0), work(dequeue, 1)}
	native := []step{work(runtimeType(61, 0), 0), work(runtimeType(62, 0), 1)}
	ports := []step{io(runtimeType(63, 0), 0), io(runtimeType(64, 0), 1)}
	for _, c := range []struct {
		name     string
		steps    []step
		want     []string
		estimate string
	}{
		{"framework", framed, []string{"[1 1000] queue=work"}, ""},
		{"both", append(framed, native...), []string{"[1 1000] queue=work"},
			"computed from events of the runtime; not used: 1 events of FrameworkEventSource"},
		{"I/O has the same ID", []step{native[0], ports[0], native[1], ports[1]}, []string{"[1 2000] queue=I/O", "[1 2000] queue=work"}, ""},
		{"framework and I/O", append(framed, ports...), []string{"[1 1000] queue=I/O", "[1 1000] queue=work"}, ""},
		{"queued twice", []step{native[0], native[0], native[1], native[1]}, []string{"[2 4000] queue=work"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, p := new(ntconv.Report), newPlayer()
			b := profile.New(testInfo(), nil, &profile.Options{Kind: sample.ThreadPool, Report: report})
			for i := range c.steps {
				b.Add(p.event(&c.steps[i]))
			}
			result := b.Finish()
			got := samplesOf(result)
			slices.Sort(got)
			if !slices.Equal(got, c.want) || result.Estimate.String() != c.estimate || report.Count(ntconv.CodeUnpaired) != 0 {
				t.Errorf("%q, want %q; %q", got, c.want, result.Estimate.String())
			}
		})
	}
}
