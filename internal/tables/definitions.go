package tables

// A TraceInfo is a row of the table trace_info, which has exactly one.
type TraceInfo struct {
	SchemaVersion    int32  `parquet:"schema_version" doc:"version of these tables"`
	TraceUID         string `parquet:"trace_uid,optional" doc:"hash of the content of the trace file, in a dataset"`
	SourceFile       string `parquet:"source_file,optional" doc:"name of the trace file"`
	Service          string `parquet:"service,optional" doc:"name of the service, as in resources of OpenTelemetry"`
	Format           string `parquet:"format" doc:"format and version of the trace"`
	StartTS          int64  `parquet:"start_ts,timestamp(microsecond)" doc:"start of the recording in UTC; 1970-01-01 if the trace does not hold it, and then all times count from there"`
	StartNanos       int64  `parquet:"start_ns" doc:"the same in nanoseconds, exact"`
	EndTS            int64  `parquet:"end_ts,timestamp(microsecond)" doc:"end of the recording in UTC: time of the last event that is not rundown"`
	DurationNanos    int64  `parquet:"duration_ns" doc:"duration of the recording, or of the part of it that the trace holds"`
	ClockFrequency   int64  `parquet:"clock_frequency" doc:"ticks per second of the clock of the trace"`
	ClockTicks       int64  `parquet:"clock_ticks" doc:"ticks at the start"`
	ClockWall        string `parquet:"clock_wall,optional" doc:"start in UTC as RFC 3339, NULL if the trace does not hold it"`
	PointerSize      int32  `parquet:"pointer_size" doc:"of the machine: 4 or 8 bytes"`
	OS               string `parquet:"os,optional" doc:"operating system"`
	Arch             string `parquet:"arch,optional" doc:"CPU architecture"`
	ProcessorCount   int32  `parquet:"processor_count,optional" doc:"number of CPUs of the machine"`
	SamplingInterval int64  `parquet:"sampling_interval_ns,optional" doc:"interval of the CPU profiler"`
	Aggregate        bool   `parquet:"aggregate" doc:"event times are synthetic, because the source is an aggregated profile"`
	Ordered          bool   `parquet:"ordered" doc:"the tables are in time order"`
	Selection        bool   `parquet:"selection" doc:"a selection may have omitted events"`
	ProcessCount     int32  `parquet:"process_count" doc:"rows of processes"`
	EventCount       int64  `parquet:"event_count" doc:"rows of events"`
	LostEvents       int64  `parquet:"lost_events" doc:"sum of losses.lost"`
	SampleCount      int64  `parquet:"sample_count" doc:"rows of samples"`
	SpanCount        int64  `parquet:"span_count" doc:"rows of spans"`
	Incomplete       bool   `parquet:"incomplete" doc:"the trace is corrupt or truncated, or reading ended early"`
	Version          string `parquet:"ntconv_version" doc:"version of ntconv that wrote the tables"`
}

// Owners of attributes.
const (
	OwnerTrace   = "trace"
	OwnerProcess = "process"
	OwnerThread  = "thread"
	OwnerType    = "event_type"
)

// An Attribute is a row of the table attributes: a key and a value of an owner, in the order of the trace.
type Attribute struct {
	Owner   string `parquet:"owner,dict" doc:"trace, process, thread or event_type"`
	OwnerID int32  `parquet:"owner_id" doc:"ID of the owner, 0 for the trace"`
	Ordinal int32  `parquet:"ordinal" doc:"position among the attributes of the owner, from 0"`
	Key     string `parquet:"key,dict" doc:"key"`
	Value   string `parquet:"value" doc:"value"`
}

// A Process is a row of the table processes.
type Process struct {
	ProcessID      int32  `parquet:"process_id" doc:"number of the process in the trace, from 1"`
	PID            int64  `parquet:"pid" doc:"process ID of the operating system"`
	Name           string `parquet:"name,optional" doc:"name of the executable"`
	CommandLine    string `parquet:"command_line,optional" doc:"command line"`
	StartTS        *int64 `parquet:"start_ts,optional,timestamp(microsecond)" doc:"start of the process in UTC, if it was recorded"`
	EndTS          *int64 `parquet:"end_ts,optional,timestamp(microsecond)" doc:"end of the process in UTC, if it was recorded"`
	Host           string `parquet:"host,optional" doc:"machine, if the trace covers several"`
	PointerSize    int32  `parquet:"pointer_size,optional" doc:"4 or 8 bytes"`
	RuntimeName    string `parquet:"runtime_name,optional" doc:"name of the runtime, as in resources of OpenTelemetry"`
	RuntimeVersion string `parquet:"runtime_version,optional" doc:"version of the runtime"`
	RecordedName   string `parquet:"recorded_name,optional" doc:"name in the definition of the process, regardless of events"`
	EventCount     int64  `parquet:"event_count" doc:"events of the process"`
}

// A Thread is a row of the table threads.
type Thread struct {
	ThreadID     int32  `parquet:"thread_id" doc:"number of the thread in the trace, from 1; a reused thread ID of the operating system is another thread"`
	ProcessID    int32  `parquet:"process_id" ref:"processes" doc:"process, 0 if unknown"`
	TID          int64  `parquet:"tid" doc:"thread ID of the operating system, -1 if it was not recorded"`
	Name         string `parquet:"name,optional" doc:"name of the thread"`
	RecordedName string `parquet:"recorded_name,optional" doc:"name in the definition of the thread, regardless of events"`
	FirstTS      *int64 `parquet:"first_ts,optional,timestamp(microsecond)" doc:"time of its first event in UTC"`
	LastTS       *int64 `parquet:"last_ts,optional,timestamp(microsecond)" doc:"time of its last event in UTC"`
	EventCount   int64  `parquet:"event_count" doc:"events of the thread"`
}

// A Module is a row of the table modules: a file, or a part of it, in the address space of a process.
type Module struct {
	ModuleID   int32  `parquet:"module_id" doc:"number of the module in the trace, from 1"`
	ProcessID  int32  `parquet:"process_id" ref:"processes" doc:"process"`
	Name       string `parquet:"name,optional" doc:"name of the file without directory"`
	Path       string `parquet:"path,optional" doc:"path as recorded"`
	BuildID    string `parquet:"build_id,optional" doc:"GNU build ID, or signature and age of the symbols, in hexadecimal"`
	Start      int64  `parquet:"start_address" doc:"first address, as signed bits"`
	Limit      int64  `parquet:"end_address" doc:"first address after the module, as signed bits"`
	FileOffset int64  `parquet:"file_offset" doc:"byte offset in the file of the first address"`
	Flags      int32  `parquet:"flags" doc:"bits: 1 the program itself, 2 functions, 4 files, 8 lines, 16 inlined functions are known"`
	Recorded   bool   `parquet:"recorded" doc:"is part of the definition of the process, not reported by events"`
}

// An EventType is a row of the table event_types.
type EventType struct {
	TypeID         int32              `parquet:"type_id" doc:"number of the type in the trace, from 1"`
	Provider       string             `parquet:"provider" doc:"name of the provider"`
	ProviderGUID   string             `parquet:"provider_guid,optional" doc:"ID of the provider"`
	Number         int64              `parquet:"id" former:"event_number" doc:"number of the event among those of the provider"`
	Event          string             `parquet:"event" doc:"name of the event, its number if it has no name"`
	Version        int32              `parquet:"version" doc:"version of the event"`
	Task           string             `parquet:"task,optional" doc:"task, a group of related events"`
	Opcode         int32              `parquet:"opcode" doc:"1 start, 2 stop, 0 none"`
	OpcodeName     string             `parquet:"opcode_name,optional" doc:"name of the opcode"`
	Level          int32              `parquet:"level" doc:"1 critical to 5 verbose, 0 always"`
	Keywords       int64              `parquet:"keywords" doc:"keywords of the event, as signed bits"`
	KeywordNames   string             `parquet:"keyword_names,optional" doc:"their names, joined by |"`
	Fields         []FieldDescription `parquet:"fields,list" doc:"fields of the payload"`
	TypedTable     string             `parquet:"typed_table,optional" doc:"name of the table with one column per field"`
	EventCount     int64              `parquet:"event_count" doc:"events of the type"`
	PayloadBytes   int64              `parquet:"payload_bytes" doc:"bytes of their payloads"`
	Message        string             `parquet:"message,optional" doc:"template of a human-readable message"`
	Description    string             `parquet:"description,optional" doc:"description"`
	RecordedName   string             `parquet:"recorded_name,optional" doc:"name in the metadata of the trace"`
	RecordedOpcode *int32             `parquet:"recorded_opcode,optional" doc:"opcode in the metadata of the trace"`
	HasOpcode      bool               `parquet:"has_opcode" doc:"the metadata states the opcode"`
	RecordedFields string             `parquet:"recorded_fields,optional" doc:"fields in the metadata of the trace, as JSON"`
	Layout         string             `parquet:"layout,optional" doc:"fields that the column payload of events has, as JSON, if they are not recorded_fields"`
	Extra          []byte             `parquet:"extra,optional" doc:"bytes of the metadata that ntconv does not interpret"`
	OptionalExtra  []byte             `parquet:"optional_extra,optional" doc:"the same for the optional part of the metadata"`
}

// A FieldDescription is an element of EventType.Fields.
type FieldDescription struct {
	Name string `parquet:"name" doc:"name of the field"`
	Type string `parquet:"type" doc:"type of the field, as ntconv info shows it"`
}
