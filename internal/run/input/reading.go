package input

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/message"
)

// A Reading is the result of reading an input to its end.
type Reading struct {
	Events int64 // events of KindEvent
	Err    error // why it ended early, or nil
}

// Finish records a reading. It returns "" if all readings so far agree. Otherwise it describes how one of them ended
// differently from the first, or that the file has changed since it was opened: then what one reading has learned may
// not fit what another one delivers.
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
