package scrub

// DefaultPolicy is the default policy, in the form that NewPolicy reads.
const DefaultPolicy = `# The default policy of ntconv scrub. Each line is one rule; a policy file has the same lines.
#
#   class NAME ACTION                       what happens to the texts of a class
#   field PROVIDER/EVENT.FIELD CLASS        the class of a field; * matches any text, ? one character
#   key CONTEXT KEY CLASS                   the class of the value of a key, which is then kept. CONTEXT is the class of
#                                           the list, the JSON text or the tags with the key; trace means the
#                                           attributes of the trace, its types, threads and processes
#   words CLASS WORD...                     words that are kept; with the action one-of, and with * or ?, whole texts
#                                           that are kept. The class * means every class
#   extension EXT...                        extensions of files that are kept
#   provider PROVIDER drop                  events that are dropped
#
# The rules of a policy file come before these. The first rule that matches applies. Everything else is replaced.
#
# Actions: keep    unchanged
#          replace each word becomes a word of the same length and kind; separators stay
#          file    as replace, but the last part of a path, the name of the file, follows class method, or class
#                  process if it is that of a program: without a known extension, or with exe
#          hash    as replace, but words that compilers choose stay (.ctor, get, MoveNext, keywords of signatures)
#          number  numbers, times and lists of them stay; any other text is replaced
#          one-of  the words of the class stay if they are the whole text; any other text is replaced
#          id      hexadecimal trace and span IDs stay (--ids keep) or get pseudonyms (--ids hash), other text too
#          zero    each byte becomes zero

class text          replace
class bytes         replace
class undecoded     zero
class command-line  replace
class environment   replace
class path          replace
class module        file
class mapped        file
class build-path    file
class method        keep
class name          keep
class template      replace
class host          replace
class user          replace
class address       replace
class url           replace
class sql           replace
class exception     replace
class log           replace
class header        replace
class span          replace
class label         replace
class process       one-of
class thread        one-of
class attribute     replace
class source        replace
class source-name   keep
class chosen        replace
class number        number
class id            id
class link          id
class enum          one-of
class status        number
class activity      one-of
class type          one-of
class mapping       replace
class pattern       replace
class version       keep
class build-id      keep
class chrome-name   replace
class chrome-event  replace
class argument      replace

# Process and command line
field Microsoft-DotNETCore-EventPipe/ProcessInfo.CommandLine command-line
field Microsoft-DotNETCore-EventPipe/ProcessInfo.OSInformation enum
field Microsoft-DotNETCore-EventPipe/ProcessInfo.ArchInformation enum
field Microsoft-Windows-DotNETRuntime*/RuntimeInformation*.CommandLine command-line
field Microsoft-Windows-DotNETRuntime*/RuntimeInformation*.RuntimeDllPath module

# Methods, types and assemblies
field Microsoft-Windows-DotNETRuntime*/*.*MethodNamespace method
field Microsoft-Windows-DotNETRuntime*/*.*MethodName method
field Microsoft-Windows-DotNETRuntime*/*.*MethodSignature method
field Microsoft-Windows-DotNETRuntime*/*.*NameSignature method
field Microsoft-Windows-DotNETRuntime*/MethodJit*.*Name method
field Microsoft-Windows-DotNETRuntime*/MethodJit*.*Namespace method
field Microsoft-Windows-DotNETRuntime*/MethodJit*.FailReason log
field Microsoft-Windows-DotNETRuntime*/*.StubMethodSignature method
field Microsoft-Windows-DotNETRuntime*/*.*TypeName method
field Microsoft-Windows-DotNETRuntime*/BulkType.Values.Name method
field Microsoft-Windows-DotNETRuntime*/GCBulkRootStaticVar.Values.FieldName method
field Microsoft-Windows-DotNETRuntime*/*.ExceptionType method
field Microsoft-Windows-DotNETRuntime*/CCWRefCount*.ClassName method
field Microsoft-Windows-DotNETRuntime*/CCWRefCount*.NameSpace method
field Microsoft-Windows-DotNETRuntime*/*Transparency*.Method method
field Microsoft-Windows-DotNETRuntime*/*Transparency*.Type method
field Microsoft-Windows-DotNETRuntime*/*Transparency*.Field method
field Microsoft-Windows-DotNETRuntime*/*Transparency*.Module module
field Microsoft-Windows-DotNETRuntime*/*.FullyQualifiedAssemblyName method
field Microsoft-Windows-DotNETRuntime*/*.*AssemblyName method
field Microsoft-Windows-DotNETRuntime*/*.RequestingAssembly method
field Microsoft-Windows-DotNETRuntime*/*.*AssemblyLoadContext type
field Microsoft-Windows-DotNETRuntime*/*.AppDomainName type
field Microsoft-Windows-DotNETRuntime*/GCDynamicEvent.Name type

# Modules and their symbols
field Microsoft-Windows-DotNETRuntime*/*.ModuleILPath module
field Microsoft-Windows-DotNETRuntime*/*.ModuleNativePath module
field Microsoft-Windows-DotNETRuntime*/*.ModulePath module
field Microsoft-Windows-DotNETRuntime*/*.*AssemblyPath module
field Microsoft-Windows-DotNETRuntime*/*.FilePath module
field Microsoft-Windows-DotNETRuntime*/*.ILImage module
field Microsoft-Windows-DotNETRuntime*/*.AssemblyCodebase module
field Microsoft-Windows-DotNETRuntime*/*.*PdbBuildPath build-path
field Microsoft-Windows-DotNETRuntime*/*.NativeBuildID build-id

# Texts of the runtime
field Microsoft-Windows-DotNETRuntime*/*.ExceptionMessage exception
field Microsoft-Windows-DotNETRuntime*/*.ErrorMessage exception
field Microsoft-Windows-DotNETRuntime*/*.FailFastUserMessage exception
field Microsoft-Windows-DotNETRuntime*/*.*Message log
field Microsoft-Windows-DotNETRuntime*/EventSource.*Name name
field Microsoft-Windows-DotNETRuntime*/CCWRefCount*.Operation log
field Microsoft-Windows-DotNETRuntime*/ExecutionCheckpoint*.Name type

# Machine-wide traces
field Universal.System/ProcessMapping.FileName mapped
field Universal.System/ProcessMappingMetadata.* mapping
field Universal.System/ProcessSymbol.Name method
field Universal.System/*.Name process
field Universal.System/*.NamespaceName process

# ntconv's own definitions
field ntconv/Mapping.File mapped
field ntconv/Mapping.BuildID build-id
field ntconv/Frame.Name method
field ntconv/Frame.SystemName method
field ntconv/Frame.File source

# Spans and log records
field otlp/*.bodyType enum
field otlp/*.body attribute
field otlp/*.severityText enum
field otlp/*.eventName span
field otlp/*.parentSpanId id
field otlp/*.links.traceId id
field otlp/*.links.spanId id
field otlp/*.*.type enum
field otlp/*.traceState header
field otlp/*.links.traceState header
field otlp/*.statusMessage exception
field otlp/*.*chemaUrl url
field otlp/*.scope.name name
field otlp/*.scope.version number
field otlp/*.name span
field otlp/*.data undecoded
field otlp/*.*ttributes attribute
field Microsoft-Diagnostics-DiagnosticSource/*.Arguments argument
field Microsoft-Diagnostics-DiagnosticSource/*.SourceName name
field Microsoft-Diagnostics-DiagnosticSource/*.EventName activity
field Microsoft-Diagnostics-DiagnosticSource/*.ActivityName activity
field Microsoft-Diagnostics-DiagnosticSource/*.Message log

# Counters and metrics
field */EventCounters.Payload.Name name
field */EventCounters.Payload.DisplayName name
field */EventCounters.Payload.DisplayUnits name
field */EventCounters.Payload.DisplayRateTimeScale number
field */EventCounters.Payload.CounterType type
field */EventCounters.Payload.Series number
field System.Diagnostics.Metrics/*.meterName name
field System.Diagnostics.Metrics/*.meterVersion number
field System.Diagnostics.Metrics/*.instrumentName name
field System.Diagnostics.Metrics/*.instrumentType type
field System.Diagnostics.Metrics/*.unit name
field System.Diagnostics.Metrics/*.description template
field System.Diagnostics.Metrics/*.sessionId text
field System.Diagnostics.Metrics/*.*ags label
field System.Diagnostics.Metrics/*.*alue number
field System.Diagnostics.Metrics/*.rate number
field System.Diagnostics.Metrics/*.quantiles number
field System.Diagnostics.Metrics/*.buckets number
field System.Diagnostics.Metrics/*.meterScopeHash number
field System.Diagnostics.Metrics/*.*rrorMessage exception
field System.Diagnostics.Metrics/*.actual* number
field System.Diagnostics.Metrics/*.expected* number
field System.Runtime/LogAppContextSwitch.switchName type

# Network and logging
field System.Net.Http/*.scheme enum
field System.Net.Http/*.pathAndQuery url
field *System.Net.*/*.*ri url
field *System.Net.*/*.*riBaseAddress url
field *System.Net.*/*.*host host
field *System.Net.*/*.*ddress address
field *System.Net.*/*.*Ep address
field *System.Net.*/*.hostName* host
field *System.Net.*/*.memberName method
field *System.Net.*/*.objName log
field *System.Net.*/*.rawValue header
field *Kestrel*/*.*EndPoint address
field *Kestrel*/*.path url
field Microsoft-Extensions-Logging/*.LoggerName method
field Microsoft-Extensions-Logging/*.ActivityTraceId id
field Microsoft-Extensions-Logging/*.ActivitySpanId id
field Microsoft-Extensions-Logging/*.ActivityTraceFlags number
field Microsoft-Extensions-Logging/*.Exception.TypeName method
field Microsoft-Extensions-Logging/*.Exception.* exception
field Microsoft-Extensions-Logging/*.*essage log
field System.Threading.Tasks.TplEventSource/*.OperationName method
field System.Threading.Tasks.TplEventSource/*.stateMachineDescription method
field */EventSourceMessage.message log

# Chrome's trace events: members whose values readers interpret
field chrome:*/*.s enum
field chrome:*/*.bp enum
field chrome:*/*.ph enum
field chrome:*/*.name chrome-name
field chrome:*/*.cat chrome-name
field chrome:*/*.id number
field chrome:*/*.id2_* number
field chrome:*/*.bind_id number
field chrome:*/*.data undecoded

# Fields of other providers, by the names that programs usually give them
field */*.*CommandText sql
field */*.*Sql sql
field */*.*Statement sql
field */*.*ueryText sql
field */*.*CommandLine command-line
field */*.*Environment* environment
field */*.*Header* header
field */*.*Cookie* header
field */*.*Authorization* header
field */*.*Exception* exception
field */*.*Url url
field */*.*Uri url
field */*.*QueryString url
field */*.*HostName host
field */*.*UserName user
field */*.*Email user
field */*.*FileName path
field */*.*FilePath path
field */*.*Directory path

# Attributes of the trace, types, threads and processes
key trace HardwareThreadCount number
key trace ProcessId number
key trace NumberOfProcessors number
key trace ExpectedCPUSamplingRate number
key trace CollectionStart* number
key trace SystemPageSize number
key trace OSInformation enum
key trace ntconv.scrubbed name
key trace ntconv.labels name
key trace ntconv.aggregate name
key trace ntconv.start number
key trace ntconv.pid number
key trace ntconv.split name
key trace ntconv.split.part number
key trace ntconv.split.parts number
key trace ntconv.split.order name
key trace ntconv.split.every text
key trace ntconv.split.same number
key trace ntconv.split.added name
key trace ntconv.* number
key trace host.name host
key trace pprof.sample_type* name
key trace pprof.sample_unit* name
key trace pprof.default_sample_type name
key trace pprof.period_type name
key trace pprof.period_unit name
key trace pprof.weight* name
key trace pprof.drop_frames pattern
key trace pprof.keep_frames pattern
key trace pprof.doc_url url
key trace pprof.* number
key trace chrome.ph name
key trace chrome.layout name
key trace chrome.absent name
key trace chrome.pid number
key trace chrome.tid number

# Arguments of DiagnosticSource. Case, punctuation and a prefix Activity do not matter.
key argument Id id
key argument ParentId id
key argument RootId id
key argument TraceId id
key argument SpanId id
key argument ParentSpanId id
key argument Kind enum
key argument Status enum
key argument TraceFlags enum
key argument Flags enum
key argument IdFormat enum
key argument Recorded enum
key argument IsAllDataRequested enum
key argument HasRemoteParent enum
key argument RemoteParent enum
key argument IsStopped enum
key argument W3CIdFlagsSet enum
key argument Start number
key argument StartTime number
key argument StartTimeUtc number
key argument StartTimeTicks number
key argument StartTicks number
key argument StartTimeUtcTicks number
key argument StartUtcTicks number
key argument Duration number
key argument DurationTicks number
key argument Ticks number
key argument TotalMilliseconds number
key argument DurationMs number
key argument DurationMilliseconds number
key argument Port number
key argument OperationName activity
key argument Current activity
key argument Parent activity
key argument Context activity
key argument TraceIdGenerator activity
key argument ForceDefaultIdFormat activity
key argument DefaultIdFormat activity
key argument DisplayName span
key argument Name span
key argument StatusDescription exception
key argument StatusMessage exception
key argument StatusCode status
key argument Method enum
key argument Scheme enum
key argument TraceState header
key argument TraceStateString header
key argument Baggage header
key argument Source source-name
key argument SourceName source-name
key argument SourceVersion number
key argument Version number
key argument ScopeVersion number
key argument SchemaUrl url
key argument TelemetrySchemaUrl url
key argument SourceSchemaUrl url
key argument SourceTelemetrySchemaUrl url
key argument Path url
key argument PathBase url
key argument QueryString url
key argument RequestUri url
key argument Tags label
key argument TagObjects label
key argument Events label
key argument Links link
key argument SourceTags label
key argument ScopeTags label
key argument SourceAttributes label
key argument Host host
key argument TraceIdentifier label

# Keys of semantic conventions
key attribute http.request.method enum
key attribute http.method enum
key attribute http.response.status_code number
key attribute http.status_code number
key attribute http.request.body.size number
key attribute http.response.body.size number
key attribute http.request.resend_count number
key attribute url.scheme enum
key attribute http.scheme enum
key attribute http.route url
key attribute http.target url
key attribute http.url url
key attribute url.full url
key attribute url.path url
key attribute url.query url
key attribute server.address host
key attribute server.port number
key attribute client.address address
key attribute client.port number
key attribute network.protocol.name enum
key attribute network.protocol.version number
key attribute network.type enum
key attribute network.transport enum
key attribute network.peer.address address
key attribute network.peer.port number
key attribute net.peer.name host
key attribute net.host.name host
key attribute net.peer.port number
key attribute net.host.port number
key attribute db.system enum
key attribute db.system.name enum
key attribute db.statement sql
key attribute db.query.text sql
key attribute db.name span
key attribute db.namespace span
key attribute db.operation enum
key attribute db.operation.name enum
key attribute rpc.system enum
key attribute rpc.service method
key attribute rpc.method method
key attribute rpc.grpc.status_code number
key attribute error.type method
key attribute exception.type method
key attribute exception.message exception
key attribute exception.stacktrace exception
key attribute otel.status_code enum
key attribute otel.status_description exception
key attribute otel.library.name name
key attribute otel.scope.name name
key attribute service.name process
key attribute service.version number
key attribute service.instance.id id
key attribute telemetry.sdk.name enum
key attribute telemetry.sdk.language enum
key attribute telemetry.sdk.version number
key attribute process.pid number
key attribute process.runtime.version number
key attribute process.executable.name process
key attribute process.command_line command-line
key attribute process.command command-line
key attribute thread.id number
key attribute code.lineno number
key attribute code.line.number number
key attribute user_agent.original header
key attribute enduser.id user
key attribute user.name user

# Labels of ntconv itself
key attribute ntconv.replica enum

# Members of OTLP/JSON
key attribute key label
key mapping type name
key mapping name mapped
key mapping debug_link module
key mapping perfmap_name module
key mapping version version
key mapping *signature build-id
key mapping build_id build-id
key mapping date_time number
key mapping age number
key mapping perfmap_version number
key mapping text_offset number
key mapping p_* number
key attribute value attribute
key attribute values attribute
key attribute stringValue attribute
key attribute intValue attribute
key attribute doubleValue attribute
key attribute boolValue attribute
key attribute bytesValue attribute
key attribute arrayValue attribute
key attribute kvlistValue attribute

# Members of Chrome's events that are divided into parts
key chrome-event ph enum
key chrome-event name chrome-name
key chrome-event cat chrome-name
key chrome-event ts number
key chrome-event dur number
key chrome-event tts number
key chrome-event tdur number
key chrome-event id number
key chrome-event id2 number
key chrome-event local number
key chrome-event global number
key chrome-event bind_id number
key chrome-event scope text
key chrome-event s enum
key chrome-event bp enum
key chrome-event flow_in enum
key chrome-event flow_out enum
key chrome-event args text

words * GET HEAD POST PUT DELETE PATCH OPTIONS TRACE CONNECT HTTP HTTPS true false null True False NULL NaN Infinity
words * http https ws wss ftp file tcp udp unix jdbc amqp grpc localhost dotnet exe InterNetwork InterNetworkV6
words * Bearer Basic
words method instance class valuetype void bool char int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64
words method string object native unsigned int typedref vararg refany unmanaged pinned modreq modopt explicit value
words method ctor cctor get set add remove op MoveNext Main Invoke BeginInvoke EndInvoke DynamicClass dynamicClass
words method Tier0 Tier1 PreJIT OptimizedTier1 Optimized MinOptJitted ReadyToRun Version Culture neutral PublicKeyToken null
words path usr lib lib64 bin sbin share dotnet shared home Users tmp opt var proc dev sys System32 Windows x86 x64
words path linux gnu
words source usr lib lib64 bin sbin share dotnet shared home Users tmp opt var proc dev sys System32 Windows x86 x64
words mapped usr lib lib64 bin sbin share dotnet shared home Users tmp opt var proc dev sys System32 Windows x86 x64
words mapped linux gnu
words module usr lib lib64 bin sbin share dotnet shared home Users tmp opt var proc dev sys System32 Windows x86 x64
words module linux gnu
words mapped vdso vsyscall kernel kallsyms vmlinux anon memfd doublemapper heap stack deleted
words build-path src obj bin Release Debug
words command-line usr lib lib64 bin sbin share dotnet home Users tmp opt var
words sql SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE JOIN INNER LEFT RIGHT OUTER FULL ON AND OR NOT IN
words sql IS NULL AS
words sql ORDER GROUP BY HAVING LIMIT OFFSET TOP DISTINCT UNION ALL EXISTS BETWEEN LIKE ASC DESC COUNT SUM MIN MAX
words sql AVG CASE
words sql WHEN THEN ELSE END CREATE ALTER DROP TABLE INDEX VIEW EXEC EXECUTE CALL BEGIN COMMIT ROLLBACK TRANSACTION
words sql RETURNING
words enum Internal Server Client Producer Consumer Unset Ok Error None Recorded RandomTraceId W3C Hierarchical
words enum Unknown
words enum GET HEAD POST PUT DELETE PATCH OPTIONS TRACE CONNECT QUERY _OTHER http https ws wss tcp udp unix ipv4
words enum ipv6 pipe
words enum Linux Windows macOS Darwin X64 X86 Arm64 Arm x64 x86 arm64 arm32 arm True False true false UNSET OK ERROR
words enum before after other
words enum absent empty string bool int double bytes array kvlist g p t e grpc opentelemetry dotnet
words enum Trace Debug Information Warning Error Critical TRACE DEBUG INFO WARN ERROR FATAL
words enum B E X i I C b n S T p F s f N O D M P R c v V ( )
words enum postgresql mysql mssql microsoft.sql_server sqlite oracle mongodb redis cassandra elasticsearch
words status Continue OK Created Accepted NoContent PartialContent MovedPermanently Found Redirect SeeOther
words status NotModified
words status TemporaryRedirect PermanentRedirect BadRequest Unauthorized Forbidden NotFound MethodNotAllowed
words status Conflict Gone
words status RequestTimeout TooManyRequests InternalServerError NotImplemented BadGateway ServiceUnavailable
words status GatewayTimeout
words enum SELECT INSERT UPDATE DELETE
words process dotnet Unknown swapper vmlinux
words thread ntconv.split .NET?* dotnet* Finalizer Main Signal*Dispatch*
words type Default clrhost DefaultDomain System.* "Default" CommittedUsage Mean Sum Counter UpDownCounter Histogram
words type Gauge
words type ObservableCounter ObservableUpDownCounter ObservableGauge Counter?1 UpDownCounter?1 Histogram?1 Gauge?1
words type ObservableCounter?1 ObservableUpDownCounter?1 ObservableGauge?1 RuntimeInit EEStartup*
words label System.Collections.Generic.KeyValuePair?2[System.String,System.String][] []
words label System.Diagnostics.Activity+*d__??
words label System.Collections.Generic.KeyValuePair?2[System.String,System.Object][] System.String[]
words header System.Collections.Generic.KeyValuePair?2[System.String,System.String][]
words activity Microsoft.AspNetCore.* System.Net.* Experimental.System.* Experimental.Microsoft.*
words activity System.Diagnostics.* []
extension dll exe so ko dylib pdb dbg debug sys node cs fs vb csproj fsproj vbproj sln c cc cpp cxx h hpp rs go py js
extension ts java
extension json xml config log txt nettrace netperf dmp ini sh bat cmd ps1 jar html htm css md yml yaml toml cshtml
extension razor resx
extension zip gz tar zst sql db sqlite png jpg jpeg gif svg ico pfx pem crt key conf map
`
