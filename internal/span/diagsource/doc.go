// Package diagsource decodes the Activities that .NET records through the event source
// Microsoft-Diagnostics-DiagnosticSource, and makes the spans of them that the OpenTelemetry SDK of the program would
// send.
//
// # Events
//
// ActivityStart and ActivityStop record an Activity of an ActivitySource ("[AS]..." in FilterAndPayloadSpecs). The
// pairs Activity1, Activity2 and RecursiveActivity1, and the events Event with a name X.Start or X.Stop, record what a
// DiagnosticListener reports, such as HttpRequestIn and HttpRequestOut. All hold a source, a name, and a list of keys
// and values, which are strings. The keys are what the specification asks for, in its order and with its names, or all
// properties of the Activity.
//
// Start and Stop are joined by the process and the span ID. Without an ID they are joined by the request
// (TraceIdentifier), else by the activity ID of the events, else by the thread, where the Activity that started last
// stops first. A Stop event makes a span without its Start event. A property that both record comes from the Stop
// event, because a program may change an Activity while it runs.
//
// # Values
//
//   - IDs come from TraceId, SpanId and ParentSpanId, or from Id and ParentId. Hierarchical IDs (|ROOT.1.) become hashes of the root and of
//     the whole ID, so a child finds its parent. If nothing identifies the Activity, its IDs are hashes of its names, process, thread and
//     time. Such spans have MadeID set.
//   - The start is StartTimeTicks, and the end is the start plus DurationTicks (100 ns since 0001-01-01, in any spelling of the keys). If
//     only StartTimeUtc is recorded, whose text has no fraction of a second, the start is the time of the Start event, or the time of the Stop
//     event minus the duration, within that second. If this time is not near, the program set the start, and the start is the whole
//     second. Without any of them the times of the events are the start and the end. Times outside the years 1678 to 2261 are ignored.
//   - Flags have bit 0 from ActivityTraceFlags or Id, and bits 8 and 9 only if HasRemoteParent is recorded.
//   - The status is Status, or the tags otel.status_code and otel.status_description if Status is Unset. These tags are never attributes.
//   - Events and Links have text with separators that cannot occur in values. Events.*Enumerate and Links.*Enumerate have only the names
//     of types: the span counts them as dropped.
//   - Tags have text whose separators are not escaped. A text [k, v],[k, v] is split at "],[" if what follows has a ", " before the next
//     "],["; a text k:v, k:v is split at ", " if what follows up to a colon has no white space. Other text belongs to the value before it.
//   - Attributes are strings. With Options.Convention those that semantic conventions define as numbers or Booleans are such if their
//     text is one.
//   - A listener's request has attributes with the keys of semantic conventions (http.request.method, url.path, ...). Keys that are not
//     properties are attributes, but for names of types.
//
// A span for which an SDK would not have sent anything has NotRecorded set.
package diagsource
