// Package split divides a trace into parts that each stand alone, joins the parts to the trace again, selects the
// events of a smaller trace, and relates the clocks of traces.
//
// # Parts
//
// A Divider assigns each event to a part. A Splitter writes the events of each part to a sink of its own, and adds what
// the part needs: the events that describe methods, modules, symbols and processes elsewhere in the trace, as replicas.
// A replica has the label recording.LabelReplica. Its time is moved to the edge of the part, so that the part does not
// appear to last until the rundown at the end of the trace.
//
// # The law
//
// Join of all parts yields the trace: the same items in the same order, with the same sequence numbers, losses, marks,
// definitions and blocks of unknown kind. Parts therefore contain events of the provider ntconv wherever the trace does
// not follow from the parts alone (the types are in marks.go):
//
//	SplitOrder    position of the next item, if times do not determine it
//	SplitNumbers  sequence numbers of the next item, if counting does not yield them
//	SplitReplica  the next item is a mark that another part has, too
//
// The attributes of a part name the split, the part and the number of parts.
//
// # Order
//
// Every item has a position: the latest time up to the item in the whole trace, then a rank among the items with that
// time, then the number of its part. The rank is higher than that of the previous item if the number of the part is
// lower. Join derives the position of an item from the times and the SplitOrder events of its part, and merges the
// parts by it. Parts that follow each other need at most one SplitOrder event each. Items without a time, such as the
// end of a thread, have the position of the item before them.
//
// # Sequence numbers
//
// The sink of a part numbers its events again, so that events of other parts do not look lost; losses of the recorder
// remain gaps. Join counts the events of each thread over all parts, and adds the losses. Where the recorder counted
// differently, SplitNumbers states the number.
//
// # Identity
//
// Types and threads of the trace with equal content get an attribute with their number among their equals, so that Join
// does not mix them up.
//
// # Smaller traces
//
// A [Filter] selects the events of a smaller trace: those that a selection keeps, and those that are necessary to
// resolve the stacks.
//
// # Clocks
//
// [AlignClocks] relates the clocks of several traces, so that the traces can be merged: which traces were recorded on
// one machine, how much each clock must be shifted, and how uncertain the result is.
//
// A trace states at which tick of its clock the wall clock showed which time, in whole milliseconds. Ticks count from
// the start of the machine, so two recordings of one machine have the same difference of both: the time of the start.
// Their ticks need no conversion, and the result is exact. Traces of other machines are aligned by wall clock.
package split
