// Package diagsource decodes the Activities that .NET records through the event source
// Microsoft-Diagnostics-DiagnosticSource, and derives the spans that the OpenTelemetry SDK of the program would export.
//
// # Events
//
// ActivityStart and ActivityStop record an Activity of an ActivitySource ("[AS]..." in FilterAndPayloadSpecs). The
// pairs Activity1, Activity2 and RecursiveActivity1, and the events Event with a name X.Start or X.Stop, record what a
// DiagnosticListener reports, such as HttpRequestIn and HttpRequestOut. All contain a source, a name, and a list of
// keys and values, which are strings. The keys are those in the specification, with its order and names, or all
// properties of the Activity.
//
// Start and Stop are matched by the process and the span ID. Without an ID they are matched by the request
// (TraceIdentifier), or else by the activity ID of the events, or else by the thread, where the Activity that started
// last stops first. A Stop event without a Start event still yields a span. If both record a property, the value of the
// Stop event is used, because a program may change an Activity while it runs.
//
// # Values
//
//   - IDs come from TraceId, SpanId and ParentSpanId, or from Id and ParentId. Hierarchical IDs (|ROOT.1.) become
//     hashes of the root and of the whole ID, so that a child refers to its parent. If nothing identifies the Activity,
//     its IDs are hashes of its names, process, thread and time. Such spans have MadeID set.
//   - The start is StartTimeTicks, and the end is the start plus DurationTicks (100 ns since 0001-01-01, with any
//     spelling of the keys). If only StartTimeUtc is recorded, which has no fraction of a second, the start is the time
//     of the Start event, or the time of the Stop event minus the duration, moved into that second. If that time is not
//     near the second, the program has set the start, and the start is the whole second. Without any of these, the
//     times of the events are the start and the end. Times outside the years 1678 to 2261 are ignored.
//   - Bit 0 of the flags comes from ActivityTraceFlags or Id. Bits 8 and 9 are set only if HasRemoteParent is recorded.
//   - The status is Status, or the tags otel.status_code and otel.status_description if Status is Unset. These tags are
//     never attributes.
//   - Events and Links are text with separators that cannot occur in values. Events.*Enumerate and Links.*Enumerate
//     contain only the names of types, so the span counts these items as dropped.
//   - Tags are text whose separators are not escaped. Text of the form [k, v],[k, v] is split at "],[" if the following
//     text has a ", " before the next "],[". Text of the form k:v, k:v is split at ", " if the following text up to a
//     colon has no white space. Other text belongs to the preceding value.
//   - Attributes are strings. With Options.Convention, attributes that semantic conventions define as numbers or
//     Booleans have these types if their text is valid.
//   - The request that a listener reports becomes attributes with the keys of semantic conventions
//     (http.request.method, url.path, ...). Keys that are not properties become attributes, unless the value is the
//     name of a type.
//
// If an SDK would not have exported a span, it has NotRecorded set.
package diagsource
