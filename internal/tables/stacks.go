package tables

// A Stack is a row of the table stacks: a distinct call stack.
type Stack struct {
	StackID   int64   `parquet:"stack_id,delta" doc:"number of the stack in the trace, from 1"`
	ProcessID int32   `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	Depth     int32   `parquet:"depth" doc:"number of frames"`
	LeafID    int32   `parquet:"leaf_frame_id,optional" ref:"frames.frame_id" doc:"innermost frame"`
	Frames    []int32 `parquet:"frames,list" ref:"frames.frame_id" doc:"frames, innermost first"`
	Addresses []int64 `parquet:"addresses,list" doc:"addresses as recorded, innermost first, as signed bits"`
	Recorded  bool    `parquet:"recorded" doc:"the trace itself holds the frames; otherwise they are the symbols of the addresses"`
}

// Kinds of frames.
const (
	FrameManaged    = "managed"
	FrameNative     = "native"
	FrameKernel     = "kernel"
	FrameLabel      = "label"
	FrameUnresolved = "unresolved"
)

// FrameNoFunction is the bit of Frame.Flags for a recorded frame without a function. The other bits are those of
// ntconv.FrameFlags.
const FrameNoFunction = 1 << 16

// A Frame is a row of the table frames: a distinct entry of a call stack.
type Frame struct {
	FrameID    int32  `parquet:"frame_id" doc:"number of the frame in the trace, from 1"`
	Name       string `parquet:"name" doc:"human-readable name of the function"`
	SystemName string `parquet:"system_name,optional" doc:"name as the runtime or the linker spells it, NULL if it equals name and the frame is not recorded"`
	Namespace  string `parquet:"namespace,optional" doc:"namespace of the type of a managed method"`
	TypeName   string `parquet:"type_name,optional" doc:"type of a managed method, without namespace"`
	MethodName string `parquet:"method_name,optional" doc:"name of a managed method, without type and parameters"`
	Module     string `parquet:"module,optional" doc:"name of the file of the module, without directory"`
	ModuleID   int32  `parquet:"module_id,optional" ref:"modules" doc:"module"`
	Kind       string `parquet:"kind" doc:"managed, native, kernel, label, or unresolved if no name is known"`
	Inlined    bool   `parquet:"inlined" doc:"inlined into the next, outer frame"`
	File       string `parquet:"file,optional" doc:"source file"`
	Line       int32  `parquet:"line,optional" doc:"line in the source file"`
	Column     int32  `parquet:"column_number,optional" doc:"column in the source file"`
	StartLine  int32  `parquet:"start_line,optional" doc:"first line of the function"`
	Address    int64  `parquet:"address,optional" doc:"address of a recorded frame, as signed bits"`
	Flags      int32  `parquet:"flags" doc:"bits: 1 inlined, 2 unresolved, 4 kernel, 8 managed, 16 several frames in one, 32 label, 65536 no function was recorded"`
}

// A Label is a row of the table labels: one label of a list.
type Label struct {
	LabelListID int64  `parquet:"label_list_id,delta" doc:"number of the list in the trace, from 1"`
	Ordinal     int32  `parquet:"ordinal" doc:"position in the list, from 0"`
	Kind        string `parquet:"kind,dict" doc:"activity_id, related_activity_id, trace_id, span_id, string, int, opcode, keywords, level or version"`
	Key         string `parquet:"key,dict,optional" doc:"key of a string or int"`
	Value       string `parquet:"value,optional" doc:"value of a string, or an ID in hexadecimal"`
	ValueInt    *int64 `parquet:"value_int,optional" doc:"value of an int and of kinds that override a property of the type"`
	Unit        string `parquet:"unit,dict,optional" doc:"unit of an int"`
	LabelKind   int32  `parquet:"kind_number" doc:"kind as nettrace numbers it"`
}

// A Sample is a row of the table samples: the weight of a sample of a profile.
type Sample struct {
	EventID    int64  `parquet:"event_id,delta" ref:"events" doc:"event of the sample"`
	TS         int64  `parquet:"ts,timestamp(microsecond),delta" doc:"time in UTC, rounded down to microseconds"`
	TSNanos    int64  `parquet:"ts_ns,delta" doc:"time in nanoseconds since 1970-01-01 UTC, exact"`
	Kind       string `parquet:"kind,dict" doc:"kind of profile: wall, cpu, imported, and others with --kind"`
	SampleType string `parquet:"sample_type,dict" doc:"sample type: wall, cpu, that of an imported profile, or one of the kind"`
	Value      int64  `parquet:"value" doc:"weight of the sample"`
	Unit       string `parquet:"unit,dict" doc:"unit of value: nanoseconds, bytes, count"`
	ProcessID  int32  `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	PID        int64  `parquet:"pid,dict" doc:"process ID of the operating system, 0 if unknown"`
	ThreadID   int32  `parquet:"thread_id,dict" ref:"threads" doc:"thread"`
	TID        int64  `parquet:"tid,dict" doc:"thread ID of the operating system, -1 if it was not recorded"`
	StackID    int64  `parquet:"stack_id,optional" ref:"stacks" doc:"call stack"`
	State      string `parquet:"state,dict,optional" doc:"state of the thread: Managed, External"`
	TraceID    string `parquet:"trace_id,dict,optional" bloom:"yes" doc:"trace ID of the labels, or of the span that was active"`
	SpanID     string `parquet:"span_id,dict,optional" bloom:"yes" doc:"span ID of the labels, or of the span that was active"`
	Subject    string `parquet:"subject,dict,optional" doc:"what the sample is about: allocated type, exception type, compiled method"`
	Source     string `parquet:"source,dict,optional" doc:"events of the sample, if the kind is computed from several; do not add up sources"`

	Labels map[string]string `parquet:"labels" doc:"labels of samples that are computed from events: type, heap, lock"`
}
