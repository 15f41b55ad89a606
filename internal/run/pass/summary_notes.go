package pass

import (
	"github.com/ntconv/ntconv/internal/data/message"
)

// LossNotes returns the consequences of the recorder's losses for the symbols of a trace, or nil if there are none.
func LossNotes(l Losses) []string {
	if l.Rundown == 0 {
		return nil
	}
	which := "all lost events belong"
	if l.Rundown < l.Events {
		which = message.Count(int64(l.Rundown), "of the lost events belongs", "of the lost events belong")
	}
	return []string{which + " to the rundown, in which .NET writes symbols, so symbols may be missing; " +
		"record with a larger buffer (ntconv collect --buffer)"}
}
