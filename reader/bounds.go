package reader

import "github.com/ntconv/ntconv"

// Estimated bytes of a table entry, in addition to its strings and addresses, for Limits.TableBytes.
const (
	typeBytes   = 400
	fieldBytes  = 100
	threadBytes = 300
	stackBytes  = 80
	labelBytes  = 100
)

// tableBytes estimates the bytes that the tables hold.
func (r *Reader) tableBytes() int {
	return r.types.bytes + r.threads.bytes + r.stacks.bytes + r.labels.bytes
}

// bound checks the limits of tables that grow from block to block, and frees slots if no row waits. All events outside
// the window have been delivered. windowFull means that the window was released and must be delivered before the next
// block is read.
func (r *Reader) bound() (windowFull bool, err error) {
	if n := r.tableBytes(); n > r.limits.TableBytes {
		limit := ntconv.LimitError{
			Limit: LimitTableBytes, Value: int64(r.limits.TableBytes), Asked: int64(n), Unit: "bytes",
		}
		return false, r.exceeded(r.in.offset, "end of block", limit)
	}
	if !r.window.pending() {
		r.threads.freeLeaving()
		if r.legacy && len(r.labels.list) > maxInterned {
			r.labels.flush() // events up to here used them; no row refers to them
		}
		return false, nil
	}
	// Rows in the window refer to removed threads and to activity labels, so these are kept until the window is
	// delivered. Without sequence points only this limit bounds them.
	if 2*len(r.threads.leaving) >= r.limits.Threads || r.legacy && len(r.labels.list) > r.limits.LabelLists {
		r.report.Add(ntconv.CodeWindowCap, 1, r.in.offset)
		r.window.release(0, true)
		return true, nil
	}
	return false, nil
}

// fieldsBytes estimates the bytes of a field list.
func fieldsBytes(fields []ntconv.Field) (n int) {
	for i := range fields {
		n += fieldBytes
		for t := &fields[i].Type; t != nil; t = t.Elem {
			n += fieldsBytes(t.Fields)
		}
	}
	return n
}
