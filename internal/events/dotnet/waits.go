package dotnet

import "strings"

// waitMethods are the methods of .NET in which threads wait, by type. "*" is all methods of the type.
var waitMethods = map[string][]string{
	"System.Threading.Monitor": {
		"Wait", "Enter", "Enter_Slowpath", "ObjWait", "ReliableEnter", "ReliableEnterTimeout", "TryEnter", "TryEnter_Slowpath",
	},
	"System.Threading.WaitHandle": {
		"WaitOne", "WaitOneNoCheck", "WaitOneCore", "WaitAny", "WaitAll", "WaitMultiple", "WaitMultipleIgnoringSyncContext",
		"WaitAnyMultiple", "SignalAndWait",
	},
	"System.Threading.Thread":                                {"Sleep", "SleepInternal", "UninterruptibleSleep0", "Join"},
	"System.Threading.LowLevelLifoSemaphore":                 {"Wait", "WaitForSignal", "WaitNative", "WaitCore"},
	"System.Threading.LowLevelMonitor":                       {"Wait", "WaitCore"},
	"System.Threading.LowLevelSpinWaiter":                    {"Wait"}, // of idle threads of the pool
	"System.Threading.WaitSubsystem":                         {"*"},
	"System.Threading.ManualResetEventSlim":                  {"Wait"},
	"System.Threading.SemaphoreSlim":                         {"Wait", "WaitCore", "WaitUntilCountOrTimeout"},
	"System.Threading.ReaderWriterLockSlim":                  {"WaitOnEvent"},
	"System.Threading.Barrier":                               {"SignalAndWait"},
	"System.Threading.CountdownEvent":                        {"Wait"},
	"System.Threading.SpinWait":                              {"SpinUntil"},
	"System.Threading.Lock":                                  {"TryEnterSlow"},
	"System.Threading.Condition":                             {"Wait"},
	"System.Threading.Tasks.Task":                            {"Wait", "InternalWait", "InternalWaitCore", "SpinThenBlockingWait", "WaitAll", "WaitAllBlockingCore", "WaitAny"},
	"System.Diagnostics.Process":                             {"WaitForExit", "WaitForExitCore"},
	"System.Net.Sockets.SocketAsyncEngine":                   {"EventLoop"},
	"Interop+Sys":                                            unixCalls,
	"Interop.Sys":                                            unixCalls,
	"Interop+Kernel32":                                       windowsCalls,
	"Interop.Kernel32":                                       windowsCalls,
	"System.Threading.PortableThreadPool+IOCompletionPoller": {"Poll"},
}

// Calls of operating systems in which threads wait, as the framework names them.
var (
	unixCalls    = []string{"WaitForSocketEvents", "Poll", "Read", "ReadStdin", "Receive", "ReceiveMessage", "Accept"}
	windowsCalls = []string{"WaitForSingleObject", "WaitForMultipleObjectsEx", "GetQueuedCompletionStatusEx", "GetQueuedCompletionStatus"}
)

// nativeWaits are the functions of operating systems and of their C libraries in which threads wait.
var nativeWaits = map[string]bool{
	"futex": true, "futex_wait": true, "futex_wait_queue": true, "do_futex": true, "poll": true, "ppoll": true, "do_poll": true,
	"epoll_wait": true, "epoll_pwait": true, "do_epoll_wait": true, "ep_poll": true, "select": true, "pselect": true,
	"nanosleep": true, "clock_nanosleep": true, "sem_wait": true, "sem_timedwait": true, "pthread_join": true, "wait4": true,
	"waitpid": true, "sigtimedwait": true, "sigwait": true, "sigwaitinfo": true, "pause": true, "accept": true, "accept4": true,
	"recv": true, "recvfrom": true, "recvmsg": true, "connect": true, "kevent": true, "psynch_cvwait": true, "semaphore_wait_trap": true,
	"NtWaitForSingleObject": true, "NtWaitForMultipleObjects": true, "NtWaitForAlertByThreadId": true, "NtDelayExecution": true,
	"NtRemoveIoCompletion": true, "NtRemoveIoCompletionEx": true, "NtWaitForWorkViaWorkerFactory": true,
	"ZwWaitForSingleObject": true, "ZwWaitForMultipleObjects": true, "ZwDelayExecution": true, "schedule": true,
}

// IsWait reports whether threads wait in a method. It gets the parts that Split returns.
func IsWait(p Parts) bool {
	name := p.Type
	if p.Namespace != "" {
		name = p.Namespace + "." + p.Type
	}
	method, _, _ := strings.Cut(p.Method, "<")
	for _, m := range waitMethods[name] {
		if m == method || m == "*" {
			return true
		}
	}
	return false
}

// A PoolRole is what a method tells about a thread of the thread pool that executes it.
type PoolRole uint8

const (
	PoolNone   PoolRole = iota // nothing
	PoolThread                 // the thread belongs to the pool
	PoolWork                   // it executes work items, unless a method below waits for more
	PoolIdle                   // it waits for work items
)

// PoolRoleOf returns the role of a method. It gets the parts that Split returns.
func PoolRoleOf(p Parts) PoolRole {
	typ, ok := strings.CutPrefix(strings.ReplaceAll(p.Namespace+"."+p.Type, "+", "."), "System.Threading.")
	method, _, _ := strings.Cut(p.Method, "<")
	switch {
	case !ok:
	case typ == "PortableThreadPool.WorkerThread" && method == "WorkerThreadStart":
		return PoolThread
	case typ == "ThreadPoolWorkQueue" && method == "Dispatch":
		return PoolWork
	case (typ == "LowLevelLifoSemaphore" || typ == "LowLevelSpinWaiter") && strings.HasPrefix(method, "Wait"):
		return PoolIdle
	}
	return PoolNone
}

// IsNativeWait reports whether threads wait in a function of the operating system or of its C library, such as
// __futex_abstimed_wait_common64 or pthread_cond_timedwait@@GLIBC_2.3.2.
func IsNativeWait(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	if _, symbol, ok := strings.Cut(name, "!"); ok {
		name = symbol
	}
	for _, prefix := range []string{"__GI_", "__libc_", "__x64_sys_", "__arm64_sys_", "__se_sys_", "__"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return nativeWaits[name] || strings.HasPrefix(name, "pthread_cond_") && strings.Contains(name, "wait") ||
		strings.HasPrefix(name, "futex_abstimed_wait")
}
