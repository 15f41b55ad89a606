package operation

// Keys of attributes of spans that other packages use, too: as labels of samples, or for what no field contains.
const (
	AttrFunction      = "code.function.name" // the name of a method
	AttrGeneration    = "dotnet.gc.heap.generation"
	AttrGCReason      = "dotnet.gc.reason"
	AttrGCType        = "dotnet.gc.type"
	AttrGCPause       = "dotnet.gc.pause_ns" // of a collection: the sum of its pauses
	AttrLock          = "dotnet.lock.id"
	AttrLockOwner     = "dotnet.lock.owner_thread_id"
	AttrWaitSource    = "dotnet.wait.source"
	AttrExceptionType = "exception.type"
)

func ended(by string) [2]string { return [2]string{by} }

func collect(kind string) string { return "ntconv collect --kind " + kind + " records them" }

// table lists the operations in the runtime's manifests, and those of sources whose events contain IDs. It does not
// contain events that report only a count, such as WorkerThreadCreate, because they do not identify an operation.
// ThreadCreated is missing because .NET does not write ThreadTerminated. The most frequent subjects of expressions come
// first.
var table = [...]Operation{
	{
		Provider: runtime, Pair: "GC", Begin: "GCStart", End: ended("GCEnd"), Key: ByField, Field: "Count",
		Extent: Collection, Name: "gc", Span: "GC", Source: GC, Kind: "gc",
		During: "gc", Example: "gc.generation == 2", Noun: "collection", Record: collect("gc"),
		Fields: []Field{
			{"Depth", AttrGeneration, "generation", Generation}, {"Reason", AttrGCReason, "reason", Word},
			{"Type", AttrGCType, "type", Word}, {"Count", "dotnet.gc.number", "number", Number}, {"", AttrGCPause, "pause", Paused},
		},
	},
	{
		Provider: runtime, Pair: "Suspension", Begin: "GCSuspendEEBegin", End: ended("GCRestartEEEnd"), EndsAlone: true,
		Extent: Pause, Name: "gc_pause", Span: "GC pause", Source: GC, Kind: "gc",
		During: "pause", Example: "pause.duration > 10ms", Noun: "pause", Record: collect("gc"),
		Fields: []Field{
			{"Reason", "dotnet.suspension.reason", "reason", Word}, {"Depth", "", "generation", OfCollection},
			{"Count", "", "number", OfCollection},
		},
	},
	{
		Provider: runtime, Pair: "Contention", Begin: "ContentionStart", End: ended("ContentionStop"),
		Name: "contention", Span: "Lock contention", Source: Contention, Kind: "contention",
		During: "contention", Example: "contention.duration > 10ms", Noun: "wait for a lock", Plural: "waits for locks",
		Record: collect("contention"),
		Fields: []Field{
			{"ContentionFlags", "dotnet.lock.kind", "kind", Word}, {"LockID", AttrLock, "lock_id", Number},
			{"LockOwnerThreadID", AttrLockOwner, "owner_thread_id", Number},
			{"AssociatedObjectID", "dotnet.lock.object_id", "", Number}, {"DurationNs", "dotnet.lock.wait_ns", "", Integer},
		},
	},
	{
		Provider: runtime, Pair: "WaitHandleWait", Begin: "WaitHandleWaitStart", End: ended("WaitHandleWaitStop"),
		Name: "wait", Span: "Wait", Source: Waits, Kind: "wait",
		During: "wait", Example: "wait.duration > 10ms", Noun: "wait",
		Record: collect("wait") + " (.NET 9)",
		Fields: []Field{
			{"WaitSource", AttrWaitSource, "source", Word}, {"AssociatedObjectID", "dotnet.wait.object_id", "object_id", Number},
		},
	},
	{
		Provider: runtime, Pair: "MethodJitting", Begin: "MethodJittingStarted", End: [2]string{"MethodLoad", "MethodLoadVerbose"},
		Key: ByThreadField, Field: "MethodID", EndsAlone: true, // methods that were compiled ahead of time are loaded, too
		Name: "jit", Span: "JIT", Source: JIT, Encloses: EnclosesAll, Kind: "jit",
		During: "jit", Example: `jit.method =~ "Cart"`, Noun: "compilation",
		Record: collect("jit"),
		Fields: []Field{
			{"", AttrFunction, "method", Method}, {"MethodILSize", "dotnet.jit.il_size", "il_size", Number},
			{"MethodSize", "dotnet.jit.code_size", "code_size", Number},
		},
	},
	{
		Provider: runtime, Pair: "Exception", Begin: "ExceptionThrown", End: ended("ExceptionThrownStop"),
		Name: "exception", Span: "Exception", Source: Exceptions, Encloses: EnclosesHandlers, Kind: "exceptions",
		During: "exception", Example: `exception.type == "System.IO.IOException"`, Noun: "exception", Record: collect("exceptions"),
		Fields: []Field{
			{"ExceptionType", AttrExceptionType, "type", Type}, {"ExceptionMessage", "exception.message", "message", Text},
		},
	},
	{
		Provider: runtime, Pair: "TypeLoad", Begin: "TypeLoadStart", End: ended("TypeLoadStop"),
		Key: ByThreadField, Field: "TypeLoadStartID", Kind: "typeload",
		During: "typeload", Example: `typeload.type =~ "Cart"`, Noun: "load of a type", Plural: "loads of types",
		Record: collect("typeload"),
		Fields: []Field{{"TypeName", "", "type", Type}, {"LoadLevel", "", "level", Number}},
	},
	{
		Provider: TPL, Pair: "Task", Begin: "TaskStarted", End: ended("TaskCompleted"), Key: ByField, Field: "TaskID", Kind: "tasks",
		During: "task", Example: "task.duration > 10ms", Noun: "task",
		Record: collect("tasks"),
		Fields: []Field{{"TaskID", "", "id", Number}},
	},
	{
		Provider: runtime, Pair: "GCFinalizers", Begin: "GCFinalizersBegin", End: ended("GCFinalizersEnd"),
		Name: "gc_finalizers", Span: "GC finalizers", Source: GC, Encloses: EnclosesAll,
		Fields: []Field{{"Count", "dotnet.gc.finalized_objects", "", Number}},
	},
	{
		Provider: runtime, Pair: "TieredCompilationBackgroundJit", Begin: "TieredCompilationBackgroundJitStart",
		End:  ended("TieredCompilationBackgroundJitStop"),
		Name: "background_jit", Span: "Background JIT", Source: JIT, Encloses: EnclosesAll,
		Fields: []Field{
			{"PendingMethodCount", "dotnet.jit.pending_methods", "", Number},
			{"JittedMethodCount", "dotnet.jit.compiled_methods", "", Number},
		},
	},
	{
		Provider: runtime, Pair: "ExceptionCatch", Begin: "ExceptionCatchStart", End: ended("ExceptionCatchStop"),
		Name: "exception_catch", Span: "Exception catch", Source: Exceptions, Encloses: IsHandler, Fields: handler,
	},
	{
		Provider: runtime, Pair: "ExceptionFinally", Begin: "ExceptionFinallyStart", End: ended("ExceptionFinallyStop"),
		Name: "exception_finally", Span: "Exception finally", Source: Exceptions, Encloses: IsHandler, Fields: handler,
	},
	{
		Provider: runtime, Pair: "ExceptionFilter", Begin: "ExceptionFilterStart", End: ended("ExceptionFilterStop"),
		Name: "exception_filter", Span: "Exception filter", Source: Exceptions, Encloses: IsHandler, Fields: handler,
	},
	{
		Provider: runtime, Pair: "ThreadPoolQueue", Begin: "ThreadPoolEnqueue", End: ended("ThreadPoolDequeue"),
		Key: ByField, Field: "WorkID", Extent: InQueue, Kind: "threadpool",
		Name: "thread_pool_queue", Span: "Thread pool queue", Source: Requests, Fields: workItem("WorkID"),
	},
	{
		Provider: runtime, Pair: "ThreadPoolIOQueue", Begin: "ThreadPoolIOEnqueue", End: ended("ThreadPoolIODequeue"),
		Key: ByField, Field: "NativeOverlapped", Extent: InQueue, Kind: "threadpool",
		Name: "thread_pool_io_queue", Span: "Thread pool I/O queue", Source: Requests, Fields: workItem("NativeOverlapped"),
	},
	{
		Provider: Framework, Pair: "ThreadPoolWork", Begin: "ThreadPoolEnqueueWork", End: ended("ThreadPoolDequeueWork"),
		Key: ByField, Field: "workID", Extent: InQueue, Kind: "threadpool",
		Name: "thread_pool_queue", Span: "Thread pool queue", Source: Requests, Fields: workItem("workID"),
	},
	{ // the other suspensions of the same pair of events
		Provider: runtime, Pair: "Suspension", Extent: Suspension,
		Name: "suspension", Span: "Suspension", Source: Suspensions,
		During: "suspension", Example: `suspension.reason == "SuspendForDebugger"`, Noun: "suspension", Record: collect("gc"),
		Fields: []Field{{"Reason", "dotnet.suspension.reason", "reason", Word}},
	},
	// Operations that only have a name.
	{Provider: runtime, Pair: "GCSuspendEE", Begin: "GCSuspendEEBegin", End: ended("GCSuspendEEEnd"), Extent: OnProcess},
	{Provider: runtime, Pair: "GCRestartEE", Begin: "GCRestartEEBegin", End: ended("GCRestartEEEnd"), Extent: OnProcess},
	{Provider: runtime, Pair: "GenAware", Begin: "GenAwareBegin", End: ended("GenAwareEnd"), Key: ByField, Field: "Count", Extent: OnProcess},
	{Provider: runtime, Pair: "ThreadPoolWorkerThread", Begin: "ThreadPoolWorkerThreadStart", End: ended("ThreadPoolWorkerThreadStop")},
	{Provider: runtime, Pair: "ThreadCreation", Begin: "ThreadCreating", End: ended("ThreadRunning"), Key: ByField, Field: "ID", Extent: InQueue},
	{
		Provider: runtime, Pair: "R2RGetEntryPoint", Begin: "R2RGetEntryPointStart", End: ended("R2RGetEntryPoint"),
		Key: ByThreadField, Field: "MethodID",
	},
	{
		Provider: runtime, Pair: "StrongNameVerification", Begin: "StrongNameVerificationStart",
		End: ended("StrongNameVerificationStop"),
	},
	{
		Provider: runtime, Pair: "AuthenticodeVerification", Begin: "AuthenticodeVerificationStart",
		End: ended("AuthenticodeVerificationStop"),
	},
	{Provider: runtime, Pair: "DebugIPCEvent", Begin: "DebugIPCEventStart", End: ended("DebugIPCEventEnd")},
	{
		Provider: runtime, Pair: "DebugExceptionProcessing", Begin: "DebugExceptionProcessingStart",
		End: ended("DebugExceptionProcessingEnd"),
	},
	{
		Provider: runtime, Pair: "TieredCompilationPause", Begin: "TieredCompilationPause", End: ended("TieredCompilationResume"),
		Key: ByProcess, Extent: OnProcess,
	},
	{Provider: runtime, Pair: "AssemblyLoad", Begin: "AssemblyLoadStart", End: ended("AssemblyLoadStop")},
	{Provider: rundown, Pair: "RundownStart", Begin: "DCStartInit", End: ended("DCStartComplete"), Key: ByProcess, Extent: OnProcess},
	{Provider: rundown, Pair: "RundownEnd", Begin: "DCEndInit", End: ended("DCEndComplete"), Key: ByProcess, Extent: OnProcess},
	{Provider: TPL, Pair: "TaskQueue", Begin: "TaskScheduled", End: ended("TaskStarted"), Key: ByField, Field: "TaskID", Extent: InQueue},
	{Provider: TPL, Pair: "TaskWait", Begin: "TaskWaitBegin", End: ended("TaskWaitEnd"), Key: ByField, Field: "TaskID"},
	{Provider: TPL, Pair: "TraceOperation", Begin: "TraceOperationBegin", End: ended("TraceOperationEnd"), Key: ByField, Field: "TaskID"},
	{Provider: TPL, Pair: "TraceSynchronousWork", Begin: "TraceSynchronousWorkBegin", End: ended("TraceSynchronousWorkEnd")},
	{Provider: PLINQ, Pair: "ParallelQuery", Begin: "ParallelQueryBegin", End: ended("ParallelQueryEnd"), Key: ByField, Field: "queryId"},
	{Provider: PLINQ, Pair: "ParallelQueryFork", Begin: "ParallelQueryFork", End: ended("ParallelQueryJoin")},
	{
		Provider: Framework, Pair: "ThreadTransfer", Begin: "ThreadTransferSend", End: ended("ThreadTransferReceive"),
		Key: ByField, Field: "id", Extent: InQueue,
	},
}

var handler = []Field{{"MethodName", AttrFunction, "", Text}}

func workItem(field string) []Field {
	return []Field{{field, "dotnet.thread_pool.work_id", "", Number}}
}
