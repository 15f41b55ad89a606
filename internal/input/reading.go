package input

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/message"
)

// A Reading is how a reading of an input to its end went.
type Reading struct {
	Events int64 // of KindEvent
	Err    error // why it ended early, or nil
}

// Finish records a reading. It returns a description of what differs if one of those so far ended otherwise than the
// first, or if the file has changed since it was opened, and "" if all readings have seen the same: what one of them
// has learned may not fit what another one delivers.
func (in *Input) Finish(r Reading) (changed string) {
	if in.first == nil {
		in.first = &r
	} else if in.changed == "" {
		in.changed = in.differs(r)
	}
	return in.changed
}

func (in *Input) differs(r Reading) string {
	if b := in.first; b.Events != r.Events || (b.Err == nil) != (r.Err == nil) {
		return fmt.Sprintf("the first reading found %s, a later one %s", b.describe(), r.describe())
	}
	for _, one := range append([]*Input{in}, in.others...) {
		if one.raw.Changed() {
			return one.raw.Name() + " has another size or time of modification than when it was opened"
		}
	}
	return ""
}

func (r Reading) describe() string {
	text := message.Count(r.Events, "event")
	if r.Err != nil {
		text += " and ended with the error: " + r.Err.Error()
	}
	return text
}
