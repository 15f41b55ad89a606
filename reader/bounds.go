package reader

import "github.com/ntconv/ntconv"

// Estimates of what an entry of a table takes besides its text and addresses, for Limits.TableBytes.
const (
	typeBytes   = 400
	fieldBytes  = 100
	threadBytes = 300
	stackBytes  = 80
	labelBytes  = 100
)

// tableBytes estimates what the tables hold.
func (r *Reader) tableBytes() int {
	return r.types.bytes + r.threads.bytes + r.stacks.bytes + r.labels.bytes
}

// bound looks after what grows from block to block. All events that are not in the window have been delivered. It
// returns true if the window has to be delivered first.
func (r *Reader) bound() (crowded bool, err error) {
	if n := r.tableBytes(); n > r.limits.TableBytes {
		limit := ntconv.LimitError{
			Limit: LimitTableBytes,
			Value: int64(r.limits.TableBytes),
			Asked: int64(n),
			Unit:  "bytes",
		}
		return false, r.exceeded(r.in.offset, "end of block", limit)
	}
	if !r.window.pending() {
		r.threads.settle()
		if r.legacy && len(r.labels.list) > maxInterned {
			r.labels.flush() // made for the events up to here
		}
		return false, nil
	}
	// Removed threads and activities are kept for the rows that wait, even where no barrier comes.
	if 2*len(r.threads.leaving) >= r.limits.Threads || r.legacy && len(r.labels.list) > r.limits.LabelLists {
		r.report.Add(ntconv.CodeWindowCap, 1, r.in.offset)
		r.window.release(0, true)
		return true, nil
	}
	return false, nil
}

// fieldsBytes estimates what a field list holds.
func fieldsBytes(fields []ntconv.Field) (n int) {
	for i := range fields {
		n += fieldBytes
		for t := &fields[i].Type; t != nil; t = t.Elem {
			n += fieldsBytes(t.Fields)
		}
	}
	return n
}
