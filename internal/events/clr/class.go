package clr

import "github.com/ntconv/ntconv"

// A Class is the kind of information in an event, and thereby the view that reads it.
type Class uint8

const (
	ClassNone                     Class = iota
	ClassMethod                         // ParseMethod: code was loaded, unloaded or existed
	ClassModule                         // ParseModule
	ClassDomainModule                   // no view
	ClassILMap                          // ParseILMap
	ClassSample                         // ParseSample: the sample profiler saw a thread
	ClassRuntimeStart                   // no view: the field CommandLine names the process
	ClassProcessInfo                    // no view: the field CommandLine names the process
	ClassThread                         // no view: the fields Flags and OSThreadID
	ClassUniversalProcess               // ParseProcess
	ClassUniversalProcessExit           // no fields
	ClassUniversalMapping               // ParseMapping
	ClassUniversalSymbol                // ParseSymbol
	ClassUniversalMappingMetadata       // ParseMappingMetadata
	ClassUniversalCPU                   // Value: weight of a CPU sample, 1
	ClassUniversalCSwitch               // Value: clock ticks since the thread lost its CPU
	ClassUniversalOther                 // Value, in a unit that only the name implies
)

var classNames = [...]string{
	"none", "method", "module", "domain module", "il map", "sample", "runtime start", "process info", "thread", "universal process",
	"universal process exit", "universal mapping", "universal symbol", "universal mapping metadata", "universal cpu",
	"universal cswitch", "universal other",
}

// String returns the name of the class in lower case.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// ClassOf returns the class of all events of a type. A call takes a few nanoseconds; consumers of millions of events
// cache the result per *Type. It is safe for concurrent use.
func ClassOf(t *ntconv.Type) Class {
	switch t.Provider {
	case Runtime:
		return runtimeClass(t.ID)
	case Rundown:
		return rundownClass(t.ID)
	case SampleProfiler:
		if t.ID == 0 {
			return ClassSample
		}
	case EventPipe:
		if t.ID == 1 || t.Name == "ProcessInfo" {
			return ClassProcessInfo
		}
	case UniversalSystem:
		return systemClass(t.ID)
	case UniversalEvents:
		return universalClass(t.Name)
	}
	return ClassNone
}

// The two providers use the same IDs for different events (nettrace-in-practice, 3.2).
func runtimeClass(id uint32) Class {
	switch id {
	case 85:
		return ClassThread
	case 141, 142, 143, 144:
		return ClassMethod
	case 151:
		return ClassDomainModule
	case 152, 153:
		return ClassModule
	case 187:
		return ClassRuntimeStart
	case 190:
		return ClassILMap
	}
	return ClassNone
}

func rundownClass(id uint32) Class {
	switch id {
	case 141, 142, 143, 144:
		return ClassMethod
	case 149, 150:
		return ClassILMap
	case 151, 152:
		return ClassDomainModule
	case 153, 154:
		return ClassModule
	case 159:
		return ClassThread
	case 187:
		return ClassRuntimeStart
	}
	return ClassNone
}

// The events of Universal.System are identified by ID, regardless of the metadata (nettrace-in-practice, 4.1).
func systemClass(id uint32) Class {
	switch id {
	case 0, 1:
		return ClassUniversalProcess
	case 2:
		return ClassUniversalProcessExit
	case 3:
		return ClassUniversalMapping
	case 4:
		return ClassUniversalSymbol
	case 5:
		return ClassUniversalMappingMetadata
	}
	return ClassNone
}

func universalClass(name string) Class {
	switch name {
	case "cpu":
		return ClassUniversalCPU
	case "cswitch":
		return ClassUniversalCSwitch
	}
	return ClassUniversalOther
}

// SuspendsForGC reports whether the Reason of a GCSuspendEEBegin is a garbage collection (GCSuspendEEReasonMap in the
// runtime's manifest: SuspendForGC and SuspendForGCPrep). There are other reasons: the sample profiler suspends the
// runtime for every sample.
func SuspendsForGC(reason uint64) bool { return reason == 1 || reason == 6 }
