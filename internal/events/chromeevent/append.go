package chromeevent

import "github.com/ntconv/ntconv/internal/data/jsonio"

// AppendJSON appends an event as a JSON object, which a Parser parses to an equal event. The member ts is e.Time;
// StackID and StackNames are omitted.
func AppendJSON(dst []byte, e *Event) []byte {
	dst = append(dst, '{')
	from := len(dst)
	dst = AppendMembers(dst, e)
	if e.Has&HasTime != 0 {
		dst = AppendMicros(append(dst, `,"ts":`...), e.Time)
	}
	dst = appendRaw(dst, `,"pid":`, e.PID)
	dst = appendRaw(dst, `,"tid":`, e.TID)
	if len(dst) > from {
		dst = append(dst[:from], dst[from+1:]...) // remove the first comma
	}
	return append(dst, '}')
}

// AppendMembers appends the members of an event except ts, pid, tid, sf and stack, each preceded by a comma.
func AppendMembers(dst []byte, e *Event) []byte {
	text := func(m Member, name, value string) {
		if e.Has&m != 0 {
			dst = jsonio.AppendQuoted(append(dst, name...), value)
		}
	}
	nanos := func(m Member, name string, n int64) {
		if e.Has&m != 0 {
			dst = AppendMicros(append(dst, name...), n)
		}
	}
	flag := func(m Member, name string, set bool) {
		if e.Has&m != 0 {
			dst = appendBool(append(dst, name...), set)
		}
	}
	if e.Phase != "" {
		dst = jsonio.AppendQuoted(append(dst, `,"ph":`...), e.Phase)
	}
	text(HasCategory, `,"cat":`, e.Category)
	text(HasName, `,"name":`, e.Name)
	nanos(HasDuration, `,"dur":`, e.Duration)
	nanos(HasThreadTime, `,"tts":`, e.ThreadTime)
	nanos(HasThreadDuration, `,"tdur":`, e.ThreadDuration)
	dst = appendID(dst, `,"id":`, &e.ID)
	text(HasIDScope, `,"scope":`, e.IDScope)
	text(HasScope, `,"s":`, e.Scope)
	text(HasBindPoint, `,"bp":`, e.BindPoint)
	dst = appendID(dst, `,"bind_id":`, &e.BindID)
	flag(HasFlowIn, `,"flow_in":`, e.FlowIn)
	flag(HasFlowOut, `,"flow_out":`, e.FlowOut)
	if len(e.Other) > 0 {
		dst = append(append(dst, ','), e.Other...)
	}
	return appendRaw(dst, `,"args":`, e.Args)
}

func appendBool(dst []byte, set bool) []byte {
	if set {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// appendRaw appends a member whose value is JSON, or nothing if value is nil.
func appendRaw(dst []byte, name string, value []byte) []byte {
	if value == nil {
		return dst
	}
	return append(append(dst, name...), value...)
}

// appendID appends an ID as the member name, or as id2 if it is local or global.
func appendID(dst []byte, name string, id *ID) []byte {
	switch id.Kind {
	case NoID:
		return dst
	case LocalID:
		dst = append(dst, `,"id2":{"local":`...)
	case GlobalID:
		dst = append(dst, `,"id2":{"global":`...)
	default:
		dst = append(dst, name...)
	}
	if id.Number {
		dst = append(dst, id.Text...)
	} else {
		dst = jsonio.AppendQuoted(dst, id.Text)
	}
	if id.Kind != PlainID {
		dst = append(dst, '}')
	}
	return dst
}
