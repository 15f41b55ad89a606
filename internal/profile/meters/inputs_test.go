package meters_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// The events of a kind are those that its documentation names, and no others.
func TestInputs(t *testing.T) {
	for kind, want := range map[sample.Kind][]string{
		sample.Wall:       {"ThreadSample"},
		sample.Contention: {"ContentionStart", "ContentionStop"},
		sample.Wait:       {"WaitHandleWaitStart", "WaitHandleWaitStop"},
		sample.Exceptions: {"ExceptionThrown", "ExceptionCatchStart"},
		sample.TypeLoad:   {"TypeLoadStart", "TypeLoadStop"},
		sample.JIT:        {"MethodLoad", "MethodLoadVerbose", "MethodJittingStarted"},
		sample.Tasks:      {"TaskScheduled", "TaskStarted", "TaskCompleted"},
		sample.Events:     nil,
		sample.Imported:   nil,
	} {
		var names []string
		for _, l := range meters.Inputs(kind) {
			if !slices.Contains(names, l.Name()) {
				names = append(names, l.Name())
			}
		}
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%v: got %v, want %v", kind, names, want)
		}
	}
}
