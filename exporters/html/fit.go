package html

import (
	"fmt"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
)

const (
	// firstNarrow is the share below which frames are merged when a page is too large for the first time. Each further
	// attempt multiplies it, and divides the number of intervals and spans.
	firstNarrow = 1.0 / (1 << 20)
	step        = 4
	// maxAttempts suffices for every recording: then bins, frames and intervals are few.
	maxAttempts = 40
)

// A fitted is page data that fits.
type fitted struct {
	blocks  []block
	notes   []string
	reduced bool // details were left out
}

// fit returns the page data of a recording. It leaves out details until the page, which also has the blocks in more, has at
// most maxBytes. The error of a page that is too large without details wraps ntconv.ErrLimit.
func fit(r *recording, h *pageHeader, more []block, maxBytes int64) (*fitted, error) {
	re := reduction{r: r, kept: maxActivities}
	size := int64(0)
	for attempt := range maxAttempts {
		page, sizes, err := encode(r, h, re.narrow)
		if err != nil {
			return nil, err
		}
		size = pageSize(r.title(), slices.Concat(page.blocks, more))
		if size <= maxBytes {
			page.reduced = attempt > 0
			return page, nil
		}
		re.reduce(sizes)
	}
	return nil, fmt.Errorf("%w: the page has %s without details, limit %s", ntconv.ErrLimit, message.Bytes(size), message.Bytes(maxBytes))
}

// A reduction is the state of the attempts to make a page smaller.
type reduction struct {
	r      *recording
	narrow float64 // share below which frames are merged
	kept   int     // maximum number of intervals, and of spans
}

// reduce leaves out details of the parts that are not much smaller than the largest.
func (re *reduction) reduce(sizes [parts]int) {
	r, least := re.r, slices.Max(sizes[partTree:])/step
	if sizes[partTree] >= least {
		re.narrow = max(firstNarrow, step*re.narrow)
	}
	if sizes[partSamples] >= least {
		last := noSubjects
		if re.narrow >= 1 { // all frames are merged
			last = noStacks
		}
		for _, k := range r.samples.kinds() {
			k.coarsen(step, last)
			k.sort()
		}
	}
	if sizes[partActivities] >= least {
		re.kept = min(re.kept, max(len(r.intervals.rows), len(r.spans.rows))) / step
		r.intervals.limit(re.kept)
		r.spans.limit(re.kept)
	}
	if sizes[partSeries] >= least {
		r.counters.thin()
		r.heap.thin()
	}
}

// notesOf returns sentences on losses and on what a page leaves out.
func notesOf(r *recording, narrow float64) (list []string) {
	note := func(when bool, format string, args ...any) {
		if when {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	count := func(n int64, noun string) string { return message.Count(n, noun) }
	note(r.info.LostEvents > 0, "The recorder lost %s.", count(r.info.LostEvents, "event"))
	long := r.long.Describe(r.clock)
	note(long != "", "%s.", long)
	note(r.info.Incomplete, "The trace is incomplete: it is corrupt or truncated, or reading ended early.")
	note(r.info.Selection, "A selection may omit events.")
	note(r.info.Aggregate, "Times are synthetic, because the input is an aggregated profile.")
	for _, k := range r.samples.kinds() {
		note(k.bin > 0, "Times of %s are rounded down to %s, and equal samples are added up.", k.kind.Noun(2),
			message.Duration(time.Duration(k.bin)))
		note(k.detail >= noSpans, "Spans of %s are left out.", k.kind.Noun(2))
		note(k.detail >= noThreads, "Threads of %s are left out.", k.kind.Noun(2))
		note(k.detail >= noSubjects, "Types, states and other subjects of %s are left out.", k.kind.Noun(2))
		note(k.detail >= noStacks, "Stacks of %s are left out.", k.kind.Noun(2))
	}
	note(narrow > 0, "Frames with less than %s%% of every kind are merged with their siblings.", message.Number(100*narrow))
	note(r.tree.cut > 0, "%s without their innermost frames.", count(r.tree.cut, "stack"))
	note(r.frames.further > 0, "%s without a name of their own.", count(r.frames.further, "frame"))
	for _, a := range []struct {
		*activities
		noun string
	}{{r.intervals, "interval"}, {r.spans, "span"}} {
		note(a.open > 0, "%s without an end in the trace.", count(a.open, a.noun))
		note(a.omitted.rows > 0, "%s with %s in total left out: the page has the longest of each kind.", count(a.omitted.rows, a.noun),
			message.Duration(time.Duration(a.omitted.nanos)))
	}
	note(r.counters.omitted+r.heap.omitted > 0, "%s left out.", count(r.counters.omitted+r.heap.omitted, "value")+" of counters")
	more := r.samples.texts.more + r.frames.texts.more + r.spans.texts.more + r.intervals.texts.more
	note(more > 0, "%s left out.", count(more, "name"))
	return list
}
