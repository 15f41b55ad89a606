package active

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
)

// LinkOptions configures a Linker. Use and Sample must be set.
type LinkOptions struct {
	// Use is the evidence that the Linker considers.
	Use Evidence
	// Name adds a label with the name of the span.
	Name bool
	// Sample reports whether events of a type are samples. The Linker links only samples and passes all other events
	// unchanged.
	Sample func(*ntconv.Type) bool
}

// Keys of the labels that a Linker adds, in addition to labels of kind ntconv.LabelTraceID and ntconv.LabelSpanID.
const (
	KeyName     = "span_name" // name of the span
	KeyEvidence = "span_link" // evidence, unless the sample already had a label SpanId
)

// A Linker is a source that adds labels with the IDs of the active span to samples. It allocates per distinct
// combination of labels and span, not per sample. It is not safe for concurrent use.
type Linker struct {
	ntconv.Source
	index *Index
	o     LinkOptions

	last   *ntconv.Type
	counts *Counts // of last; nil if its events are not samples
	types  map[*ntconv.Type]*Counts
	event  ntconv.Event // copy of a sample with new labels, lent to the caller

	lists    map[listKey]*ntconv.Labels
	lastKey  listKey
	lastList *ntconv.Labels
}

// A listKey determines the labels of a linked sample.
type listKey struct {
	old      *ntconv.Labels
	span     int32
	evidence Evidence
}

// maxLists bounds the cached label lists. The cache is useless if every sample has different labels.
const maxLists = 1 << 16

// Counts is the number of samples that a Linker has returned.
type Counts struct {
	Samples                 int64
	Label, Activity, Thread int64 // linked samples, by evidence
}

// Linked returns the number of samples that have a span.
func (c Counts) Linked() int64 { return c.Label + c.Activity + c.Thread }

// Add counts a sample. by is the evidence that links it to a span, 0 if it is not linked.
func (c *Counts) Add(by Evidence) {
	c.Samples++
	switch by {
	case Label:
		c.Label++
	case Activity:
		c.Activity++
	case Thread:
		c.Thread++
	}
}

// Describe returns how many samples are linked to spans, with the numbers by evidence, as a phrase.
func (c Counts) Describe() string {
	text := fmt.Sprintf("%s of %s linked to spans", message.Group(c.Linked()), message.Count(c.Samples, "sample"))
	var by []string
	for _, e := range []struct {
		evidence Evidence
		samples  int64
	}{{Label, c.Label}, {Activity, c.Activity}, {Thread, c.Thread}} {
		if e.samples > 0 {
			by = append(by, message.Group(e.samples)+" by "+e.evidence.String())
		}
	}
	if len(by) > 0 {
		text += " (" + strings.Join(by, ", ") + ")"
	}
	return text
}

// NewLinker returns a source of the events of src. It adds labels to samples according to an index whose Finish has
// returned.
func NewLinker(src ntconv.Source, index *Index, o LinkOptions) *Linker {
	return &Linker{Source: src, index: index, o: o, lists: map[listKey]*ntconv.Labels{}, types: map[*ntconv.Type]*Counts{}}
}

// Counts returns the counts so far of the samples whose types match.
func (l *Linker) Counts(match func(*ntconv.Type) bool) (all Counts) {
	for t, c := range l.types {
		if c != nil && match(t) {
			all.Samples += c.Samples
			all.Label += c.Label
			all.Activity += c.Activity
			all.Thread += c.Thread
		}
	}
	return all
}

// countsOf returns the counts of a type, nil if its events are not samples.
func (l *Linker) countsOf(t *ntconv.Type) *Counts {
	c, ok := l.types[t]
	if !ok {
		if l.o.Sample(t) {
			c = new(Counts)
		}
		l.types[t] = c
	}
	return c
}

// Next returns the next event, borrowed until the next call. Errors are those of the source.
func (l *Linker) Next() (*ntconv.Event, error) {
	e, err := l.Source.Next()
	if err != nil || e.Kind != ntconv.KindEvent {
		return e, err
	}
	if e.Type != l.last {
		l.last, l.counts = e.Type, l.countsOf(e.Type)
	}
	if l.counts == nil {
		return e, nil
	}
	f, ok := l.index.Find(e, l.o.Use)
	if !ok {
		l.counts.Add(0)
		return e, nil
	}
	l.counts.Add(f.Evidence)
	labels := l.labels(e.Labels, &f)
	if labels == e.Labels {
		return e, nil
	}
	// The source owns e and may rely on its labels, so they are changed in a copy.
	l.event = *e
	l.event.Labels = labels
	return &l.event, nil
}

// labels returns the labels of a sample with those of its span.
func (l *Linker) labels(old *ntconv.Labels, f *Found) *ntconv.Labels {
	k := listKey{old, f.number, f.Evidence}
	if l.lastList != nil && k == l.lastKey {
		return l.lastList
	}
	list, ok := l.lists[k]
	if !ok {
		list = l.extend(old, f)
		if len(l.lists) == maxLists {
			clear(l.lists)
		}
		l.lists[k] = list
	}
	l.lastKey, l.lastList = k, list
	return list
}

// extend returns a new label list. If the sample's own SpanId is the evidence, extend adds only missing labels.
// Otherwise the IDs of the span replace those of the sample.
func (l *Linker) extend(old *ntconv.Labels, f *Found) *ntconv.Labels {
	var list []ntconv.Label
	add := func(label ntconv.Label) { list = append(list, label) }
	_, hasTrace := old.ID(ntconv.LabelTraceID)
	if f.Evidence != Label || !hasTrace && !f.TraceID.IsZero() {
		add(ntconv.Label{Kind: ntconv.LabelTraceID, ID: f.TraceID})
	}
	if f.Evidence != Label {
		id := ntconv.Label{Kind: ntconv.LabelSpanID}
		copy(id.ID[:], f.ID[:])
		add(id)
		add(text(KeyEvidence, f.Evidence.String()))
	}
	if l.o.Name && f.Name != "" {
		add(text(KeyName, f.Name))
	}
	if len(list) == 0 {
		return old
	}
	for _, label := range old.List() {
		if f.Evidence == Label || label.Kind != ntconv.LabelTraceID && label.Kind != ntconv.LabelSpanID {
			add(label)
		}
	}
	return ntconv.NewLabels(list)
}

// Unlinked returns labels without those that a Linker has added with evidence other than labels, and the same list if there
// are none.
func Unlinked(labels *ntconv.Labels) *ntconv.Labels {
	added := func(l ntconv.Label) bool { return l.Kind == ntconv.LabelString && l.Key == KeyEvidence }
	if !slices.ContainsFunc(labels.List(), added) {
		return labels
	}
	list := slices.DeleteFunc(slices.Clone(labels.List()), func(l ntconv.Label) bool {
		return added(l) || l.Kind == ntconv.LabelTraceID || l.Kind == ntconv.LabelSpanID || l.Kind == ntconv.LabelString && l.Key == KeyName
	})
	if len(list) == 0 {
		return nil
	}
	return ntconv.NewLabels(list)
}

func text(key, s string) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelString, Key: key, Str: s}
}
