package tables

// A Span is a row of the table spans.
type Span struct {
	TraceID       string            `parquet:"trace_id" bloom:"yes" doc:"trace ID, 32 hexadecimal digits"`
	SpanID        string            `parquet:"span_id" bloom:"yes" doc:"span ID, 16 hexadecimal digits"`
	ParentSpanID  string            `parquet:"parent_span_id,optional" doc:"span ID of the parent"`
	Name          string            `parquet:"name,dict" doc:"name"`
	Kind          string            `parquet:"kind,dict" doc:"internal, server, client, producer, consumer or unspecified"`
	TS            int64             `parquet:"ts,timestamp(microsecond)" doc:"start in UTC, rounded down to microseconds"`
	TSNanos       int64             `parquet:"ts_ns" doc:"start in nanoseconds since 1970-01-01 UTC, exact"`
	EndTS         *int64            `parquet:"end_ts,optional,timestamp(microsecond)" doc:"end in UTC, NULL if the trace does not show it"`
	DurationNanos *int64            `parquet:"duration_ns,optional" doc:"duration"`
	Status        string            `parquet:"status,dict" doc:"unset, ok or error"`
	StatusMessage string            `parquet:"status_message,optional" doc:"message of the status"`
	Source        string            `parquet:"source,dict" doc:"labels, activities, pairs, chrome or imported: source of the span"`
	Scope         string            `parquet:"scope,dict,optional" doc:"name of the instrumentation scope"`
	ScopeVersion  string            `parquet:"scope_version,dict,optional" doc:"its version"`
	ProcessID     int32             `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	PID           int64             `parquet:"pid,dict" doc:"process ID of the operating system, 0 if unknown"`
	ThreadID      int32             `parquet:"thread_id,dict,optional" ref:"threads" doc:"thread on which it started"`
	TID           int64             `parquet:"tid,dict" doc:"thread ID of the operating system, -1 if unknown"`
	MadeID        bool              `parquet:"synthetic" doc:"the trace holds no ID, span_id is a hash"`
	Attributes    map[string]string `parquet:"attributes" doc:"attributes, values as strings"`
	Events        string            `parquet:"events,optional" doc:"events as a JSON array of objects with ts_ns, name and attributes"`
	Resource      map[string]string `parquet:"resource" doc:"attributes of the resource of an imported span, values as strings"`
	TraceState    string            `parquet:"trace_state,optional" doc:"trace state, as W3C trace context defines it"`
	Links         string            `parquet:"links,optional" doc:"links as a JSON array of objects with trace_id, span_id and attributes"`
}

// An Interval is a row of the table intervals: an activity of the runtime that takes time.
type Interval struct {
	Kind          string            `parquet:"kind,dict" doc:"gc, gc_pause, suspension, gc_finalizers, jit, background_jit, contention, wait, exception, exception_catch, exception_finally, exception_filter, thread_pool_queue or thread_pool_io_queue"`
	Name          string            `parquet:"name,dict" doc:"name, as that of the span in ntconv to otlp --spans all"`
	TS            int64             `parquet:"ts,timestamp(microsecond)" doc:"start in UTC, rounded down to microseconds"`
	TSNanos       int64             `parquet:"ts_ns" doc:"start in nanoseconds since 1970-01-01 UTC, exact"`
	EndTS         *int64            `parquet:"end_ts,optional,timestamp(microsecond)" doc:"end in UTC, NULL if the trace does not show it"`
	DurationNanos *int64            `parquet:"duration_ns,optional" doc:"duration"`
	ProcessID     int32             `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	PID           int64             `parquet:"pid,dict" doc:"process ID of the operating system, 0 if unknown"`
	ThreadID      int32             `parquet:"thread_id,dict,optional" ref:"threads" doc:"thread on which it started"`
	TID           int64             `parquet:"tid,dict" doc:"thread ID of the operating system, -1 if unknown"`
	TraceID       string            `parquet:"trace_id,optional" bloom:"yes" doc:"trace ID of the span that was active on the thread"`
	SpanID        string            `parquet:"span_id,optional" bloom:"yes" doc:"span ID of the span that was active on the thread"`
	Attributes    map[string]string `parquet:"attributes" doc:"data of the events, named as by ntconv to otlp"`
}

// A Log is a row of the table logs: a log record.
type Log struct {
	TS             int64             `parquet:"ts,timestamp(microsecond)" doc:"time in UTC, rounded down to microseconds"`
	TSNanos        int64             `parquet:"ts_ns" doc:"time in nanoseconds since 1970-01-01 UTC, exact"`
	Severity       string            `parquet:"severity,dict,optional" doc:"level as the program names it, such as Warning"`
	SeverityNumber int32             `parquet:"severity_number,dict" doc:"1 trace, 5 debug, 9 info, 13 warn, 17 error, 21 fatal, 0 unknown"`
	Scope          string            `parquet:"scope,dict,optional" doc:"category of the logger, or provider of the event"`
	EventName      string            `parquet:"event_name,dict,optional" doc:"name of the event ID, or of the event"`
	Message        string            `parquet:"message,optional" doc:"body as text; JSON if it is a list or an object"`
	ProcessID      int32             `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	PID            int64             `parquet:"pid,dict" doc:"process ID of the operating system, 0 if unknown"`
	ThreadID       int32             `parquet:"thread_id,dict,optional" ref:"threads" doc:"thread that logged it"`
	TID            int64             `parquet:"tid,dict" doc:"thread ID of the operating system, -1 if unknown"`
	TraceID        string            `parquet:"trace_id,dict,optional" bloom:"yes" doc:"trace ID of the span that was active"`
	SpanID         string            `parquet:"span_id,dict,optional" bloom:"yes" doc:"span ID of the span that was active"`
	Attributes     map[string]string `parquet:"attributes" doc:"arguments, template ({OriginalFormat}), exception and scopes, values as strings"`
	Resource       map[string]string `parquet:"resource" doc:"attributes of the resource of an imported record, values as strings"`
}

// A Counter is a row of the table counters: a value of an event counter or of an instrument.
type Counter struct {
	EventID      int64             `parquet:"event_id,delta" ref:"events" doc:"event that holds the value"`
	TS           int64             `parquet:"ts,timestamp(microsecond),delta" doc:"time in UTC, rounded down to microseconds"`
	TSNanos      int64             `parquet:"ts_ns,delta" doc:"time in nanoseconds since 1970-01-01 UTC, exact"`
	ProcessID    int32             `parquet:"process_id,dict" ref:"processes" doc:"process, 0 if unknown"`
	PID          int64             `parquet:"pid,dict" doc:"process ID of the operating system, 0 if unknown"`
	Provider     string            `parquet:"provider,dict" doc:"provider of the counter, or meter of the instrument"`
	Name         string            `parquet:"name,dict" doc:"name of the counter or instrument"`
	DisplayName  string            `parquet:"display_name,dict,optional" doc:"human-readable name"`
	Unit         string            `parquet:"unit,dict,optional" doc:"unit"`
	Kind         string            `parquet:"kind,dict" doc:"mean, sum (increment since the last value), counter, up_down_counter, gauge, histogram"`
	Statistic    string            `parquet:"statistic,dict,optional" doc:"meaning of value if an event holds several: mean, standard_deviation, min, max, count, sum, last; rate (growth in the interval) and total of a counter; p50, p95, p99"`
	Value        *float64          `parquet:"value,optional" doc:"value, NULL if there was none in the interval"`
	IntervalSecs float64           `parquet:"interval_s,optional" doc:"seconds that the value covers"`
	Tags         map[string]string `parquet:"tags" doc:"tags of the time series, of the instrument and of its meter, or metadata of an event counter"`
}

// A SingleEvent is a row of the table that --single writes: an event with all names.
type SingleEvent struct {
	EventID           int64    `parquet:"event_id,delta" doc:"position in the trace, from 1"`
	TS                int64    `parquet:"ts,timestamp(microsecond),delta" doc:"time in UTC, rounded down to microseconds"`
	TSNanos           int64    `parquet:"ts_ns,delta" doc:"time in nanoseconds since 1970-01-01 UTC, exact"`
	Process           string   `parquet:"process,dict,optional" doc:"name of the process"`
	PID               int64    `parquet:"pid,dict" doc:"process ID of the operating system, 0 if unknown"`
	Thread            string   `parquet:"thread,dict,optional" doc:"name of the thread"`
	TID               int64    `parquet:"tid,dict" doc:"thread ID of the operating system, -1 if it was not recorded"`
	CPU               int32    `parquet:"cpu,dict" doc:"CPU number, -1 if it was not recorded"`
	Provider          string   `parquet:"provider,dict" doc:"name of the provider"`
	Event             string   `parquet:"event,dict" doc:"name of the event, its number if it has no name"`
	Level             int32    `parquet:"level,dict" doc:"1 critical to 5 verbose, 0 always"`
	Opcode            int32    `parquet:"opcode,dict" doc:"1 start, 2 stop, 0 none"`
	ActivityID        string   `parquet:"activity_id,dict,optional" doc:"activity ID of the labels"`
	RelatedActivityID string   `parquet:"related_activity_id,dict,optional" doc:"related activity ID of the labels"`
	TraceID           string   `parquet:"trace_id,dict,optional" bloom:"yes" doc:"trace ID of the labels"`
	SpanID            string   `parquet:"span_id,dict,optional" bloom:"yes" doc:"span ID of the labels"`
	Method            string   `parquet:"method,dict,optional" doc:"name of the innermost frame"`
	Stack             []string `parquet:"stack,list,dict" doc:"names of all frames, innermost first"`
	Payload           string   `parquet:"payload,optional" doc:"fields of the payload as a JSON object; NULL if the payload is empty"`
}
