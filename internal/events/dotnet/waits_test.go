package dotnet_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/events/dotnet"
)

func TestIsWait(t *testing.T) {
	for name, want := range map[string]bool{
		"System.Threading.Monitor.Wait(object, int)":                       true,
		"System.Threading.Monitor.Enter(object)":                           true,
		"System.Threading.Monitor.Exit(object)":                            false,
		"System.Threading.WaitHandle.WaitOneNoCheck(int)":                  true,
		"System.Threading.LowLevelLifoSemaphore.WaitForSignal(int)":        true,
		"System.Threading.Tasks.Task.InternalWait(int, CancellationToken)": true,
		"System.Threading.SemaphoreSlim.Wait(int)":                         true,
		"System.Threading.WaitSubsystem.Wait(SafeWaitHandle)":              true,
		"My.Monitor.Wait()":                             false,
		"System.Threading.Thread.Sleep(int)":            true,
		"System.Threading.Thread.StartCallback()":       false,
		"System.Collections.Generic.List<int>.Add(int)": false,
	} {
		if got := dotnet.IsWait(dotnet.Split(name, "")); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{
		"__futex_abstimed_wait_common64": true, "pthread_cond_timedwait@@GLIBC_2.3.2": true, "__GI_epoll_wait": true, "poll": true,
		"ntdll!NtWaitForSingleObject": true, "__x64_sys_futex": true, "memcpy": false, "pthread_create": false, "wait_for_work": false,
	} {
		if got := dotnet.IsNativeWait(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// The frames of an idle thread of the pool, and of one that works.
func TestPoolRoles(t *testing.T) {
	for name, want := range map[string]dotnet.PoolRole{
		"System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()": dotnet.PoolThread,
		"System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart()": dotnet.PoolThread,
		"System.Threading.ThreadPoolWorkQueue.Dispatch()":                      dotnet.PoolWork,
		"System.Threading.LowLevelLifoSemaphore.WaitForSignal(int)":            dotnet.PoolIdle,
		"System.Threading.LowLevelLifoSemaphore.Wait(int, bool)":               dotnet.PoolIdle,
		"System.Threading.LowLevelSpinWaiter.Wait(int)":                        dotnet.PoolIdle,
		"System.Threading.LowLevelLifoSemaphore.Release(int)":                  dotnet.PoolNone,
		"System.Threading.Monitor.Wait(object)":                                dotnet.PoolNone,
		"Shop.LowLevelLifoSemaphore.Wait()":                                    dotnet.PoolNone,
	} {
		if got := dotnet.PoolRoleOf(dotnet.Split(name, "")); got != want {
			t.Errorf("%s: role %d, want %d", name, got, want)
		}
	}
}
