// Package perfetto writes a trace in the protobuf format of Perfetto (https://perfetto.dev), for ui.perfetto.dev and
// trace_processor.
//
// A file is a Trace message: a sequence of TracePackets, which are written as they arise. Packets refer to earlier
// packets of the same sequence, which a number identifies, for what repeats:
//
//	sequence 1               tracks, slices, instants, counters, flows
//	sequence 2 to 4          stack samples of one profile kind (StackSample)
//	sequence 16 + track ID   stack samples of one thread (StreamingProfilePacket)
//
//	item ─→ encoder ─→ packet ─┬─ interned data that the packet is the first to refer to
//	                           ├─ time since the previous packet of the sequence
//	                           └─ track event, or samples
//
// The names of the messages and the numbers of their fields are those of protos/perfetto/trace in Perfetto's
// repository.
package perfetto
