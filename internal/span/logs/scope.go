package logs

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
)

// A scope is state that a program has added to all messages of a logger factory until the scope ends.
type scope struct {
	key      scopeKey
	thread   *ntconv.Thread
	activity ntconv.GUID // zero if the recording has no activities
	state    []span.Attribute
}

// A scopeKey identifies an open scope.
type scopeKey struct {
	process     *ntconv.Process
	factory, id uint64
}

// maxScopes limits the open scopes. The oldest ones are removed first: their ends may be lost.
const maxScopes = 10_000

// scopes are the open scopes in the order of their beginnings.
type scopes []*scope

// scope begins or ends a scope.
func (r *Reader) scope(e *ntconv.Event, o *role) {
	if p := r.pending[e.Thread]; p != nil { // no form of that message follows
		r.complete(p)
	}
	o.read.Read(e, r.values[:])
	key := scopeKey{recording.ProcessOf(e), r.values[fieldFactory].Uint(), r.values[fieldScopeID].Uint()}
	r.scopes = slices.DeleteFunc(r.scopes, func(s *scope) bool { return s.key == key })
	if o.form == formEnd {
		return
	}
	s := &scope{key: key, thread: e.Thread, activity: activityOf(e)}
	if o.json {
		s.state = r.appendJSON(nil, fieldArgumentsJSON)
	} else if v := &r.values[fieldArguments]; v.Kind() == ntconv.ValueList {
		s.state = r.appendPairs(nil, v)
	}
	if len(r.scopes) == maxScopes {
		r.scopes = slices.Delete(r.scopes, 0, 1)
	}
	r.scopes = append(r.scopes, s)
}

// activityOf returns the activity ID of an event, or zero.
func activityOf(e *ntconv.Event) ntconv.GUID {
	if l := e.Labels.Find(ntconv.LabelActivityID); l != nil {
		return ntconv.GUID(l.ID)
	}
	return ntconv.GUID{}
}

// of appends the scopes that are open around a message: those of its activity and of the activities around it, or those of
// its thread if there are no activities.
func (all scopes) of(dst scopes, e *ntconv.Event) scopes {
	process, activity := recording.ProcessOf(e), activityOf(e)
	path, isPath := span.ParseActivityPath(activity)
	for _, s := range all {
		switch {
		case s.key.process != process:
		case activity.IsZero() || s.activity.IsZero():
			if s.thread == e.Thread {
				dst = append(dst, s)
			}
		case s.activity == activity, isPath && encloses(&path, s.activity):
			dst = append(dst, s)
		}
	}
	return dst
}

// encloses reports whether an activity is an ancestor of the one of a path.
func encloses(path *span.ActivityPath, id ntconv.GUID) bool {
	for depth := path.Depth() - 1; depth > 1; depth-- {
		if path.Ancestor(depth) == id {
			return true
		}
	}
	return false
}

// append appends the state of the scopes to the attributes of a message, outermost first. A key that the message or an
// inner scope has is omitted, and so are the templates of the scopes.
func (all scopes) append(dst []span.Attribute) []span.Attribute {
	own := len(dst)
	has := func(list []span.Attribute, key string) bool {
		return slices.ContainsFunc(list, func(a span.Attribute) bool { return a.Key == key })
	}
	for i, s := range all {
		for _, a := range s.state {
			inner := slices.ContainsFunc(all[i+1:], func(s *scope) bool { return has(s.state, a.Key) })
			if a.Key != attrTemplate && !inner && !has(dst[:own], a.Key) {
				dst = append(dst, a)
			}
		}
	}
	return dst
}
