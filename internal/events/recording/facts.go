package recording

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
)

// LabelReplica is the key of the string label of a replica: a copy of an event that was recorded outside the part of a
// recording that a trace holds. Stacks of the part need it to be resolved.
const LabelReplica = "ntconv.replica"

// Values of LabelReplica: where the original event is, relative to the part.
const (
	Before = "before" // in an earlier part
	After  = "after"  // in a later part
	Other  = "other"  // in a part of the same time
	Kept   = "kept"   // not selected, so in no part: this event takes its place
)

// ReplicaOf returns the value of the label of a replica. ok is false for other events.
func ReplicaOf(e *ntconv.Event) (where string, ok bool) {
	if e.Labels == nil {
		return "", false
	}
	list := e.Labels.List()
	for i := len(list) - 1; i >= 0; i-- {
		if IsReplicaLabel(&list[i]) {
			return list[i].Str, true
		}
	}
	return "", false
}

// IsReplicaLabel reports whether a label is that of replicas, for readers of label lists that keep what they find.
func IsReplicaLabel(l *ntconv.Label) bool {
	return l.Kind == ntconv.LabelString && l.Key == LabelReplica
}

// IsReplica reports whether an event is a replica. A replica resolves addresses and describes processes, but it did not
// happen in the part: nothing that counts or measures events may count it. Package symbol and the writers of traces
// treat it like any other event.
func IsReplica(e *ntconv.Event) bool {
	_, ok := ReplicaOf(e)
	return ok
}

// A Replicas tells which events are replicas by their label lists, of which recorders use few. The zero value is ready
// to use.
type Replicas struct {
	labels  *ntconv.Labels
	replica bool // events with these labels are replicas
}

// Has is IsReplica.
func (r *Replicas) Has(e *ntconv.Event) bool {
	if e.Labels != r.labels {
		r.labels, r.replica = e.Labels, IsReplica(e)
	}
	return r.replica
}

// IsCopy reports whether an event is a replica of an event of another part, so that the parts together have it twice.
func IsCopy(e *ntconv.Event) bool {
	where, ok := ReplicaOf(e)
	return ok && where != Kept
}

// A Labeler makes the labels of replicas. Events with the same labels get the same result.
type Labeler struct {
	known map[labelerKey]*ntconv.Labels
}

type labelerKey struct {
	labels *ntconv.Labels
	where  string
}

// maxLabeled bounds the results that a Labeler keeps.
const maxLabeled = 1000

// Labels returns the labels of a replica of an event with the given labels, which may be nil.
func (l *Labeler) Labels(of *ntconv.Labels, where string) *ntconv.Labels {
	key := labelerKey{of, where}
	labels := l.known[key]
	if labels == nil {
		if l.known == nil || len(l.known) > maxLabeled {
			l.known = map[labelerKey]*ntconv.Labels{}
		}
		labels = ntconv.NewLabels(append(slices.Clone(of.List()), ntconv.Label{
			Kind: ntconv.LabelString, Key: LabelReplica, Str: where,
		}))
		l.known[key] = labels
	}
	return labels
}

// Provider is the provider of the events that ntconv adds to traces. Those with the following names state something about
// a part of a recording: the weights of its samples, and the order and numbers of its events. Others describe symbols.
const (
	Provider       = "ntconv"
	SampleWeight   = "SampleWeight"
	SamplesOmitted = "SamplesOmitted"
	SplitOrder     = "SplitOrder"
	SplitNumbers   = "SplitNumbers"
	SplitReplica   = "SplitReplica"
)

// IsWeight reports whether events of a type state the weights of samples: rounds.Weights writes them, and the builders
// of profiles read them. They belong to a selection and not to the recording.
func IsWeight(t *ntconv.Type) bool {
	if t.Provider != Provider {
		return false
	}
	return t.Name == SamplesOmitted ||
		t.Name == SampleWeight && len(t.Fields) > 0 && t.Fields[0].Type.Code == ntconv.TypeVarUint
}

// isStatement reports whether events of a type state something about a part.
func isStatement(t *ntconv.Type) bool {
	if t.Provider != Provider {
		return false
	}
	return IsWeight(t) || t.Name == SplitOrder || t.Name == SplitNumbers || t.Name == SplitReplica
}

// IsFact reports whether an event states what happened in the recorded program, or what existed at its end. All others
// were added by ntconv: replicas, and statements about a part. Whoever counts the events of a trace counts facts, so the
// counts of the parts of a recording add up to those of the recording.
func IsFact(e *ntconv.Event) bool { return !IsReplica(e) && !isStatement(e.Type) }

// IsAfter reports whether events of a type were written after what they are about: those of the rundown, and statements
// about a part. Their times are not times of the recording.
func IsAfter(t *ntconv.Type) bool { return strings.HasSuffix(t.Provider, "Rundown") || isStatement(t) }
