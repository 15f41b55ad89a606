// Package perfetto writes a trace in the protobuf format of Perfetto (https://perfetto.dev), for ui.perfetto.dev and
// trace_processor. docs/perfetto.md specifies the output.
//
// A file is a Trace message, which is a sequence of TracePackets; the sink writes a packet as soon as it is complete.
// Each packet belongs to a numbered sequence. It refers to strings, stacks and defaults that earlier packets of the
// same sequence have defined:
//
//	sequence 2 to 4          stack samples of one profile kind (StackSample): wall, cpu, imported
//	sequence 2^31 + kind     the same, for the other kinds
//	sequence 16 + track ID   stack samples of one thread (StreamingProfilePacket)
//
//	item ─→ encoder ─→ packet ─┬─ interned data that the packet is the first to refer to
//	                           ├─ time since the previous packet of the sequence
//	                           └─ track event, or samples
//
// The constants in proto.go use the message names and field numbers of protos/perfetto/trace in Perfetto's repository.
package perfetto
