package eventtext

import (
	"strconv"

	"github.com/ntconv/ntconv"
)

// appendLabels appends the labels. Consecutive events often share one list, so it caches the text of the last list.
// Lists are immutable, so the pointer identifies the text.
func (p *Printer) appendLabels(dst []byte, l *ntconv.Labels) []byte {
	if l == nil {
		return dst
	}
	if p.labels != l {
		p.labels, p.labelText = l, appendLabels(p.labelText[:0], l)
	}
	return append(dst, p.labelText...)
}

// appendLabels appends the IDs of activities and spans, and the object of the other labels.
func appendLabels(dst []byte, l *ntconv.Labels) []byte {
	for k := ntconv.LabelActivityID; k <= ntconv.LabelSpanID; k++ {
		if id := l.Find(k); id != nil && id.ID != [16]byte{} {
			dst = append(append(append(dst, ',', '"'), k.String()...), `":"`...)
			dst = append(id.AppendText(dst), '"')
		}
	}
	return appendOthers(dst, l.List())
}

// other reports whether a label belongs to the object of labels. It excludes a label that one gives to samples
// without labels, which reports only an error of the recorder.
func other(l *ntconv.Label) bool {
	switch l.Kind {
	case ntconv.LabelString:
		return l.Key != "Error" || l.Str != "Expected actual values"
	case ntconv.LabelInt:
		return true
	}
	return false
}

// appendOthers appends the object of the labels that have no key of their own in the line. Labels with the same key
// form a list at the position of the first one.
func appendOthers(dst []byte, list []ntconv.Label) []byte {
	next, first := chains(list)
	open := `,"labels":{`
	for i := range list {
		if !first[i] {
			continue
		}
		dst = append(dst, open...)
		open = ","
		dst = append(appendQuoted(dst, list[i].Key), ':')
		if next[i] < 0 {
			dst = appendLabel(dst, &list[i])
			continue
		}
		bracket := byte('[')
		for j := i; j >= 0; j = next[j] {
			dst = appendLabel(append(dst, bracket), &list[j])
			bracket = ','
		}
		dst = append(dst, ']')
	}
	if open == "," {
		dst = append(dst, '}')
	}
	return dst
}

// chains links the labels with equal keys: first[i] states that label i is the first with its key, and next[i] is the
// index of the next one, or -1.
func chains(list []ntconv.Label) (next []int, first []bool) {
	next, first = make([]int, len(list)), make([]bool, len(list))
	last := make(map[string]int, len(list))
	for i := range list {
		next[i] = -1
		if !other(&list[i]) {
			continue
		}
		if j, ok := last[list[i].Key]; ok {
			next[j] = i
		} else {
			first[i] = true
		}
		last[list[i].Key] = i
	}
	return next, first
}

func appendLabel(dst []byte, l *ntconv.Label) []byte {
	switch {
	case l.Kind == ntconv.LabelString:
		return appendQuoted(dst, l.Str)
	case l.Unit == "":
		return strconv.AppendInt(dst, l.Num, 10)
	}
	dst = strconv.AppendInt(append(dst, `{"value":`...), l.Num, 10)
	dst = appendQuoted(append(dst, `,"unit":`...), l.Unit)
	return append(dst, '}')
}
