package tables

// An Event is a row of the table events: one event of the trace.
type Event struct {
	EventID           int64  `parquet:"event_id,delta" doc:"position in the trace, from 1; shared with losses and marks"`
	TS                int64  `parquet:"ts,timestamp(microsecond),delta" doc:"time in UTC, rounded down to microseconds"`
	TSNanos           int64  `parquet:"ts_ns,delta" doc:"time in nanoseconds since 1970-01-01 UTC, exact"`
	ProcessID         int32  `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	PID               int64  `parquet:"pid,dict" doc:"process ID of the operating system, 0 if unknown"`
	ThreadID          int32  `parquet:"thread_id,dict" ref:"threads" doc:"thread of the event"`
	TID               int64  `parquet:"tid,dict" doc:"thread ID of the operating system, -1 if it was not recorded"`
	CaptureThreadID   int32  `parquet:"capture_thread_id,dict,optional" ref:"threads.thread_id" doc:"thread that recorded the event, NULL if it is thread_id"`
	CPU               int32  `parquet:"cpu,dict" doc:"CPU number, -1 if it was not recorded"`
	TypeID            int32  `parquet:"type_id,dict" ref:"event_types" doc:"type of the event"`
	Provider          string `parquet:"provider,dict" doc:"name of the provider"`
	Event             string `parquet:"event,dict" doc:"name of the event, its number if it has no name"`
	Level             int32  `parquet:"level,dict" doc:"1 critical to 5 verbose, 0 always"`
	Opcode            int32  `parquet:"opcode,dict" doc:"1 start, 2 stop, 0 none"`
	StackID           int64  `parquet:"stack_id,optional,delta" ref:"stacks" doc:"call stack"`
	LabelListID       int64  `parquet:"label_list_id,optional,delta" ref:"labels" doc:"labels"`
	ActivityID        string `parquet:"activity_id,dict,optional" doc:"activity ID of the labels"`
	RelatedActivityID string `parquet:"related_activity_id,dict,optional" doc:"related activity ID of the labels"`
	TraceID           string `parquet:"trace_id,dict,optional" bloom:"yes" doc:"trace ID of the labels, 32 hexadecimal digits"`
	SpanID            string `parquet:"span_id,dict,optional" bloom:"yes" doc:"span ID of the labels, 16 hexadecimal digits"`
	Payload           string `parquet:"payload,optional" doc:"fields of the payload as a JSON object; NULL if the payload is empty"`
	PayloadRaw        []byte `parquet:"payload_raw,optional" doc:"bytes of the payload if the JSON does not restore them, or with --raw"`
	Sequence          int64  `parquet:"sequence,optional,delta" doc:"sequence number of the event on the thread that recorded it"`
	Ticks             *int64 `parquet:"ticks,optional" doc:"time in ticks of the clock of the trace, if ts_ns does not restore it"`
	Flags             int32  `parquet:"flags,dict,optional" doc:"bits: 1 no later event of the file is earlier, 2 a definition was missing, 4 out of order"`
}

// A Loss is a row of the table losses: events that the recorder did not record.
type Loss struct {
	EventID   int64  `parquet:"event_id,delta" doc:"position in the trace, from 1; shared with events and marks"`
	TS        int64  `parquet:"ts,timestamp(microsecond),delta" doc:"time of the event that revealed the loss, in UTC, rounded down to microseconds"`
	TSNanos   int64  `parquet:"ts_ns,delta" doc:"time of that event in nanoseconds since 1970-01-01 UTC, exact"`
	ProcessID int32  `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	ThreadID  int32  `parquet:"thread_id,dict" ref:"threads" doc:"thread whose events are missing"`
	Lost      int64  `parquet:"lost" doc:"number of missing events"`
	Sequence  int64  `parquet:"sequence,optional" doc:"sequence number of the event that revealed the loss"`
	CPU       int32  `parquet:"cpu,dict" doc:"CPU number, -1 if it was not recorded"`
	Ticks     *int64 `parquet:"ticks,optional" doc:"time in ticks of the clock of the trace, if ts_ns does not restore it"`
	Flags     int32  `parquet:"flags,optional" doc:"as in events"`
}

// Kinds of marks.
const (
	MarkSequencePoint = "sequence_point"
	MarkThreadsEnded  = "threads_removed"
	MarkType          = "define_type"
	MarkThread        = "define_thread"
	MarkBlock         = "block"
)

// A Mark is a row of the table marks: an element of a trace that is neither an event nor a loss.
type Mark struct {
	EventID    int64         `parquet:"event_id,delta" doc:"position in the trace, from 1; shared with events and losses"`
	TS         int64         `parquet:"ts,timestamp(microsecond),delta" doc:"time in UTC, rounded down to microseconds"`
	TSNanos    int64         `parquet:"ts_ns,delta" doc:"time in nanoseconds since 1970-01-01 UTC, exact"`
	Kind       string        `parquet:"kind,dict" doc:"sequence_point, threads_removed, define_type, define_thread, or block (of an unknown kind)"`
	MarkFlags  int64         `parquet:"mark_flags,optional" doc:"flags of a sequence point"`
	TypeID     int32         `parquet:"type_id,optional" ref:"event_types" doc:"type that is defined here"`
	ThreadID   int32         `parquet:"thread_id,optional" ref:"threads" doc:"thread that is defined here"`
	BlockKind  int64         `parquet:"block_kind,optional" doc:"kind of a block"`
	PayloadRaw []byte        `parquet:"payload_raw,optional" doc:"bytes of a block"`
	Threads    []MarkThreads `parquet:"threads,list" doc:"threads of a sequence point or of a removal, with the sequence number of their last event"`
	Ticks      *int64        `parquet:"ticks,optional" doc:"time in ticks of the clock of the trace, if ts_ns does not restore it"`
	Flags      int32         `parquet:"flags,optional" doc:"as in events"`
}

// MarkThreads is an element of Mark.Threads.
type MarkThreads struct {
	ThreadID int32 `parquet:"thread_id" ref:"threads" doc:"thread"`
	Sequence int64 `parquet:"sequence" doc:"sequence number of the last event that it tried to record"`
}
