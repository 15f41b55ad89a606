// Package wiretext defines a line-oriented text form of traces, for readable and comparable test data, and for
// examining files.
//
// [Assemble] restores exactly the bytes that were passed to [Disassemble], for any input. Text can also describe bytes
// that no writer produces: false sizes and counts, bytes after the end, corrupt rows.
//
//	nettrace 6
//	Trace sync=2025:2:1:3:4:5:6:0 ticks=0 frequency=1000 pointer=8
//	  kv "HardwareThreadCount" "2"
//	Metadata
//	  row 1 "TestProvider" 15 "TestEvent" level=4 kv="Animal":"Pony"
//	    field "Count" Int32
//	    field "Points" Array(Object)
//	      field "X" Double
//	Thread
//	  row 999 pid=84 tid=12
//	Stack first=1
//	  stack 0x7f0000000120 0x400110
//	Event min=17 max=18
//	  event 17 metadata=1 seq=1 thread=999 cpu=0 stack=1 sorted payload=0c0000000000
//	SequencePoint time=20
//	  thread 999 seq=1
//	EndOfStream
//
// # Lines
//
// A line is a word and its arguments. Lines that belong to it follow, indented by two more spaces. An argument is
// key=value or a bare value; the parts of a value are separated by colons. Strings are quoted as in Go. Numbers are
// decimal or 0x-hexadecimal; extra, payload, IDs and the contents of raw lines are hexadecimal bytes. A "#" at the
// start of a word makes the rest of the line a comment. Below, parentheses contain the default of an argument.
//
// The stream header is the first line:
//
//	nettrace VERSION minor=(0)     version 4 (which is 5 too) or 6
//	netperf 3
//
// Blocks have the names of [wire.Kinds] in all versions, or Block(99) for an unknown kind:
//
//	KIND size=(of its lines)                               size=N writes N into the header; it is not the size of what follows
//	KIND version= minreader= unclosed                      versions 3 and 4: of the object (as real writers do); without end tag
//	KIND raw                                               all of the body is in raw lines
//	Trace sync=8 numbers ticks=(0) frequency=(0) pointer=(0) count=(of kv)
//	  kv "KEY" "VALUE"
//	Trace ... pid=(0) processors=(0) rate=(0)              versions 3 and 4
//	Event flags=(1) min=(0) max=(0) headersize=(20+extra) extra=() preview
//	  event ...                                            preview: headers without CPU number, of .NET Core 3.0 previews
//	Metadata header=()                                     version 6
//	  row ...
//	Metadata flags= ...                                    version 4: as Event, each event with a row
//	Stack first=(1) count=(of stack)
//	  stack 0x1 0x2 ...                                    addresses of the trace's pointer size, leaf first
//	  stack bytes= size=
//	LabelList first=(1) count=(of list)
//	  list KIND=VALUE ...                                  by the names of [wire.LabelKinds]
//	SequencePoint time=(0) flags=(0) count=(of thread)
//	  thread INDEX seq=(0)
//	Thread
//	  row INDEX KIND=VALUE ... extra= size=                by the names of [wire.ThreadKinds]
//	RemoveThread
//	  thread INDEX seq=(0)
//	EndOfStream
//	raw HEX ...                                            bytes as they are, between blocks and between rows
//
// An event line contains every field, not only changed ones. Headers are compressed as far as possible:
//
//	event TIME metadata=(0) seq=(0) thread=(0) capture=(thread) cpu=(not recorded) stack=(0) labels=(0) activity=(0)
//	      related=(0) sorted payload=() payloadsize=(of payload) fields=0x1f eventsize= padding=
//
// (on one line) where fields contains the flags of optional fields to write although they could be omitted, and
// eventsize and padding apply to uncompressed headers. In version 3 an event has a stack line below it, padding is a
// number of bytes, and eventsize, payloadsize and stacksize override the sizes.
//
// Rows of metadata are rows of a block in version 6 and payloads of events in earlier versions, where fields of
// V2Params are called v2field:
//
//	row ID "PROVIDER" EVENT "NAME" KIND=VALUE ... optional= optionalsize= extra= size=
//	row ID "PROVIDER" EVENT "NAME" keywords=(0) version=(0) level=(0) opcode= headonly v2 extra=
//	  field "NAME" TYPE extra=()
//
// KIND is a name of [wire.OptionalKinds]. headonly means that the field count is missing, v2 that there is a V2Params
// tag. TYPE is a name of [wire.TypeCodes], with the element in parentheses: Array(Int32), FixedLengthArray(Byte,3),
// RelLoc(Object). The fields of an object are lines below. A field without TYPE has its bytes in extra.
package wiretext
