package active

import (
	"github.com/ntconv/ntconv"
)

// LinkOptions configure a Linker.
type LinkOptions struct {
	// Use is the evidence that is considered.
	Use Evidence
	// Name adds the name of the span.
	Name bool
	// Sample reports whether events of a type are samples, which are linked. Other events pass unchanged.
	Sample func(*ntconv.Type) bool
}

// Keys of the labels that a Linker adds, in addition to labels of kind ntconv.LabelTraceID and ntconv.LabelSpanID.
const (
	KeyName     = "span_name" // the name of the span
	KeyEvidence = "span_link" // the evidence, unless the sample had a label SpanId itself
)

// A Linker is a source that adds labels to samples: the IDs of the span that was active. It allocates for each distinct
// combination of labels and span, and not for each sample. It is not safe for concurrent use.
type Linker struct {
	ntconv.Source
	index *Index
	o     LinkOptions

	last   *ntconv.Type
	sample bool
	event  ntconv.Event // a sample with its new labels, as it was lent

	lists    map[listKey]*ntconv.Labels
	lastKey  listKey
	lastList *ntconv.Labels
	counts   Counts
}

// A listKey is what the labels of a linked sample are made of.
type listKey struct {
	old      *ntconv.Labels
	span     int32
	evidence Evidence
}

// maxLists bounds the label lists that a Linker remembers. Where every sample has labels of its own, remembering them
// is useless.
const maxLists = 1 << 16

// Counts is how many samples a Linker has seen.
type Counts struct {
	Samples                 int64
	Label, Activity, Thread int64 // linked, by evidence
}

// Linked returns how many samples have a span.
func (c Counts) Linked() int64 { return c.Label + c.Activity + c.Thread }

// NewLinker returns a source of the events of src in which samples have labels of the spans of an index that is
// finished.
func NewLinker(src ntconv.Source, index *Index, o LinkOptions) *Linker {
	return &Linker{Source: src, index: index, o: o, lists: map[listKey]*ntconv.Labels{}}
}

// Counts returns how many samples have passed.
func (l *Linker) Counts() Counts { return l.counts }

// Next implements ntconv.Source.
func (l *Linker) Next() (*ntconv.Event, error) {
	e, err := l.Source.Next()
	if err != nil || e.Kind != ntconv.KindEvent {
		return e, err
	}
	if e.Type != l.last {
		l.last, l.sample = e.Type, l.o.Sample(e.Type)
	}
	if !l.sample {
		return e, nil
	}
	l.counts.Samples++
	f, ok := l.index.Find(e, l.o.Use)
	if !ok {
		return e, nil
	}
	switch f.Evidence {
	case Label:
		l.counts.Label++
	case Activity:
		l.counts.Activity++
	case Thread:
		l.counts.Thread++
	}
	labels := l.labels(e.Labels, &f)
	if labels == e.Labels {
		return e, nil
	}
	// The event belongs to the source, which may rely on the labels that it has set.
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

// extend makes a label list. A sample whose own label SpanId is the evidence keeps it, and gets only what is missing.
// Otherwise the IDs of the span replace those that the sample may have.
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

func text(key, s string) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelString, Key: key, Str: s}
}
